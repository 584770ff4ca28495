// Attention written with ordinary operations, for calls that the fused kernel does not serve.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace fg::ops {

// The term that is added to the scores: 0 where a position may be seen, -inf where not.
Tensor additive_mask(const Tensor& visible, DType dtype);

// softmax(scale * query @ key^T + mask), zeros where a query sees nothing. The mask, which may be
// absent, is added.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, bool is_causal,
                         double scale);

// Whether the fused kernel takes operands of one dtype and an additive mask: a question of their
// dtype and sizes only.
bool has_flash_kernel(const Tensor& query, const Tensor& key, const Tensor& value,
                      const Tensor& mask);

// The scale of a call without one: 1 / sqrt(width).
double attention_scale(const Tensor& query, const std::optional<double>& scale);

}  // namespace fg::ops
