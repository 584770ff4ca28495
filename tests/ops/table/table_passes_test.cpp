// The graphs of every function of the table, of its gradient and of the gradient of that, compute
// the same bits after the passes, and show the caller the same memories.
#include "autograd/autograd.h"
#include "base/error.h"
#include "compile/version.h"
#include "passes/passes.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {
namespace {

class TablePasses : public testing::TestWithParam<const FunctionInfo*> {
 protected:
  const FunctionInfo& info = *GetParam();
};
INSTANTIATE_TEST_SUITE_P(Functions, TablePasses, testing::ValuesIn(ir::functions()), test_name);

bool share(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.impl()->storage == b.impl()->storage;
}

// Results that share memory afterwards did so before.
void expect_no_new_aliases(const Tensors& before, const Tensors& after, const Tensors& inputs) {
  auto same = [](const Tensor& a, const Tensor& b) { return a.defined() && a.is_same(b); };
  for (size_t i = 0; i < after.size(); i++) {
    for (size_t k = 0; k < i; k++) {
      EXPECT_LE(share(after[i], after[k]), share(before[i], before[k])) << i << " " << k;
      EXPECT_LE(same(after[i], after[k]), same(before[i], before[k])) << i << " " << k;
    }
    for (const Tensor& input : inputs) EXPECT_LE(share(after[i], input), share(before[i], input));
  }
}

// Runs a graph as it is and after the passes.
compiler::GraphCallable compare(const ir::Graph& graph) {
  ir::Graph passed = graph;
  passes::run_passes(passed, "test");
  EXPECT_EQ(ir::parse_graph(passed.text()).text(), passed.text());
  EXPECT_LE(passed.operations.size(), graph.operations.size());
  auto first = std::make_shared<ir::Runner>(graph), second = std::make_shared<ir::Runner>(passed);
  return [first, second](Tensors inputs) {
    Tensors before = first->run(inputs), after = second->run(inputs), again = second->run(inputs);
    for (size_t i = 0; i < before.size(); i++) {
      EXPECT_EQ(after[i].defined(), before[i].defined());
      if (!before[i].defined()) continue;
      EXPECT_TRUE(equal_bits(after[i], before[i]))
          << first->graph().text() << second->graph().text();
      EXPECT_EQ(text(after[i].strides()), text(before[i].strides())) << i;
      EXPECT_EQ(after[i].impl()->wrapped_number, before[i].impl()->wrapped_number) << i;
    }
    expect_no_new_aliases(before, after, inputs);
    Tensors runs = after;  // nor do two runs share what one run made
    runs.insert(runs.end(), again.begin(), again.end());
    Tensors expected = first->run(inputs);
    expected.insert(expected.begin(), before.begin(), before.end());
    expect_no_new_aliases(expected, runs, inputs);
    return after;
  };
}

Tensors ones_for(const Tensors& outputs) {
  Tensors result;
  for (const Tensor& output : outputs) {
    std::vector<double> numbers(static_cast<size_t>(output.numel()), 0.75);
    result.push_back(tensor(numbers, output.dtype()).reshape(output.sizes()));
  }
  return result;
}

Tensors differentiable_of(const Tensors& values) {
  Tensors result;
  for (const Tensor& value : values) {
    if (value.defined() && value.requires_grad()) result.push_back(value);
  }
  return result;
}

Tensors gradients(const Tensors& outputs, const Tensors& inputs, bool create_graph) {
  if (outputs.empty() || inputs.empty()) return {};
  autograd::GraphPoints from(outputs.begin(), outputs.end()), to(inputs.begin(), inputs.end());
  return autograd::grad(from, to, ones_for(outputs),
                        {.retain_graph = true, .create_graph = create_graph, .allow_unused = true});
}

TEST_P(TablePasses, keep_all_bits) {
  if (is_uninitialised(info)) return;
  each_sample(info, [&](const Sample& sample) {
    Tensors given = inputs_of(info, sample);
    auto body = [&](const Tensors& in) {
      return tensors_of(info.call(info, replace_tensors(sample.arguments, in)));
    };
    try {
      // As they were captured: the passes are what is tested.
      compiler::Version version(body, given, {}, {compare, compare, {}, false});
      Tensors outputs = differentiable_of(version.call(given));
      Tensors leaves = differentiable_of(given);
      gradients(outputs, leaves, false);
      if (!sample.check_second_gradient) return;
      gradients(differentiable_of(gradients(outputs, leaves, true)), leaves, true);
    } catch (const Error& error) {
      if (!may_be_refused(info, sample, error)) throw;
    }
  });
}

}  // namespace
}  // namespace fg::table
