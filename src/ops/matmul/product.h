// Common parts of matrix products: checks of their operands, shape rule and kernel. Operands
// are vectors, matrices, or equally many batches of matrices, with any strides.
#pragma once

#include "ir/primitive.h"

namespace fg::ops {

// Refuse other ranks, different or bool dtypes, different inner sizes.
void check_product(const char* who, const Tensor& a, int64_t rank_a, const Tensor& b,
                   int64_t rank_b);
void check_batches(const char* who, const Tensor& a, const Tensor& b);
void check_ranks(const char* who, const Tensor& a, int64_t rank_a, const Tensor& b, int64_t rank_b);
void check_dtypes(const char* who, const Tensor& a, const Tensor& b);
void check_inner(const char* who, const Tensor& a, const Tensor& b);

// Refuses operands of other ranks, sizes or dtypes than a product takes, in graphs from outside.
void require_product(const Tensor& a, const Tensor& b);
Dims product_sizes(const Tensor& a, const Tensor& b);
// out = a @ b; out is contiguous. For two matrices of f32 or f64 also plus self, which expands to
// it.
void multiply(const Tensor& a, const Tensor& b, const Tensor& out, const Tensor* self = nullptr);

}  // namespace fg::ops
