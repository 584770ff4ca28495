// Formulas of the optimisers that are not in formulas_test.cpp, written out for one number.
#include <algorithm>
#include <cmath>

#include "tests/error_of.h"
#include "tests/optim/slow_formula.h"

namespace fg {
namespace {

double directed(const auto& s, double g, double p) {
  return (s.maximize ? -g : g) + s.weight_decay * p;
}

Slow slow_adadelta(const Adadelta& s) {
  return [=, v = 0.0, a = 0.0](double& p, double g, int) mutable {
    g = directed(s, g, p);
    v = s.rho * v + (1 - s.rho) * g * g;
    double step = std::sqrt(a + s.eps) / std::sqrt(v + s.eps) * g;
    a = s.rho * a + (1 - s.rho) * step * step;
    p -= s.lr * step;
  };
}

Slow slow_adamax(const Adamax& s) {
  return [=, m = 0.0, u = 0.0](double& p, double g, int t) mutable {
    g = directed(s, g, p);
    m = s.betas[0] * m + (1 - s.betas[0]) * g;
    u = std::max(s.betas[1] * u, std::abs(g) + s.eps);
    p -= s.lr / (1 - std::pow(s.betas[0], t)) * m / u;
  };
}

// Numbers that state keeps are float32.
double single(double x) { return static_cast<double>(static_cast<float>(x)); }

Slow slow_nadam(const NAdam& s) {
  return [=, m = 0.0, v = 0.0, product = 1.0](double& p, double g, int t) mutable {
    bool decoupled = s.decoupled_weight_decay;
    g = (s.maximize ? -g : g) + (decoupled ? 0 : s.weight_decay * p);
    if (decoupled) p *= 1 - s.lr * s.weight_decay;
    auto mu = [&](int at) {
      return s.betas[0] * (1 - 0.5 * std::pow(0.96, at * s.momentum_decay));
    };
    product = single(product * single(mu(t)));
    m = s.betas[0] * m + (1 - s.betas[0]) * g;
    v = s.betas[1] * v + (1 - s.betas[1]) * g * g;
    double root = std::sqrt(v / (1 - std::pow(s.betas[1], t))) + s.eps;
    p -= s.lr * (1 - mu(t)) / (1 - product) * g / root;
    p -= s.lr * mu(t + 1) / (1 - product * mu(t + 1)) * m / root;
  };
}

Slow slow_radam(const RAdam& s) {
  return [=, m = 0.0, v = 0.0](double& p, double g, int t) mutable {
    g = directed(s, g, p);
    auto [b1, b2] = s.betas;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    double all = 2 / (1 - b2) - 1, power = std::pow(b2, t);
    double count = all - 2 * t * power / (1 - power), mean = m / (1 - std::pow(b1, t));
    if (count <= 5) return void(p -= s.lr * mean);
    double rectified = std::sqrt((count - 4) * (count - 2) * all / ((all - 4) * (all - 2) * count));
    p -= s.lr * mean * rectified * std::sqrt(1 - power) / (std::sqrt(v) + s.eps);
  };
}

Slow slow_asgd(const ASGD& s) {
  return [=, eta = single(s.lr)](double& p, double g, int t) mutable {
    g = directed(s, g, p);
    p = p * (1 - s.lambd * eta) - eta * g;
    eta = single(s.lr / std::pow(1 + s.lambd * s.lr * t, s.alpha));
  };
}

Slow slow_rprop(const Rprop& s) {
  return [=, before = 0.0, step = s.lr](double& p, double g, int) mutable {
    if (s.maximize) g = -g;
    double agreed = g * before;
    if (agreed != 0) step *= agreed > 0 ? s.etas[1] : s.etas[0];
    step = std::clamp(step, s.step_sizes[0], s.step_sizes[1]);
    if (agreed < 0) g = 0;
    p -= step * (g > 0 ? 1 : g < 0 ? -1 : 0);
    before = g;
  };
}

TEST(MoreFormulas, AreThoseOfPyTorch) {
  for (const Adadelta& settings :
       {Adadelta{}, Adadelta{.lr = 0.5, .rho = 0.7, .eps = 1e-3, .weight_decay = 0.1}}) {
    expect_formula(settings, [&] { return slow_adadelta(settings); });
  }
  for (const Adamax& settings : {Adamax{}, Adamax{.betas = {0.8, 0.9}, .maximize = true}}) {
    expect_formula(settings, [&] { return slow_adamax(settings); });
  }
  for (const NAdam& settings :
       {NAdam{}, NAdam{.weight_decay = 0.1, .momentum_decay = 0.1},
        NAdam{.weight_decay = 0.2, .decoupled_weight_decay = true, .maximize = true}}) {
    expect_formula(settings, [&] { return slow_nadam(settings); });
  }
  for (const RAdam& settings : {RAdam{}, RAdam{.betas = {0.7, 0.9}, .weight_decay = 0.1}}) {
    expect_formula(settings, [&] { return slow_radam(settings); });
  }
  for (const ASGD& settings :
       {ASGD{}, ASGD{.lr = 0.1, .lambd = 0.1, .t0 = 3, .weight_decay = 0.1}}) {
    expect_formula(settings, [&] { return slow_asgd(settings); });
  }
  for (const Rprop& settings :
       {Rprop{.lr = 0.3}, Rprop{.lr = 2, .etas = {0.3, 1.5}, .step_sizes = {1e-3, 3}}}) {
    expect_formula(settings, [&] { return slow_rprop(settings); });
  }
}

TEST(MoreFormulas, AsgdKeepsTheAverageAfterT0) {
  Tensor w = ones({1}, kFloat64).requires_grad_();
  compiler::StepState state({{{w}, ASGD{.lr = 0.1, .t0 = 1}}});
  double average = 0;
  for (int t = 1; t <= 5; t++) {
    state.advance(compiler::apply_rules(state.next_rules(), {ones({1}, kFloat64)}, {}).updated);
    double part = t == 1 ? 1 : single(1 / std::max(1.0, t - 1 - 1.0));
    average += (w.item().to_double() - average) * part;
    EXPECT_NEAR(state.state(0)["ax"].item().to_double(), average, 1e-12) << t;
  }
  EXPECT_EQ(state.state(0)["mu"].item().to_double(), single(1.0 / 4));
}

TEST(MoreFormulas, AdafactorKeepsRowsAndColumns) {
  Tensor w = ones({2, 3, 4}, kFloat64).requires_grad_(), b = ones({4}, kFloat64).requires_grad_();
  compiler::StepState state({{{w, b}, Adafactor{}}});
  Tensor g = linspace(-1, 1, 24).to(kFloat64).reshape({2, 3, 4});
  state.advance(compiler::apply_rules(state.next_rules(), {g, ones({4}, kFloat64)}, {}).updated);
  compiler::StepState::Named of_w = state.state(0), of_b = state.state(1);
  EXPECT_EQ(of_w.at("row_var").sizes(), Dims({2, 3, 1}));
  EXPECT_EQ(of_w.at("col_var").sizes(), Dims({2, 1, 4}));
  EXPECT_FALSE(of_w.contains("variance"));
  EXPECT_TRUE(allclose(of_w.at("row_var"), mean(g * g, Dims{-1}, true)));
  EXPECT_EQ(of_b.at("variance").sizes(), Dims({4}));
  // The first update of a vector of equal gradients is lr times its size.
  EXPECT_TRUE(allclose(b, full({4}, 1 - 0.01).to(kFloat64)));
  state.load(0, of_w);
  of_w["row_var"] = ones({2, 3, 4});
  EXPECT_HAS(error_of([&] { state.load(0, of_w); }), "'row_var' of parameter 0 has sizes");
}

TEST(MoreFormulas, MuonMakesItsMomentumOrthogonal) {
  manual_seed(3);
  for (Dims sizes : {Dims{4, 4}, Dims{8, 3}, Dims{3, 8}}) {
    Tensor w = zeros(sizes).requires_grad_();
    compiler::StepState state({{{w}, Muon{.lr = 1, .weight_decay = 0}}});
    state.advance(compiler::apply_rules(state.next_rules(), {randn(sizes)}, {}).updated);
    double rows = static_cast<double>(w.size(0)), columns = static_cast<double>(w.size(1));
    Tensor x = w.detach() / std::sqrt(std::max(1.0, rows / columns));
    Tensor gram = rows > columns ? matmul(x.t(), x) : matmul(x, x.t());
    // Singular values end between 0.6 and 1.3.
    EXPECT_LT((gram - eye(gram.size(0))).abs().max().item().to_double(), 0.7);
  }
  Tensor vector = ones({3}).requires_grad_();
  EXPECT_HAS(error_of([&] { optim::Muon({vector}); }), "Muon only supports 2D parameters whereas");
  EXPECT_HAS(error_of([] { optim::check(Muon{.adjust_lr_fn = "mine"}); }),
             "Adjust learning rate function mine is not supported");
  EXPECT_HAS(error_of([] { optim::check(Muon{.ns_steps = 100}); }), "less than 100");
  EXPECT_HAS(error_of([] { optim::check(Rprop{.etas = {1.5, 2}}); }), "Invalid eta values: 1.5, 2");
  EXPECT_HAS(error_of([] { optim::check(Adafactor{.d = 0.5}); }), "Invalid d value: 0.5");
}

}  // namespace
}  // namespace fg
