// Adamax: a running mean of gradients over the largest of them, which decays.
#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/unary.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor exp_avg, exp_inf;
};
struct Numbers {
  Number sign, decay, mean_part, keep, eps, size;
};

Numbers numbers_of(const fg::Adamax& settings, int64_t step, NoMemory&) {
  auto [beta1, beta2] = settings.betas;
  return {.sign = given(settings.maximize, -1),
          .decay = given_if_not_0(settings.weight_decay),
          .mean_part = 1 - beta1,
          .keep = beta2,
          .eps = settings.eps,
          .size = -settings.lr / (1 - std::pow(beta1, static_cast<double>(step)))};
}

// g' = sign g + decay p;  m += mean_part (g' - m);  u = max(keep u, |g'| + eps);  p += size m / u
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  state.exp_avg = state.exp_avg.lerp(gradient, *number.mean_part);
  state.exp_inf = maximum(state.exp_inf * *number.keep, gradient.abs() + *number.eps);
  return parameter + state.exp_avg / state.exp_inf * *number.size;
}

const Described adamax = describe<fg::Adamax, State, Numbers>(
    {.name = "Adamax",
     .documentation = "Adam that divides by the largest gradient so far, which decays.",
     .python = "lr, betas, eps, weight_decay, foreach, *, maximize, differentiable, capturable",
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
