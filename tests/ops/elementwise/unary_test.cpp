// Functions of one operand: dtypes, special points and errors as in PyTorch.
#include "ops/elementwise/unary.h"

#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

constexpr double kInf = INFINITY;
TEST(Unary, integers_become_the_default_float_where_results_are_not_whole) {
  EXPECT_EQ(exp(tensor({1})).dtype(), kFloat32);
  EXPECT_EQ(sqrt(tensor({true})).dtype(), kFloat32);
  EXPECT_EQ(floor(tensor({1})).dtype(), kInt64);
  EXPECT_EQ(abs(tensor({-1}, kInt8)).dtype(), kInt8);
  EXPECT_EQ(sign(tensor({true})).dtype(), kBool);
  EXPECT_EQ(isnan(tensor({1})).dtype(), kBool);
  EXPECT_EQ(tanh(tensor({1.}, kBFloat16)).dtype(), kBFloat16);
}

TEST(Unary, what_a_dtype_has_not_is_an_error) {
  EXPECT_THROW(abs(tensor({true})), Error);
  EXPECT_THROW(frac(tensor({1})), Error);
  EXPECT_THROW(positive(tensor({true})), Error);
  EXPECT_THROW(sqrt_(tensor({4})), Error);
}

TEST(Unary, rounding_takes_ties_to_even_and_decimals) {
  EXPECT_EQ(values(round(doubles({0.5, 1.5, -2.5}))), (Numbers{0, 2, -2}));
  EXPECT_EQ(values(round(doubles({1.234, -5.678}), 1)), (Numbers{1.2, -5.7}));
  EXPECT_EQ(values(round(doubles({1234, 25}), -2)), (Numbers{1200, 0}));
  EXPECT_THROW(round(tensor({1234}), -2), Error);
}

TEST(Unary, tests_know_infinity_and_nan) {
  Tensor x = doubles({1, kInf, -kInf, NAN});
  EXPECT_EQ(values(isnan(x)), (Numbers{0, 0, 0, 1}));
  EXPECT_EQ(values(isinf(x)), (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(values(isfinite(x)), (Numbers{1, 0, 0, 0}));
  EXPECT_EQ(values(isfinite(tensor({5}))), (Numbers{1}));
  EXPECT_EQ(values(nan_to_num(x, 7, 8)), (Numbers{1, 8, -std::numeric_limits<double>::max(), 7}));
}

TEST(Unary, gradients_at_special_points_are_those_of_pytorch) {
  EXPECT_EQ(gradient(abs, {0, -0.0, 1, NAN}), (Numbers{0, 0, 1, 0}));
  EXPECT_EQ(gradient(sqrt, {0}), (Numbers{kInf}));
  EXPECT_EQ(gradient(sign, {0.5}), (Numbers{0}));
  EXPECT_EQ(gradient(frac, {0.5}), (Numbers{1}));
  EXPECT_EQ(gradient(floor, {0.5}), (Numbers{0}));
  Numbers edges = gradient([](const Tensor& x) { return logit(x); }, {0, 1, 2, 0.5});
  EXPECT_EQ(edges[0], kInf);
  EXPECT_TRUE(std::isnan(edges[2]));
  EXPECT_EQ(edges[3], 4);
  EXPECT_EQ(gradient([](const Tensor& x) { return logit(x, 0.1); }, {0, 2, 0.5}),
            (Numbers{0, 0, 4}));
}

TEST(Unary, in_place_forms_keep_the_history) {
  Tensor x = doubles({4, 9}).requires_grad_(), y = x * 1;
  y.sqrt_();
  EXPECT_EQ(y.grad_fn()->name(), "SqrtBackward0");
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), (Numbers{1 / 4.0, 1 / 6.0}));
  Tensor z = x * 1;
  z.sqrt_().exp_();  // overwrites what the gradient of sqrt needs
  EXPECT_THROW(sum(z).backward(), Error);
}

}  // namespace
}  // namespace fg
