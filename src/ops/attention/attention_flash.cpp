// Attention as one kernel that never holds the matrix of scores.
#include <algorithm>
#include <cstring>
#include <limits>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/attention/attention.h"
#include "ops/attention/attention_kernel.h"
#include "ops/attention/attention_kind.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/kernels/strided.h"
#include "ops/matmul/matmul.h"
#include "ops/norm/softmax.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using kernels::Heads;

namespace {

struct FlashParams {
  bool is_causal = false;
  double scale = 1;
  bool operator==(const FlashParams&) const = default;
};

// ---- operands of the kernel

// Rows whose elements are neighbours; a copy only where they are not.
Tensor with_rows(const Tensor& x) {
  if (!x.defined()) return x;
  bool neighbours = x.sizes().back() == 1 || x.strides().back() == 1;
  return neighbours ? x : kernels::as_contiguous(x);
}

// A size of a kernel's operand, counted from the last one.
int64_t length(const Tensor& x, size_t from_last) {
  const Dims& sizes = x.sizes();
  return from_last < sizes.size() ? sizes[sizes.size() - 1 - from_last].value() : 1;
}

// A dimension of size 1 serves all indices, and so does one that is missing.
Heads heads_of(const Tensor& x) {
  if (!x.defined()) return {};
  auto stride = [&](size_t from_last) {
    size_t rank = x.sizes().size();
    return length(x, from_last) == 1 ? int64_t{0} : x.strides()[rank - 1 - from_last].value();
  };
  return {x.data_ptr(), stride(3), stride(2), stride(1)};
}

kernels::AttentionSizes sizes_of(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const FlashParams& p) {
  return {.dtype = q.dtype(),
          .batch = length(q, 3),
          .heads = length(q, 2),
          .queries = length(q, 1),
          .keys = length(k, 1),
          .width = length(q, 0),
          .value_width = length(v, 0),
          .scale = p.scale,
          .causal = p.is_causal};
}

void fill_zeros(const Tensor& x) {
  std::memset(x.data_ptr(), 0, static_cast<size_t>(x.numel()) * item_size(x.dtype()));
}

// The logarithm of a sum of nothing.
void fill_nothing(const Tensor& sums) {
  constexpr float kNothing = -std::numeric_limits<float>::infinity();
  if (sums.dtype() == kFloat64) {
    std::fill_n(sums.data_ptr<double>(), sums.numel(), double{kNothing});
  } else {
    std::fill_n(sums.data_ptr<float>(), sums.numel(), kNothing);
  }
}

// ---- the primitives

// A result takes over the layout of an operand whose rows are in one piece, as in PyTorch.
Dims kept_strides(const Tensor& x) {
  return x.dim() == 4 && x.strides().back() == 1 ? ops::preserved_strides(x) : Dims{};
}

void infer_flash(Operands inputs, const FlashParams&, Meta* out) {
  const Tensor &q = *inputs[0], &v = *inputs[2];
  bool keeps = q.sizes().back() == v.sizes().back();
  out[0] = {q.sizes(), q.dtype(), keeps ? kept_strides(q) : Dims{}};
  out[0].sizes[q.dim() - 1] = v.sizes().back();
  out[1] = {Dims(std::span(q.sizes().data(), q.sizes().size() - 1)), q.dtype()};
}

void evaluate_flash(Operands inputs, const FlashParams& p, Tensor* out) {
  Tensor q = with_rows(*inputs[0]), k = with_rows(*inputs[1]), v = with_rows(*inputs[2]),
         mask = with_rows(*inputs[3]);
  if (length(k, 1) == 0) {
    fill_zeros(out[0]);
    fill_nothing(out[1]);
  } else if (out[1].numel() > 0) {
    kernels::attend({sizes_of(q, k, v, p), heads_of(q), heads_of(k), heads_of(v), heads_of(mask),
                     heads_of(out[0]), out[1].data_ptr()});
  }
}

// Inputs: gradient, query, key, value, output, logsumexp, mask.
void infer_flash_backward(Operands inputs, const FlashParams&, Meta* out) {
  for (size_t i = 0; i < 3; i++) {
    const Tensor& x = *inputs[i + 1];
    out[i] = {x.sizes(), x.dtype(), kept_strides(x)};
  }
}

void evaluate_flash_backward(Operands inputs, const FlashParams& p, Tensor* out) {
  Tensor in[7];
  for (size_t i = 0; i < 7; i++) in[i] = with_rows(*inputs[i]);
  if (in[5].numel() == 0 || length(in[2], 1) == 0) {
    for (int i = 0; i < 3; i++) fill_zeros(out[i]);
    return;
  }
  Tensor sums = kernels::as_contiguous(in[5]);
  kernels::attend_backward({sizes_of(in[1], in[2], in[3], p), heads_of(in[0]), heads_of(in[1]),
                            heads_of(in[2]), heads_of(in[3]), heads_of(in[6]), heads_of(in[4]),
                            sums.data_ptr(), heads_of(out[0]), heads_of(out[1]), heads_of(out[2])});
}

// The values that rules read. Output and logsumexp are functions of the operands, so the backward
// has no gradient in their direction.
constexpr Saves kOperands = saves::in(0) | saves::in(1) | saves::in(2) | saves::in(3);
constexpr Saves kResults = saves::out(0) | saves::out(1);
Tensors flash_gradients(const Vjp& v, bool is_causal, const OptFloat& scale);
Tensor mask_gradient(const Vjp& v, bool is_causal, const OptFloat& scale);
Tensors flash_second(const Vjp& v, bool is_causal, const OptFloat& given);

void require_flash(Operands inputs, const FlashParams& p);
void require_flash_backward(Operands inputs, const FlashParams& p);
const Registered flash_p = ops::plain_primitive<FlashParams, infer_flash, evaluate_flash>(
                               "flash_attention", Kind::extern_call, "ttto", 2)
                               .requiring<require_flash>()
                               .vjp("ScaledDotProductFlashAttentionForCpuBackward0",
                                    wrt_all({0, 1, 2}, kOperands | kResults,
                                            [](const Vjp& v, const FlashParams& p) {
                                              return flash_gradients(v, p.is_causal, p.scale);
                                            }),
                                    wrt(3, kOperands, [](const Vjp& v, const FlashParams& p) {
                                      return mask_gradient(v, p.is_causal, p.scale);
                                    }));
const Registered flash_backward_p =
    ops::plain_primitive<FlashParams, infer_flash_backward, evaluate_flash_backward>(
        "flash_attention_backward", Kind::extern_call, "tttttto", 3)
        .requiring<require_flash_backward>()
        .linear_in({0})
        .vjp("ScaledDotProductFlashAttentionForCpuBackwardBackward0",
             wrt_all({0, 1, 2, 3, 6}, kOperands | saves::in(6),
                     [](const Vjp& v, const FlashParams& p) {
                       return flash_second(v, p.is_causal, p.scale);
                     }));

// ---- checks

bool same_batches(const Tensor& a, const Tensor& b) {
  if (a.dim() != b.dim()) return false;
  for (int64_t i = 0; i < a.dim() - 2; i++) {
    if (!(a.sizes()[i] == b.sizes()[i])) return false;
  }
  return true;
}

// Whether a mask broadcasts to the scores without changing their sizes.
bool fits_scores(const Tensor& mask, const Tensor& q, const Tensor& k) {
  if (!mask.defined()) return true;
  Dims scores = q.sizes();
  scores[q.dim() - 1] = k.sizes()[k.dim() - 2];
  if (mask.dim() > q.dim() || mask.dim() == 0) return false;
  for (int64_t i = 1; i <= mask.dim(); i++) {
    Dim size = mask.sizes()[mask.dim() - i];
    if (!(size == scores[q.dim() - i]) && !(size == 1)) return false;
  }
  return true;
}

struct Call {
  const Tensor &q, &k, &v, &mask;
  bool is_causal;
};

bool same_dtypes(std::initializer_list<const Tensor*> tensors, DType dtype) {
  return std::all_of(tensors.begin(), tensors.end(),
                     [&](const Tensor* x) { return !x->defined() || x->dtype() == dtype; });
}

void check_call(const char* who, const Call& c) {
  if (c.is_causal && c.mask.defined())
    fail("{}: got attn_mask and is_causal; give one of them", who);
  if (!same_dtypes({&c.k, &c.v, &c.mask}, c.q.dtype()) ||
      !ops::has_flash_kernel(c.q, c.k, c.v, c.mask)) {
    fail(
        "{}: got a query of {} {}, a key of {} and a value of {}; expected float32 or float64 of 3 "
        "or 4 dimensions with equal batches, the width of the query for keys, the length of the "
        "keys for values, and a mask of that dtype that broadcasts to the scores",
        who, name(c.q.dtype()), text(c.q.sizes()), text(c.k.sizes()), text(c.v.sizes()));
  }
}

void check_results(const Call& c, const Tensor& grad, const Tensor& out, const Tensor& sums) {
  Dims sizes = c.q.sizes(), rows(std::span(sizes.data(), sizes.size() - 1));
  sizes[c.q.dim() - 1] = c.v.sizes().back();
  if (!(grad.sizes() == sizes) || !(out.sizes() == sizes) || !(sums.sizes() == rows) ||
      !same_dtypes({&grad, &out, &sums}, c.q.dtype())) {
    fail(
        "flash_attention_backward: got a gradient of {} {}, an output of {} {} and a logsumexp of "
        "{} {}; expected {} and sizes {}, {} and {}",
        name(grad.dtype()), text(grad.sizes()), name(out.dtype()), text(out.sizes()),
        name(sums.dtype()), text(sums.sizes()), name(c.q.dtype()), text(sizes), text(sizes),
        text(rows));
  }
}

// Demands of graphs that come as text.
void require_mask(const Tensor& mask, const Tensor& key) {
  bool fits =
      !mask.defined() || (mask.dim() > 0 && mask.sizes().back() == key.sizes()[key.dim() - 2]);
  ops::demand(fits, "flash_attention", "a mask with a number for each key");
}
void require_flash(Operands inputs, const FlashParams& p) {
  check_call("flash_attention", {*inputs[0], *inputs[1], *inputs[2], *inputs[3], p.is_causal});
  require_mask(*inputs[3], *inputs[1]);
}
void require_flash_backward(Operands inputs, const FlashParams& p) {
  Call call{*inputs[1], *inputs[2], *inputs[3], *inputs[6], p.is_causal};
  check_call("flash_attention_backward", call);
  check_results(call, *inputs[0], *inputs[4], *inputs[5]);
  require_mask(*inputs[6], *inputs[2]);
}

// A mask with a number for each key.
Tensor over_keys(const Tensor& mask, const Tensor& key) {
  if (!mask.defined()) return mask;
  Dims sizes = mask.sizes();
  sizes[mask.dim() - 1] = key.sizes()[key.dim() - 2];
  return expand(mask, sizes);
}

// ---- gradients by ordinary operations

// matmul(a^T, b).
Tensor transposed_product(const Tensor& a, const Tensor& b) {
  return matmul(transpose(a, -2, -1), b);
}
Tensor outer_product(const Tensor& a, const Tensor& b) { return matmul(a, transpose(b, -2, -1)); }
Tensor plus(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}

// The gradient of the backward: with weights P = softmax(A), D = grad @ v^T and the gradient of
// scores B = P (D - sum(P D)), the results were s B k, s B^T q and P^T grad. Their gradients are
// a, b and c; W is what B meets of a and b, and X what P meets of c.
struct SecondGradient {
  Tensor grad, q, k, v, weights;
  double scale;

  Tensors of(const Tensor& a, const Tensor& b, const Tensor& c) const {
    Tensor products = outer_product(grad, v), d_grad, d_q, d_k, d_v, met;
    if (a.defined() || b.defined()) {
      Tensor slopes = softmax_backward(products, weights, -1), w;
      if (a.defined()) {
        w = outer_product(a, k) * scale;
        d_k = transposed_product(slopes, a) * scale;
      }
      if (b.defined()) {
        w = plus(w, outer_product(q, b) * scale);
        d_q = matmul(slopes, b) * scale;
      }
      Tensor through = softmax_backward(w, weights, -1);
      d_grad = matmul(through, v);
      d_v = transposed_product(through, grad);
      Tensor centered = products - sum(products * weights, Dims{-1}, true);
      met = w * centered - products * sum(w * weights, Dims{-1}, true);
    }
    if (c.defined()) {
      d_grad = plus(d_grad, matmul(weights, c));
      met = plus(met, outer_product(grad, c));
    }
    Tensor d_scores = softmax_backward(met, weights, -1);
    d_q = plus(d_q, matmul(d_scores, k) * scale);
    d_k = plus(d_k, transposed_product(d_scores, q) * scale);
    return {d_grad, d_q, d_k, d_v, d_scores};
  }
};

Tensors flash_second(const Vjp& v, bool is_causal, const OptFloat& given) {
  Tensor q = v.in(1), k = v.in(2);
  double scale = ops::attention_scale(q, given);
  Tensor weights = ops::attention_weights(q, k, v.in(6), is_causal, scale);
  return SecondGradient{v.in(0), q, k, v.in(3), weights, scale}.of(v.grad(0), v.grad(1), v.grad(2));
}

Tensors flash_gradients(const Vjp& v, bool is_causal, const OptFloat& scale) {
  if (v.grad(1).defined()) {
    fail(ErrorKind::not_implemented,
         "the logsumexp that attention returns has no gradient; compute it with logsumexp");
  }
  auto [dq, dk, dv] = flash_attention_backward(v.grad(0), v.in(0), v.in(1), v.in(2), v.out(0),
                                               v.out(1), v.in(3), is_causal, scale);
  return {dq, dk, dv};
}

// Has the size of the scores anyway, so it may as well be made of them.
Tensor mask_gradient(const Vjp& v, bool is_causal, const OptFloat& scale) {
  Tensor q = v.in(0);
  Tensor weights =
      ops::attention_weights(q, v.in(1), v.in(3), is_causal, ops::attention_scale(q, scale));
  return softmax_backward(outer_product(v.grad(0), v.in(2)), weights, -1);
}

const auto flash_entry =
    define(flash_attention, "Attention in one pass, with the logarithm of each softmax's sum.",
           [](const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask,
              bool is_causal, OptFloat scale) {
             check_call("flash_attention", {query, key, value, attn_mask, is_causal});
             FlashParams params{is_causal, ops::attention_scale(query, scale)};
             auto [out, sums] =
                 flash_p.all<2>(params, query, key, value, over_keys(attn_mask, key));
             return std::tuple<Tensor, Tensor>(out, sums);
           })
        .shown(Shown::nowhere)
        .vjp("ScaledDotProductFlashAttentionForCpuBackward0",
             wrt_all({0, 1, 2}, kOperands | kResults,
                     [](const Vjp& v, bool is_causal, const OptFloat& scale) {
                       return flash_gradients(v, is_causal, scale);
                     }),
             wrt(3, kOperands,
                 [](const Vjp& v, bool is_causal, const OptFloat& scale) {
                   return mask_gradient(v, is_causal, scale);
                 }))
        .samples([] {
          Tensor q = sample({2, 2, 3}, -1, 1), kv = sample({2, 3, 3}, -1, 1);
          return Samples{{{q, kv, kv}, "logsumexp has no gradient", false, false}};
        });

const auto flash_backward_entry =
    define(flash_attention_backward,
           "The gradients of flash attention, by computing the scores again.",
           [](const Tensor& grad_out, const Tensor& query, const Tensor& key, const Tensor& value,
              const Tensor& out, const Tensor& logsumexp, const Tensor& attn_mask, bool is_causal,
              OptFloat scale) {
             Call call{query, key, value, attn_mask, is_causal};
             check_call("flash_attention_backward", call);
             check_results(call, grad_out, out, logsumexp);
             FlashParams params{is_causal, ops::attention_scale(query, scale)};
             auto [dq, dk, dv] = flash_backward_p.all<3>(params, grad_out, query, key, value, out,
                                                         logsumexp, over_keys(attn_mask, key));
             return std::tuple<Tensor, Tensor, Tensor>(dq, dk, dv);
           })
        .shown(Shown::nowhere)
        .vjp("ScaledDotProductFlashAttentionForCpuBackwardBackward0",
             wrt_all({0, 1, 2, 3, 6}, kOperands | saves::in(6),
                     [](const Vjp& v, bool is_causal, const OptFloat& scale) {
                       return flash_second(v, is_causal, scale);
                     }))
        .samples([] {
          Tensor q = sample({2, 2, 3}, -1, 1), kv = sample({2, 3, 3}, -1, 1);
          auto [out, sums] = flash_attention(q, kv, kv);
          return Samples{{{sample({2, 2, 3}), q, kv, kv, out, sums},
                          "output and logsumexp belong to the inputs",
                          false,
                          false}};
        });

}  // namespace

namespace ops {

bool has_flash_kernel(const Tensor& query, const Tensor& key, const Tensor& value,
                      const Tensor& mask) {
  bool ranks = query.dim() == 3 || query.dim() == 4;
  bool dtypes = query.dtype() == kFloat32 || query.dtype() == kFloat64;
  return ranks && dtypes && same_batches(query, key) && same_batches(query, value) &&
         query.sizes().back() == key.sizes().back() &&
         key.sizes()[key.dim() - 2] == value.sizes()[value.dim() - 2] &&
         fits_scores(mask, query, key);
}

}  // namespace ops
}  // namespace fg
