// fg::compile: backwards and hooks that write do it once per backward, or are refused.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace fg {
namespace {

Tensor numbers(double first) { return linspace(first, first + 2, 3, kFloat64); }
Tensor leaf() { return numbers(0.5).detach().requires_grad_(); }

struct Writes : autograd::Function<Writes> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x, const Tensor& b) {
    ctx->save_for_backward({b});
    return x * 2.0;
  }
  static Tensors backward(autograd::AutogradContext* ctx, const Tensors& grads) {
    Tensor b = ctx->get_saved_variables()[0];
    b.add_(1);
    return {grads[0] * b, Tensor()};
  }
};

struct Given : autograd::Function<Given> {
  static Tensor forward(autograd::AutogradContext*, const Tensor& x) { return x * 2.0; }
  static Tensors backward(autograd::AutogradContext*, const Tensors& grads) {
    return {grads[0].mul_(3)};
  }
};

// Gradients of a few calls, then what the other tensor holds, its version and the gradient given.
template <class F>
std::vector<std::vector<double>> observe(const F& function) {
  std::vector<std::vector<double>> seen;
  Tensor b = numbers(1);
  for (int call = 0; call < 3; call++) {
    Tensor x = leaf(), grad = ones({3}, kFloat64);
    Tensor y = function(x, b);
    seen.push_back(autograd::grad({y}, {x}, {grad})[0].template to_vector<double>());
    seen.push_back(grad.template to_vector<double>());
  }
  seen.push_back(b.template to_vector<double>());
  seen.push_back({static_cast<double>(b._version())});
  return seen;
}

template <class F>
void expect_same(const F& function) {
  int64_t before = compiler::counters().captured;
  EXPECT_EQ(observe(compile(function, {.fullgraph = true})), observe(function));
  EXPECT_EQ(compiler::counters().captured - before, 1);
}

TEST(BackwardWrites, ToWhatACustomFunctionSaved) {
  expect_same([](const Tensor& x, const Tensor& b) { return Writes::apply(x, b).sin(); });
}

TEST(BackwardWrites, OfHooksToInputs) {
  expect_same([](const Tensor& x, const Tensor& b) {
    Tensor y = x + b;
    y.register_hook([b](const Tensor& grad) { return grad * b.add_(1); });
    return y.sin();
  });
}

TEST(BackwardWrites, InTheForwardAndAgainInTheBackward) {
  expect_same([](const Tensor& x, const Tensor& b) {
    b.mul_(2);
    Tensor y = x * 2;
    y.register_hook([b](const Tensor& grad) { return grad * b.add_(1); });
    return y.sin();
  });
}

TEST(BackwardWrites, ToTheGradientThatComes) {
  expect_same([](const Tensor& x, const Tensor&) { return Given::apply(x); });
}

TEST(BackwardWrites, OfOtherMemoryAreRefused) {
  auto f = [](const Tensor& x, const Tensor& b) {
    Tensor y = x + b;
    y.register_hook([b](const Tensor& grad) { return b.set_data(grad * 2), grad; });
    return y;
  };
  auto compiled = compile(f, {.fullgraph = true});
  EXPECT_HAS(error_of([&] { compiled(leaf(), numbers(1)); }), "applies set_data");
}

TEST(BackwardWrites, AreNotDifferentiatedAgain) {
  auto f = [](const Tensor& x, const Tensor& b) { return Writes::apply(x, b).sin(); };
  Tensor x = leaf(), b = numbers(1), y = compile(f, {.fullgraph = true})(x, b).sum();
  std::string error = error_of([&] { autograd::grad({y}, {x}, {}, {.create_graph = true}); });
  EXPECT_HAS(error, "without create_graph");
}

}  // namespace
}  // namespace fg
