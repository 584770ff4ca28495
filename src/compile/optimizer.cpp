#include "compile/optimizer.h"

#include <algorithm>
#include <cmath>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/number.h"
#include "ops/elementwise/unary.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg::optim {

namespace {

void check_at_least_0(const char* who, const char* what, double value) {
  if (value >= 0) return;
  fail(ErrorKind::value, "{}: Invalid {}: {}; expected a number that is at least 0", who, what,
       value);
}

void check_adam(const char* who, const auto& settings) {
  check_at_least_0(who, "learning rate", settings.lr);
  check_at_least_0(who, "epsilon value", settings.eps);
  for (size_t i = 0; i < 2; i++) {
    double beta = settings.betas[i];
    if (beta >= 0 && beta < 1) continue;
    fail(ErrorKind::value,
         "{}: Invalid beta parameter at index {}: {}; expected a number that is at least 0 and "
         "less than 1",
         who, i, beta);
  }
  check_at_least_0(who, "weight_decay value", settings.weight_decay);
}

void check_settings(const AdamW& settings) { check_adam("AdamW", settings); }
void check_settings(const Adam& settings) { check_adam("Adam", settings); }

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

struct NormOrder {
  double order;
  bool operator==(const NormOrder&) const = default;
};
const ir::Registered finite_p = ops::checked<NormOrder, [](const Tensor& norm, const auto& p) {
  if (std::isfinite(norm.item().to_double())) return;
  fail(
      "The total norm of order {:.1f} for gradients from `parameters` is non-finite, so it cannot "
      "be "
      "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
      "`error_if_nonfinite=False`",
      p.order);
}>("finite_norm");

}  // namespace

void check(const Optimizer& settings) {
  std::visit([](const auto& known) { check_settings(known); }, settings);
}

bool counts_steps(const Optimizer& settings) { return !std::holds_alternative<SGD>(settings); }

const char* name(const Optimizer& settings) {
  constexpr const char* names[] = {"AdamW", "SGD", "Adam"};
  return names[settings.index()];
}

Update update_of(const std::string& name) { return name == "SGD" ? sgd_update : adamw_update; }

std::vector<std::string> state_names(const Optimizer& settings) {
  if (auto* sgd = std::get_if<SGD>(&settings)) {
    if (sgd->momentum == 0) return {};
    return {"momentum_buffer"};
  }
  auto* adamw = std::get_if<AdamW>(&settings);
  if (adamw ? adamw->amsgrad : std::get<Adam>(settings).amsgrad) {
    return {"exp_avg", "exp_avg_sq", "max_exp_avg_sq"};
  }
  return {"exp_avg", "exp_avg_sq"};
}

// `keep`: what is left of the parameter itself; `decay`: how much of it the gradient gets.
static Numbers adam_numbers(const auto& settings, int64_t step, OptScalar keep, OptScalar decay) {
  auto [beta1, beta2] = settings.betas;
  auto time = static_cast<double>(step);
  double correction1 = 1 - std::pow(beta1, time), correction2 = 1 - std::pow(beta2, time);
  return {given(settings.maximize, -1),
          keep,
          1 - beta1,
          beta2,
          1 - beta2,
          1 / std::sqrt(correction2),
          settings.eps,
          -settings.lr / correction1,
          decay};
}

Numbers numbers(const AdamW& settings, int64_t step) {
  return adam_numbers(settings, step, 1 - settings.lr * settings.weight_decay, {});
}

Numbers numbers(const Adam& settings, int64_t step) {
  return adam_numbers(settings, step, {}, given(settings.weight_decay != 0, settings.weight_decay));
}

Numbers numbers(const Optimizer& settings, int64_t step) {
  return std::visit([&](const auto& known) { return numbers(known, step); }, settings);
}

void adamw_update(const Tensor& parameter, const Tensors& state, Tensor gradient,
                  const Numbers& numbers) {
  NoGradGuard no_grad;
  const OptScalar &sign = numbers[0], &keep = numbers[1], &decay = numbers[8];
  const Scalar &mean_part = *numbers[2], &square_keep = *numbers[3], &square_part = *numbers[4],
               &root_scale = *numbers[5], &eps = *numbers[6], &size = *numbers[7];
  if (sign) gradient = gradient * *sign;
  if (decay) gradient = gradient + parameter * *decay;
  const Tensor &mean = state[0], &square = state[1];
  if (keep) parameter.mul_(*keep);
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

void update_in_blocks(Update update, const Tensor& parameter, const Tensors& state,
                      const Tensor& gradient, const Numbers& numbers) {
  constexpr int64_t kBlock = 16384;
  int64_t count = parameter.numel();
  Tensors all = state;
  all.insert(all.end(), {parameter, gradient});
  auto fits = [&](const Tensor& x) { return x.is_contiguous() && x.sizes() == parameter.sizes(); };
  if (count <= kBlock || modes.interpreter || !std::all_of(all.begin(), all.end(), fits)) {
    update(parameter, state, gradient, numbers);
    return;
  }
  for (Tensor& each : all) each = each.detach().view({-1});
  int64_t blocks = (count + kBlock - 1) / kBlock;
  pool::parallel_for(blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      Tensors part;
      for (const Tensor& each : all) {
        part.push_back(each.narrow(0, i * kBlock, std::min(kBlock, count - i * kBlock)));
      }
      Tensor some_gradient = part.back(), some = part[part.size() - 2];
      part.resize(state.size());
      update(some, part, some_gradient, numbers);
    }
  });
}

Tensor norm_of(const Tensors& tensors, double norm_type, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  if (tensors.empty()) return zeros({});
  Tensors norms;
  for (const Tensor& tensor : tensors) norms.push_back(linalg_vector_norm(tensor, norm_type));
  Tensor norm = linalg_vector_norm(stack(norms), norm_type);
  return error_if_nonfinite ? finite_p.with({norm_type}, norm) : norm;
}

Tensor scale_for(const Tensor& norm, const Scalar& max_norm) {
  return ((norm + 1e-6).reciprocal() * max_norm).clamp({}, 1.0);
}

Tensor clip_norm(Tensors& gradients, const Scalar& max_norm, bool error_if_nonfinite) {
  NoGradGuard no_grad;
  Tensors there;
  for (const Tensor& gradient : gradients) {
    if (gradient.defined()) there.push_back(gradient);
  }
  Tensor norm = norm_of(there, 2, error_if_nonfinite);
  if (there.empty()) return norm;
  Tensor scale = scale_for(norm, max_norm);
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
