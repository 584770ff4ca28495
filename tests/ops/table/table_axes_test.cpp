// Parameters with axes, shifted: a primitive on tensors with one more dimension in front gives its
// result for each index of that dimension.
#include <set>

#include "base/error.h"
#include "tests/ops/table/primitive_calls.h"

namespace fg::table {
namespace {

// The tensor twice, along a dimension in front.
Tensor doubled(const Tensor& tensor) {
  if (!tensor.defined()) return tensor;
  Dims sizes = tensor.sizes();
  sizes.insert(0, 2);
  Dims strides = plain_copy(tensor).strides();
  strides.insert(0, 0);
  return plain_copy(alias(plain_copy(tensor), sizes, strides, 0));
}

Tensor part(const Tensor& tensor, int64_t index) {
  Dims sizes = tensor.sizes(), strides = tensor.strides();
  Dim offset = tensor.impl()->offset + strides[0] * index;
  sizes.erase(0);
  strides.erase(0);
  return alias(tensor, sizes, strides, offset);
}

size_t rank_of(ir::Operands inputs) {
  for (const ir::Operand& input : inputs) {
    if (input->defined()) return input->sizes().size();
  }
  return 0;
}

class AxesCalls : public PrimitiveCalls {
 public:
  std::set<std::string> compared;

 protected:
  void look(const ir::PrimitiveInfo& primitive, ir::Operands inputs, const void* params) override {
    if (!primitive.params->shift_axes) return;
    SCOPED_TRACE(primitive.name);
    ir::ParamsRef shifted;
    try {
      shifted = primitive.params->shift_axes(params, {2}, rank_of(inputs));
    } catch (const Error& error) {
      EXPECT_EQ(rank_of(inputs), 0u) << error.what();  // refused: there is no axis
      return;
    }
    std::vector<Tensors> lists;
    for (const ir::Operand& input : inputs) {
      lists.emplace_back();
      for (const Tensor& tensor : input.all()) lists.back().push_back(doubled(tensor));
    }
    std::vector<ir::Operand> operands(lists.begin(), lists.end());
    Tensors expected = evaluated(primitive, inputs, params);
    Tensors seen = evaluated(primitive, operands, shifted.get());
    for (size_t i = 0; i < expected.size(); i++) {
      EXPECT_TRUE(nearly_equal(part(seen[i], 0), expected[i], 1e-12));
      EXPECT_TRUE(nearly_equal(part(seen[i], 1), expected[i], 1e-12));
    }
    compared.insert(primitive.name);
  }
};

TEST(Primitives, with_axes_take_dimensions_in_front_when_the_axes_are_shifted) {
  AxesCalls calls;
  run_table(calls);
  for (const ir::PrimitiveInfo* primitive : ir::primitives()) {
    if (!primitive->params->shift_axes) continue;
    EXPECT_TRUE(calls.compared.contains(primitive->name)) << primitive->name;
  }
}

}  // namespace
}  // namespace fg::table
