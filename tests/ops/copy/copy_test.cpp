#include "ops/copy/copy.h"

#include <gtest/gtest.h>

#include "autograd/autograd.h"
#include "autograd/node.h"
#include "base/error.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/view/views.h"

namespace fg {
namespace {

TEST(Copy, to_returns_self_where_nothing_changes) {
  Tensor x = arange(3);
  EXPECT_TRUE(x.to(kInt64).is_same(x));
  EXPECT_FALSE(x.to(kInt64, true).is_same(x));
  EXPECT_TRUE(to(x, arange(1)).is_same(x));
  EXPECT_EQ(to(x, zeros({1})).dtype(), kFloat32);
}

TEST(Copy, copy_broadcasts_and_converts) {
  Tensor x = zeros({2, 3});
  x.copy_(arange(3));
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{0, 1, 2, 0, 1, 2}));
  Tensor whole = zeros({2}, kInt64);
  whole.copy_(full({2}, 2.7));
  EXPECT_EQ(whole.to_vector<int64_t>(), (std::vector<int64_t>{2, 2}));
  EXPECT_THROW(x.copy_(arange(4)), Error);
}

TEST(Copy, copy_from_an_overlapping_view_is_refused) {
  Tensor x = arange(5);
  EXPECT_THROW(narrow(x, 0, 1, 4).copy_(narrow(x, 0, 0, 4)), Error);
  EXPECT_EQ(x.to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2, 3, 4}));
}

TEST(Copy, nodes_are_named_as_in_pytorch) {
  Tensor leaf = ones({2}).requires_grad_();
  auto after = [&](auto write) {
    Tensor x = leaf * 2;
    write(x);
    return x.grad_fn()->name();
  };
  EXPECT_EQ(after([](Tensor& x) { x.copy_(ones({2})); }), "CopyBackwards");
  EXPECT_EQ(after([](Tensor& x) { x.fill_(2); }), "FillBackward2");
  EXPECT_EQ(after([](Tensor& x) { fill_tensor_(x, ones({})); }), "FillBackward3");
  EXPECT_EQ(after([](Tensor& x) { x.zero_(); }), "ZeroBackward0");
  EXPECT_EQ(leaf.to(kFloat64).grad_fn()->name(), "ToCopyBackward0");
  EXPECT_EQ(leaf.clone().grad_fn()->name(), "CloneBackward0");
}

TEST(Copy, gradients_flow_into_what_was_copied) {
  Tensor source = ones({1, 3}, kFloat64).requires_grad_();
  Tensor x = zeros({2, 3}, kFloat32);
  x.copy_(source);
  Tensor grad = autograd::grad({x}, {source}, {ones({2, 3})})[0];
  EXPECT_EQ(grad.dtype(), kFloat64);
  EXPECT_EQ(grad.to_vector<double>(), (std::vector<double>{2, 2, 2}));
  Tensor value = full({}, 5.0).requires_grad_(), y = zeros({4});
  fill_tensor_(y, value);
  EXPECT_EQ(autograd::grad({y}, {value}, {ones({4})})[0].item<double>(), 4);
}

TEST(Copy, fill_takes_one_value_that_fits) {
  Tensor bytes = zeros({2}, kUInt8);
  EXPECT_THROW(bytes.fill_(300), Error);
  EXPECT_THROW(fill_tensor_(bytes, ones({2})), Error);
  EXPECT_EQ(bytes.to_vector<int64_t>(), (std::vector<int64_t>{0, 0}));
  bytes.fill_(2.7);
  EXPECT_EQ(bytes.to_vector<int64_t>(), (std::vector<int64_t>{2, 2}));
}

}  // namespace
}  // namespace fg
