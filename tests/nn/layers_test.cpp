// Layers: what they compute, how they begin, what they keep.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_of.h"

namespace fg {
namespace {

double number(const Tensor& x) { return x.item().to_double(); }

void expect_uniform(const Tensor& x, double bound) {
  EXPECT_LE(number(x.abs().max()), bound);
  EXPECT_GT(number(x.abs().max()), 0.95 * bound);
  EXPECT_NEAR(number(x.mean()), 0, 0.1 * bound);
  EXPECT_NEAR(number((x * x).mean()), bound * bound / 3, 0.1 * bound * bound);
}

TEST(Layers, BeginAsPyTorchsDo) {
  nn::Linear linear(400, 50);
  expect_uniform(linear->weight, 1 / std::sqrt(400.0));
  EXPECT_LE(number(linear->bias.abs().max()), 1 / std::sqrt(400.0));
  nn::Conv2d conv(16, 32, 3);
  expect_uniform(conv->weight, 1 / std::sqrt(16.0 * 9));
  nn::Embedding table(200, 50);
  EXPECT_NEAR(number(table->weight.mean()), 0, 0.05);
  EXPECT_NEAR(number((table->weight * table->weight).mean()), 1, 0.05);
  nn::LayerNorm norm(5);
  EXPECT_TRUE(equal(norm->weight, ones({5})) && equal(norm->bias, zeros({5})));
  nn::BatchNorm2d batch(5);
  EXPECT_TRUE(equal(batch->running_mean, zeros({5})) && equal(batch->running_var, ones({5})));
  Tensor filled = nn::init::xavier_uniform_(empty({300, 200}));
  expect_uniform(filled, std::sqrt(6.0 / 500));
  filled = nn::init::kaiming_normal_(empty({300, 200}));
  EXPECT_NEAR(number((filled * filled).mean()), 2.0 / 200, 0.001);
  EXPECT_HAS(error_of([] { nn::init::kaiming_uniform_(ones({3})); }), "fewer than 2 dimensions");
}

TEST(Layers, ComputeWhatTheirFunctionsDo) {
  Tensor x = randn({4, 3, 8, 8});
  nn::Conv2d conv(nn::Conv2dOptions(3, 6, {3}).stride({2}).padding({1}).groups(3).bias(false));
  EXPECT_TRUE(equal(conv(x), conv2d(x, conv->weight, {}, Dims{2, 2}, Dims{1, 1}, Dims{1, 1}, 3)));
  EXPECT_FALSE(conv->bias.defined());
  nn::LayerNorm norm(nn::LayerNormOptions({8, 8}).eps(1e-3).bias(false));
  EXPECT_TRUE(equal(norm(x), layer_norm(x, Dims{8, 8}, norm->weight, {}, 1e-3)));
  nn::Embedding table(nn::EmbeddingOptions(10, 4).padding_idx(-1));
  EXPECT_EQ(number(table->weight.select(0, 9).abs().sum()), 0);
  table(tensor({9, 1})).sum().backward();
  EXPECT_EQ(number(table->weight.grad().select(0, 9).abs().sum()), 0);
  EXPECT_EQ(number(table->weight.grad().select(0, 1).sum()), 4);
  EXPECT_TRUE(equal(nn::MaxPool2d(2)(x), max_pool2d(x, Dims{2})));
  EXPECT_TRUE(equal(nn::Flatten()(x), x.flatten(1)));
  EXPECT_TRUE(equal(nn::GELU("tanh")(x), gelu(x, "tanh")));
  EXPECT_TRUE(equal(nn::ReLU()(x), relu(x)) && equal(nn::SiLU()(x), silu(x)));
  EXPECT_TRUE(equal(nn::Sigmoid()(x), sigmoid(x)) && equal(nn::Softmax(1)(x), softmax(x, 1)));
  EXPECT_TRUE(equal(nn::Identity()(x), x));
}

TEST(Layers, DropoutWorksInTrainingOnly) {
  nn::Dropout dropout(0.5);
  Tensor x = ones({1000});
  double mean = number(dropout(x).mean());
  EXPECT_NEAR(mean, 1, 0.2);
  EXPECT_FALSE(equal(dropout(x), x));
  dropout->eval();
  EXPECT_TRUE(equal(dropout(x), x));
}

TEST(BatchNorm2d, KeepsStatisticsInTrainingAndUsesThemAfter) {
  Tensor x = randn({6, 3, 4, 4}) * 2 + 1;
  Tensor mean = x.mean(Dims{0, 2, 3}), var = x.var(Dims{0, 2, 3});
  nn::BatchNorm2d norm(3);
  norm(x);
  EXPECT_TRUE(allclose(norm->running_mean, mean * 0.1));
  EXPECT_TRUE(allclose(norm->running_var, var * 0.1 + 0.9));
  EXPECT_EQ(number(norm->num_batches_tracked), 1);
  norm->eval();
  Tensor y = norm(x);
  EXPECT_EQ(number(norm->num_batches_tracked), 1);
  EXPECT_TRUE(allclose(y, batch_norm(x, norm->running_mean, norm->running_var, norm->weight,
                                     norm->bias, false, 0.1, 1e-5)));
  nn::BatchNorm2d average(nn::BatchNorm2dOptions(3).momentum(std::nullopt));
  average(x);
  average(x * 3);
  EXPECT_TRUE(allclose(average->running_mean, mean * 2, 1e-4, 1e-5));
  nn::BatchNorm2d plain(nn::BatchNorm2dOptions(3).affine(false).track_running_stats(false));
  EXPECT_TRUE(plain->state_dict().is_empty());
  plain->eval();
  EXPECT_NEAR(number(plain(x).mean()), 0, 1e-5);
}

TEST(Layers, RefuseWhatPyTorchRefuses) {
  EXPECT_HAS(error_of([] { nn::Conv2d(nn::Conv2dOptions(3, 4, {3}).groups(2)); }),
             "must be divisible by groups: got 3 and 4 in 2 groups");
  EXPECT_HAS(error_of([] { nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(4)); }),
             "Padding_idx must be within num_embeddings: got 4");
  EXPECT_HAS(error_of([] { nn::Dropout(1.5); }), "between 0 and 1, but got 1.5");
  EXPECT_HAS(error_of([] { nn::BatchNorm2d(2)(ones({2, 2})); }), "expected 4D input (got 2D");
  EXPECT_HAS(error_of([] { nn::BatchNorm2d(2)(ones({1, 2, 1, 1})); }),
             "Expected more than 1 value per channel when training, got input size [1, 2, 1, 1]");
}

}  // namespace
}  // namespace fg
