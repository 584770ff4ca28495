// Lambdas that hold modules, tensors and numbers: a change is never met with the old result and
// silence.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "base/log.h"

namespace fg {
namespace {

std::vector<std::string> warnings;
struct Warnings {
  Warnings() {
    warnings.clear();
    logging::set_warning_handler([](const std::string& text) { warnings.push_back(text); });
  }
  ~Warnings() { logging::set_warning_handler(nullptr); }
};
int64_t captured() { return compiler::counters().captured; }

TEST(HeldState, AModuleInAnotherModeIsCapturedForIt) {
  Warnings heard;
  nn::Dropout drop(0.5);
  auto f = compile([drop](const Tensor& x) { return drop(x); }, {.fullgraph = true});
  Tensor x = ones({1000});
  int64_t before = captured();
  for (int i = 0; i < 20; i++) EXPECT_FALSE(equal(f(x), x));
  drop->eval();
  EXPECT_TRUE(equal(f(x), x));
  drop->train();
  EXPECT_FALSE(equal(f(x), x));
  for (int i = 0; i < 20; i++) {
    drop->train(i % 2 == 0);
    EXPECT_EQ(equal(f(x), x), i % 2 == 1);
  }
  EXPECT_EQ(captured() - before, 2);
  EXPECT_TRUE(warnings.empty());
}

TEST(HeldState, AModuleInsideOfAnotherCounts) {
  nn::Sequential net(nn::Linear(4, 4), nn::Dropout(0.5));
  auto f = compile([&](const Tensor& x) { return net(x).sum(); }, {.fullgraph = true});
  Tensor x = ones({2, 4});
  f(x);
  net->eval();
  EXPECT_TRUE(equal(f(x), net(x).sum()));
  EXPECT_TRUE(equal(f(x), f(x)));
}

TEST(HeldState, AVariableThatNamesAnotherTensorIsFoundAndSaid) {
  Warnings heard;
  Tensor w = full({2}, 2.).requires_grad_(), old = w;
  auto f = compile([&](const Tensor& x) { return x * w; }, {.fullgraph = true, .name = "f"});
  Tensor x = ones({2}), first = f(x);
  w = full({2}, 3.).requires_grad_();
  Tensor second = f(x);
  EXPECT_TRUE(equal(second, full({2}, 3.)));
  second.sum().backward();
  EXPECT_TRUE(w.grad().defined());
  EXPECT_FALSE(old.grad().defined());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with("f holds something that has changed")) << warnings[0];
}

TEST(HeldState, ANumberThatChangedIsFoundAndSaid) {
  Warnings heard;
  double factor = 2;
  auto f = compile([&](const Tensor& x) { return x * factor; }, {.fullgraph = true});
  Tensor x = ones({2});
  f(x);
  factor = 3;
  EXPECT_TRUE(equal(f(x), full({2}, 3.)));
  EXPECT_EQ(warnings.size(), 1u);
}

// Later changes are found after as many calls again at the latest.
TEST(HeldState, ALateChangeIsSaidInTheEnd) {
  Warnings heard;
  double factor = 2;
  auto f = compile([&](const Tensor& x) { return x * factor; }, {.fullgraph = true});
  Tensor x = ones({2});
  for (int i = 0; i < 20; i++) f(x);
  factor = 3;
  for (int i = 0; i < 20; i++) f(x);
  EXPECT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(equal(f(x), full({2}, 3.)));
}

TEST(HeldState, WhatStaysTheSameIsCapturedOnce) {
  Warnings heard;
  Tensor w = ones({2}).requires_grad_();
  double factor = 2;
  auto f = compile([&](const Tensor& x) { return (x * w * factor).sum(); }, {.fullgraph = true});
  Tensor x = ones({2});
  int64_t before = captured();
  for (int i = 0; i < 40; i++) {
    f(x).backward();
    NoGradGuard no_grad;
    w.sub_(w.grad(), 0.01);  // another value of the same tensor
    w.set_grad({});
  }
  EXPECT_EQ(captured() - before, 1);
  EXPECT_TRUE(warnings.empty());
}

TEST(HeldState, StepsLookToo) {
  Warnings heard;
  Tensor w = ones({2}).requires_grad_(), scale = ones({});
  auto step = compile_step([&](const Tensor& x) { return (x * w * scale).sum(); }, Tensors{w},
                           SGD{.lr = 0.5});
  Tensor x = ones({2});
  step(x);
  scale = full({}, 2.);
  step(x);
  EXPECT_EQ(w.to_vector<double>(), (std::vector<double>{-0.5, -0.5}));
  EXPECT_EQ(warnings.size(), 1u);
}

struct ScaledImpl : nn::Module {
  double scale = 2;
  Tensor weight = register_parameter("weight", ones({2}));
  Tensor forward(const Tensor& x) const { return x * weight * scale; }
};
FG_MODULE(Scaled);

TEST(HeldState, ANumberInAModuleThatIsCompiledIsLookedFor) {
  Warnings heard;
  Scaled net;
  auto f = compile(net, {.fullgraph = true});
  EXPECT_EQ(f(ones({2})).to_vector<double>()[0], 2);
  net->scale = 5;
  EXPECT_EQ(f(ones({2})).to_vector<double>()[0], 5);
  EXPECT_EQ(warnings.size(), 1u);
  for (int i = 0; i < 20; i++) EXPECT_EQ(f(ones({2})).to_vector<double>()[0], 5);
  EXPECT_EQ(warnings.size(), 1u);
}

}  // namespace
}  // namespace fg
