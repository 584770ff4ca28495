// NAdam: Adam with Nesterov's momentum, which grows from step to step.
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
struct Memory {
  Remembered mu_product;  // of all momenta so far
};
struct Numbers {
  Number sign, keep, decay, mean_part, square_keep, square_part, scale, eps;
  Number gradient_size, mean_size;
};

Numbers numbers_of(const fg::NAdam& settings, int64_t step, Memory& memory) {
  auto [beta1, beta2] = settings.betas;
  auto momentum_at = [&, beta = beta1](int64_t time) {
    double power = static_cast<double>(time) * settings.momentum_decay;
    return beta * (1 - 0.5 * std::pow(0.96, power));
  };
  double momentum = momentum_at(step), next = momentum_at(step + 1);
  bool decoupled = settings.decoupled_weight_decay, decays = settings.weight_decay != 0;
  memory.mu_product = memory.mu_product.times(momentum);
  return {.sign = given(settings.maximize, -1),
          .keep = given(decays && decoupled, 1 - settings.lr * settings.weight_decay),
          .decay = given(decays && !decoupled, settings.weight_decay),
          .mean_part = 1 - beta1,
          .square_keep = beta2,
          .square_part = 1 - beta2,
          .scale = 1 / (1 - std::pow(beta2, static_cast<double>(step))),
          .eps = settings.eps,
          .gradient_size = -settings.lr * (1 - momentum) / (1 - memory.mu_product),
          .mean_size = -settings.lr * next / (1 - memory.mu_product * next)};
}

// g' = sign g + decay p;  p *= keep;  m += mean_part (g' - m);  v = square_keep v + square_part
// g'^2;  p += (gradient_size g' + mean_size m) / (sqrt(scale v) + eps)
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  if (number.keep) parameter = parameter * *number.keep;
  Tensor &mean = state.exp_avg, &square = state.exp_avg_sq;
  mean = mean.lerp(gradient, *number.mean_part);
  square = square * *number.square_keep + gradient * gradient * *number.square_part;
  Tensor root = (square * *number.scale).sqrt() + *number.eps;
  return parameter + gradient / root * *number.gradient_size + mean / root * *number.mean_size;
}

const Described nadam = describe<fg::NAdam, State, Numbers, Memory>(
    {.name = "NAdam",
     .documentation = "Adam with the momentum of Nesterov.",
     .python = "lr, betas, eps, weight_decay, momentum_decay, decoupled_weight_decay, *, foreach, "
               "maximize, capturable, differentiable",
     .remember = [](const fg::NAdam&) { return Memory{1.0}; },
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
