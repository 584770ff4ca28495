// A user's program that is compiled several times, each time with another FACTOR in one place: a
// backward, a hook, a rule, a formula. Prints the loss, the gradient, hits and misses of the cache.
#include <fmt/format.h>
#include <foregrad/foregrad.h>

#include "ops/entry.h"

namespace {

using namespace fg;
using namespace fg::ops::entry;

struct Scaled : autograd::Function<Scaled> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2.0; }
  static Tensors backward(autograd::AutogradContext*, const Tensors& grads) {
    return {grads[0] * double{FACTOR}};
  }
};

// Primitives of the user's own: a gradient rule and a formula that are not in the library.
const Registered ruled_p = elementwise<Types::floating, 1>("ruled", [](auto x) FG_INLINED {
                             return x * 2;
                           }).vjp("RuledBackward0", wrt(0, saves::nothing, [](const Vjp& v) {
                                    return v.grad() * double{FACTOR};
                                  }));
const Registered scaled_p =
    elementwise<Types::floating, 1>("scaled", [](auto x) FG_INLINED {
      return x * FACTOR;
    }).vjp("ScaledBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad() * 7.0; }));

Tensor loss_of(const std::string& what, const Tensor& x) {
  if (what == "function") return Scaled::apply(x).sin().sum();
  if (what == "rule") return ruled_p(x).sin().sum();
  if (what == "formula") return scaled_p(x).sin().sum();
  Tensor y = x * 2.0;
  y.register_hook([](const Tensor& grad) { return grad * double{FACTOR}; });
  return y.sin().sum();
}

}  // namespace

int main(int, char** arguments) {
  std::string what = arguments[1];
  Tensor x = arange(0, 6, 1, kFloat32).requires_grad_();
  auto compiled =
      compile([&](const Tensor& given) { return loss_of(what, given); }, {.fullgraph = true});
  Tensor loss = compiled(x);
  loss.backward();
  std::string numbers = fmt::format("{:a}", loss.item().to_double());
  for (double one : x.grad().to_vector<double>()) numbers += fmt::format(" {:a}", one);
  cache::Stats stats = cache::stats();
  fmt::print("{} {} {}\n", numbers, stats.hits(), stats.misses);
}
