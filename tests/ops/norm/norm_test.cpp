#include "ops/norm/norm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "autograd/node.h"
#include "base/error.h"
#include "ops/create/create.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_spread.h"

namespace fg {
namespace {

TEST(Norm, LayerNormGivesMeanZeroAndVarianceOne) {
  Tensor x = tensor({{1., 2., 3., 6.}, {0., 0., 0., 8.}}, kFloat64);
  Tensor y = layer_norm(x, {4}, {}, {}, 0);
  for (double value : mean(y, {1}).to_vector<double>()) EXPECT_NEAR(value, 0, 1e-12);
  for (double value : var(y, {1}, false).to_vector<double>()) EXPECT_NEAR(value, 1, 1e-12);
  EXPECT_THROW(layer_norm(x, {3}), Error);
  EXPECT_THROW(layer_norm(x, {4}, ones({3}, kFloat64)), Error);
}

TEST(Norm, BatchNormUpdatesTheRunningStatisticsInPlace) {
  Tensor x = tensor({{1., 10.}, {3., 10.}}, kFloat64);
  Tensor running_mean = zeros({2}, kFloat64), running_var = ones({2}, kFloat64);
  batch_norm(x, running_mean, running_var, {}, {}, true, 0.5, 1e-5);
  EXPECT_EQ(running_mean.to_vector<double>(), (std::vector<double>{1, 5}));
  EXPECT_EQ(running_var.to_vector<double>(), (std::vector<double>{1.5, 0.5}));
  Tensor y = batch_norm(x, running_mean, running_var, {}, {}, false, 0.5, 0);
  EXPECT_NEAR(y.to_vector<double>()[2], 2 / std::sqrt(1.5), 1e-12);
  EXPECT_EQ(running_mean.to_vector<double>(), (std::vector<double>{1, 5}));
}

TEST(Norm, BatchNormRefusesWhatCannotBeNormalised) {
  EXPECT_THROW(batch_norm(ones({1, 2}), {}, {}, {}, {}, true), Error);
  EXPECT_THROW(batch_norm(ones({3, 2}), {}, {}), Error);
  EXPECT_THROW(batch_norm(ones({3, 2}), zeros({3}), ones({2})), Error);
}

TEST(Norm, GroupNormNeedsADivisor) {
  EXPECT_THROW(group_norm(ones({2, 4}), 3), Error);
  EXPECT_EQ(group_norm(ones({2, 4, 3}), 2).sizes(), (Dims{2, 4, 3}));
}

TEST(Norm, EachRecordsOneNode) {
  Tensor x = ones({2, 4}).requires_grad_();
  EXPECT_EQ(layer_norm(x, {4}).grad_fn()->name(), "NativeLayerNormBackward0");
  EXPECT_EQ(group_norm(x, 2).grad_fn()->name(), "NativeGroupNormBackward0");
  EXPECT_EQ(batch_norm(x, {}, {}, {}, {}, true).grad_fn()->name(), "NativeBatchNormBackward0");
}

}  // namespace
}  // namespace fg
