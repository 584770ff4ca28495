#include "ops/norm/norm.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/norm/norm_kind.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using Three = std::tuple<Tensor, Tensor, Tensor>;

namespace {

// ---- layer_norm

void check_shape(const char* who, const char* what, const Tensor& parameter, const Dims& shape) {
  if (parameter.defined() && !(parameter.sizes() == shape)) {
    fail("{}: {} has sizes {}; expected {}", who, what, text(parameter.sizes()), text(shape));
  }
}

// The last dimensions, which must be those of normalized_shape.
Dims last_dims(const char* who, const Tensor& input, const Dims& shape) {
  size_t rank = input.sizes().size(), count = shape.size();
  if (count == 0) fail("{}: normalized_shape is empty; name at least one dimension", who);
  bool fits = rank >= count;
  Dims dim;
  for (size_t i = 0; fits && i < count; i++) {
    fits = input.sizes()[rank - count + i] == shape[i];
    dim.push_back(static_cast<int64_t>(rank - count + i));
  }
  if (!fits) {
    fail("{}: normalized_shape is {}, but the input has sizes {}; its last sizes must be equal",
         who, text(shape), text(input.sizes()));
  }
  return dim;
}
void check_float(const char* who, const Tensor& input) {
  if (!is_floating(input.dtype())) {
    fail("{}: {} is not supported; convert the input to a float", who, name(input.dtype()));
  }
}

Samples layer_norm_samples() {
  return {{{sample({2, 3}), Dims{3}, sample({3}), sample({3}), Scalar(1e-5)}},
          {{sample({2, 2, 3}), Dims{2, 3}, Value(), Value(), Scalar(1e-3)}, "no parameters"}};
}

// The statistics among the outputs have no gradient, so the checks are left to layer_norm.
Samples forward_only(Samples samples) {
  for (Sample& sample : samples) sample.check_gradient = false;
  return samples;
}

const auto native_layer_norm_entry =
    define(native_layer_norm, "layer_norm together with mean and 1 / sqrt(variance + eps).",
           [](const Tensor& input, const Dims& shape, const Tensor& weight, const Tensor& bias,
              double eps) {
             check_float("layer_norm", input);
             Dims dim = last_dims("layer_norm", input, shape);
             check_shape("layer_norm", "weight", weight, shape);
             check_shape("layer_norm", "bias", bias, shape);
             auto [y, mean, rstd] = ops::normalize(input, dim, weight, bias, eps);
             return Three(y, mean, rstd);
           })
        .shown(Shown::nowhere)
        .vjp("NativeLayerNormBackward0",
             wrt_all({0, 1, 2}, saves::in(0) | saves::in(1) | saves::out(1) | saves::out(2),
                     [](const Vjp& v, const Dims& shape, double eps) {
                       Tensor input = v.in(0);
                       return ops::norm_gradients(v, v.grad(), input, v.in(1),
                                                  last_dims("layer_norm", input, shape), eps);
                     }))
        .samples([] { return forward_only(layer_norm_samples()); });
const auto layer_norm_entry =
    define(
        layer_norm, "Normalises the last dimensions to mean 0 and variance 1.",
        [](const Tensor& input, const Dims& shape, const Tensor& weight, const Tensor& bias,
           double eps) { return std::get<0>(native_layer_norm(input, shape, weight, bias, eps)); })
        .samples(layer_norm_samples);

// ---- rms_norm: composite, as in PyTorch

const auto rms_norm_entry =
    define(rms_norm, "Divides by the root of the mean square over the last dimensions.",
           [](const Tensor& input, const Dims& shape, const Tensor& weight, OptFloat eps) {
             check_float("rms_norm", input);
             Dims dim = last_dims("rms_norm", input, shape);
             check_shape("rms_norm", "weight", weight, shape);
             bool half = is_half(input.dtype());
             double epsilon = eps.value_or(input.dtype() == kFloat64 ? 0x1p-52 : 0x1p-23);
             Tensor x = half ? to(input, kFloat32) : input;
             Tensor y = x * (mean(x.pow(2), dim, true) + epsilon).rsqrt();
             return to(weight.defined() ? y * weight : y, input.dtype());
           })
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{3}, sample({3})}},
                         {{sample({2, 3}), Dims{3}, Value(), Scalar(0.1)}, "no weight"}};
        });

// ---- group_norm

// (N, C, ...) as (N, groups, C / groups, rest): the last two are normalised.
struct Groups {
  Dims sizes, dim{2, 3};
  Dims parameter;  // of weight and bias

  Groups(const Tensor& input, int64_t groups) {
    Dim channels = input.sizes()[1], rest = 1;
    for (size_t i = 2; i < input.sizes().size(); i++) rest *= input.sizes()[i];
    sizes = {input.sizes()[0], groups, channels / groups, rest};
    parameter = {1, groups, channels / groups, 1};
  }
  Tensor spread(const Tensor& tensor) const {
    return tensor.defined() ? reshape(tensor, parameter) : tensor;
  }
};

void check_groups(const Tensor& input, int64_t groups, const Tensor& weight, const Tensor& bias) {
  check_float("group_norm", input);
  if (input.dim() < 2) {
    fail("group_norm: the input has sizes {}; expected at least two dimensions",
         text(input.sizes()));
  }
  if (groups <= 0) fail("group_norm: num_groups is {}; it must be positive", groups);
  Dim channels = input.sizes()[1];
  if (!(channels % groups == 0)) {
    fail("group_norm: {} channels cannot be split into {} groups; num_groups must divide them",
         channels.text(), groups);
  }
  check_shape("group_norm", "weight", weight, {channels});
  check_shape("group_norm", "bias", bias, {channels});
}

const auto native_group_norm_entry =
    define(native_group_norm, "group_norm together with mean and 1 / sqrt(variance + eps).",
           [](const Tensor& input, const Tensor& weight, const Tensor& bias, int64_t group,
              double eps) {
             check_groups(input, group, weight, bias);
             Groups g(input, group);
             auto [xhat, mean, rstd] = ops::normalize(reshape(input, g.sizes), g.dim, {}, {}, eps);
             Tensor y = xhat;
             if (weight.defined()) y = y * g.spread(weight);
             if (bias.defined()) y = y + g.spread(bias);
             return Three(to(reshape(y, input.sizes()), input.dtype()), mean, rstd);
           })
        .shown(Shown::nowhere)
        .vjp("NativeGroupNormBackward0",
             wrt_all({0, 1, 2}, saves::in(0) | saves::in(1) | saves::out(1) | saves::out(2),
                     [](const Vjp& v, int64_t group, double eps) {
                       Tensor input = v.in(0);
                       Groups g(input, group);
                       Tensors grads = ops::norm_gradients(v, reshape(v.grad(), g.sizes),
                                                           reshape(input, g.sizes),
                                                           g.spread(v.in(1)), g.dim, eps);
                       Dims channels{input.sizes()[1]};
                       auto per_channel = [&](const Tensor& part) {
                         return reshape(sum(part, Dims{0, 3}), channels);
                       };
                       return Tensors{reshape(grads[0], input.sizes()),
                                      v.needs(1) ? per_channel(grads[1]) : Tensor(),
                                      v.needs(2) ? per_channel(grads[2]) : Tensor()};
                     }))
        .samples([] {
          return Samples{
              {{sample({2, 4, 3}), sample({4}), sample({4}), Scalar(2), Scalar(1e-5)}, "", false}};
        });
const auto group_norm_entry =
    define(
        group_norm, "Normalises groups of channels to mean 0 and variance 1.",
        [](const Tensor& input, int64_t groups, const Tensor& weight, const Tensor& bias,
           double eps) { return std::get<0>(native_group_norm(input, weight, bias, groups, eps)); })
        .samples([] {
          return Samples{{{sample({2, 4, 3}), Scalar(2), sample({4}), sample({4})}},
                         {{sample({2, 4}), Scalar(2)}, "no parameters"}};
        });

}  // namespace
}  // namespace fg
