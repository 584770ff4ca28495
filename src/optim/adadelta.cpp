// Adadelta: steps of the size that former steps had, over the root of a mean of squares.
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor square_avg, acc_delta;
};
struct Numbers {
  Number sign, decay, keep, part, eps, size;
};

Numbers numbers_of(const fg::Adadelta& settings, int64_t, NoMemory&) {
  return {.sign = given(settings.maximize, -1),
          .decay = given_if_not_0(settings.weight_decay),
          .keep = settings.rho,
          .part = 1 - settings.rho,
          .eps = settings.eps,
          .size = -settings.lr};
}

// g' = sign g + decay p;  v = keep v + part g'^2;  s = sqrt(a + eps) / sqrt(v + eps) g'
// a = keep a + part s^2;  p += size s
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  Tensor &square = state.square_avg, &steps = state.acc_delta;
  square = square * *number.keep + gradient * gradient * *number.part;
  Tensor step = (steps + *number.eps).sqrt() / (square + *number.eps).sqrt() * gradient;
  steps = steps * *number.keep + step * step * *number.part;
  return parameter + step * *number.size;
}

const Described adadelta = describe<fg::Adadelta, State, Numbers>(
    {.name = "Adadelta",
     .documentation = "Steps whose size follows from running means of squared gradients and steps.",
     .python = "lr, rho, eps, weight_decay, foreach, *, capturable, maximize, differentiable",
     .own_numbers = OwnNumbers::none,
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
