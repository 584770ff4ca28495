// Every function of the table, captured and run as compiled code, does what it does eagerly:
// values, layouts, gradients and second gradients, bit for bit.
#include "autograd/autograd.h"
#include "base/error.h"
#include "compile/version.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {
namespace {

class TableCaptured : public testing::TestWithParam<const FunctionInfo*> {
 protected:
  const FunctionInfo& info = *GetParam();
};
INSTANTIATE_TEST_SUITE_P(Functions, TableCaptured, testing::ValuesIn(ir::functions()), test_name);

using Callee = std::function<Tensors(const Tensors&)>;

struct Observed {
  Tensors values, grads, second;
};

// Some gradient for each output that has one, not the same in all places.
Tensors tangents_for(const Tensors& outputs) {
  Tensors result;
  for (const Tensor& output : outputs) {
    std::vector<double> numbers;
    for (int64_t i = 0; i < output.numel(); i++)
      numbers.push_back(0.25 * static_cast<double>(1 + i % 7));
    result.push_back(tensor(numbers, output.dtype()).reshape(output.sizes()));
  }
  return result;
}

Observed observe(const Callee& callee, const Tensors& inputs, bool twice) {
  Observed seen;
  Tensors leaves, outputs;
  for (const Tensor& input : inputs) {
    leaves.push_back(input.detach());
    if (input.requires_grad()) leaves.back().requires_grad_();
  }
  manual_seed(7);
  seen.values = callee(leaves);
  autograd::GraphPoints from, to;
  for (const Tensor& value : seen.values) {
    if (value.defined() && value.requires_grad()) outputs.push_back(value);
  }
  for (const Tensor& leaf : leaves) {
    if (leaf.requires_grad()) to.emplace_back(leaf);
  }
  if (outputs.empty() || to.empty()) return seen;
  for (const Tensor& output : outputs) from.emplace_back(output);
  Tensors tangents = tangents_for(outputs);
  autograd::GradOptions options{.retain_graph = true, .allow_unused = true};
  seen.grads = autograd::grad(from, to, tangents, options);
  if (!twice) return seen;
  options.create_graph = true;
  Tensors again = autograd::grad(from, to, tangents, options), differentiable;
  for (const Tensor& grad : again) {
    if (grad.defined() && grad.requires_grad()) differentiable.push_back(grad);
  }
  if (differentiable.empty()) return seen;
  autograd::GraphPoints grads(differentiable.begin(), differentiable.end());
  seen.second = autograd::grad(grads, to, tangents_for(differentiable), options);
  return seen;
}

void expect_same(const Tensors& captured, const Tensors& eager, const char* what) {
  ASSERT_EQ(captured.size(), eager.size()) << what;
  for (size_t i = 0; i < eager.size(); i++) {
    ASSERT_EQ(captured[i].defined(), eager[i].defined()) << what << " " << i;
    if (!eager[i].defined()) continue;
    EXPECT_TRUE(equal_bits(captured[i], eager[i])) << what << " " << i;
    if (std::string(what) != "value") continue;
    EXPECT_EQ(text(captured[i].strides()), text(eager[i].strides())) << what << " " << i;
    EXPECT_EQ(captured[i].requires_grad(), eager[i].requires_grad()) << what << " " << i;
  }
}

void compare(const FunctionInfo& info, const compiler::ProgramOptions& options) {
  if (is_uninitialised(info)) return;
  each_sample(info, [&](const Sample& sample) {
    Tensors given = inputs_of(info, sample);
    Callee eager = [&](const Tensors& in) {
      return tensors_of(info.call(info, replace_tensors(sample.arguments, in)));
    };
    std::unique_ptr<compiler::Version> version;
    Callee captured = [&](const Tensors& in) {
      if (!version) {
        version = std::make_unique<compiler::Version>(eager, in, capture::TraceOptions{}, options);
        const ir::Graph& graph = version->programs().forward_graph(false);
        EXPECT_EQ(ir::parse_graph(graph.text()).text(), graph.text());
      }
      return version->call(in);
    };
    bool twice = sample.check_second_gradient;
    Observed expected = observe(eager, given, twice), seen;
    try {
      seen = observe(captured, given, twice);
    } catch (const Error& error) {
      if (may_be_refused(info, sample, error)) return;
      throw;
    }
    expect_same(seen.values, expected.values, "value");
    expect_same(seen.grads, expected.grads, "gradient");
    expect_same(seen.second, expected.second, "second gradient");
  });
}

TEST_P(TableCaptured, does_what_it_does_eagerly) { compare(info, {}); }
TEST_P(TableCaptured, does_it_as_native_code) {
  compare(info, {compiler::compile_native, compiler::compile_native});
}

}  // namespace
}  // namespace fg::table
