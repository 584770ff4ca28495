// Losses: reductions, node names, special targets and errors as in PyTorch.
#include "ops/loss/loss.h"

#include <cmath>

#include "ops/random/dropout.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"
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
  Tensor weight = doubles({1, 2}).requires_grad_();
  EXPECT_EQ(error_of([&] { binary_cross_entropy(doubles({0.5, 0.5}), y, weight).backward(); }),
            "binary_cross_entropy is not differentiable with respect to weight; detach it");
}

// The lines of libtorch's programs: a net with one output gives [n, 1], the labels are [n].
TEST(Loss, binary_targets_may_lack_sizes_of_one) {
  Tensor x = doubles({0.2, 0.7, 0.4}).requires_grad_(), y = doubles({0, 1, 1}).requires_grad_();
  binary_cross_entropy(x, y).backward();
  Tensor column = x.detach().view({3, 1}).requires_grad_(), labels = y.detach().requires_grad_();
  Tensor loss = binary_cross_entropy(column, labels);
  EXPECT_EQ(loss.item<double>(), binary_cross_entropy(x, y).item<double>());
  loss.backward();
  EXPECT_EQ(column.grad().sizes(), (Dims{3, 1}));
  EXPECT_EQ(values(column.grad()), values(x.grad()));
  EXPECT_EQ(values(labels.grad()), values(y.grad()));
  EXPECT_EQ(binary_cross_entropy(column, labels, {}, "none").sizes(), (Dims{3, 1}));
  EXPECT_EQ(binary_cross_entropy(x, labels.detach().view({1, 3, 1}), {}, "none").sizes(), Dims{3});
}

TEST(Loss, binary_targets_broadcast_to_the_input) {
  Tensor x = tensor({{0.2, 0.7}, {0.4, 0.9}}, kFloat64), y = doubles({0, 1}).requires_grad_();
  Tensor all = expand(y.detach(), {2, 2}).contiguous().requires_grad_();
  Tensor loss = binary_cross_entropy(x, y);
  EXPECT_EQ(loss.item<double>(), binary_cross_entropy(x, all).item<double>());
  loss.backward();
  binary_cross_entropy(x, all).backward();
  EXPECT_EQ(values(y.grad()), values(sum(all.grad(), {0})));
  EXPECT_EQ(error_of([&] { binary_cross_entropy(x, doubles({0, 1, 1})); }),
            "binary_cross_entropy: the target has sizes [3] but the input has sizes [2, 2]; "
            "without sizes of one they must broadcast to those of the input");
  EXPECT_THROW(binary_cross_entropy(doubles({0.5}), y), Error);
}

TEST(Loss, logits_broadcast_to_the_targets_only) {
  Tensor x = doubles({0.5}).requires_grad_(), y = doubles({0, 1, 1});
  Tensor loss = binary_cross_entropy_with_logits(x, y);
  Tensor all = expand(x.detach(), {3}).contiguous().requires_grad_();
  EXPECT_EQ(loss.item<double>(), binary_cross_entropy_with_logits(all, y).item<double>());
  loss.backward();
  binary_cross_entropy_with_logits(all, y).backward();
  EXPECT_NEAR(x.grad().item<double>(), sum(all.grad()).item<double>(), 1e-15);
  EXPECT_EQ(error_of([&] { binary_cross_entropy_with_logits(y.view({3, 1}), y); }),
            "binary_cross_entropy_with_logits: the target has sizes [3] but the input has sizes "
            "[3, 1]; the input must broadcast to those of the target");
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
