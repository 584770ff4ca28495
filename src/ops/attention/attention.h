// Attention: a weighted mean of values, the weights from a softmax over query times key.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> "
    "Tensor">
    scaled_dot_product_attention;
// Attention by one kernel that never holds the scores: for float32 and float64, 3 or 4 dimensions,
// equal batches, an additive mask of the query's dtype and no dropout. Also returns log(sum of
// exp(score)) per query, which has no gradient.
FG_FUNCTION ir::Function<
    "flash_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "bool is_causal=False, *, float? scale=None) -> (Tensor output, Tensor logsumexp)">
    flash_attention;
FG_FUNCTION ir::Function<
    "flash_attention_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, "
    "Tensor logsumexp, Tensor? attn_mask=None, bool is_causal=False, *, float? scale=None) -> "
    "(Tensor grad_query, Tensor grad_key, Tensor grad_value)">
    flash_attention_backward;
// As softmax, but a row of nothing but -inf gives zeros instead of NaN.
FG_FUNCTION ir::Function<"_safe_softmax(Tensor self, int dim, DType? dtype=None) -> Tensor">
    _safe_softmax;

}  // namespace fg
