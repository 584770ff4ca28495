#include "nn/layers.h"

#include "base/fail.h"
#include "nn/init.h"
#include "ops/convolution/convolution.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/index/index.h"
#include "ops/matmul/matmul.h"
#include "ops/norm/norm.h"
#include "ops/view/views.h"

namespace fg::nn {

namespace {

// A value for both spatial dimensions stands for two.
Dims both(const Dims& sizes) { return sizes.size() == 1 ? Dims{sizes[0], sizes[0]} : sizes; }

Tensor made(bool wanted, const Dims& sizes) { return wanted ? empty(sizes) : Tensor(); }

void fill(const Tensor& weight, const Tensor& bias) {
  if (weight.defined()) init::ones_(weight);
  if (bias.defined()) init::zeros_(bias);
}

}  // namespace

LinearImpl::LinearImpl(const LinearOptions& options) : options(options) {
  weight = register_parameter("weight", empty({options.out_features(), options.in_features()}));
  bias = register_parameter("bias", made(options.bias(), {options.out_features()}));
  reset_parameters();
}

void LinearImpl::reset_parameters() { init::fill_affine(weight, bias); }

Tensor LinearImpl::forward(const Tensor& input) const { return linear(input, weight, bias); }

EmbeddingImpl::EmbeddingImpl(const EmbeddingOptions& given) : options(given) {
  int64_t rows = options.num_embeddings();
  if (OptInt row = options.padding_idx()) {
    if (*row < -rows || *row >= rows) {
      fail(ErrorKind::value,
           "Embedding: Padding_idx must be within num_embeddings: got {}, expected -{} to {}", *row,
           rows, rows - 1);
    }
    options.padding_idx(*row < 0 ? *row + rows : *row);
  }
  weight = register_parameter("weight", empty({rows, options.embedding_dim()}));
  reset_parameters();
}

void EmbeddingImpl::reset_parameters() {
  init::normal_(weight);
  if (!options.padding_idx()) return;
  NoGradGuard no_grad;
  weight.select(0, *options.padding_idx()).zero_();
}

Tensor EmbeddingImpl::forward(const Tensor& indices) const {
  return embedding(weight, indices, options.padding_idx().value_or(-1));
}

LayerNormImpl::LayerNormImpl(const LayerNormOptions& options) : options(options) {
  bool affine = options.elementwise_affine();
  weight = register_parameter("weight", made(affine, options.normalized_shape()));
  bias = register_parameter("bias", made(affine && options.bias(), options.normalized_shape()));
  reset_parameters();
}

void LayerNormImpl::reset_parameters() { fill(weight, bias); }

Tensor LayerNormImpl::forward(const Tensor& input) const {
  return layer_norm(input, options.normalized_shape(), weight, bias, options.eps());
}

Conv2dImpl::Conv2dImpl(const Conv2dOptions& given) : options(given) {
  int64_t groups = options.groups();
  if (groups <= 0 || options.in_channels() % groups != 0 || options.out_channels() % groups != 0) {
    fail(ErrorKind::value,
         "Conv2d: in_channels and out_channels must be divisible by groups: got {} and {} in {} "
         "groups",
         options.in_channels(), options.out_channels(), groups);
  }
  options.kernel_size(both(options.kernel_size())).stride(both(options.stride()));
  options.padding(both(options.padding())).dilation(both(options.dilation()));
  const Dims& kernel = options.kernel_size();
  weight = register_parameter(
      "weight",
      empty({options.out_channels(), options.in_channels() / groups, kernel[0], kernel[1]}));
  bias = register_parameter("bias", made(options.bias(), {options.out_channels()}));
  reset_parameters();
}

void Conv2dImpl::reset_parameters() { init::fill_affine(weight, bias); }

Tensor Conv2dImpl::forward(const Tensor& input) const {
  return conv2d(input, weight, bias, options.stride(), options.padding(), options.dilation(),
                options.groups());
}

BatchNorm2dImpl::BatchNorm2dImpl(const BatchNorm2dOptions& options) : options(options) {
  Dims sizes{options.num_features()};
  weight = register_parameter("weight", made(options.affine(), sizes));
  bias = register_parameter("bias", made(options.affine(), sizes));
  bool tracks = options.track_running_stats();
  running_mean = register_buffer("running_mean", made(tracks, sizes));
  running_var = register_buffer("running_var", made(tracks, sizes));
  num_batches_tracked =
      register_buffer("num_batches_tracked", tracks ? zeros({}, kInt64) : Tensor());
  reset_parameters();
}

void BatchNorm2dImpl::reset_running_stats() {
  if (!options.track_running_stats()) return;
  running_mean.zero_();
  running_var.fill_(1);
  num_batches_tracked.zero_();
}

void BatchNorm2dImpl::reset_parameters() {
  reset_running_stats();
  fill(weight, bias);
}

double BatchNorm2dImpl::average_factor() const {
  if (!is_training() || !options.track_running_stats()) return options.momentum().value_or(0);
  num_batches_tracked.add_(1);
  if (options.momentum()) return *options.momentum();
  return 1 / num_batches_tracked.item().to_double();
}

Tensor BatchNorm2dImpl::forward(const Tensor& input) const {
  if (input.dim() != 4) {
    fail(ErrorKind::value, "BatchNorm2d: expected 4D input (got {}D input)", input.dim());
  }
  double factor = average_factor();
  bool of_batch = is_training() || !running_mean.defined();
  if (of_batch && input.numel() == input.size(1)) {
    fail(ErrorKind::value,
         "BatchNorm2d: Expected more than 1 value per channel when training, got input size {}",
         text(input.sizes()));
  }
  return batch_norm(input, running_mean, running_var, weight, bias, of_batch, factor,
                    options.eps());
}

}  // namespace fg::nn
