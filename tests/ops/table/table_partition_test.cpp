// The gradient of every function of the table is the same whichever way its joint graph is split,
// and the minimum cut never keeps more than the default.
#include "base/error.h"
#include "capture/function.h"
#include "ops/elementwise/arithmetic.h"
#include "passes/plan.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {
namespace {

using ir::Role;

class TablePartition : public testing::TestWithParam<const FunctionInfo*> {
 protected:
  const FunctionInfo& info = *GetParam();
};
INSTANTIATE_TEST_SUITE_P(Functions, TablePartition, testing::ValuesIn(ir::functions()), test_name);

passes::JointGraph joint_of(const capture::Function& function, const capture::Function& gradient) {
  const capture::Tracer& tracer = function.trace->tracer;
  passes::JointGraph joint{tracer.graph, function.end, {}, {}, {}};
  for (const auto& in : function.inputs) joint.inputs.push_back(in.value);
  for (const auto& drawn : tracer.drawn) joint.inputs.push_back(drawn.seed);
  for (const auto& out : function.outputs) joint.results.push_back(out.value);
  for (const auto& out : gradient.outputs) joint.gradients.push_back(out.value);
  return joint;
}

Tensor filled(const ir::ValueInfo& info, double number) {
  Tensor result = empty_strided_tensor(info.sizes, info.strides, info.dtype);
  result.fill_(number);
  return result;
}

// A forward that keeps these values, then a backward that has them and the tangents alone.
Tensors gradients(const passes::JointGraph& joint, const capture::Function& gradient,
                  const Tensors& given, const std::vector<passes::Saved>& saved) {
  ir::Ends inputs, kept, outputs;
  Tensors first = given;
  for (ir::ValueId value : joint.inputs) inputs.add(value, {Role::Kind::argument});
  while (first.size() < joint.inputs.size()) first.push_back(tensor(std::vector<int64_t>{3, 0}));
  for (const passes::Saved& one : saved) kept.add(one.value, {Role::Kind::saved});
  Tensors second = ir::Runner(ir::cut(joint.graph, inputs, kept)).run(first);
  for (size_t i = given.size(); i < gradient.inputs.size(); i++) {
    kept.add(gradient.inputs[i].value, {Role::Kind::tangent});
    second.push_back(filled(joint.graph.values[gradient.inputs[i].value], 0.75));
  }
  for (ir::ValueId value : joint.gradients) outputs.add(value, {Role::Kind::gradient});
  ir::Graph backward = ir::cut(joint.graph, kept, outputs);
  ir::verify(backward, "partition");
  return ir::Runner(backward).run(second);
}

// Values that the caller can write to are saved only where the default saves them.
void expect_nothing_new_seen(const passes::JointGraph& joint, const std::vector<passes::Saved>& cut,
                             const std::vector<passes::Saved>& all) {
  std::vector<bool> seen(joint.graph.values.size());
  for (ir::ValueId value : joint.inputs) seen[value] = true;
  for (ir::ValueId value : joint.results) seen[value] = true;
  for (const passes::Saved& one : all) seen[one.value] = false;
  for (const passes::Saved& one : cut) EXPECT_FALSE(seen[one.value]) << one.value;
}

void check(const capture::Function& function, const Tensors& given) {
  capture::Tangents tangents(function.differentiable_count(), capture::Tangent::plain);
  if (tangents.empty()) return;
  capture::Function gradient = capture::gradient_of(function, tangents, false);
  passes::JointGraph joint = joint_of(function, gradient);
  std::vector<passes::Saved> all = passes::partition_default(joint);
  passes::Plan plan = passes::plan_min_cut(joint);
  EXPECT_LE(passes::saved_bytes(joint, plan.saved), passes::saved_bytes(joint, all));
  expect_nothing_new_seen(joint, plan.saved, all);
  Tensors expected = gradients(joint, gradient, given, all);
  Tensors seen = gradients(joint, gradient, given, plan.saved);
  for (size_t i = 0; i < expected.size(); i++) {
    ASSERT_EQ(seen[i].defined(), expected[i].defined());
    if (!seen[i].defined()) continue;
    EXPECT_TRUE(equal_bits(seen[i], expected[i])) << text(plan, joint.graph);
  }
}

TEST_P(TablePartition, gives_the_same_gradients) {
  if (is_uninitialised(info)) return;
  each_sample(info, [&](const Sample& sample) {
    Tensors given = inputs_of(info, sample);
    auto body = [&](const Tensors& in) {
      // Twice, so that there is something between inputs and results.
      Tensors once = tensors_of(info.call(info, replace_tensors(sample.arguments, in)));
      Tensors result;
      for (const Tensor& value : once) result.push_back(mul(value, value));
      return result;
    };
    try {
      check(capture::function_of(capture::trace(body, given)), given);
    } catch (const Error& error) {
      if (!may_be_refused(info, sample, error)) throw;
    }
  });
}

}  // namespace
}  // namespace fg::table
