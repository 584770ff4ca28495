// ASGD: gradient descent with a decaying rate, and the average of the parameters on the way.
#include <algorithm>
#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "optim/describe.h"

namespace fg::optim {

namespace {

struct State {
  Tensor ax;
};
struct Memory {
  Remembered eta, mu;  // the rate of the next step, and the part that it has in the average
};
struct Numbers {
  Number sign, decay, keep, average, size;
};

Numbers numbers_of(const fg::ASGD& settings, int64_t step, Memory& memory) {
  Numbers result{.sign = given(settings.maximize, -1),
                 .decay = given_if_not_0(settings.weight_decay),
                 .keep = 1 - settings.lambd * memory.eta,
                 .average = given(memory.mu != 1, memory.mu),
                 .size = -memory.eta};
  auto time = static_cast<double>(step);
  double grown = 1 + settings.lambd * settings.lr * time;
  memory.eta = settings.lr / std::pow(grown, settings.alpha);
  memory.mu = 1 / std::max(1.0, time - settings.t0);
  return result;
}

// g' = sign g + decay p;  p = keep p + size g';  a += average (p - a), or a = p
Tensor update(Tensor parameter, State& state, Tensor gradient, const Numbers& number) {
  if (number.sign) gradient = gradient * *number.sign;
  if (number.decay) gradient = gradient + parameter * *number.decay;
  parameter = parameter * *number.keep + gradient * *number.size;
  state.ax = number.average ? state.ax + (parameter - state.ax) * *number.average : parameter;
  return parameter;
}

const Described asgd = describe<fg::ASGD, State, Numbers, Memory>(
    {.name = "ASGD",
     .documentation = "Gradient descent that keeps the average of its parameters.",
     .python = "lr, lambd, alpha, t0, weight_decay, foreach, maximize, differentiable, capturable",
     .linear_in_rate = false,
     .remember = [](const fg::ASGD& settings) { return Memory{settings.lr, 1.0}; },
     .numbers = numbers_of,
     .update = update});

}  // namespace

}  // namespace fg::optim
