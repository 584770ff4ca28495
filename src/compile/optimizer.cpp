#include "compile/optimizer.h"

#include <cmath>

#include "base/fail.h"
#include "ops/arithmetic.h"
#include "ops/choose.h"
#include "ops/create.h"
#include "ops/join.h"
#include "ops/number.h"
#include "ops/reduce_spread.h"
#include "ops/unary.h"
#include "ops/view_kind.h"

namespace fg::optim {

namespace {

void check_at_least_0(const char* who, const char* what, double value) {
  if (value >= 0) return;
  fail(ErrorKind::value, "{}: Invalid {}: {}; expected a number that is at least 0", who, what,
       value);
}

void check_settings(const AdamW& settings) {
  check_at_least_0("AdamW", "learning rate", settings.lr);
  check_at_least_0("AdamW", "epsilon value", settings.eps);
  for (size_t i = 0; i < 2; i++) {
    double beta = settings.betas[i];
    if (beta >= 0 && beta < 1) continue;
    fail(ErrorKind::value,
         "AdamW: Invalid beta parameter at index {}: {}; expected a number that is at least 0 and "
         "less than 1",
         i, beta);
  }
  check_at_least_0("AdamW", "weight_decay value", settings.weight_decay);
}

void check_settings(const SGD& settings) {
  check_at_least_0("SGD", "learning rate", settings.lr);
  check_at_least_0("SGD", "momentum value", settings.momentum);
  check_at_least_0("SGD", "weight_decay value", settings.weight_decay);
  if (!settings.nesterov || (settings.momentum > 0 && settings.dampening == 0)) return;
  fail(ErrorKind::value,
       "SGD: Nesterov momentum requires a momentum and zero dampening; got momentum={} and "
       "dampening={}",
       settings.momentum, settings.dampening);
}

OptScalar given(bool wanted, double number) { return wanted ? OptScalar(number) : std::nullopt; }

const ir::Registered finite_p = ops::checked<ir::NoParams, [](const Tensor& norm, const auto&) {
  if (std::isfinite(norm.item().to_double())) return;
  fail(
      "The total norm of order 2.0 for gradients from `parameters` is non-finite, so it cannot be "
      "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
      "`error_if_nonfinite=False`");
}>("finite_norm");

}  // namespace

void check(const Optimizer& settings) {
  std::visit([](const auto& known) { check_settings(known); }, settings);
}

std::vector<std::string> state_names(const Optimizer& settings) {
  if (auto* adamw = std::get_if<AdamW>(&settings)) {
    if (adamw->amsgrad) return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
    return {"exp_avg", "exp_avg_sq"};
  }
  if (std::get<SGD>(settings).momentum == 0) return {};
  return {"momentum_buffer"};
}

Numbers numbers(const AdamW& settings, int64_t step) {
  auto [beta1, beta2] = settings.betas;
  auto time = static_cast<double>(step);
  double correction1 = 1 - std::pow(beta1, time), correction2 = 1 - std::pow(beta2, time);
  return {given(settings.maximize, -1),
          1 - settings.lr * settings.weight_decay,
          1 - beta1,
          beta2,
          1 - beta2,
          1 / std::sqrt(correction2),
          settings.eps,
          -settings.lr / correction1};
}

void adamw_update(const Tensor& parameter, const Tensors& state, Tensor gradient,
                  const Numbers& numbers) {
  NoGradGuard no_grad;
  const OptScalar& sign = numbers[0];
  const Scalar &keep = *numbers[1], &mean_part = *numbers[2], &square_keep = *numbers[3],
               &square_part = *numbers[4], &root_scale = *numbers[5], &eps = *numbers[6],
               &size = *numbers[7];
  if (sign) gradient = gradient * *sign;
  const Tensor &mean = state[0], &square = state[1];
  parameter.mul_(keep);
  mean.lerp_(gradient, mean_part);
  square.mul_(square_keep).add_(gradient * gradient * square_part);
  if (state.size() == 3) state[2].copy_(maximum(state[2], square));
  Tensor below = state.back().sqrt() * root_scale + eps;
  parameter.add_(mean / below * size);
}

Numbers numbers(const SGD& settings, int64_t step) {
  bool decays = settings.weight_decay != 0, moves = settings.momentum != 0;
  // The first buffer is the gradient.
  double fresh = step == 1 ? 1 : 1 - settings.dampening;
  return {given(settings.maximize, -1),
          given(decays, settings.weight_decay),
          given(moves, settings.momentum),
          given(moves, fresh),
          given(settings.nesterov, settings.momentum),
          -settings.lr};
}

void sgd_update(const Tensor& parameter, const Tensors& state, Tensor gradient,
                const Numbers& numbers) {
  NoGradGuard no_grad;
  const OptScalar &sign = numbers[0], &decay = numbers[1], &momentum = numbers[2],
                  &fresh = numbers[3], &look_ahead = numbers[4], &size = numbers[5];
  if (sign) gradient = gradient * *sign;
  if (decay) gradient = gradient + parameter * *decay;
  if (momentum) {
    const Tensor& buffer = state[0];
    buffer.mul_(*momentum).add_(gradient * *fresh);
    gradient = look_ahead ? gradient + buffer * *look_ahead : buffer;
  }
  parameter.add_(gradient * *size);
}

Tensor clip_norm(Tensors& gradients, const Scalar& max_norm, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  Tensors norms;
  for (const Tensor& gradient : gradients) {
    if (gradient.defined()) norms.push_back(linalg_vector_norm(gradient));
  }
  if (norms.empty()) return zeros({});
  Tensor norm = linalg_vector_norm(stack(norms));
  if (error_if_nonfinite) norm = finite_p(norm);
  Tensor scale = ((norm + 1e-6).reciprocal() * max_norm).clamp({}, 1.0);
  for (Tensor& gradient : gradients) {
    if (gradient.defined()) gradient = gradient * scale;
  }
  return norm;
}

void clip_value(Tensors& gradients, const Scalar& limit) {
  NoGradGuard no_grad;
  Tensor high = limit, low = ops::negative(limit);
  for (Tensor& gradient : gradients) {
    if (gradient.defined()) gradient = minimum(maximum(gradient, low), high);
  }
}

}  // namespace fg::optim
