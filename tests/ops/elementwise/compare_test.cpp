// Comparisons, logic, bits and equality as in PyTorch.
#include "ops/elementwise/compare.h"

#include <cmath>

#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Compare, operators_give_bool_tensors) {
  Tensor a = tensor({1, 2, 3});
  EXPECT_EQ((a == 2).dtype(), kBool);
  EXPECT_EQ(values(a == 2), (Numbers{0, 1, 0}));
  EXPECT_EQ(values(a != 2), (Numbers{1, 0, 1}));
  EXPECT_EQ(values(a < 2), (Numbers{1, 0, 0}));
  EXPECT_EQ(values(a >= 2), (Numbers{0, 1, 1}));
  EXPECT_EQ(values(a > 1.5), (Numbers{0, 1, 1}));
}

TEST(Compare, nan_is_unequal_to_itself) {
  Tensor x = tensor({1.0, double(NAN)});
  EXPECT_EQ(values(x == x), (Numbers{1, 0}));
  EXPECT_EQ(values(x != x), (Numbers{0, 1}));
  EXPECT_EQ(values(x <= x), (Numbers{1, 0}));
}

TEST(Compare, logic_takes_any_dtype) {
  EXPECT_EQ(values(logical_and(tensor({0.0, 2.0}), tensor({3, 4}))), (Numbers{0, 1}));
  EXPECT_EQ(values(logical_xor(tensor({0, 2}), tensor({3, 4}))), (Numbers{1, 0}));
  EXPECT_EQ(values(!tensor({0.0, -1.0})), (Numbers{1, 0}));
}

TEST(Compare, bits_of_integers_and_bools) {
  Tensor a = tensor({6, -1}), m = tensor({true, false});
  EXPECT_EQ(values(a & 3), (Numbers{2, 3}));
  EXPECT_EQ(values(a ^ tensor({1, 1})), (Numbers{7, -2}));
  EXPECT_EQ(values(~m), (Numbers{0, 1}));
  EXPECT_EQ(values(m | tensor({false, false})), (Numbers{1, 0}));
  EXPECT_THROW(bitwise_and(tensor({1.0}), 1), Error);
}

TEST(Compare, shifts_beyond_the_width_leave_the_sign_only) {
  Tensor a = tensor({-1, 2});
  EXPECT_EQ(values(bitwise_left_shift(a, 1)), (Numbers{-2, 4}));
  EXPECT_EQ(values(bitwise_left_shift(a, 64)), (Numbers{0, 0}));
  EXPECT_EQ(values(bitwise_right_shift(a, 64)), (Numbers{-1, 0}));
  EXPECT_EQ(values(bitwise_right_shift(a, -1)), (Numbers{-1, 0}));
}

TEST(Compare, isclose_follows_its_tolerances) {
  double inf = INFINITY, nan = NAN;
  Tensor a = tensor({1.0, inf, nan, 1.0}, kFloat64),
         b = tensor({1.0 + 1e-6, inf, nan, 2.0}, kFloat64);
  EXPECT_EQ(values(isclose(a, b)), (Numbers{1, 1, 0, 0}));
  EXPECT_EQ(values(isclose(a, b, 0, 0, true)), (Numbers{0, 1, 1, 0}));
  EXPECT_FALSE(a.allclose(b));
  EXPECT_TRUE(tensor({1, 2}).allclose(tensor({1, 2})));
  EXPECT_THROW(isclose(a, tensor({1}, kFloat32)), Error);
  EXPECT_THROW(isclose(a, b, -1), Error);
}

TEST(Compare, equal_wants_the_same_sizes) {
  EXPECT_TRUE(tensor({1, 2}).equal(tensor({1.0, 2.0})));
  EXPECT_FALSE(tensor({1, 2}).equal(tensor({1, 2, 3})));
  EXPECT_FALSE(tensor({1, 2}).equal(tensor({{1, 2}})));
}

}  // namespace
}  // namespace fg
