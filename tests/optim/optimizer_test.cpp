// Eager optimisers: the bits of compile_step, groups, states, clipping, schedules.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/error_of.h"

namespace fg {
namespace {

nn::Sequential made_mlp() {
  manual_seed(5);
  return nn::Sequential(nn::Linear(6, 8), nn::Tanh(), nn::Linear(8, 3));
}
nn::Sequential made_cnn() {
  manual_seed(5);
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(2, 4, {3}).padding({1})), nn::BatchNorm2d(4),
                        nn::ReLU(), nn::MaxPool2d(2), nn::Flatten(), nn::Linear(16, 3));
}

Tensor batch(const Dims& sizes, int i) {
  Tensor x = linspace(-1, 1 + 0.1 * i, product(sizes).value());
  return sin(x * (7 + i)).reshape(sizes);
}

void expect_same(const nn::Sequential& a, const nn::Sequential& b) {
  for (const auto& item : a->state_dict()) {
    EXPECT_TRUE(equal(item.value(), b->state_dict()[item.key()])) << item.key();
  }
}

// Twelve steps by hand and compiled, with a rate that changes.
template <class Eager, class Settings>
void expect_bits_of_compile_step(const std::function<nn::Sequential()>& make, const Dims& sizes,
                                 const Settings& settings, bool clips = false) {
  nn::Sequential eager = make(), compiled = make();
  Eager optimizer(eager->parameters(), settings);
  auto loss_of = [](const nn::Sequential& model) {
    return [model](const Tensor& x, const Tensor& y) { return mse_loss(model(x), y); };
  };
  StepOptions options{.fullgraph = true};
  if (clips) options.clip_norm = 0.1;
  auto step = compile_step(loss_of(compiled), compiled, settings, options);
  for (int i = 0; i < 12; i++) {
    Tensor x = batch(sizes, i), y = batch({sizes[0], 3}, i);
    optimizer.set_lr(0.1 / (i + 1));
    step.set_lr(0.1 / (i + 1));
    optimizer.zero_grad();
    Tensor loss = loss_of(eager)(x, y);
    loss.backward();
    double norm = clips ? nn::utils::clip_grad_norm_(eager->parameters(), 0.1) : 0;
    optimizer.step();
    EXPECT_TRUE(equal(step(x, y), loss)) << i;
    EXPECT_TRUE(!clips || step.grad_norm().item().to_double() == norm) << i;
  }
  expect_same(eager, compiled);
  EXPECT_EQ(optimizer.lr(), step.lr());
}

TEST(Optimizer, EagerStepsHaveTheBitsOfCompiledSteps) {
  Dims sizes{4, 6};
  expect_bits_of_compile_step<optim::AdamW>(made_mlp, sizes, AdamW{});
  expect_bits_of_compile_step<optim::AdamW>(made_mlp, sizes, AdamW{.amsgrad = true}, true);
  expect_bits_of_compile_step<optim::Adam>(made_mlp, sizes, Adam{.weight_decay = 0.1});
  expect_bits_of_compile_step<optim::SGD>(made_mlp, sizes, SGD{.momentum = 0.9, .nesterov = true});
  expect_bits_of_compile_step<optim::RMSprop>(made_mlp, sizes, RMSprop{.momentum = 0.9}, true);
  expect_bits_of_compile_step<optim::RMSprop>(made_mlp, sizes, RMSprop{.centered = true});
  expect_bits_of_compile_step<optim::Adagrad>(made_mlp, sizes, Adagrad{.lr_decay = 0.1});
}

TEST(Optimizer, EagerStepsOfTheOthersHaveTheBitsOfCompiledSteps) {
  Dims sizes{4, 6};
  expect_bits_of_compile_step<optim::Adadelta>(made_mlp, sizes, Adadelta{.weight_decay = 0.1});
  expect_bits_of_compile_step<optim::Adafactor>(made_mlp, sizes, Adafactor{.weight_decay = 0.1});
  expect_bits_of_compile_step<optim::Adamax>(made_mlp, sizes, Adamax{.maximize = true});
  expect_bits_of_compile_step<optim::ASGD>(made_mlp, sizes, ASGD{.t0 = 3});
  expect_bits_of_compile_step<optim::NAdam>(made_mlp, sizes, NAdam{.weight_decay = 0.1});
  expect_bits_of_compile_step<optim::RAdam>(made_mlp, sizes, RAdam{.betas = {0.9, 0.9}});
  expect_bits_of_compile_step<optim::Rprop>(made_mlp, sizes, Rprop{});
}

TEST(Optimizer, EagerStepsOfACnnHaveTheBitsOfCompiledSteps) {
  Dims sizes{4, 2, 4, 4};
  expect_bits_of_compile_step<optim::AdamW>(made_cnn, sizes, AdamW{}, true);
  expect_bits_of_compile_step<optim::SGD>(made_cnn, sizes, SGD{.momentum = 0.9});
}

TEST(Optimizer, AdamAddsTheDecayToTheGradient) {
  Tensor w = tensor({1., -2.}, kFloat64).requires_grad_();
  optim::Adam optimizer({w}, {.lr = 0.1, .weight_decay = 0.5});
  double p[2] = {1, -2}, m[2] = {0, 0}, v[2] = {0, 0};
  for (int t = 1; t < 8; t++) {
    w.set_grad(w.detach().clone());
    optimizer.step();
    for (int i = 0; i < 2; i++) {
      double g = p[i] + 0.5 * p[i];
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      double below = std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-8;
      p[i] -= 0.1 * (m[i] / (1 - std::pow(0.9, t))) / below;
      EXPECT_NEAR(w.to_vector<double>()[static_cast<size_t>(i)], p[i], 1e-12);
    }
  }
}

TEST(Optimizer, GroupsHaveSettingsAndParametersWithoutGradientStay) {
  Tensor a = ones({2}).requires_grad_(), b = ones({2}).requires_grad_(),
         c = ones({2}).requires_grad_();
  optim::SGD optimizer({{{a}, SGD{.lr = 0.5}}});
  optimizer.add_param_group({{b, c}, SGD{.lr = 0.25}});
  (a.sum() + b.sum()).backward();
  optimizer.step();
  EXPECT_TRUE(equal(a, full({2}, 0.5)) && equal(b, full({2}, 0.75)) && equal(c, ones({2})));
  std::get<SGD>(optimizer.param_groups()[1].optimizer).lr = 0.75;
  Tensor loss = optimizer.step([&] {
    optimizer.zero_grad();
    Tensor sum = b.sum();
    sum.backward();
    return sum;
  });
  EXPECT_EQ(loss.item().to_double(), 1.5);
  EXPECT_TRUE(equal(b, zeros({2})));
  EXPECT_EQ(optimizer.parameters().size(), 3u);
  auto again = [&] { optimizer.add_param_group({{a}, SGD{}}); };
  EXPECT_HAS(error_of(again), "SGD: a parameter of sizes [2] is given twice");
  EXPECT_HAS(error_of([&] { optim::AdamW(Tensors{}); }), "AdamW: optimizer got an empty parameter");
  EXPECT_HAS(error_of([&] { optim::Adam({a}, {.lr = -1}); }), "Adam: Invalid learning rate: -1");
}

TEST(Optimizer, AStateThatIsSavedGoesOnWithTheSameBits) {
  nn::Sequential first = made_mlp(), second = made_mlp();
  optim::AdamW one(first->parameters(), {.lr = 0.1}), other(second->parameters(), {.lr = 0.1});
  auto steps = [](const nn::Sequential& model, optim::Optimizer& optimizer, int from, int to) {
    for (int i = from; i < to; i++) {
      optimizer.zero_grad();
      model(batch({4, 6}, i)).pow(2).mean().backward();
      optimizer.step();
    }
  };
  steps(first, one, 0, 3);
  second->load_state_dict(
      load_safetensors_bytes(save_safetensors_bytes(first->state_dict())).tensors);
  other.load_state_dict(load_safetensors_bytes(save_safetensors_bytes(one.state_dict())).tensors);
  EXPECT_EQ(one.state_dict().size(), 12u);
  EXPECT_EQ(one.state_dict()["0.step"].item().to_double(), 3);
  steps(first, one, 3, 6);
  steps(second, other, 3, 6);
  expect_same(first, second);
  OrderedDict<Tensor> wrong;
  wrong.insert("9.exp_avg", ones({1}));
  EXPECT_HAS(error_of([&] { other.load_state_dict(wrong); }), "'9.exp_avg' is no state of one of");
}

TEST(Optimizer, ClippingScalesOrLimits) {
  Tensor a = zeros({2}).requires_grad_(), b = zeros({1}).requires_grad_();
  a.set_grad(tensor({3., 0.}));
  b.set_grad(tensor({4.}));
  EXPECT_EQ(nn::utils::clip_grad_norm_({a, b}, 100), 5);
  EXPECT_TRUE(allclose(a.grad(), tensor({3., 0.})));
  EXPECT_EQ(nn::utils::clip_grad_norm_({a, b}, 2.5), 5);
  EXPECT_TRUE(allclose(a.grad(), tensor({1.5, 0.})) && allclose(b.grad(), tensor({2.})));
  EXPECT_NEAR(nn::utils::clip_grad_norm_({a, b}, 9, INFINITY), 2, 1e-6);
  nn::utils::clip_grad_value_({a, b}, 1);
  EXPECT_TRUE(equal(a.grad(), tensor({1., 0.})) && equal(b.grad(), tensor({1.})));
  b.set_grad(tensor({NAN}));
  EXPECT_HAS(error_of([&] { nn::utils::clip_grad_norm_({a, b}, 1, 2, true); }),
             "The total norm of order 2.0 for gradients from `parameters` is non-finite");
  Tensor vector = nn::utils::parameters_to_vector({a, b});
  EXPECT_EQ(vector.numel(), 3);
  nn::utils::vector_to_parameters(tensor({1., 2., 3.}), {a, b});
  EXPECT_TRUE(equal(a, tensor({1., 2.})) && equal(b, tensor({3.})));
}

TEST(CosineSchedule, GoesUpAndDown) {
  optim::CosineSchedule rate{.high = 1, .low = 0.1, .warmup = 4, .total = 14};
  EXPECT_DOUBLE_EQ(rate(0), 0.25);
  EXPECT_DOUBLE_EQ(rate(3), 1);
  EXPECT_DOUBLE_EQ(rate(4), 1);
  EXPECT_DOUBLE_EQ(rate(9), 0.55);
  EXPECT_DOUBLE_EQ(rate(14), 0.1);
  EXPECT_DOUBLE_EQ(rate(100), 0.1);
}

}  // namespace
}  // namespace fg
