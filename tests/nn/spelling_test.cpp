// Modules as libtorch programs write them.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace fg {
namespace {

struct Net : nn::Module {
  Tensor forward(const Tensor& x) { return layer(x); }
  nn::Linear layer = register_module("layer", nn::Linear(2, 3));
};

TEST(ModuleSpelling, CopiesShareParameters) {
  std::vector<Net> nets;
  for (int i = 0; i < 5; i++) nets.emplace_back();
  Net copy = nets[0];
  ASSERT_EQ(copy.parameters().size(), 2u);
  EXPECT_TRUE(copy.parameters()[0].is_same(nets[0].parameters()[0]));
  EXPECT_FALSE(nets[1].parameters()[0].is_same(nets[0].parameters()[0]));
  copy = nets[1];
  EXPECT_TRUE(copy.layer->weight.is_same(nets[1].layer->weight));
}

TEST(ModuleSpelling, LayerNormTakesItsShapeInBraces) {
  nn::LayerNorm a(nn::LayerNormOptions({3})), b(nn::LayerNormOptions({2, 3}).eps(1e-3)), c(3),
      d(std::vector<int64_t>{2, 3}), e(nn::LayerNormOptions(4));
  EXPECT_EQ(a->weight.sizes(), Dims{3});
  EXPECT_EQ(b->weight.sizes(), (Dims{2, 3}));
  EXPECT_EQ(c->weight.sizes(), Dims{3});
  EXPECT_EQ(d->weight.sizes(), (Dims{2, 3}));
  EXPECT_EQ(e->weight.sizes(), Dims{4});
}

TEST(ModuleSpelling, AnEmptySequentialRefusesForward) {
  nn::Sequential none;
  EXPECT_EQ(error_of([&] { none->forward(ones({1})); }),
            "Sequential: cannot call forward() of an empty Sequential; give it a module first");
}

TEST(ModuleSpelling, ClippingReturnsANumber) {
  Tensor a = ones({2}).requires_grad_();
  (a * tensor({3., 4.})).sum().backward();
  double norm = nn::utils::clip_grad_norm_({a}, 1.0);
  EXPECT_EQ(norm, 5);
  EXPECT_TRUE(nn::utils::clip_grad_norm_({a}, 10.0) < 1.001);
  EXPECT_NEAR(nn::utils::get_total_norm({a.grad()}).item<double>(), 1, 1e-5);
}

TEST(ModuleSpelling, HandlesAreMadeOnlyOfWhatTheirModuleIsMadeOf) {
  EXPECT_TRUE((std::is_constructible_v<nn::Linear, int, int>));
  EXPECT_FALSE((std::is_constructible_v<nn::Linear, int>));
  EXPECT_FALSE((std::is_constructible_v<nn::Linear, const char*, int>));
  EXPECT_FALSE((std::is_constructible_v<nn::Sequential, int>));
}

}  // namespace
}  // namespace fg
