#include "ops/attention/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "autograd/autograd.h"
#include "autograd/node.h"
#include "base/error.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/matmul/matmul.h"
#include "ops/norm/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"
#include "tests/error_of.h"

namespace fg {
namespace {

constexpr auto& attention = scaled_dot_product_attention;

Tensor spread(const Dims& sizes) {
  return reshape(arange(product(sizes).value(), kFloat64), sizes) * 0.1 - 0.5;
}

TEST(Attention, is_softmax_of_scaled_scores_times_values) {
  Tensor q = spread({3, 4}), k = spread({5, 4}), v = spread({5, 2});
  Tensor expected = matmul(softmax(matmul(q, t(k)) * 0.5, -1), v);
  EXPECT_TRUE(attention(q, k, v).allclose(expected, 1e-12, 1e-12));
  Tensor flipped = matmul(softmax(matmul(q, t(k)) * -2, -1), v);
  EXPECT_TRUE(attention(q, k, v, {}, 0, false, -2.0).allclose(flipped, 1e-12, 1e-12));
}

TEST(Attention, a_row_that_sees_nothing_is_zero_and_has_no_gradient) {
  Tensor q = spread({2, 4}).requires_grad_(), k = spread({3, 4}), v = spread({3, 2});
  Tensor mask = tensor({{0, 0, 0}, {1, 1, 0}}, kBool);
  Tensor y = attention(q, k, v, mask);
  EXPECT_EQ(select(y, 0, 0).to_vector<double>(), (std::vector<double>{0, 0}));
  sum(y).backward();
  auto grad = q.grad().to_vector<double>();
  for (size_t i = 0; i < 4; i++) EXPECT_EQ(grad[i], 0);
  EXPECT_TRUE(std::isfinite(grad[4]) && grad[4] != 0);
}

TEST(Attention, causal_is_a_lower_triangle_from_the_first_position) {
  Tensor q = spread({2, 4}), kv = spread({3, 4});
  Tensor mask = tensor({{1, 0, 0}, {1, 1, 0}}, kBool);
  EXPECT_EQ(attention(q, kv, kv, {}, 0, true).to_vector<double>(),
            attention(q, kv, kv, mask).to_vector<double>());
}

TEST(Attention, halves_are_computed_in_float) {
  Tensor q = spread({2, 3, 4}).to(kBFloat16);
  EXPECT_EQ(attention(q, q, q).dtype(), kBFloat16);
  Tensor wide = q.to(kFloat32);
  EXPECT_EQ(attention(q, q, q).to_vector<float>(),
            attention(wide, wide, wide).to(kBFloat16).to_vector<float>());
}

TEST(Attention, a_mask_and_a_causal_one_hide_together) {
  Tensor q = spread({2, 3, 4}), mask = spread({3, 3});
  Tensor hidden = tensor({{0, 1, 1}, {0, 0, 1}, {0, 0, 0}}, kBool);
  Tensor both = masked_fill(mask, hidden, -std::numeric_limits<double>::infinity());
  EXPECT_EQ(attention(q, q, q, mask, 0, true).to_vector<double>(),
            attention(q, q, q, both).to_vector<double>());
}

TEST(Attention, errors_say_what_came_and_what_was_expected) {
  Tensor q = spread({2, 4});
  EXPECT_EQ(error_of([&] { attention(q, q, q, {}, 1.5); }),
            "scaled_dot_product_attention: dropout probability has to be between 0 and 1, but got "
            "1.5");
  EXPECT_EQ(error_of([&] { attention(q, q.to(kFloat32), q); }),
            "scaled_dot_product_attention: expected query, key and value of the same dtype, got "
            "float64, float32 and float64; convert them with to()");
  EXPECT_EQ(
      error_of([&] { attention(q, q, q, ones({2, 2}, kInt32)); }),
      "scaled_dot_product_attention: attn_mask must be bool, float32 or float64 as the query, "
      "got int32");
  Tensor three = spread({1, 3, 2, 4}), two = spread({1, 2, 2, 4});
  EXPECT_EQ(error_of([&] { attention(three, two, two, {}, 0, false, {}, true); }),
            "scaled_dot_product_attention: the query's 3 heads must be a multiple of the 2 of key "
            "or value");
}

}  // namespace
}  // namespace fg
