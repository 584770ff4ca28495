// Losses: reductions, node names, special targets and errors as in PyTorch.
#include "ops/loss.h"

#include <cmath>

#include "ops/dropout.h"
#include "ops/reduce.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Loss, reductions_are_none_mean_and_sum) {
  Tensor x = doubles({1, 2}), y = doubles({0, 4});
  EXPECT_EQ(values(mse_loss(x, y, "none")), (Numbers{1, 4}));
  EXPECT_EQ(mse_loss(x, y).item<double>(), 2.5);
  EXPECT_EQ(mse_loss(x, y, "sum").item<double>(), 5);
  EXPECT_EQ(error_of([&] { mse_loss(x, y, "max"); }),
            "mse_loss: 'max' is not a valid value for reduction; use 'none', 'mean' or 'sum'");
}

TEST(Loss, each_is_the_node_of_pytorch) {
  Tensor x = doubles({0.2, 0.7}).requires_grad_(), y = doubles({0, 1});
  EXPECT_EQ(node_of(mse_loss(x, y)), "MseLossBackward0");
  EXPECT_EQ(node_of(smooth_l1_loss(x, y)), "SmoothL1LossBackward0");
  EXPECT_EQ(node_of(huber_loss(x, y)), "HuberLossBackward0");
  EXPECT_EQ(node_of(binary_cross_entropy(x, y)), "BinaryCrossEntropyBackward0");
  EXPECT_EQ(node_of(binary_cross_entropy_with_logits(x, y)),
            "BinaryCrossEntropyWithLogitsBackward0");
  EXPECT_EQ(node_of(l1_loss(x, y)), "MeanBackward0");
  EXPECT_EQ(node_of(nll_loss(x, tensor(1))), "NllLossBackward0");
}

TEST(Loss, l1_has_no_slope_where_both_are_equal) {
  Tensor x = doubles({0.5, 1}).requires_grad_();
  l1_loss(x, doubles({1, 1}), "sum").backward();
  EXPECT_EQ(values(x.grad()), (Numbers{-1, 0}));
  EXPECT_EQ(smooth_l1_loss(doubles({1, 0}), doubles({1, 1}), "mean", 0).item<double>(), 0.5);
}

TEST(Loss, certain_probabilities_are_limited) {
  Tensor x = doubles({1, 0}), y = doubles({1, 1});
  EXPECT_EQ(values(binary_cross_entropy(x, y, {}, "none")), (Numbers{0, 100}));
  EXPECT_THROW(binary_cross_entropy(doubles({1.5}), doubles({1})), Error);
  EXPECT_THROW(binary_cross_entropy(x, doubles({1})), Error);
  Tensor weight = doubles({1, 2}).requires_grad_();
  EXPECT_EQ(error_of([&] { binary_cross_entropy(doubles({0.5, 0.5}), y, weight).backward(); }),
            "binary_cross_entropy is not differentiable with respect to weight; detach it");
}

TEST(Loss, ignored_targets_count_for_nothing) {
  Tensor x = tensor({{0.0, 1.0}, {2.0, 0.0}, {1.0, 1.0}}, kFloat64).requires_grad_();
  Tensor target = tensor({1, -100, 0});
  Tensor loss = cross_entropy(x, target);
  double first = std::log1p(std::exp(-1.0)), third = std::log(2.0);
  EXPECT_NEAR(loss.item<double>(), (first + third) / 2, 1e-15);
  loss.backward();
  Numbers grad = values(x.grad());
  EXPECT_EQ(grad[2], 0);
  EXPECT_EQ(grad[3], 0);
  EXPECT_NEAR(grad[5], 0.25, 1e-15);
  EXPECT_TRUE(std::isnan(nll_loss(x, tensor({-100, -100, -100})).item<double>()));
}

TEST(Loss, targets_out_of_range_are_errors) {
  Tensor x = tensor({{0.0, 1.0}});
  EXPECT_EQ(error_of([&] { nll_loss(x, tensor({2})); }),
            "nll_loss: target 2 is out of bounds for 2 classes");
  EXPECT_EQ(error_of([&] { nll_loss(x, tensor({1.0})); }),
            "nll_loss: the target is float32; expected class indices of dtype int64");
  EXPECT_THROW(nll_loss(x, tensor({0, 1})), Error);
  EXPECT_THROW(nll_loss(x, tensor({0}), tensor({1.0, 1.0, 1.0})), Error);
  EXPECT_THROW(cross_entropy(x, tensor({0}), {}, -100, "mean", 2), Error);
}

TEST(Loss, dropout_keeps_the_mean_and_its_own_mask_in_backward) {
  Tensor x = tensor(std::vector<double>(10000, 1.0)).requires_grad_();
  Tensor y = dropout(x, 0.25);
  EXPECT_NEAR(sum(y).item<double>(), 10000, 300);
  sum(y).backward();
  EXPECT_TRUE(x.grad().equal(y.detach()));
  EXPECT_TRUE(dropout(x, 0.5, false).is_same(x));
  EXPECT_THROW(dropout(x, 2), Error);
}

TEST(Loss, ignored_samples_get_no_gradient_even_if_all_are_ignored) {
  Tensor x = counted({2, 3}).requires_grad_();
  Tensor loss = cross_entropy(x, tensor({-100, -100}));
  EXPECT_TRUE(std::isnan(loss.item<double>()));
  loss.backward();
  EXPECT_EQ(values(x.grad()), Numbers(6, 0));
}

}  // namespace
}  // namespace fg
