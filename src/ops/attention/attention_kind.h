// Attention written with ordinary operations, for what the fused kernel does not do.
#pragma once

#include <optional>

#include "tensor/tensor.h"

namespace fg::ops {

// What is added to the scores: 0 where a position may be seen, -inf where not.
Tensor additive_mask(const Tensor& visible, DType dtype);

// softmax(scale * query @ key^T + mask), zeros where a query sees nothing. The mask, which may be
// absent, is added.
Tensor attention_weights(const Tensor& query, const Tensor& key, const Tensor& mask, bool is_causal,
                         double scale);

// Whether operands of one dtype and an additive mask are what the fused kernel takes: a question of
// dtype and sizes only.
bool has_flash_kernel(const Tensor& query, const Tensor& key, const Tensor& value,
                      const Tensor& mask);

// The scale that a call without one means.
double attention_scale(const Tensor& query, const std::optional<double>& scale);

}  // namespace fg::ops
