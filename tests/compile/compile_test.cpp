// fg::compile: captured functions do what they do eagerly.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "tests/error_of.h"

namespace fg {
namespace {

Tensor leaf(const Dims& sizes, double low = -2) {
  Tensor result = linspace(low, low + 3, product(sizes).value(), kFloat64).reshape(sizes);
  return result.detach().requires_grad_();
}
void expect_equal(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.defined(), b.defined());
  if (!a.defined()) return;
  EXPECT_TRUE(equal(a, b)) << a << "\nis not\n" << b;
}
int64_t captures() { return compiler::counters().captured; }

TEST(Compile, CapturesOnceAndGivesTheSameValuesAndGradients) {
  auto f = [](const Tensor& x, const Tensor& w) { return (x.mm(w).tanh() * 2).sum(); };
  auto compiled = compile(f, {.fullgraph = true});
  int64_t before = captures();
  for (int i = 0; i < 3; i++) {
    Tensor x = leaf({2, 3}, i), w = leaf({3, 4});
    Tensor y = compiled(x, w), expected = f(x, w);
    expect_equal(y, expected);
    Tensors grads = autograd::grad({y}, {x, w}), eager = autograd::grad({expected}, {x, w});
    for (int k = 0; k < 2; k++) expect_equal(grads[k], eager[k]);
  }
  EXPECT_EQ(captures() - before, 1);
}

TEST(Compile, IsDifferentiableAgainAndAgain) {
  auto f = [](const Tensor& x) { return (x * x * x).sin().sum(); };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor x = leaf({4}), y = leaf({4});
  Tensor a = compiled(x), b = f(y);
  for (int order = 1; order <= 4; order++) {
    a = autograd::grad({a}, {x}, {}, {.create_graph = true})[0];
    b = autograd::grad({b}, {y}, {}, {.create_graph = true})[0];
    expect_equal(a, b);
    a = a.sum();
    b = b.sum();
  }
}

TEST(Compile, WritesIntoItsArguments) {
  auto f = [](const Tensor& x, const Tensor& w) {
    x.mul_(w);
    x.select(0, 0).add_(1);
    return x * 2;
  };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor w = leaf({2, 3}), v = leaf({2, 3});
  Tensor x = leaf({2, 3}) * 1, z = x.detach().requires_grad_() * 1;
  x = z.clone();
  Tensor y = compiled(x, w), expected = f(z, v);
  expect_equal(y, expected);
  expect_equal(x, z);
  EXPECT_EQ(x._version(), z._version());
  expect_equal(autograd::grad({(x * y).sum()}, {w})[0],
               autograd::grad({(z * expected).sum()}, {v})[0]);
}

TEST(Compile, UpdatesParametersInPlaceWithoutAGraph) {
  auto f = [](const Tensors& parameters, const Tensors& grads, const Tensor& rate) {
    NoGradGuard no_grad;
    for (size_t i = 0; i < parameters.size(); i++) parameters[i].sub_(grads[i] * rate);
    return Tensors{};
  };
  auto compiled = compile(f, {.fullgraph = true});
  Tensors p{leaf({2}), leaf({3})}, q{leaf({2}), leaf({3})}, g{leaf({2}), leaf({3})};
  int64_t before = captures();
  for (double rate : {0.5, 0.25, 0.125}) {  // a number that a tensor is taken for is an input
    compiled(p, g, rate);
    f(q, g, rate);
    for (int i = 0; i < 2; i++) expect_equal(p[i], q[i]);
  }
  EXPECT_EQ(captures() - before, 1);
  EXPECT_EQ(p[0]._version(), q[0]._version());
}

TEST(Compile, TakesScalarsAsInputs) {
  auto f = [](const Tensor& p, const Tensor& grad, const Scalar& rate, const OptScalar& limit) {
    NoGradGuard no_grad;
    p.add_(limit ? grad.clamp(std::nullopt, limit) : grad, rate);
    return rate;
  };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor p = leaf({3}), q = leaf({3}), grad = leaf({3});
  int64_t before = captures();
  for (double rate : {0.5, 0.25, 1.0, 0.0, -3e-7}) {
    EXPECT_EQ(compiled(p, grad, rate, OptScalar(rate - 1)).to_double(), rate);
    f(q, grad, rate, OptScalar(rate - 1));
    expect_equal(p, q);
  }
  EXPECT_EQ(captures() - before, 1);
  compiled(p, grad, 2, OptScalar());  // an integer is a constant
  f(q, grad, 2, OptScalar());
  compiled(p, grad, 3, OptScalar());
  f(q, grad, 3, OptScalar());
  expect_equal(p, q);
  EXPECT_EQ(captures() - before, 3);
}

TEST(Compile, TakesScalarsAsConstantsWhereTheirValuesAreAskedFor) {
  auto f = [](const Tensor& x, const Scalar& k) { return k.to_double() > 1 ? x * k : x + k; };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor x = leaf({3});
  int64_t before = captures();
  for (double k : {0.5, 2.5, 0.5, 2.5}) expect_equal(compiled(x, k), f(x, k));
  EXPECT_EQ(captures() - before, 2);
}

TEST(Compile, RefusesAFunctionThatAsksForANumberWhichCannotBeAConstant) {
  auto f = [](const Tensor& x, const Tensor& k) { return number_in(k).to_double() > 1 ? x : -x; };
  auto compiled = compile(f, {.name = "asks"});
  Tensor x = leaf({3});
  int64_t before = compiler::counters().eager;
  expect_equal(compiled(x, 2.0), x);
  expect_equal(compiled(x, 0.5), -x);
  EXPECT_EQ(compiler::counters().eager - before, 2);
  auto strict = compile(f, {.fullgraph = true});
  EXPECT_HAS(error_of([&] { strict(x, 2.0); }), "the value of a number that is an argument");
}

TEST(Compile, ReturnsWhatAliasesAsAliases) {
  auto f = [](const Tensor& x) {
    Tensor y = x * 2;
    return Tensors{x, x.t(), y, y.select(0, 1), y.detach()};
  };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor x = leaf({2, 2}) * 1;
  Tensors out = compiled(x);
  EXPECT_TRUE(out[0].is_same(x));
  NoGradGuard no_grad;
  x.detach().fill_(7);
  EXPECT_EQ(out[1].select(0, 0).select(0, 0).item<double>(), 7);
  out[2].detach().fill_(5);
  EXPECT_EQ(out[3].select(0, 0).item<double>(), 5);
  EXPECT_EQ(out[4].select(0, 0).select(0, 0).item<double>(), 5);
  EXPECT_TRUE(out[3].is_view());
  EXPECT_FALSE(out[4].requires_grad());
}

TEST(Compile, SeesWhichArgumentsAreEqual) {
  auto f = [](const Tensor& x, const Tensor& y) {
    x.add_(1);
    return x * y;
  };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor a = ones({2}), b = ones({2});
  expect_equal(compiled(a, b), tensor({2., 2.}, kFloat32));
  expect_equal(compiled(a, a), tensor({9., 9.}, kFloat32));
}

struct Layer {
  Tensor weight = leaf({3, 2});
  Tensors parameters() const { return {weight}; }
  Tensor operator()(const Tensor& x) const { return x.mm(weight).relu(); }
};

TEST(Compile, ReadsParametersAgainAtEveryCall) {
  Layer layer;
  auto call = [](const Layer& l, const Tensor& x) { return l(x); };
  auto compiled = compile(call, {.fullgraph = true});
  int64_t before = captures();
  Tensor x = leaf({2, 3});
  expect_equal(compiled(layer, x), layer(x));
  layer.weight = leaf({3, 2}, 1);
  expect_equal(compiled(layer, x), layer(x));
  EXPECT_EQ(captures() - before, 1);
}

TEST(Compile, ChecksWhatACallableHoldsWhenAsked) {
  auto factor = std::make_shared<double>(2);
  auto f = [factor](const Tensor& x) { return x * *factor; };
  auto compiled = compile(f, {.fullgraph = true, .check = true});
  expect_equal(compiled(ones({2})), tensor({2., 2.}, kFloat32));
  *factor = 3;
  EXPECT_HAS(error_of([&] { compiled(ones({2})); }), "something that it holds has changed");
}

TEST(Compile, RunsEagerlyWhatItCannotCapture) {
  auto f = [](const Tensor& x) { return x.sum().item<float>() > 0 ? x : -x; };
  auto compiled = compile(f, {.name = "decides"});
  int64_t before = compiler::counters().eager;
  expect_equal(compiled(ones({2})), ones({2}));
  expect_equal(compiled(-ones({2})), ones({2}));
  EXPECT_EQ(compiler::counters().eager - before, 2);
  auto strict = compile(f, {.fullgraph = true});
  EXPECT_HAS(error_of([&] { strict(ones({2})); }), "asked for while its function is captured");
}

TEST(Compile, RunsEagerlyAfterEightVersions) {
  auto f = [](const Tensor& x) { return x * 2; };
  auto compiled = compile(f, {.name = "grows"});
  int64_t before = captures();
  for (int i = 1; i < 12; i++) expect_equal(compiled(ones({i})), ones({i}) * 2);
  EXPECT_EQ(captures() - before, 8);
  auto reasons = compiler::counters().reasons;
  EXPECT_EQ(
      reasons["grows was captured 8 times and the call differs again: tensor 0 has sizes [9], not "
              "[8]; it runs eagerly from now on"],
      3);
}

TEST(Compile, DrawsTheNumbersThatAnEagerCallDraws) {
  auto f = [](const Tensor& x) { return dropout(x, 0.5, true) + rand({3}) + randperm(3); };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor x = ones({3}).requires_grad_();
  for (int i = 0; i < 3; i++) {
    manual_seed(5 + static_cast<uint64_t>(i));
    Tensor y = compiled(x), after = rand({2});
    manual_seed(5 + static_cast<uint64_t>(i));
    expect_equal(y, f(x));
    expect_equal(after, rand({2}));
  }
}

TEST(Compile, KeepsPendingCallsApart) {
  auto f = [](const Tensor& x) { return (x * x).exp(); };
  auto compiled = compile(f, {.fullgraph = true});
  Tensors inputs, outputs;
  for (int i = 0; i < 10; i++) {
    inputs.push_back(leaf({3}, 0.1 * i));
    outputs.push_back(compiled(inputs.back()));
  }
  for (int i : {3, 9, 0, 5, 1, 8, 2, 7, 4, 6}) {
    Tensor expected = autograd::grad({f(inputs[i]).sum()}, {inputs[i]})[0];
    for (int again = 0; again < 2; again++) {
      Tensor got = autograd::grad({outputs[i].sum()}, {inputs[i]}, {}, {.retain_graph = true})[0];
      expect_equal(got, expected);
    }
  }
}

TEST(Compile, MayBeCalledByManyThreads) {
  auto compiled = compile([](const Tensor& x) { return (x.sin() * x).sum(); }, {.fullgraph = true});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; i++) {
        Tensor x = leaf({4 + t % 2}, i);
        Tensor expected = autograd::grad({(x.sin() * x).sum()}, {x})[0];
        expect_equal(autograd::grad({compiled(x)}, {x})[0], expected);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(Compile, MayBeDifferentiatedByManyThreads) {
  auto f = [](const Tensor& x, const Tensor& w) { return (x * w).sin() * w; };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor w = leaf({4}), x = leaf({4}, 0.5);
  Tensor shared = compiled(x, w).sum();
  Tensor expected = autograd::grad({f(x, w).sum()}, {w})[0];
  auto twice = [&](const auto& function) {
    Tensor first = autograd::grad({function(x, w).sum()}, {w}, {}, {.create_graph = true})[0];
    return autograd::grad({first.sum()}, {w})[0];
  };
  Tensor second = twice(f);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; i++) {
        // One node that all threads run, nodes of their own, and gradients that are captured late.
        expect_equal(autograd::grad({shared}, {w}, {}, {.retain_graph = true})[0], expected);
        expect_equal(autograd::grad({compiled(x, w).sum()}, {w})[0], expected);
        if (t % 2 == 0) expect_equal(twice(compiled), second);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

constexpr const char* kShares = "writes to a tensor that shares memory with another input";

// A function that writes to one of two parts of one memory is not captured, says so where that is
// demanded, having written nothing, and does what eager code does.
template <class F>
void expect_eager_on_parts(const F& f, const std::function<Tensors(const Tensor&)>& parts) {
  Tensor memory = arange(12, kFloat64).reshape({3, 4}), expected = memory.clone();
  Tensors given = parts(memory), eager = parts(expected);
  auto demanded = compile(f, {.fullgraph = true});
  EXPECT_HAS(error_of([&] { demanded(given[0], given[1]); }), kShares);
  expect_equal(memory, expected);
  auto compiled = compile(f);
  for (int call = 0; call < 2; call++) {
    expect_equal(compiled(given[0], given[1]), f(eager[0], eager[1]));
    expect_equal(memory, expected);
    for (int i = 0; i < 2; i++) {
      EXPECT_EQ(text(given[i].sizes()), text(eager[i].sizes()));
      EXPECT_EQ(given[i]._version(), eager[i]._version());
    }
  }
}
Tensors overlapping(const Tensor& m) { return {m.slice(0, 0, 2), m.slice(0, 1, 3)}; }
Tensors apart(const Tensor& m) { return {m.slice(0, 0, 1), m.slice(0, 1, 2)}; }

TEST(Compile, IsEagerWhereInputsShareWhatIsWritten) {
  auto f = [](const Tensor& x, const Tensor& y) { return x.add_(1), y * 2; };
  expect_eager_on_parts(f, overlapping);
  expect_eager_on_parts(f, apart);
}

TEST(Compile, IsEagerWhereASharedInputIsTheResult) {
  auto f = [](const Tensor& x, const Tensor& y) { return x.mul_(2), y; };
  expect_eager_on_parts(f, overlapping);
}

TEST(Compile, CapturesWhereSharedInputsAreOnlyRead) {
  auto f = [](const Tensor& x, const Tensor& y) { return x.sum() * y; };
  auto compiled = compile(f, {.fullgraph = true});
  Tensor memory = arange(12, kFloat64).reshape({3, 4});
  for (const Tensors& given : {overlapping(memory), overlapping(memory + 1)}) {
    expect_equal(compiled(given[0], given[1]), f(given[0], given[1]));
  }
}

TEST(Compile, IsEagerWhereSharedInputsHaveHistories) {
  auto f = [](const Tensor& x, const Tensor& y) { return x.mul_(2), (x * y).sum(); };
  auto gradient = [&](const auto& function) {
    Tensor w = leaf({4}), base = w * 1;
    Tensor result = function(base.slice(0, 0, 3), base.slice(0, 1, 4));
    return autograd::grad({result}, {w})[0];
  };
  expect_equal(gradient(compile(f)), gradient(f));
  EXPECT_HAS(error_of([&] { gradient(compile(f, {.fullgraph = true})); }), kShares);
}

TEST(Compile, IsEagerWhereRequiresGradChanges) {
  auto f = [](const Tensor& x) { return x.requires_grad_(), x * 2; };
  auto demanded = compile(f, {.fullgraph = true});
  EXPECT_HAS(error_of([&] { demanded(ones({2})); }), "changes requires_grad of an input");
  auto compiled = compile(f);
  for (int call = 0; call < 2; call++) {
    Tensor x = ones({2}), y = compiled(x);
    EXPECT_TRUE(x.requires_grad());
    expect_equal(autograd::grad({y.sum()}, {x})[0], tensor({2., 2.}, kFloat32));
  }
}

}  // namespace
}  // namespace fg
