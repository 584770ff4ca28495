// fg::compile_step: one program per training step, with the numbers of the eager one.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_of.h"

namespace fg {
namespace {

Tensor leaf(const Dims& sizes, double low = -1, DType dtype = kFloat32) {
  Tensor values = linspace(low, low + 2, product(sizes).value(), kFloat64).reshape(sizes);
  return values.to(dtype).detach().requires_grad_();
}
int64_t captures() { return compiler::counters().captured; }

// Two layers; `unused` gets no gradient.
struct Model {
  Tensor w1 = leaf({6, 5}), b1 = leaf({5}, 0), w2 = leaf({5, 3}, -0.5), unused = leaf({2});
  Tensors parameters() const { return {w1, b1, w2, unused}; }
  Tensor loss(const Tensor& x, const Tensor& y) const {
    return ((x.mm(w1) + b1).tanh().mm(w2) - y).pow(2).mean();
  }
};
Tensor data(int i) { return leaf({4, 6}, 0.1 * i).detach(); }
Tensor target(int i) { return leaf({4, 3}, -0.2 * i).detach() * 4; }

// An update without rows: the formula, then what it gives in the place of what it got.
void update_alone(const OptimizerSettings& optimizer, int64_t step, const Tensor& p,
                  const Tensors& state, const Tensor& gradient) {
  NoGradGuard no_grad;
  optim::Memory none;
  optim::Formula formula =
      optim::formula_of(optim::formula_name(optimizer), optim::numbers(optimizer, step, none));
  Tensor next = p;
  Tensors next_state = state;
  formula.update(next, next_state, gradient);
  p.copy_(next);
  for (size_t k = 0; k < next_state.size(); k++) state[k].copy_(next_state[k]);
}

// The same step by hand, with the same formulas.
class ByHand {
 public:
  ByHand(Model model, OptimizerSettings optimizer, StepOptions options = {})
      : model(std::move(model)), optimizer(optimizer), options_(std::move(options)) {
    for (const Tensor& p : this->model.parameters()) {
      state.emplace_back();
      for (size_t i = 0; i < optim::state_names(optimizer).size(); i++) {
        state.back().push_back(zeros_like(p));
      }
    }
  }
  Tensor operator()(const Tensor& x, const Tensor& y) {
    Tensor loss = model.loss(x, y);
    Tensors p = model.parameters();
    Tensors gradients = autograd::grad({loss}, {p.begin(), p.end()}, {}, {.allow_unused = true});
    if (options_.clip_norm) norm = optim::clip_norm(gradients, *options_.clip_norm);
    if (options_.clip_value) optim::clip_value(gradients, *options_.clip_value);
    step++;
    for (size_t i = 0; i < p.size(); i++) {
      if (!gradients[i].defined()) continue;
      update_alone(optimizer, step, p[i], state[i], gradients[i]);
    }
    return loss.detach();
  }

  Model model;
  OptimizerSettings optimizer;
  std::vector<Tensors> state;
  Tensor norm;
  int64_t step = 0;

 private:
  StepOptions options_;
};

auto loss_of(const Model& model) {
  return [&](const Tensor& x, const Tensor& y) { return model.loss(x, y); };
}

void expect_same_bits(const Tensors& a, const Tensors& b, int i) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); k++) EXPECT_TRUE(equal(a[k], b[k])) << k << " at step " << i;
}

void expect_as_by_hand(const OptimizerSettings& optimizer, StepOptions options, int64_t versions) {
  Model model, other;
  options.fullgraph = true;
  ByHand hand(other, optimizer, options);
  auto step = compile_step(loss_of(model), model, optimizer, options);
  int64_t before = captures();
  for (int i = 0; i < 12; i++) {
    double lr = 0.05 / (1 + i);
    step.set_lr(lr);
    std::visit([&](auto& settings) { settings.lr = lr; }, hand.optimizer);
    EXPECT_TRUE(equal(step(data(i), target(i)), hand(data(i), target(i)))) << i;
    expect_same_bits(model.parameters(), other.parameters(), i);
    EXPECT_TRUE(!options.clip_norm || equal(step.grad_norm(), hand.norm));
  }
  EXPECT_EQ(captures() - before, versions);
  Tensors found;
  for (const std::string& name : optim::state_names(optimizer)) {
    found.push_back(step.state(model.w1)[name]);
  }
  expect_same_bits(found, hand.state[0], 12);
  EXPECT_FALSE(model.w1.grad().defined());
  bool none_before = !optim::description_of(optimizer).begins_early;
  EXPECT_EQ(step.state(model.unused).empty(), none_before);
  EXPECT_EQ(model.w1.requires_grad(), true);
}

// AdamW counts other steps for the parameter without gradient from the second call on; for SGD the
// second call is not the first one any more: one version more each.
TEST(CompileStep, AdamWHasTheBitsOfTheEagerStepAtAnyRate) {
  expect_as_by_hand(AdamW{}, {}, 2);
  expect_as_by_hand(AdamW{.betas = {0.8, 0.9}, .eps = 1e-4, .weight_decay = 0.1, .maximize = true},
                    {}, 2);
  expect_as_by_hand(AdamW{.amsgrad = true}, {}, 2);
}

TEST(CompileStep, SgdHasTheBitsOfTheEagerStepAtAnyRate) {
  expect_as_by_hand(SGD{}, {}, 1);
  expect_as_by_hand(SGD{.weight_decay = 0.1, .maximize = true}, {}, 1);
  expect_as_by_hand(SGD{.momentum = 0.9, .dampening = 0.5, .weight_decay = 0.1}, {}, 2);
  expect_as_by_hand(SGD{.momentum = 0.9, .nesterov = true}, {}, 2);
}

TEST(CompileStep, ClipsAsTheEagerStepDoes) {
  expect_as_by_hand(AdamW{}, {.clip_norm = 0.5}, 2);
  expect_as_by_hand(AdamW{}, {.clip_norm = 1e9}, 2);
  expect_as_by_hand(SGD{}, {.clip_value = 0.01}, 1);
}

TEST(CompileStep, AnotherRateAnotherCountAndAnotherLimitCaptureNothing) {
  Tensor w = leaf({3});
  auto step = compile_step([&](const Tensor& x) { return (w * x).pow(2).sum(); }, Tensors{w},
                           AdamW{}, {.clip_norm = 1.0, .fullgraph = true});
  int64_t before = captures();
  for (int i = 0; i < 20; i++) {
    step.set_lr(1.0 / (1 + i));
    step.options.clip_norm = 1.0 + i;
    std::get<AdamW>(step.groups()[0].optimizer).betas[0] = 0.9 - 0.01 * i;
    step(leaf({3}).detach());
  }
  EXPECT_EQ(captures() - before, 1);
  EXPECT_EQ(step.lr(), 0.05);
  EXPECT_EQ(step.state(w)["step"].item().to_double(), 20);
}

TEST(CompileStep, TheFirstStepOfAdamWIsTheRate) {
  Tensor w = tensor({1., -2., 3.}).requires_grad_();
  auto step =
      compile_step([&] { return (w * w).sum(); }, Tensors{w}, AdamW{.lr = 0.5, .weight_decay = 0});
  EXPECT_EQ(step().item().to_double(), 14);
  EXPECT_TRUE(allclose(w, tensor({0.5, -1.5, 2.5}))) << w;
}

TEST(CompileStep, ReturnsWhatTheLossFunctionReturns) {
  Model model;
  auto f = [&](const Tensor& x, const Tensor& y) {
    Tensor hidden = (x.mm(model.w1) + model.b1).tanh();
    return std::tuple((hidden.mm(model.w2) - y).pow(2).mean(), hidden);
  };
  auto step = compile_step(f, model, AdamW{}, {.fullgraph = true});
  auto [expected, states] = f(data(1), target(1));
  auto [loss, hidden] = step(data(1), target(1));
  EXPECT_TRUE(equal(loss, expected));
  EXPECT_TRUE(equal(hidden, states));
  EXPECT_FALSE(loss.requires_grad() || hidden.requires_grad());
}

TEST(CompileStep, GroupsHaveSettingsOfTheirOwn) {
  Model model, other;
  auto step = compile_step(
      loss_of(model),
      {{{model.w1, model.w2}, AdamW{.lr = 0.1, .weight_decay = 0.5}}, {{model.b1}, SGD{.lr = 0.2}}},
      {.fullgraph = true});
  ByHand adamw(other, AdamW{.lr = 0.1, .weight_decay = 0.5});
  Tensor b1 = other.b1.detach().clone().requires_grad_();
  for (int i = 0; i < 5; i++) {
    adamw.model.b1 = b1.detach().clone().requires_grad_();
    Tensor loss = adamw.model.loss(data(i), target(i));
    Tensor gradient = autograd::grad({loss}, {adamw.model.b1})[0];
    adamw(data(i), target(i));
    update_alone(SGD{.lr = 0.2}, i + 1, b1, {}, gradient);
    step(data(i), target(i));
    expect_same_bits({model.w1, model.b1, model.w2}, {other.w1, b1, other.w2}, i);
  }
}

TEST(CompileStep, FrozenParametersAreLeftAloneUntilTheyAreNot) {
  Model model;
  model.w1.requires_grad_(false);
  auto step = compile_step(loss_of(model), model, AdamW{.lr = 0.1}, {.fullgraph = true});
  Tensor before = model.w1.clone(), w2 = model.w2.detach().clone();
  step(data(0), target(0));
  EXPECT_TRUE(equal(model.w1, before));
  EXPECT_FALSE(equal(model.w2, w2));
  model.w1.requires_grad_();
  step(data(0), target(0));
  EXPECT_FALSE(equal(model.w1, before));
  EXPECT_EQ(step.state(model.w1)["step"].item().to_double(), 1);
  EXPECT_EQ(step.state(model.w2)["step"].item().to_double(), 2);
}

TEST(CompileStep, RMSpropAndAdagradHaveTheBitsOfTheEagerStep) {
  expect_as_by_hand(RMSprop{.weight_decay = 0.1, .momentum = 0.9, .centered = true}, {}, 1);
  expect_as_by_hand(Adagrad{.lr_decay = 0.1}, {.clip_norm = 0.5}, 2);
}

TEST(CompileStep, StateThatIsLoadedGoesOnWhereItWas) {
  for (const OptimizerSettings& optimizer : {OptimizerSettings(AdamW{.lr = 0.1, .amsgrad = true}),
                                             OptimizerSettings(SGD{.lr = 0.1, .momentum = 0.9})}) {
    Model model, other;
    auto first = compile_step(loss_of(model), model, optimizer, {.fullgraph = true});
    for (int i = 0; i < 3; i++) first(data(i), target(i));
    auto second = compile_step(loss_of(other), other, optimizer, {.fullgraph = true});
    NoGradGuard no_grad;
    for (size_t i = 0; i < 4; i++) {
      Tensor from = model.parameters()[i], to = other.parameters()[i];
      to.copy_(from);
      second.load_state(to, first.state(from));
    }
    AutoGradMode with_grad(true);
    for (int i = 3; i < 6; i++) {
      EXPECT_TRUE(equal(first(data(i), target(i)), second(data(i), target(i)))) << i;
    }
    expect_same_bits(model.parameters(), other.parameters(), 6);
  }
}

TEST(CompileStep, WhatCannotBeCapturedRunsEagerly) {
  Tensor w = leaf({3}), v = leaf({3});
  auto f = [](const Tensor& p) {
    return [&p](const Tensor& x) {
      return x.sum().item().to_double() > 0 ? (p * x).pow(2).sum() : (p - x).pow(2).sum();
    };
  };
  auto step = compile_step(f(w), Tensors{w}, AdamW{}, {.name = "the step that decides"});
  ByHand hand(Model{}, AdamW{});
  int64_t eager = compiler::counters().eager;
  Tensors state = {zeros_like(v), zeros_like(v)};
  for (int i = 0; i < 4; i++) {
    Tensor x = leaf({3}, i - 3).detach();
    step(x);
    Tensor gradient = autograd::grad({f(v)(x)}, {v})[0];
    update_alone(AdamW{}, i + 1, v, state, gradient);
    EXPECT_TRUE(equal(w, v)) << i;
  }
  EXPECT_EQ(compiler::counters().eager - eager, 4);
  auto strict = compile_step(f(w), Tensors{w}, AdamW{}, {.fullgraph = true});
  EXPECT_NE(error_of([&] { strict(leaf({3}).detach()); }), "no error");
}

TEST(CompileStep, ANormThatIsNotFiniteIsRefusedBeforeAnythingIsWritten) {
  Tensor w = leaf({3});
  auto step = compile_step([&](const Tensor& x) { return (w * x).sum(); }, Tensors{w}, AdamW{},
                           {.clip_norm = 1.0, .error_if_nonfinite = true, .fullgraph = true});
  step(ones({3}));
  Tensor before = w.detach().clone(), mean = step.state(w)["exp_avg"].clone();
  EXPECT_HAS(error_of([&] { step(full({3}, std::nan(""))); }), "is non-finite, so it cannot be");
  EXPECT_TRUE(equal(w, before));
  EXPECT_TRUE(equal(step.state(w)["exp_avg"], mean));
  EXPECT_EQ(step.state(w)["step"].item().to_double(), 1);
  step(ones({3}));
  EXPECT_EQ(step.state(w)["step"].item().to_double(), 2);
}

TEST(CompileStep, ExplainsItselfAndCountsHowLongItTookToBeReady) {
  Tensor w = leaf({3});
  auto step = compile_step([&](const Tensor& x) { return (w * x).sum(); }, Tensors{w}, AdamW{},
                           {.fullgraph = true, .name = "a step of w"});
  double before = compiler::counters().seconds;
  step(ones({3}));
  double ready = compiler::counters().seconds;
  EXPECT_GT(ready, before);
  step(ones({3}));
  EXPECT_EQ(compiler::counters().seconds, ready) << "a call of what is there makes nothing";
  EXPECT_HAS(step.explain(), "<h1>a step of w</h1>");
}

TEST(CompileStep, RefusesWhatPyTorchRefuses) {
  Tensor w = leaf({3}), frozen = leaf({3}).detach();
  auto f = [&](const Tensor& x) { return (w * x).sum(); };
  auto made = [&](OptimizerSettings optimizer) {
    return error_of([&] { compile_step(f, Tensors{w}, optimizer); });
  };
  EXPECT_HAS(made(AdamW{.lr = -0.5}), "AdamW: Invalid learning rate: -0.5; expected");
  EXPECT_HAS(made(AdamW{.betas = {0.9, 1.5}}), "Invalid beta parameter at index 1: 1.5");
  EXPECT_HAS(made(AdamW{.eps = -1}), "Invalid epsilon value: -1");
  EXPECT_HAS(made(AdamW{.weight_decay = -1}), "Invalid weight_decay value: -1");
  EXPECT_HAS(made(SGD{.lr = std::nan("")}), "SGD: Invalid learning rate: nan");
  EXPECT_HAS(made(SGD{.momentum = -1}), "Invalid momentum value: -1");
  EXPECT_HAS(made(SGD{.nesterov = true}), "Nesterov momentum requires a momentum and zero damp");
  auto of = [&](const Tensors& parameters) {
    return error_of([&] { compile_step(f, parameters, AdamW{}); });
  };
  EXPECT_HAS(of({}), "optimizer got an empty parameter list");
  EXPECT_HAS(of({w * 2}), "can't optimize a non-leaf Tensor");
  EXPECT_HAS(of({w, w}), "a parameter of sizes [3] is given twice");
  auto step = compile_step(f, Tensors{w}, AdamW{});
  EXPECT_HAS(error_of([&] { step.set_lr(-1); }), "Invalid learning rate: -1");
  EXPECT_EQ(step.lr(), 1e-3);
  EXPECT_HAS(error_of([&] { (void)step.state(frozen); }), "sizes [3] is no parameter of this step");
  auto none = compile_step(f, Tensors{frozen}, AdamW{});
  EXPECT_HAS(error_of([&] { none(ones({3})); }), "none of the parameters requires a gradient");
  auto both = compile_step(f, Tensors{w}, AdamW{}, {.clip_norm = 1.0, .clip_value = 1.0});
  EXPECT_HAS(error_of([&] { both(ones({3})); }), "got both clip_norm and clip_value");
}

TEST(CompileStep, RefusesLossesAndStatesThatAreNone) {
  Tensor w = leaf({3});
  auto vectors = compile_step([&](const Tensor& x) { return w * x; }, Tensors{w}, AdamW{},
                              {.fullgraph = true});
  EXPECT_HAS(error_of([&] { vectors(ones({3})); }), "only for scalar outputs");
  auto nothing = compile_step([&](const Tensor&) { return Tensors(); }, Tensors{w}, AdamW{},
                              {.fullgraph = true});
  EXPECT_HAS(error_of([&] { nothing(ones({3})); }), "the loss function returned no tensor");
  auto step = compile_step([&](const Tensor& x) { return (w * x).sum(); }, Tensors{w}, AdamW{});
  EXPECT_HAS(error_of([&] { step.load_state(w, {{"exp_avg", zeros({3})}}); }),
             "'exp_avg_sq' is missing in the state of parameter 0");
  EXPECT_HAS(error_of([&] { step.load_state(w, {{"exp_avg", zeros({2})}}); }),
             "'exp_avg' of parameter 0 has sizes [2]; expected [3]");
  auto outer = compile([&](const Tensor& x) { return step(x) * 2; }, {.fullgraph = true});
  EXPECT_HAS(error_of([&] { outer(ones({3})); }), "call it outside of compiled functions");
}

}  // namespace
}  // namespace fg
