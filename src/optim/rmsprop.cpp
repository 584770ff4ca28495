// RMSprop: a gradient over the root of a running mean of squares.
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/unary.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor square_avg, momentum_buffer, grad_avg;
};
struct Numbers {
  Number sign, decay, square_keep, square_part, mean_part, eps, momentum, size;
};

Numbers numbers_of(const fg::RMSprop& settings, int64_t, NoMemory&) {
  return {.sign = given(settings.maximize, -1),
          .decay = given_if_not_0(settings.weight_decay),
          .square_keep = settings.alpha,
          .square_part = 1 - settings.alpha,
          .mean_part = given(settings.centered, 1 - settings.alpha),
          .eps = settings.eps,
          .momentum = given_if_not_0(settings.momentum),
          .size = -settings.lr};
}

// g' = sign g + decay p;  v = square_keep v + square_part g'^2;  m += mean_part (g' - m)
// s = g' / (sqrt(v - m^2) + eps);  b = momentum b + s;  p += size (b or s)
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  Tensor &square = state.square_avg, &mean = state.grad_avg, &buffer = state.momentum_buffer;
  square = square * *number.square_keep + gradient * gradient * *number.square_part;
  Tensor spread = square;
  if (number.mean_part) {
    mean = mean.lerp(gradient, *number.mean_part);
    spread = square - mean * mean;
  }
  Tensor step = gradient / (spread.sqrt() + *number.eps);
  if (number.momentum) step = buffer = buffer * *number.momentum + step;
  return parameter + step * *number.size;
}

const Described rmsprop = describe<fg::RMSprop, State, Numbers>(
    {.name = "RMSprop",
     .documentation = "Steps scaled by the root of a running mean of squared gradients.",
     .python = "lr, alpha, eps, weight_decay, momentum, centered, capturable, foreach, maximize, "
               "differentiable",
     .own_numbers = OwnNumbers::none,
     .kept_with = {{&State::momentum_buffer, &Numbers::momentum},
                   {&State::grad_avg, &Numbers::mean_part}},
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
