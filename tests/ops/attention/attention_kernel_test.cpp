// The kernel of attention against its body: two more leading dimensions of size 1 are more than the
// kernel takes, so the same call with them is matmul, softmax, matmul.
#include <gtest/gtest.h>

#include <cmath>

#include "autograd/autograd.h"
#include "autograd/node.h"
#include "base/pool.h"
#include "compile/version.h"
#include "ops/attention/attention.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/compare.h"
#include "ops/matmul/matmul.h"
#include "ops/random/random.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"
#include "tensor/allocator.h"
#include "tests/error_of.h"

namespace fg {
namespace {

constexpr auto& attention = scaled_dot_product_attention;
constexpr double kInfinity = HUGE_VAL;

struct Case {
  int64_t heads, queries, keys, width, value_width;
  bool causal = false;
};
// Lengths around those of tiles (128 and 96 keys), blocks (96 queries), strips (6) and lanes (16).
const Case kCases[] = {
    {1, 1, 1, 1, 1},       {2, 5, 7, 4, 4},           {2, 7, 5, 4, 4, true},
    {2, 5, 7, 4, 4, true}, {1, 97, 130, 17, 5},       {1, 130, 97, 33, 64, true},
    {3, 128, 128, 64, 64}, {3, 128, 128, 64, 64, 1},  {1, 1, 257, 8, 8},
    {1, 257, 1, 3, 20},    {9, 100, 200, 16, 16},     {9, 200, 100, 16, 16, true},
    {1, 300, 400, 8, 24},  {1, 300, 400, 8, 24, true}};

std::string text_of(const Case& c) {
  return text(Dims{c.heads, c.queries, c.keys, c.width, c.value_width}) +
         (c.causal ? " causal" : "");
}

struct Operands {
  Tensor q, k, v, grad;
  Tensors leaves() const { return {q, k, v}; }
};
Operands operands(const Case& c, DType dtype) {
  manual_seed(5);
  auto draw = [&](int64_t rows, int64_t width) {
    return randn({c.heads, rows, width}, {}, kFloat64).to(dtype).requires_grad_();
  };
  return {draw(c.queries, c.width), draw(c.keys, c.width), draw(c.keys, c.value_width),
          draw(c.queries, c.value_width).detach()};
}

Tensor wide(const Tensor& x) { return x.detach().to(kFloat64).requires_grad_(); }
Operands wide(const Operands& o) { return {wide(o.q), wide(o.k), wide(o.v), wide(o.grad)}; }

Tensor more_dims(const Tensor& x) { return x.defined() ? x.unsqueeze(0).unsqueeze(0) : x; }
Tensor body(const Operands& o, const Tensor& mask, bool causal) {
  Tensor y = attention(more_dims(o.q), more_dims(o.k), more_dims(o.v), mask, 0, causal);
  return y.squeeze(0).squeeze(0);
}

Tensors gradients(const Tensor& y, const Tensors& inputs, const Tensor& grad,
                  bool create_graph = false) {
  autograd::GraphPoints from{y}, to(inputs.begin(), inputs.end());
  return autograd::grad(from, to, {grad}, {.create_graph = create_graph});
}

double largest(const Tensor& x) {
  double result = 0;
  for (double value : x.detach().to(kFloat64).reshape({-1}).to_vector<double>())
    result = std::max(result, std::isnan(value) ? kInfinity : std::abs(value));
  return result;
}
double distance(const Tensor& a, const Tensor& b) {
  EXPECT_EQ(text(a.sizes()), text(b.sizes()));
  return largest(a.detach().to(kFloat64) - b.detach());
}

// The bounds of docs/internals/ops.md, of out, dq, dk and dv.
std::vector<double> bounds(const Operands& o, DType dtype) {
  double unit = dtype == kFloat64 ? 0x1p-53 : 0x1p-24;
  auto length = [](const Tensor& x, int64_t dim) { return static_cast<double>(x.size(dim)); };
  double e = length(o.q, 2), w = length(o.v, 2), l = length(o.q, 1), s = length(o.k, 1);
  double scale = 1 / std::sqrt(e);
  auto products = [](const Tensor& a, const Tensor& b) {
    return largest(matmul(a.detach().abs(), transpose(b.detach().abs(), -2, -1)));
  };
  double a = scale * products(o.q, o.k), d = products(o.grad, o.v);
  double weights = unit * ((2 * e + 8) * a + s + 8),
         slopes = 2 * d * (weights + unit * (w + s + 8));
  return {largest(o.v) * (weights + unit * s), scale * largest(o.k) * slopes,
          l * scale * largest(o.q) * (slopes + unit * l * d),
          l * largest(o.grad) * (weights + unit * l)};
}

void expect_within_bounds(const Case& c, DType dtype) {
  Operands o = operands(c, dtype), exact = wide(o);
  Tensor y = attention(o.q, o.k, o.v, {}, 0, c.causal), z = body(exact, {}, c.causal);
  std::vector<double> bound = bounds(exact, dtype);
  std::string what = text_of(c) + " " + std::string(name(dtype));
  EXPECT_LE(distance(y, z), bound[0]) << what;
  Tensors seen = gradients(y, o.leaves(), o.grad);
  Tensors expected = gradients(z, exact.leaves(), exact.grad);
  for (size_t i = 0; i < 3; i++) EXPECT_LE(distance(seen[i], expected[i]), bound[i + 1]) << what;
}

TEST(AttentionKernel, is_the_body_within_the_bound_of_the_documentation) {
  for (const Case& c : kCases) {
    expect_within_bounds(c, kFloat32);
    expect_within_bounds(c, kFloat64);
  }
}

// Bounds are for the worst case; this is what rounding really does.
TEST(AttentionKernel, is_the_body_within_rounding) {
  for (const Case& c : kCases) {
    Operands o = operands(c, kFloat32), exact = wide(o);
    Tensor y = attention(o.q, o.k, o.v, {}, 0, c.causal), z = body(exact, {}, c.causal);
    EXPECT_TRUE(y.to(kFloat64).allclose(z, 1e-5, 2e-6)) << text_of(c);
    Tensors seen = gradients(y, o.leaves(), o.grad);
    Tensors expected = gradients(z, exact.leaves(), exact.grad);
    for (size_t i = 0; i < 3; i++)
      EXPECT_TRUE(seen[i].to(kFloat64).allclose(expected[i], 1e-4, 2e-5)) << text_of(c) << " " << i;
  }
}

TEST(AttentionKernel, has_the_second_gradients_of_the_body) {
  for (const Case& c : {Case{2, 5, 7, 4, 3}, Case{1, 40, 33, 6, 6, true}}) {
    Operands o = operands(c, kFloat64), other = wide(o);
    o.grad.requires_grad_();
    auto second = [](const Operands& in, const Tensor& y) {
      Tensors first = gradients(y, in.leaves(), in.grad, true);
      Tensor total = sum(first[0] * first[0]) + sum(first[1] * in.k) + sum(first[2].exp());
      Tensors all = in.leaves();
      all.push_back(in.grad);
      return gradients(total, all, ones({}, kFloat64));
    };
    Tensors seen = second(o, attention(o.q, o.k, o.v, {}, 0, c.causal));
    Tensors expected = second(other, body(other, {}, c.causal));
    for (size_t i = 0; i < 4; i++)
      EXPECT_TRUE(seen[i].allclose(expected[i], 1e-9, 1e-9)) << text_of(c) << " " << i;
  }
}

TEST(AttentionKernel, takes_masks_of_all_sizes_that_broadcast_and_differentiates_them) {
  Operands o = operands({2, 100, 150, 8, 8}, kFloat64), other = wide(o);
  for (const Dims& sizes : {Dims{150}, Dims{100, 150}, Dims{100, 1}, Dims{2, 1, 150}, Dims{1},
                            Dims{2, 100, 150}, Dims{1, 1, 1}}) {
    Tensor mask = randn(sizes, {}, kFloat64).requires_grad_();
    Tensor y = attention(o.q, o.k, o.v, mask), z = body(other, mask, false);
    EXPECT_TRUE(y.allclose(z, 1e-12, 1e-12)) << text(sizes);
    Tensors seen = gradients(y, {o.q, o.k, o.v, mask}, o.grad);
    Tensors expected = gradients(z, {other.q, other.k, other.v, mask}, other.grad);
    for (size_t i = 0; i < 4; i++)
      EXPECT_TRUE(seen[i].allclose(expected[i], 1e-10, 1e-10)) << text(sizes) << " " << i;
  }
}

TEST(AttentionKernel, a_query_that_sees_nothing_is_zero_and_has_no_gradient) {
  Operands o = operands({1, 3, 5, 4, 4}, kFloat32);
  Tensor mask = ones({3, 5}, kBool);
  select(mask, 0, 1).fill_(0);
  Tensor y = attention(o.q, o.k, o.v, mask);
  EXPECT_EQ(select(y, 1, 1).detach().reshape({-1}).to_vector<float>(), std::vector<float>(4, 0));
  Tensor dq = gradients(y, {o.q}, o.grad)[0];
  EXPECT_EQ(select(dq, 1, 1).reshape({-1}).to_vector<float>(), std::vector<float>(4, 0));
  EXPECT_GT(largest(dq), 0);
  EXPECT_LT(largest(dq), kInfinity);
}

// The largest score of a row grows from tile to tile, up to where exp of a difference is 0.
TEST(AttentionKernel, rescales_what_earlier_tiles_gave) {
  Operands o = operands({1, 4, 600, 2, 3}, kFloat32);
  NoGradGuard none;
  o.k.copy_(o.k * reshape(arange(600, kFloat32), {1, 600, 1}) * 0.5);
  Operands exact = wide(o);
  EXPECT_TRUE(attention(o.q, o.k, o.v).to(kFloat64).allclose(body(exact, {}, false), 1e-3, 1e-4));
}

TEST(AttentionKernel, nan_and_infinity_reach_what_they_reach_in_the_body) {
  auto nans = [](const Tensor& x) {
    return x.detach().to(kFloat64).isnan().to(kInt64).reshape({-1}).to_vector<int64_t>();
  };
  NoGradGuard none;
  for (double bad : {double{NAN}, kInfinity, -kInfinity}) {
    for (int which : {0, 1, 2}) {
      Operands o = operands({1, 7, 140, 4, 4}, kFloat32);
      Tensor& x = which == 0 ? o.q : which == 1 ? o.k : o.v;
      x.select(1, 3).select(1, 2).fill_(bad);
      Operands exact = wide(o);
      EXPECT_EQ(nans(attention(o.q, o.k, o.v)), nans(body(exact, {}, false))) << bad << which;
    }
  }
}

// q, k and v as views of one tensor, as models make them.
Tensors parts_of(const Tensor& x, int64_t heads) {
  Tensors result;
  Dim batch = x.sizes()[0], length = x.sizes()[1], width = x.sizes()[2] / Dim(3 * heads);
  for (const Tensor& part : split(x, (width * heads).value(), 2))
    result.push_back(transpose(view(part, {batch, length, heads, width}), 1, 2));
  return result;
}

TEST(AttentionKernel, reads_views_of_one_tensor_and_keeps_their_order_in_memory) {
  Tensor x = randn({2, 50, 3 * 4 * 8}).requires_grad_();
  Tensors p = parts_of(x, 4);
  Tensor y = attention(p[0], p[1], p[2], {}, 0, true), grad = randn({2, 4, 50, 8});
  EXPECT_EQ(text(y.strides()), "[1600, 8, 32, 1]");
  Tensors plain;
  for (const Tensor& part : p) plain.push_back(part.detach().contiguous().requires_grad_());
  Tensor z = attention(plain[0], plain[1], plain[2], {}, 0, true);
  EXPECT_TRUE(equal(y, z));
  Tensors seen = gradients(y, p, grad), expected = gradients(z, plain, grad);
  for (size_t i = 0; i < 3; i++) EXPECT_TRUE(equal(seen[i], expected[i])) << i;
}

TEST(AttentionKernel, gives_the_same_bits_when_captured_and_compiled) {
  auto model = [](const Tensors& in) {
    Tensors p = parts_of(in[0], 4);
    Tensor y = attention(p[0], p[1], p[2], {}, 0, true);
    return Tensors{reshape(transpose(y, 1, 2), {2, 130, 32}) * in[0].narrow(2, 0, 32)};
  };
  Tensor x = randn({2, 130, 3 * 4 * 8}).requires_grad_(), grad = randn({2, 130, 32});
  compiler::Version version(model, {x}, capture::TraceOptions{},
                            {compiler::compile_native, compiler::compile_native});
  Tensor eager = model({x})[0], compiled = version.call({x})[0];
  EXPECT_TRUE(equal(eager, compiled));
  EXPECT_TRUE(equal(gradients(eager, {x}, grad)[0], gradients(compiled, {x}, grad)[0]));
}

TEST(AttentionKernel, is_one_node_of_pytorchs_name) {
  Operands o = operands({1, 3, 3, 4, 4}, kFloat32);
  EXPECT_EQ(attention(o.q, o.k, o.v).grad_fn()->name(),
            "ScaledDotProductFlashAttentionForCpuBackward0");
  EXPECT_NE(attention(o.q, o.k, o.v, {}, 0.5).grad_fn()->name(),
            "ScaledDotProductFlashAttentionForCpuBackward0");
}

TEST(AttentionKernel, gives_the_same_bits_on_any_number_of_threads) {
  int threads = pool::num_threads();
  for (const Case& c : {Case{1, 500, 700, 16, 16}, Case{1, 500, 700, 16, 16, true},
                        Case{3, 200, 300, 16, 16}, Case{20, 130, 130, 16, 16, true}}) {
    Tensors expected;
    for (int count : {1, 2, 3, 7}) {
      pool::set_num_threads(count);
      pool::force_grain(count == 1 ? 0 : 1);
      Operands o = operands(c, kFloat32);
      Tensor y = attention(o.q, o.k, o.v, {}, 0, c.causal);
      Tensors seen = gradients(y, o.leaves(), o.grad);
      seen.push_back(y.detach());
      if (expected.empty()) expected = seen;
      for (size_t i = 0; i < 4; i++)
        EXPECT_TRUE(equal(seen[i], expected[i])) << text_of(c) << count << " threads, " << i;
    }
  }
  pool::force_grain(0);
  pool::set_num_threads(threads);
}

TEST(AttentionKernel, takes_empty_operands) {
  for (const Case& c : {Case{0, 3, 4, 2, 2}, Case{2, 0, 4, 2, 2}, Case{2, 3, 0, 2, 2},
                        Case{2, 3, 4, 0, 2}, Case{2, 3, 4, 2, 0}, Case{2, 3, 0, 2, 2, true}}) {
    Operands o = operands(c, kFloat32), other = wide(o);
    Tensor y = attention(o.q, o.k, o.v, {}, 0, c.causal), z = body(other, {}, c.causal);
    EXPECT_TRUE(y.to(kFloat64).allclose(z)) << text_of(c);
    Tensors seen = gradients(y, o.leaves(), o.grad);
    Tensors expected = gradients(z, other.leaves(), other.grad);
    for (size_t i = 0; i < 3; i++)
      EXPECT_TRUE(seen[i].to(kFloat64).allclose(expected[i])) << text_of(c) << i;
  }
}

TEST(AttentionKernel, needs_no_memory_for_the_scores) {
  constexpr int64_t kLength = 2048, kScores = kLength * kLength * 4;
  Operands o = operands({1, kLength, kLength, 16, 16}, kFloat32);
  reset_peak_memory();
  int64_t before = memory_stats().live_bytes;
  gradients(attention(o.q, o.k, o.v, {}, 0, true), o.leaves(), o.grad);
  EXPECT_LT(memory_stats().peak_live_bytes - before, kScores / 2);
}

TEST(AttentionKernel, the_function_below_says_what_it_takes) {
  Operands o = operands({1, 3, 3, 4, 4}, kFloat32);
  EXPECT_EQ(error_of([&] { flash_attention(o.q, o.k.unsqueeze(0), o.v); }),
            "flash_attention: got a query of float32 [1, 3, 4], a key of [1, 1, 3, 4] and a value "
            "of [1, 3, 4]; expected float32 or float64 of 3 or 4 dimensions with equal batches, "
            "the width of the query for keys, the length of the keys for values, and a mask of "
            "that dtype that broadcasts to the scores");
  EXPECT_EQ(error_of([&] { flash_attention(o.q, o.k, o.v, ones({3, 3}), true); }),
            "flash_attention: got attn_mask and is_causal; give one of them");
  auto [y, sums] = flash_attention(o.q, o.k, o.v);
  EXPECT_EQ(error_of([&, sums = sums] { sum(sums).backward(); }),
            "the logsumexp that attention returns has no gradient; compute it with logsumexp");
  EXPECT_EQ(
      error_of([&, y = y, sums = sums] {
        flash_attention_backward(y, o.q, o.k, o.v, y, select(sums, 0, 0));
      }),
      "flash_attention_backward: got a gradient of float32 [1, 3, 4], an output of float32 [1, 3, "
      "4] and a logsumexp of float32 [3]; expected float32 and sizes [1, 3, 4], [1, 3, 4] and "
      "[1, 3]");
}

}  // namespace
}  // namespace fg
