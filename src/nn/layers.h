// Modules with parameters: Linear, Embedding, LayerNorm, Conv2d, BatchNorm2d. PyTorch's names,
// defaults and first values; options as in libtorch.
#pragma once

#include "nn/module.h"

namespace fg::nn {

class LinearOptions {
 public:
  LinearOptions(int64_t in, int64_t out) : in_features_{in}, out_features_{out} {}
  FG_OPTION(int64_t, in_features);
  FG_OPTION(int64_t, out_features);
  FG_OPTION(bool, bias, true);
};

struct LinearImpl : Module {
  LinearImpl(int64_t in, int64_t out) : LinearImpl(LinearOptions(in, out)) {}
  explicit LinearImpl(const LinearOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& input) const;

  LinearOptions options;
  Tensor weight, bias;
};
FG_MODULE(Linear);

class EmbeddingOptions {
 public:
  EmbeddingOptions(int64_t num, int64_t dim) : num_embeddings_{num}, embedding_dim_{dim} {}
  FG_OPTION(int64_t, num_embeddings);
  FG_OPTION(int64_t, embedding_dim);
  FG_OPTION(OptInt, padding_idx);
};

struct EmbeddingImpl : Module {
  EmbeddingImpl(int64_t num, int64_t dim) : EmbeddingImpl(EmbeddingOptions(num, dim)) {}
  explicit EmbeddingImpl(const EmbeddingOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& indices) const;

  EmbeddingOptions options;
  Tensor weight;
};
FG_MODULE(Embedding);

class LayerNormOptions {
 public:
  LayerNormOptions(Dims shape) : normalized_shape_{std::move(shape)} {}             // NOLINT
  LayerNormOptions(std::initializer_list<Dim> shape) : normalized_shape_{shape} {}  // NOLINT
  FG_OPTION(Dims, normalized_shape);
  FG_OPTION(double, eps, 1e-5);
  FG_OPTION(bool, elementwise_affine, true);
  FG_OPTION(bool, bias, true);
};

struct LayerNormImpl : Module {
  explicit LayerNormImpl(const LayerNormOptions& options);
  explicit LayerNormImpl(const Dims& shape) : LayerNormImpl(LayerNormOptions(shape)) {}
  void reset_parameters();
  Tensor forward(const Tensor& input) const;

  LayerNormOptions options;
  Tensor weight, bias;
};
FG_MODULE(LayerNorm);

class Conv2dOptions {
 public:
  Conv2dOptions(int64_t in, int64_t out, Dims kernel)
      : in_channels_{in}, out_channels_{out}, kernel_size_{std::move(kernel)} {}
  FG_OPTION(int64_t, in_channels);
  FG_OPTION(int64_t, out_channels);
  FG_OPTION(Dims, kernel_size);
  FG_OPTION(Dims, stride, Dims{1});
  FG_OPTION(Dims, padding, Dims{0});
  FG_OPTION(Dims, dilation, Dims{1});
  FG_OPTION(int64_t, groups, 1);
  FG_OPTION(bool, bias, true);
};

struct Conv2dImpl : Module {
  Conv2dImpl(int64_t in, int64_t out, int64_t kernel)
      : Conv2dImpl(Conv2dOptions(in, out, Dims{kernel})) {}
  explicit Conv2dImpl(const Conv2dOptions& options);
  void reset_parameters();
  Tensor forward(const Tensor& input) const;

  Conv2dOptions options;
  Tensor weight, bias;
};
FG_MODULE(Conv2d);

class BatchNorm2dOptions {
 public:
  BatchNorm2dOptions(int64_t features) : num_features_{features} {}  // NOLINT
  FG_OPTION(int64_t, num_features);
  FG_OPTION(double, eps, 1e-5);
  FG_OPTION(OptFloat, momentum, 0.1);  // none: all batches count alike
  FG_OPTION(bool, affine, true);
  FG_OPTION(bool, track_running_stats, true);
};

struct BatchNorm2dImpl : Module {
  explicit BatchNorm2dImpl(const BatchNorm2dOptions& options);
  void reset_running_stats();
  void reset_parameters();
  Tensor forward(const Tensor& input) const;

  BatchNorm2dOptions options;
  Tensor weight, bias, running_mean, running_var, num_batches_tracked;

 private:
  double average_factor() const;
};
FG_MODULE(BatchNorm2d);

}  // namespace fg::nn
