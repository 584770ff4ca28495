// Rprop: the signs of gradients, with a step for each element that grows until it turns.
#include "base/fail.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor prev, step_size;
};
struct Numbers {
  Number sign, minus, plus, least, most;
};

Numbers numbers_of(const fg::Rprop& settings, int64_t, NoMemory&) {
  return {.sign = given(settings.maximize, -1),
          .minus = settings.etas[0],
          .plus = settings.etas[1],
          .least = settings.step_sizes[0],
          .most = settings.step_sizes[1]};
}

// s = clamp(s (minus after a turn, plus without one, 1 at zero));  p -= s sign(g)
// An element that turned rests for a step: its gradient counts as 0.
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  Tensor agreed = gradient * state.prev, turned = agreed < 0;
  Tensor grown = where(agreed > 0, state.step_size * *number.plus, state.step_size);
  Tensor step = where(turned, state.step_size * *number.minus, grown);
  state.step_size = minimum(maximum(step, *number.least), *number.most);
  state.prev = where(turned, 0, gradient);
  return parameter - state.step_size * state.prev.sign();
}

void check_etas(const fg::Rprop& settings) {
  auto [minus, plus] = settings.etas;
  if (minus > 0 && minus < 1 && plus > 1) return;
  fail(ErrorKind::value,
       "Rprop: Invalid eta values: {}, {}; expected one between 0 and 1, and one above 1", minus,
       plus);
}

const Described rprop = describe<fg::Rprop, State, Numbers>(
    {.name = "Rprop",
     .documentation = "Steps along the signs of gradients, of a size that each element adapts.",
     .python = "lr, etas, step_sizes, *, capturable, foreach, maximize, differentiable",
     .own_numbers = OwnNumbers::none,
     .begins_at = {{&State::step_size, &fg::Rprop::lr}},
     .check = check_etas,
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
