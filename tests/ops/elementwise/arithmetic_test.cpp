// Arithmetic: dtypes, numbers, errors and special points as in PyTorch.
#include "ops/elementwise/arithmetic.h"

#include <cmath>

#include "ops/reduce/reduce.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

constexpr double kInf = INFINITY;
TEST(Arithmetic, numbers_are_weak_in_promotion) {
  EXPECT_EQ((tensor({1, 2}) + 1).dtype(), kInt64);
  EXPECT_EQ((tensor({1, 2}) + 1.5).dtype(), kFloat32);
  EXPECT_EQ((tensor({1, 2}, kFloat16) * 2.5).dtype(), kFloat16);
  EXPECT_EQ((tensor({1, 2}) / 2).dtype(), kFloat32);
  EXPECT_EQ((tensor({true}) + true).dtype(), kBool);
  EXPECT_EQ(values(tensor({1, 2}, kUInt8) + 300), (Numbers{45, 46}));
}

TEST(Arithmetic, mixed_layouts_and_dtypes_give_the_same_numbers) {
  Tensor a = doubles({1, 2, 3, 4, 5, 6}).view({2, 3}), b = tensor({10, 20}).view({2, 1});
  EXPECT_EQ(values(a.t() + b.t()), (Numbers{11, 24, 12, 25, 13, 26}));
  EXPECT_EQ(values(a - b), (Numbers{-9, -8, -7, -16, -15, -14}));
}

TEST(Arithmetic, alpha_scales_the_other_operand) {
  EXPECT_EQ(values(add(tensor({1, 2}), tensor({3, 4}), 2)), (Numbers{7, 10}));
  EXPECT_EQ(values(rsub(tensor({1., 2.}), 3, 2)), (Numbers{1, -1}));
  EXPECT_EQ(error_of([] { add(tensor({1}), tensor({1}), 1.5); }),
            "add: alpha is 1.5 but the result is int64; for integral tensors alpha must be an "
            "integer");
  EXPECT_EQ(
      error_of([] { sub(tensor({true}), tensor({true})); }),
      "sub: bool cannot be subtracted from bool; use logical_xor or logical_not, or convert the "
      "bools");
}

TEST(Arithmetic, rounded_division_is_that_of_python_and_c) {
  Tensor a = tensor({7, -7}), b = tensor({2, 2});
  EXPECT_EQ(values(div(a, b, "floor")), (Numbers{3, -4}));
  EXPECT_EQ(values(div(a, b, "trunc")), (Numbers{3, -3}));
  EXPECT_EQ(values(a % b), (Numbers{1, 1}));
  EXPECT_EQ(values(fmod(a, b)), (Numbers{1, -1}));
  EXPECT_EQ(values(div(doubles({1, -1}), 0, "floor")), (Numbers{kInf, -kInf}));
  EXPECT_EQ(error_of([&] { remainder(a, 0); }),
            "remainder: integer division by zero (ZeroDivisionError); use a floating dtype for "
            "infinities");
  EXPECT_EQ(error_of([&] { div(a, b, "up"); }),
            "div: rounding_mode 'up' is not known; use None, 'trunc' or 'floor'");
}

TEST(Arithmetic, integer_powers_are_exact_and_wrap) {
  EXPECT_EQ(values(pow(tensor({2, -1, 0, 3}), tensor({10, -3, 0, -1}))), (Numbers{1024, -1, 1, 0}));
  EXPECT_EQ(values(pow(tensor({2, 3}, kUInt8), 10)), (Numbers{0, 169}));
  EXPECT_EQ(values(pow(2, tensor({3, -1}))), (Numbers{8, 0}));
  EXPECT_EQ(error_of([] { pow(tensor({2}), -1); }),
            "pow: integers to negative integer powers are not allowed: got int64 to the power -1; "
            "convert the base to a floating dtype");
}

TEST(Arithmetic, powers_have_pytorchs_gradients_at_zero) {
  Tensor base = leaf({0, 0, 2, 0, 0}), exponent = leaf({0, 1, 0, 2, -1});
  sum(pow(base, exponent)).backward();
  EXPECT_EQ(values(base.grad()), (Numbers{0, 1, 0, 0, -kInf}));
  Numbers slopes = values(exponent.grad());
  EXPECT_EQ(slopes[0], 0);
  EXPECT_DOUBLE_EQ(slopes[2], std::log(2.0));
  EXPECT_EQ(slopes[4], -kInf);
  Tensor x = leaf({0, NAN, 2});
  sum(pow(x, 0)).backward();
  EXPECT_EQ(values(x.grad()), (Numbers{0, 0, 0}));
}

TEST(Arithmetic, nodes_have_the_names_of_pytorch) {
  Tensor x = leaf({1, 2}), y = leaf({3, 4});
  EXPECT_EQ(node_of(x + 1), "AddBackward0");
  EXPECT_EQ(node_of(pow(x, 2)), "PowBackward0");
  EXPECT_EQ(node_of(pow(x, y)), "PowBackward1");
  EXPECT_EQ(node_of(pow(2, x)), "PowBackward2");
  EXPECT_EQ(node_of(div(x, y, "floor")), "DivBackward2");
  EXPECT_EQ(node_of(remainder(x, 2)), "RemainderBackward0");
  EXPECT_EQ(node_of(remainder(x, y)), "RemainderBackward1");
  EXPECT_EQ(node_of(rsub(x, 2)), "RsubBackward1");
  EXPECT_EQ(node_of(square(x)), "PowBackward0");
}

TEST(Arithmetic, in_place_powers_differentiate_the_value_from_before) {
  Tensor x = leaf({2, 3}), y = x * 1;
  y.pow_(3);
  y /= 2;
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), (Numbers{6, 13.5}));
  EXPECT_EQ(error_of([] { tensor({1, 2}).add_(1.5); }),
            "add_: the result is float32 and can't be cast to the int64 of the tensor it is "
            "written to; use the out-of-place add");
}

TEST(Arithmetic, addcdiv_refuses_integer_division) {
  Tensor i = tensor({1, 2});
  EXPECT_EQ(error_of([&] { addcdiv(i, i, i); }),
            "addcdiv: int64 / int64 is an integer division; convert one of them to a floating "
            "dtype");
  EXPECT_EQ(values(addcmul(i, i, i, 2)), (Numbers{3, 10}));
}

TEST(Arithmetic, hypot_of_nan_is_nan) {
  for (double other : {0.0, 1.0}) {
    EXPECT_TRUE(std::isnan(hypot(doubles({other}), doubles({NAN})).item<double>()));
    EXPECT_TRUE(std::isnan(hypot(doubles({NAN}), doubles({other})).item<double>()));
  }
}

TEST(Arithmetic, nothing_may_be_divided_by_zero) {
  EXPECT_EQ(div(tensor(std::vector<int64_t>{}), tensor({0}), "floor").numel(), 0);
}

TEST(Arithmetic, hypot_neither_overflows_nor_vanishes) {
  EXPECT_EQ(values(hypot(doubles({3e300, 0, kInf, 3e-320}), doubles({4e300, 0, NAN, 0}))),
            (Numbers{5e300, 0, kInf, 3e-320}));
}

}  // namespace
}  // namespace fg
