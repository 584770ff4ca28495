#include "ops/attention/attention.h"

#include <cmath>
#include <limits>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/attention/attention_kind.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/matmul/matmul.h"
#include "ops/norm/softmax.h"
#include "ops/random/dropout.h"
#include "ops/rearrange/rearrange.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;

namespace {

constexpr double kMasked = -std::numeric_limits<double>::infinity();

const auto safe_softmax_entry =
    define(_safe_softmax, "As softmax, but rows of nothing but -inf give zeros.",
           [](const Tensor& self, int64_t dim, OptDType dtype) {
             Tensor empty = all(eq(self, kMasked), dim, true);
             return masked_fill(softmax(self, dim, dtype), empty, 0.0);
           })
        .shown(Shown::as_function)
        .vjp("SafeSoftmaxBackward0", wrt(0, saves::out(),
                                         [](const Vjp& v, int64_t dim, OptDType) {
                                           return softmax_backward(v.grad(), v.out(), dim);
                                         }))
        .samples([] {
          return Samples{
              {{sample({2, 3}), Scalar(-1)}},
              {{masked_fill(sample({2, 3}), tensor({{1}, {0}}, kBool), kMasked), Scalar(1)},
               "a row of -inf",
               false,
               false}};
        });

void check_dtypes(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask) {
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype()) {
    fail(
        "scaled_dot_product_attention: expected query, key and value of the same dtype, got {}, {} "
        "and {}; convert them with to()",
        name(q.dtype()), name(k.dtype()), name(v.dtype()));
  }
  if (!is_floating(q.dtype())) {
    fail(ErrorKind::not_implemented, "scaled_dot_product_attention: not implemented for {}",
         name(q.dtype()));
  }
  if (mask.defined() && mask.dtype() != kBool && mask.dtype() != kFloat32 &&
      mask.dtype() != q.dtype()) {
    fail("scaled_dot_product_attention: attn_mask must be bool, float32 or {} as the query, got {}",
         name(q.dtype()), name(mask.dtype()));
  }
}

void check_operands(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                    double dropout_p) {
  if (q.dim() < 2 || k.dim() < 2 || v.dim() < 2) {
    fail("scaled_dot_product_attention: expected at least 2 dimensions each, got {}, {} and {}",
         text(q.sizes()), text(k.sizes()), text(v.sizes()));
  }
  check_dtypes(q, k, v, mask);
  if (!(dropout_p >= 0 && dropout_p <= 1)) {
    fail("scaled_dot_product_attention: dropout probability has to be between 0 and 1, but got {}",
         dropout_p);
  }
  auto rows = [](const Tensor& x) { return x.sizes()[x.dim() - 2]; };
  if (!(q.sizes().back() == k.sizes().back()) || !(rows(k) == rows(v))) {
    fail(
        "scaled_dot_product_attention: got a query of sizes {}, a key of {} and a value of {}; the "
        "last sizes of query and key must be equal, and the lengths of key and value",
        text(q.sizes()), text(k.sizes()), text(v.sizes()));
  }
}

// Each head of a key or value serves several heads of the query: one after the other.
Tensor repeat_heads(const Tensor& x, const Tensor& query) {
  if (x.dim() < 3 || query.dim() != x.dim()) {
    fail("scaled_dot_product_attention: enable_gqa needs heads, got sizes {} and {}",
         text(query.sizes()), text(x.sizes()));
  }
  int64_t axis = x.dim() - 3;
  Dim heads = x.sizes()[axis], wanted = query.sizes()[axis];
  if (heads == 0 || !(wanted % heads == 0)) {
    fail(
        "scaled_dot_product_attention: the query's {} heads must be a multiple of the {} of key or "
        "value",
        wanted.text(), heads.text());
  }
  Dims repeated = x.sizes(), sizes = x.sizes();
  repeated.insert(axis + 1, wanted / heads);
  sizes[axis] = wanted;
  return reshape(expand(unsqueeze(x, axis + 1), repeated), sizes);
}

}  // namespace

namespace ops {

Tensor additive_mask(const Tensor& visible, DType dtype) {
  return masked_fill(zeros(visible.sizes(), dtype), logical_not(visible), kMasked);
}

// The term of a causal mask: each query sees the keys up to its own place.
static Tensor causal_mask(const Tensor& query, const Tensor& key) {
  Dims square{query.sizes()[query.dim() - 2], key.sizes()[key.dim() - 2]};
  return additive_mask(tril(ones(square, kBool)), query.dtype());
}

// The scale is split between query and key, which keeps the scores of long vectors in range.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, bool is_causal,
                         double scale) {
  double root = std::sqrt(std::abs(scale));
  Tensor scores = matmul(query * (scale < 0 ? -root : root), transpose(key, -2, -1) * root);
  if (is_causal) {
    scores = scores + causal_mask(query, key);
  } else if (mask.defined()) {
    scores = scores + mask;
  }
  return _safe_softmax(scores, -1);
}

double attention_scale(const Tensor& query, const std::optional<double>& scale) {
  return scale.value_or(1 / std::sqrt(static_cast<double>(query.sizes().back().hint())));
}

}  // namespace ops

namespace {

struct Settings {
  double dropout_p;
  bool is_causal;
  OptFloat scale;
};

Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
              const Settings& s) {
  bool visible = mask.defined() && mask.dtype() == kBool;
  Tensor added = visible ? ops::additive_mask(mask, q.dtype()) : mask;
  const bool both = s.is_causal && added.defined(), is_causal = s.is_causal && !both;
  if (both) added = added + ops::causal_mask(q, k);
  if (!(s.dropout_p > 0) && ops::has_flash_kernel(q, k, v, added)) {
    if (added.defined()) added = to(added, q.dtype());
    return std::get<0>(flash_attention(q, k, v, added, is_causal, s.scale));
  }
  Tensor weights = ops::attention_weights(q, k, added, is_causal, ops::attention_scale(q, s.scale));
  if (s.dropout_p > 0) weights = dropout(weights, s.dropout_p, true);
  return matmul(weights, v);
}

const auto attention_entry =
    define(scaled_dot_product_attention,
           "softmax(query @ key^T * scale + attn_mask) @ value; a bool mask is true where a "
           "position is seen.",
           [](const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
              double dropout_p, bool is_causal, OptFloat scale, bool enable_gqa) {
             check_operands(query, key, value, attn_mask, dropout_p);
             Tensor k = enable_gqa ? repeat_heads(key, query) : key;
             Tensor v = enable_gqa ? repeat_heads(value, query) : value;
             Settings settings{dropout_p, is_causal, scale};
             DType dtype = query.dtype();
             if (!is_half(dtype)) {
               return attend(query, k, v, attn_mask, settings);
             }
             auto wide = [](const Tensor& x) { return to(x, kFloat32); };
             bool narrow = attn_mask.defined() && attn_mask.dtype() == dtype;
             return to(attend(wide(query), wide(k), wide(v), narrow ? wide(attn_mask) : attn_mask,
                              settings),
                       dtype);
           })
        .shown(Shown::in_nn)
        .samples([] {
          Tensor q = sample({2, 2, 3}, -1, 1), kv = sample({2, 3, 3}, -1, 1);
          Value none;
          return Samples{
              {{q, kv, sample({2, 3, 2})}},
              {{q, kv, kv, sample({2, 3})}, "added mask"},
              {{q, kv, kv, sample_mask({2, 3})}, "bool mask"},
              {{q, kv, kv, none, Scalar(0.0), Scalar(true)}, "causal"},
              {{q, kv, kv, sample({2, 3}), Scalar(0.0), Scalar(true)}, "mask and causal"},
              {{q, kv, kv, none, Scalar(0.0), Scalar(false), Scalar(-0.5)}, "scale"},
              {{sample({1, 4, 2, 3}), sample({1, 2, 2, 3}), sample({1, 2, 2, 3}), none, Scalar(0.0),
                Scalar(false), none, Scalar(true)},
               "heads that share keys"}};
        });

}  // namespace
}  // namespace fg
