// Attention: a weighted mean of values, the weights from a softmax over query times key.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, "
    "float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> "
    "Tensor">
    scaled_dot_product_attention;
// As softmax, but a row of nothing but -inf gives zeros instead of NaN.
inline constexpr ir::Function<"_safe_softmax(Tensor self, int dim, DType? dtype=None) -> Tensor">
    _safe_softmax;

}  // namespace fg
