// batch_norm: statistics per channel over the batch, or the running ones.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/norm/norm.h"
#include "ops/norm/norm_kind.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kernel.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using Three = std::tuple<Tensor, Tensor, Tensor>;

namespace {

// Every dimension but the channels.
Dims batch_dims(const Tensor& input) {
  Dims dim;
  for (int64_t i = 0; i < input.dim(); i++) {
    if (i != 1) dim.push_back(i);
  }
  return dim;
}
// A value per channel, so that it broadcasts with the input.
Tensor per_channel(const Tensor& tensor, const Tensor& input) {
  if (!tensor.defined()) return tensor;
  Dims sizes(input.sizes().size(), 1);
  sizes[1] = input.sizes()[1];
  return reshape(tensor, sizes);
}

void check_batch_norm(const Tensor& input, const Tensors& parameters, bool training) {
  constexpr const char* kNames[] = {"weight", "bias", "running_mean", "running_var"};
  if (!is_floating(input.dtype())) {
    fail(ErrorKind::not_implemented,
         "batch_norm: {} is not supported; convert the input to a float", name(input.dtype()));
  }
  if (input.dim() < 2) {
    fail("batch_norm: the input has sizes {}; expected at least two dimensions",
         text(input.sizes()));
  }
  Dims channels{input.sizes()[1]};
  for (size_t i = 0; i < parameters.size(); i++) {
    if (parameters[i].defined() && !(parameters[i].sizes() == channels)) {
      fail("batch_norm: {} has sizes {}; expected {}, one value per channel", kNames[i],
           text(parameters[i].sizes()), text(channels));
    }
  }
  if (!training && !(parameters[2].defined() && parameters[3].defined())) {
    fail("batch_norm: running_mean and running_var are needed unless training is true");
  }
  Dim count = ops::reduced_count(input.sizes(), batch_dims(input), "batch_norm");
  if (training && count == 1) {
    fail(ErrorKind::value,
         "batch_norm: the input has sizes {}, one value per channel; training needs more",
         text(input.sizes()));
  }
}

// running = (1 - momentum) * running + momentum * now, written in place.
void update_running(const Tensor& running, const Tensor& now, double momentum) {
  if (!running.defined()) return;
  Tensor value = reshape(now, running.sizes());
  running.copy_(running * (1 - momentum) + to(value, running.dtype()) * momentum);
}

Three in_training(const Tensor& input, const Tensor& weight, const Tensor& bias,
                  const Tensor& running_mean, const Tensor& running_var, double momentum,
                  double eps) {
  Dims dim = batch_dims(input);
  auto [y, mean, rstd] =
      ops::normalize(input, dim, per_channel(weight, input), per_channel(bias, input), eps);
  update_running(running_mean, mean, momentum);
  if (running_var.defined()) {
    // 1 / rstd^2 - eps loses digits, so the variance is computed again.
    Tensor rest = to(input, mean.dtype()) - mean;
    Dim count = ops::reduced_count(input.sizes(), dim, "batch_norm");
    update_running(running_var, ops::sum_over(rest * rest, dim, true) / ops::number_of(count, 1),
                   momentum);
  }
  return {y, mean, rstd};
}

Tensors evaluation_gradients(const Vjp& v, const Tensor& input, const Tensor& weight) {
  ops::refuse_statistics_gradient(v);
  // In evaluation they are the running statistics: constants.
  Tensor mean = v.out(1).detach(), rstd = v.out(2).detach(), grad = v.grad();
  Dims dim = batch_dims(input);
  Tensor d_input = weight.defined() ? grad * per_channel(weight, input) * rstd : grad * rstd;
  return {d_input, v.needs(1) ? sum(grad * ((input - mean) * rstd), dim) : Tensor(),
          v.needs(2) ? sum(grad, dim) : Tensor()};
}

// The running statistics have no gradient, and only float64 inputs are checked for one.
Samples batch_norm_samples() {
  Tensor mean = to(sample({2}), kFloat32), variance = to(sample({2}, 0.5, 2), kFloat32);
  return {
      {{sample({3, 2, 2}), Value(), Value(), sample({2}), sample({2}), Scalar(true)}, "training"},
      {{sample({3, 2}), mean, variance, sample({2}), sample({2}), Scalar(false)}, "evaluation"}};
}

const auto native_batch_norm_entry =
    define(native_batch_norm,
           "batch_norm together with the mean and 1 / sqrt(variance + eps) used.",
           [](const Tensor& input, const Tensor& weight, const Tensor& bias,
              const Tensor& running_mean, const Tensor& running_var, bool training, double momentum,
              double eps) {
             check_batch_norm(input, {weight, bias, running_mean, running_var}, training);
             if (training)
               return in_training(input, weight, bias, running_mean, running_var, momentum, eps);
             DType wide = kernels::accumulate_dtype(input.dtype());
             Tensor mean = per_channel(to(running_mean, wide, true), input);
             Tensor rstd = per_channel((to(running_var, wide) + eps).rsqrt(), input);
             return Three(ops::apply_norm(input, mean, rstd, per_channel(weight, input),
                                          per_channel(bias, input)),
                          mean, rstd);
           })
        .shown(Shown::nowhere)
        .vjp("NativeBatchNormBackward0",
             wrt_all({0, 1, 2}, saves::in(0) | saves::in(1) | saves::out(1) | saves::out(2),
                     [](const Vjp& v, bool training, double, double eps) {
                       Tensor input = v.in(0), weight = v.in(1);
                       if (!training) return evaluation_gradients(v, input, weight);
                       Dims dim = batch_dims(input);
                       Tensors grads = ops::norm_gradients(v, v.grad(), input,
                                                           per_channel(weight, input), dim, eps);
                       return Tensors{grads[0], v.needs(1) ? sum(grads[1], dim) : Tensor(),
                                      v.needs(2) ? sum(grads[2], dim) : Tensor()};
                     }))
        .samples([] {
          return Samples{{{sample({3, 2, 2}), sample({2}), sample({2}), Value(), Value(),
                           Scalar(true), Scalar(0.1), Scalar(1e-5)},
                          "",
                          false}};
        });
const auto batch_norm_entry =
    define(
        batch_norm,
        "Normalises each channel over the batch, or with the running statistics when training "
        "is false; training updates these in place.",
        [](const Tensor& input, const Tensor& running_mean, const Tensor& running_var,
           const Tensor& weight, const Tensor& bias, bool training, double momentum, double eps) {
          return std::get<0>(native_batch_norm(input, weight, bias, running_mean, running_var,
                                               training, momentum, eps));
        })
        .samples(batch_norm_samples);

}  // namespace
}  // namespace fg
