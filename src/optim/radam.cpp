// RAdam: Adam that divides by its mean of squares when enough gradients went into it.
#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/unary.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor exp_avg, exp_avg_sq;
};
struct Numbers {
  Number sign, keep, decay, mean_part, square_keep, square_part, size, eps;
};

// The factor of a step that is divided by the mean of squares; 0: it is too early for that.
// r = sqrt((n - 4) (n - 2) N / ((N - 4) (N - 2) n)), where n of at most N gradients count
double rectified(double beta, double step, double correction) {
  double most = 2 / (1 - beta) - 1;
  double count = most - 2 * step * std::pow(beta, step) / correction;
  if (!(count > 5)) return 0;
  return std::sqrt((count - 4) * (count - 2) * most / ((most - 4) * (most - 2) * count) *
                   correction);
}

Numbers numbers_of(const fg::RAdam& settings, int64_t step, NoMemory&) {
  auto [beta1, beta2] = settings.betas;
  auto time = static_cast<double>(step);
  double correction1 = 1 - std::pow(beta1, time), correction2 = 1 - std::pow(beta2, time);
  double factor = rectified(beta2, time, correction2);
  bool decoupled = settings.decoupled_weight_decay, decays = settings.weight_decay != 0;
  return {.sign = given(settings.maximize, -1),
          .keep = given(decays && decoupled, 1 - settings.lr * settings.weight_decay),
          .decay = given(decays && !decoupled, settings.weight_decay),
          .mean_part = 1 - beta1,
          .square_keep = beta2,
          .square_part = 1 - beta2,
          .size = -settings.lr / correction1 * (factor == 0 ? 1 : factor),
          .eps = given(factor != 0, settings.eps)};
}

// g' = sign g + decay p;  p *= keep;  m += mean_part (g' - m);  v = square_keep v + square_part
// g'^2;  p += size m / (sqrt(v) + eps), or size m
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  if (number.keep) parameter = parameter * *number.keep;
  Tensor &mean = state.exp_avg, &square = state.exp_avg_sq;
  mean = mean.lerp(gradient, *number.mean_part);
  square = square * *number.square_keep + gradient * gradient * *number.square_part;
  Tensor step = number.eps ? mean / (square.sqrt() + *number.eps) : mean;
  return parameter + step * *number.size;
}

const Described radam = describe<fg::RAdam, State, Numbers>(
    {.name = "RAdam",
     .documentation = "Adam whose first steps are rectified for the few gradients in its means.",
     .python = "lr, betas, eps, weight_decay, decoupled_weight_decay, *, foreach, maximize, "
               "capturable, differentiable",
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
