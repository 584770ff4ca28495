// Adam and AdamW: one formula, with the decay of a parameter through the gradient or beside it.
#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/unary.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor exp_avg, exp_avg_sq, max_exp_avg_sq;
};
struct Numbers {
  Number sign, keep, decay, mean_part, square_keep, square_part, eps, size;
  Number root_scale, largest_root_scale;  // one of the two
};

Numbers numbers_of(const auto& settings, int64_t step, bool decoupled) {
  auto [beta1, beta2] = settings.betas;
  auto time = static_cast<double>(step);
  double correction1 = 1 - std::pow(beta1, time), correction2 = 1 - std::pow(beta2, time);
  double root_scale = 1 / std::sqrt(correction2);
  return {.sign = given(settings.maximize, -1),
          .keep = given(decoupled, 1 - settings.lr * settings.weight_decay),
          .decay = given(!decoupled && settings.weight_decay != 0, settings.weight_decay),
          .mean_part = 1 - beta1,
          .square_keep = beta2,
          .square_part = 1 - beta2,
          .eps = settings.eps,
          .size = -settings.lr / correction1,
          .root_scale = given(!settings.amsgrad, root_scale),
          .largest_root_scale = given(settings.amsgrad, root_scale)};
}

// g' = sign g + decay p;  p *= keep;  m += mean_part (g' - m);  v = square_keep v + square_part
// g'^2 p += size m / (root_scale sqrt(v) + eps), or with the largest v so far
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  if (number.keep) parameter = parameter * *number.keep;
  Tensor &mean = state.exp_avg, &square = state.exp_avg_sq, &largest = state.max_exp_avg_sq;
  mean = mean.lerp(gradient, *number.mean_part);
  square = square * *number.square_keep + gradient * gradient * *number.square_part;
  if (number.largest_root_scale) largest = maximum(largest, square);
  Tensor root = number.root_scale ? square.sqrt() * *number.root_scale
                                  : largest.sqrt() * *number.largest_root_scale;
  return parameter + mean / (root + *number.eps) * *number.size;
}

const std::vector<std::pair<Tensor State::*, Number Numbers::*>> kKeptWith = {
    {&State::max_exp_avg_sq, &Numbers::largest_root_scale}};

const Described adam = describe<fg::Adam, State, Numbers>(
    {.name = "Adam",
     .documentation = "Adam: steps scaled by running means of gradients and of their squares.",
     .python = "lr, betas, eps, weight_decay, amsgrad, *, foreach, maximize, capturable, "
               "differentiable, fused, decoupled_weight_decay",
     .kept_with = kKeptWith,
     .numbers =
         [](const fg::Adam& settings, int64_t step, NoMemory&) {
           return numbers_of(settings, step, settings.decoupled_weight_decay);
         },
     .update = update});

const Described adamw = describe<fg::AdamW, State, Numbers>(
    {.name = "AdamW",
     .documentation = "Adam whose weight decay does not go through the means.",
     .python = "lr, betas, eps, weight_decay, amsgrad, *, maximize, foreach, capturable, "
               "differentiable, fused",
     .python_base = "Adam",
     .python_fixed = {{"decoupled_weight_decay", true}},
     .kept_with = kKeptWith,
     .numbers = [](const fg::AdamW& settings, int64_t step,
                   NoMemory&) { return numbers_of(settings, step, true); },
     .update = update});

}  // namespace

}  // namespace fg::optim
