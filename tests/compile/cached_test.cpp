// Compiled functions and the cache: what hits, what must not, and that both give the same bits.
#include "tests/compile/cached.h"

#include "capture/line.h"
#include "tests/error_of.h"

namespace fg {
namespace {

Tensor network(const Tensors& in) {
  Tensor x = in[0];
  for (size_t i = 1; i < in.size(); i++) x = layer_norm(x.mm(in[i]).tanh(), {8}) * x.sigmoid();
  return x.logsumexp({1}, false).sum();
}
const std::vector<Dims> kNetwork{{5, 8}, {8, 8}, {8, 8}};

TEST_F(Cached, gives_the_same_bits_without_compiling) {
  Run cold = run(network, kNetwork), warm = run(network, kNetwork);
  EXPECT_EQ(cold.misses, 2u);  // forward and backward
  EXPECT_EQ(cold.hits, 0u);
  EXPECT_EQ(warm.hits, 2u);
  EXPECT_EQ(warm.misses, 0u);
  EXPECT_EQ(warm.bits, cold.bits);
  EXPECT_TRUE(cold.has_phase("generate code"));
  for (const char* phase :
       {"generate code", "capture gradient", "partition", "fuse", "dead_code", "read graph"}) {
    EXPECT_FALSE(warm.has_phase(phase)) << phase;
  }
}

// The same function twice, from two lines of two programs.
Tensor picked_here(const Tensor& x, const Tensor& at) {
  capture::Line here;
  return x.index_select(0, at).exp();
}
Tensor picked_there(const Tensor& x, const Tensor& at) {
  capture::Line there;
  return x.index_select(0, at).exp();
}

TEST_F(Cached, names_the_lines_of_this_program_in_errors) {
  auto error_in = [](auto function) {
    auto f = compile(function, {.fullgraph = true});
    f(ones({3}), tensor({1}));
    return error_of([&] { f(ones({3}), tensor({7})); });
  };
  std::string here = error_in(picked_here), there = error_in(picked_there);
  EXPECT_EQ(cache::stats().hits(), 1u);
  EXPECT_HAS(here, "cached_test.cpp:");
  EXPECT_HAS(there, "cached_test.cpp:");
  EXPECT_NE(here, there);
}

TEST_F(Cached, keeps_a_forward_that_needs_no_gradient) {
  run(network, kNetwork, false);
  EXPECT_EQ(run(network, kNetwork, false).hits, 1u);
  EXPECT_EQ(run(network, kNetwork).misses, 2u);  // recorded, it is another one
}

TEST_F(Cached, keeps_a_forward_whose_backward_never_runs) {
  auto misses_of_a_forward = [] {
    cache::Stats before = cache::stats();
    Tensors inputs;
    for (const Dims& one : kNetwork) inputs.push_back(some(one).requires_grad_());
    auto compiled = compile([](const Tensors& in) { return network(in); }, {.fullgraph = true});
    EXPECT_TRUE(compiled(inputs).requires_grad());
    cache::Stats after = cache::stats();
    EXPECT_EQ(after.hits() - before.hits() + after.misses - before.misses, 1u);
    return after.misses - before.misses;
  };
  EXPECT_EQ(misses_of_a_forward(), 1u);
  EXPECT_EQ(misses_of_a_forward(), 0u);
  Run whole = run(network, kNetwork);  // its forward is there; only its backward is compiled
  EXPECT_EQ(whole.hits, 1u);
  EXPECT_EQ(whole.misses, 1u);
}

TEST_F(Cached, tells_apart_what_only_the_gradient_shows) {
  Loss recorded = [](const Tensors& in) { return (in[0] * in[0].sin()).sum(); };
  Loss cut = [](const Tensors& in) { return (in[0] * in[0].detach().sin()).sum(); };
  Loss off = [](const Tensors& in) {
    Tensor part;
    {
      NoGradGuard no_grad;
      part = in[0].sin();
    }
    return (in[0] * part).sum();
  };
  std::vector<Run> runs;
  for (const Loss& loss : {recorded, cut, off}) runs.push_back(run(loss, {{7}}));
  EXPECT_NE(runs[0].bits, runs[1].bits);
  EXPECT_EQ(runs[1].bits, runs[2].bits);
  EXPECT_EQ(runs[1].hits, 0u);
  for (size_t i = 0; i < 3; i++) {
    Run again = run(std::vector<Loss>{recorded, cut, off}[i], {{7}});
    EXPECT_EQ(again.bits, runs[i].bits);
    EXPECT_EQ(again.misses, 0u);
  }
}

TEST_F(Cached, tells_numbers_and_layouts_apart) {
  auto scaled = [](double factor) {
    return [factor](const Tensors& in) { return (in[0] * factor).sin().sum(); };
  };
  run(scaled(2), {{7}});
  EXPECT_EQ(run(scaled(2), {{7}}).misses, 0u);
  EXPECT_EQ(run(scaled(3), {{7}}).hits, 0u);
  EXPECT_EQ(run(scaled(2), {{8}}).hits, 0u);
  Loss through = [](const Tensors& in) { return in[0].mm(in[1]).sum(); };
  Loss turned = [](const Tensors& in) { return in[0].mm(in[1].t()).sum(); };
  run(through, {{4, 4}, {4, 4}});
  EXPECT_EQ(run(turned, {{4, 4}, {4, 4}}).hits, 0u);
}

// Edits only the backward, a hook, or a helper that they call.
Loss hooked(double factor) {
  return [factor](const Tensors& in) {
    Tensor y = in[0].sin();
    y.register_hook([factor](const Tensor& grad) { return grad * factor; });
    return (y * y).sum();
  };
}
TEST_F(Cached, misses_when_only_a_hook_changes) {
  Run two = run(hooked(2), {{5}}), three = run(hooked(3), {{5}});
  EXPECT_EQ(three.hits, 0u);
  EXPECT_NE(two.bits, three.bits);
  EXPECT_EQ(run(hooked(2), {{5}}).bits, two.bits);
  EXPECT_EQ(run(hooked(3), {{5}}).misses, 0u);
}

double helper_factor = 1;
struct Twice : autograd::Function<Twice> {
  static Tensor forward(autograd::AutogradContext* ctx, const Tensor& x) {
    ctx->save_for_backward({x});
    return x * 2.0;
  }
  static Tensors backward(autograd::AutogradContext*, const Tensors& grads) {
    return {grads[0] * helper_factor};
  }
};
TEST_F(Cached, misses_when_only_what_a_backward_calls_changes) {
  Loss loss = [](const Tensors& in) { return Twice::apply(in[0]).sin().sum(); };
  helper_factor = 2;
  Run two = run(loss, {{5}});
  helper_factor = 3;
  Run three = run(loss, {{5}});
  EXPECT_EQ(three.hits, 0u);
  EXPECT_NE(two.bits, three.bits);
  EXPECT_EQ(run(loss, {{5}}).misses, 0u);
  helper_factor = 2;
  Run again = run(loss, {{5}});
  EXPECT_EQ(again.misses, 0u);
  EXPECT_EQ(again.bits, two.bits);
}

// What a warm function is asked for beyond what its first run was: other requests, higher
// derivatives, explanations.
TEST_F(Cached, answers_other_requests_from_a_warm_forward) {
  auto ask = [] {
    Tensor x = some({6}).requires_grad_(), w = some({6}).add(1).requires_grad_();
    auto compiled = compile([](const Tensor& a, const Tensor& b) {
      return std::tuple((a * b).sin().sum(), (a.exp() * b.tanh()).sum());
    });
    auto [first, second] = compiled(x, w);
    std::vector<std::string> bits;
    auto add = [&](const Tensors& some) {
      for (const Tensor& one : some) bits.push_back(passes::bits(one.detach()));
    };
    add(autograd::grad({first}, {x}, {}, {.retain_graph = true}));
    add(autograd::grad({second}, {w}, {}, {.retain_graph = true}));
    Tensors once = autograd::grad({first, second}, {x, w}, {}, {.create_graph = true});
    add(once);
    add(autograd::grad({once[0].sum()}, {x, w}, {}, {.retain_graph = true}));
    return bits;
  };
  std::vector<std::string> cold = ask();
  uint64_t misses = cache::stats().misses;
  EXPECT_EQ(ask(), cold);
  EXPECT_EQ(cache::stats().misses, misses);
}

TEST_F(Cached, writes_inputs_and_draws_numbers_as_before) {
  auto ask = [] {
    manual_seed(3);
    Tensor x = some({40}), w = some({40}).requires_grad_();
    auto compiled = compile([](const Tensor& a, const Tensor& b) {
      a.mul_(2.0);
      return (dropout(b * a, 0.5, true) + a).sum();
    });
    compiled(x, w).backward();
    return std::vector<std::string>{passes::bits(x), passes::bits(w.grad())};
  };
  std::vector<std::string> cold = ask();
  uint64_t hits = cache::stats().hits();
  EXPECT_EQ(ask(), cold);
  EXPECT_EQ(cache::stats().hits(), hits + 2);
}

}  // namespace
}  // namespace fg
