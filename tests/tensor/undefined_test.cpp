// Undefined tensors answer or refuse as libtorch's, in words.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/error_of.h"

namespace fg {
namespace {

TEST(Undefined, AnswersWhatLibtorchAnswers) {
  const Tensor u;
  EXPECT_EQ(u.dim(), 1);
  EXPECT_EQ(u.numel(), 0);
  EXPECT_EQ(u.sizes(), Dims{0});
  EXPECT_EQ(u.size(0), 0);
  EXPECT_EQ(u.storage_offset(), 0);
  EXPECT_EQ(u.use_count(), 0u);
  EXPECT_EQ(u._version(), 0u);
  EXPECT_TRUE(u.is_contiguous() && u.is_same(Tensor()));
  EXPECT_FALSE(u.requires_grad() || u.is_floating_point() || u.is_inference());
  std::ostringstream out;
  out << u;
  EXPECT_FALSE(out.str().empty());
}

// Everything that a tensor can be asked, each with the name that the refusal begins with.
TEST(Undefined, RefusesTheRestInASentence) {
  const Tensor u, x = ones({2, 3});
  std::vector<std::pair<std::string, Callback<void()>>> calls{
      {"dtype", [&] { (void)u.dtype(); }},
      {"strides", [&] { (void)u.strides(); }},
      {"stride", [&] { (void)u.stride(0); }},
      {"size", [&] { (void)u.size(1); }},
      {"data_ptr", [&] { (void)u.data_ptr(); }},
      {"dtype", [&] { (void)u.data_ptr<float>(); }},
      {"item", [&] { (void)u.item(); }},
      {"to_vector", [&] { (void)u.to_vector<int>(); }},
      {"index", [&] { (void)u[0]; }},
      {"index", [&] { (void)u.index({0}); }},
      {"index", [&] { (void)x.index({u}); }},
      {"index", [&] { u.index_put_({0}, x); }},
      {"grad", [&] { (void)u.grad(); }},
      {"set_grad", [&] { u.set_grad(x); }},
      {"grad_fn", [&] { (void)u.grad_fn(); }},
      {"is_leaf", [&] { (void)u.is_leaf(); }},
      {"output_nr", [&] { (void)u.output_nr(); }},
      {"backward", [&] { u.backward(); }},
      {"register_hook", [&] { u.register_hook([](const Tensor&) {}); }},
      {"register_post", [&] { u.register_post_accumulate_grad_hook([](const Tensor&) {}); }},
      {"retain_grad", [&] { u.retain_grad(); }},
      {"retains_grad", [&] { (void)u.retains_grad(); }},
      {"requires_grad_", [&] { u.requires_grad_(); }},
      {"detach", [&] { (void)u.detach(); }},
      {"detach_", [&] { u.detach_(); }},
      {"data", [&] { (void)u.data(); }},
      {"set_data", [&] { u.set_data(x); }},
      {"set_data", [&] { x.clone().set_data(u); }},
      {"is_view", [&] { (void)u.is_view(); }},
      {"is_view", [&] { (void)u._base(); }},
      {"scatter", [&] { (void)x.scatter(0, zeros({1, 1}, kInt64), u); }},
      {"scatter", [&] { x.scatter_(0, zeros({1, 1}, kInt64), u); }},
      {"clone", [&] { (void)u.clone(); }},
      {"to", [&] { (void)u.to(kFloat64); }},
      {"copy", [&] { u.copy_(x); }},
      {"copy", [&] { x.copy_(u); }},
      {"zero", [&] { u.zero_(); }},
      {"fill", [&] { u.fill_(1); }},
      {"add", [&] { (void)(u + 1); }},
      {"add", [&] { (void)(x + u); }},
      {"sum", [&] { (void)u.sum(); }},
      {"mean", [&] { (void)u.mean({0, 1}); }},
      {"var", [&] { (void)u.var(false); }},
      {"equal", [&] { (void)u.equal(x); }},
      {"view", [&] { (void)u.view({1}); }},
      {"clamp", [&] { (void)u.clamp(0, 1); }},
      {"where", [&] { (void)x.where(u, x); }},
      {"stack", [&] { (void)stack({x, u}); }},
      {"cat", [&] { (void)cat({u, u}); }},
      {"dtype", [&] { (void)x.type_as(u); }},
      {"view_as", [&] { (void)x.view_as(u); }},
      {"sqrt", [&] { (void)sqrt(u); }},
      {"zeros_like", [&] { (void)zeros_like(u); }},
      {"grad", [&] { autograd::grad({u}, {x}); }},
      {"backward", [&] { autograd::backward({u}); }},
      {"increment_version", [&] { autograd::increment_version({u}); }},
  };
  for (const auto& [name, call] : calls) {
    std::string error = error_of([&] { call(); });
    EXPECT_TRUE(error.starts_with(name)) << name << ": " << error;
  }
  EXPECT_EQ(error_of([&] { (void)u.dtype(); }),
            "dtype: the tensor is undefined (a Tensor() that was never assigned); give it a value "
            "first");
}

TEST(Undefined, IsSkippedByCat) {
  Tensor x = ones({2, 3}).requires_grad_(), u;
  EXPECT_TRUE(equal(cat({x, u}, 1), x));
  EXPECT_TRUE(equal(cat({u, x, u, x}), ones({4, 3})));
  cat({u, x * 2}).sum().backward();
  EXPECT_TRUE(equal(x.grad(), full({2, 3}, 2.)));
}

TEST(Undefined, ModuleHoldersOfNullptrRefuse) {
  nn::Linear none = nullptr;
  EXPECT_TRUE(none.is_empty() && !none);
  std::string why = "ModuleHolder: the handle is empty";
  EXPECT_HAS(error_of([&] { (void)none->weight; }), why);
  EXPECT_HAS(error_of([&] { (void)(*none).bias; }), why);
  EXPECT_HAS(error_of([&] { (void)none(ones({1})); }), why);
  EXPECT_HAS(error_of([&] { (void)none.ptr(); }), why);
  EXPECT_HAS(error_of([&] { (void)none.get(); }), why);
  EXPECT_HAS(error_of([&] { (void)none.parameters(); }), why);
  none = nn::Linear(2, 3);
  EXPECT_EQ(none->weight.sizes(), (Dims{3, 2}));
}

}  // namespace
}  // namespace fg
