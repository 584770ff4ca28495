// Choices by mask, size and limits: dtypes, ties and errors as in PyTorch.
#include "ops/elementwise/choose.h"

#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "ops/reduce/reduce.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Choose, where_promotes_its_values_but_not_the_condition) {
  Tensor mask = tensor({true, false});
  EXPECT_EQ(where(mask, tensor({1, 2}), 2.5).dtype(), kFloat32);
  EXPECT_EQ(where(mask, 1, 2).dtype(), kInt64);
  EXPECT_EQ(values(where(mask, 1, 2.5)), (Numbers{1, 2.5}));
  EXPECT_EQ(error_of([] { where(tensor({1.0, 0.0}), 1, 2); }),
            "where: the condition is float32; expected bool: use condition != 0");
}

TEST(Choose, masked_fill_keeps_the_dtype_of_self) {
  Tensor mask = tensor({true, false});
  EXPECT_EQ(values(masked_fill(tensor({1, 2}), mask, 1.5)), (Numbers{1, 2}));
  EXPECT_EQ(error_of([&] { masked_fill(tensor({1, 2}), tensor({1, 0}), 1); }),
            "masked_fill: the mask is int64; expected bool: use mask != 0");
  EXPECT_EQ(error_of([&] { masked_fill(tensor({1, 2}), mask, tensor({1, 2})); }),
            "masked_fill: the value has sizes [2]; expected a number or a tensor without "
            "dimensions");
  Tensor x = leaf({1, 2}), value = leaf({3}).view({});
  EXPECT_EQ(node_of(masked_fill(x, mask, 0)), "MaskedFillBackward0");
  Tensor filled = masked_fill(x, mask, value);
  EXPECT_EQ(node_of(filled), "MaskedFillBackward1");
}

TEST(Choose, ties_share_the_gradient) {
  Tensor a = leaf({1, 2, NAN, 1}), b = leaf({1, 1, 1, NAN});
  sum(maximum(a, b)).backward();
  EXPECT_EQ(values(a.grad()), (Numbers{0.5, 1, 1, 1}));
  EXPECT_EQ(values(b.grad()), (Numbers{0.5, 0, 1, 1}));
}

TEST(Choose, fmax_prefers_numbers_and_the_first) {
  Tensor a = leaf({1, 2, NAN, 1}), b = leaf({1, 1, 1, NAN}), c = fmax(a, b);
  EXPECT_EQ(values(c), (Numbers{1, 2, 1, 1}));
  sum(c).backward();
  EXPECT_EQ(values(a.grad()), (Numbers{1, 1, 0, 1}));
  EXPECT_EQ(values(b.grad()), (Numbers{0, 0, 1, 0}));
}

TEST(Choose, clamp_passes_the_gradient_at_its_limits) {
  Tensor x = leaf({0, 1, 0.5, 2, NAN});
  Tensor y = clamp(x, 0, 1);
  EXPECT_EQ(node_of(y), "ClampBackward1");
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), (Numbers{1, 1, 1, 0, 0}));
  EXPECT_EQ(values(tensor({1.0, 2.0}).clamp(3, 1)), (Numbers{1, 1}));
  EXPECT_TRUE(std::isnan(values(tensor({1.0}).clamp(double(NAN), 1))[0]));
}

TEST(Choose, clamp_takes_tensors_and_lifts_integers) {
  EXPECT_EQ(tensor({1, 2}).clamp(0, 1).dtype(), kInt64);
  EXPECT_EQ(values(tensor({1, 2}).clamp(0.5, 1.5)), (Numbers{1, 1.5}));
  Tensor x = leaf({0.5, 2}), low = leaf({1, 1}), high = leaf({0, 3});
  Tensor y = clamp(x, low, high);
  EXPECT_EQ(values(y), (Numbers{0, 2}));
  EXPECT_EQ(node_of(y), "ClampBackward0");
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), (Numbers{0, 1}));
  EXPECT_EQ(values(low.grad()), (Numbers{0, 0}));
  EXPECT_EQ(values(high.grad()), (Numbers{1, 0}));
  EXPECT_EQ(error_of([] { tensor({1}).clamp(); }),
            "clamp: at least one of min and max must be given");
}

TEST(Choose, lerp_reaches_both_ends_exactly) {
  Tensor a = tensor({0.1, 0.2}), b = tensor({0.7, 1e8});
  EXPECT_TRUE(lerp(a, b, 1).equal(b));
  EXPECT_TRUE(lerp(a, b, 0).equal(a));
  EXPECT_EQ(error_of([&] { lerp(a, b.to(kFloat64), 0.5); }),
            "lerp: self is float32 but end is float64 and weight is float64; all must have one "
            "dtype");
}

TEST(Choose, all_operands_of_clamp_decide_its_dtype) {
  Tensor low = tensor(2, kInt8), high = tensor(3, kInt16);
  EXPECT_EQ(clamp(tensor({true, false}), low, high).dtype(), kInt16);
}

}  // namespace
}  // namespace fg
