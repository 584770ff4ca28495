// Adagrad: a gradient over the root of the sum of squares.
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor sum;
};
struct Numbers {
  Number sign, decay, eps, size;
};

Numbers numbers_of(const fg::Adagrad& settings, int64_t step, NoMemory&) {
  auto before = static_cast<double>(step - 1);
  return {.sign = given(settings.maximize, -1),
          .decay = given_if_not_0(settings.weight_decay),
          .eps = settings.eps,
          .size = -settings.lr / (1 + before * settings.lr_decay)};
}

// g' = sign g + decay p;  s += g'^2;  p += size g' / (sqrt(s) + eps)
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  state.sum = state.sum + gradient * gradient;
  return parameter + gradient / (state.sum.sqrt() + *number.eps) * *number.size;
}

const Described adagrad = describe<fg::Adagrad, State, Numbers>(
    {.name = "Adagrad",
     .documentation = "Steps scaled by the root of the sum of all squared gradients.",
     .python = "lr, lr_decay, weight_decay, initial_accumulator_value, eps, foreach, *, maximize, "
               "differentiable, fused",
     .begins_early = true,
     .begins_at = {{&State::sum, &fg::Adagrad::initial_accumulator_value}},
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
