// Formulas of optimisers against PyTorch's, written out for one number; the table of all of them.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_of.h"
#include "tests/optim/slow_formula.h"

namespace fg {
namespace {

Slow slow_rmsprop(const RMSprop& s) {
  return [=, v = 0.0, mean = 0.0, b = 0.0](double& p, double g, int) mutable {
    g = (s.maximize ? -g : g) + s.weight_decay * p;
    v = s.alpha * v + (1 - s.alpha) * g * g;
    mean = s.alpha * mean + (1 - s.alpha) * g;
    double below = std::sqrt(s.centered ? v - mean * mean : v) + s.eps;
    b = s.momentum * b + g / below;
    p -= s.lr * b;
  };
}

Slow slow_adagrad(const Adagrad& s) {
  return [=, sum = s.initial_accumulator_value](double& p, double g, int step) mutable {
    g = (s.maximize ? -g : g) + s.weight_decay * p;
    sum += g * g;
    p -= s.lr / (1 + (step - 1) * s.lr_decay) * g / (std::sqrt(sum) + s.eps);
  };
}

TEST(Formulas, RMSpropIsThatOfPyTorch) {
  for (const RMSprop& settings :
       {RMSprop{}, RMSprop{.lr = 0.1, .alpha = 0.8, .eps = 1e-3, .weight_decay = 0.2},
        RMSprop{.momentum = 0.9}, RMSprop{.centered = true},
        RMSprop{.alpha = 0.9, .momentum = 0.5, .centered = true, .maximize = true}}) {
    expect_formula(settings, [&] { return slow_rmsprop(settings); });
  }
}

TEST(Formulas, AdagradIsThatOfPyTorch) {
  for (const Adagrad& settings :
       {Adagrad{}, Adagrad{.lr = 0.1, .lr_decay = 0.3, .weight_decay = 0.2},
        Adagrad{.initial_accumulator_value = 0.5, .eps = 1e-2, .maximize = true}}) {
    expect_formula(settings, [&] { return slow_adagrad(settings); });
  }
}

TEST(Formulas, StateHasPyTorchsNames) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(optim::state_names(RMSprop{}), Names({"square_avg"}));
  EXPECT_EQ(optim::state_names(RMSprop{.centered = true}), Names({"square_avg", "grad_avg"}));
  EXPECT_EQ(optim::state_names(RMSprop{.momentum = 0.9, .centered = true}),
            Names({"square_avg", "momentum_buffer", "grad_avg"}));
  EXPECT_EQ(optim::state_names(Adagrad{}), Names({"sum"}));
  EXPECT_EQ(optim::state_names(Adam{.amsgrad = true}),
            Names({"exp_avg", "exp_avg_sq", "max_exp_avg_sq"}));
  EXPECT_EQ(optim::state_names(SGD{}), Names());
}

TEST(Formulas, AStateThatComesLaterBeginsThen) {
  Tensor w = ones({2}, kFloat64).requires_grad_();
  compiler::StepState state({{{w}, RMSprop{.momentum = 0.5}}});
  auto take = [&] {
    state.advance(compiler::apply_rules(state.next_rules(), {ones({2}, kFloat64)}, {}).updated);
  };
  take();
  std::get<RMSprop>(state.groups()[0].optimizer) = {.centered = true};
  take();
  EXPECT_EQ(state.state(0).size(), 3u);  // square_avg, grad_avg, step
  EXPECT_NEAR(state.state(0)["square_avg"].to_vector<double>()[0], 1 - 0.99 * 0.99, 1e-12);
  EXPECT_NEAR(state.state(0)["grad_avg"].to_vector<double>()[0], 0.01, 1e-12);
}

// A parameter that got no gradient needs no program of its own where numbers do not count steps.
TEST(Formulas, RMSpropHasOneRuleForAllCountsOfSteps) {
  Tensor a = ones({2}).requires_grad_(), b = ones({2}).requires_grad_();
  compiler::StepState rmsprop({{{a, b}, RMSprop{}}}), adagrad({{{a, b}, Adagrad{}}});
  for (compiler::StepState* each : {&rmsprop, &adagrad}) {
    each->next_rules();
    each->advance({1, 0});
  }
  EXPECT_EQ(rmsprop.next_rules().size(), 1u);
  EXPECT_EQ(adagrad.next_rules().size(), 2u);
}

TEST(Optimizers, AllAreDescribed) {
  EXPECT_EQ(optim::descriptions().size(), std::variant_size_v<OptimizerSettings>);
  for (const optim::Description& of : optim::descriptions()) {
    ASSERT_FALSE(of.name.empty());
    EXPECT_FALSE(of.documentation.empty());
    std::vector<optim::SettingValue> defaults;
    for (const auto& setting : of.settings) defaults.push_back(setting.value);
    OptimizerSettings settings = of.make(defaults);
    EXPECT_EQ(optim::name(settings), of.name);
    EXPECT_EQ(of.values(settings), defaults);
    EXPECT_STREQ(of.settings[0].name, "lr");
    std::visit([](auto& known) { known.lr = -1; }, settings);
    EXPECT_HAS(error_of([&] { optim::check(settings); }), of.name + ": Invalid learning rate: -1;");
  }
  EXPECT_HAS(error_of([] { optim::check(RMSprop{.alpha = -1}); }), "Invalid alpha value: -1");
  EXPECT_HAS(error_of([] { optim::check(Adagrad{.initial_accumulator_value = -1}); }),
             "Adagrad: Invalid initial_accumulator_value value: -1");
  EXPECT_HAS(error_of([] { optim::description_of("Adem"); }), "Adem: there is no optimiser of");
}

TEST(Optimizers, OptionsHaveLibtorchsSpelling) {
  Tensor w = ones({2}).requires_grad_(), v = ones({2}).requires_grad_();
  optim::SGD optimizer({w}, optim::SGDOptions(0.1).momentum(0.9).nesterov(true));
  optim::SGD same({v}, {.lr = 0.1, .momentum = 0.9, .nesterov = true});
  for (int i = 0; i < 3; i++) {
    w.set_grad(ones({2}));
    v.set_grad(ones({2}));
    optimizer.step();
    same.step();
  }
  EXPECT_TRUE(equal(w, v));
  optim::AdamWOptions options(1e-2);
  options.betas({0.8, 0.9}).amsgrad(true);
  AdamW settings = options;
  EXPECT_EQ(settings.lr, 1e-2);
  EXPECT_EQ(settings.betas[1], 0.9);
  EXPECT_EQ(options.weight_decay(), 1e-2);
  EXPECT_EQ(optim::RMSpropOptions().lr(), 1e-2);
  auto step = compile_step([&] { return w.sum(); }, Tensors{w}, optim::AdagradOptions(0.5));
  EXPECT_EQ(step.lr(), 0.5);
}

}  // namespace
}  // namespace fg
