// SGD: the gradient itself, or a running sum of gradients.
#include "base/fail.h"
#include "ops/elementwise/arithmetic.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor momentum_buffer;
};
struct Numbers {
  Number sign, decay, momentum, fresh, look_ahead, size;
};

Numbers numbers_of(const fg::SGD& settings, int64_t step, NoMemory&) {
  bool moves = settings.momentum != 0;
  // The first buffer is the gradient.
  double fresh = step == 1 ? 1 : 1 - settings.dampening;
  return {.sign = given(settings.maximize, -1),
          .decay = given_if_not_0(settings.weight_decay),
          .momentum = given_if_not_0(settings.momentum),
          .fresh = given(moves, fresh),
          .look_ahead = given(settings.nesterov, settings.momentum),
          .size = -settings.lr};
}

// g' = sign g + decay p;  b = momentum b + fresh g';  p += size (b, or g' + look_ahead b)
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  if (number.momentum) {
    Tensor& buffer = state.momentum_buffer;
    buffer = buffer * *number.momentum + gradient * *number.fresh;
    gradient = number.look_ahead ? gradient + buffer * *number.look_ahead : buffer;
  }
  return parameter + gradient * *number.size;
}

void check_nesterov(const fg::SGD& settings) {
  if (!settings.nesterov || (settings.momentum > 0 && settings.dampening == 0)) return;
  fail(ErrorKind::value,
       "SGD: Nesterov momentum requires a momentum and zero dampening; got momentum={} and "
       "dampening={}",
       settings.momentum, settings.dampening);
}

const Described sgd = describe<fg::SGD, State, Numbers>(
    {.name = "SGD",
     .documentation = "Stochastic gradient descent, with momentum if wanted.",
     .python = "lr, momentum, dampening, weight_decay, nesterov, *, maximize, foreach, "
               "differentiable, fused",
     .keeps_step = false,
     .own_numbers = OwnNumbers::first,
     .kept_with = {{&State::momentum_buffer, &Numbers::momentum}},
     .check = check_nesterov,
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
