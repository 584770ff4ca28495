// Indexing with tensors: reading and writing elements at positions that other tensors name.
// Indexing as in x[...] is in ops/index/indexing.cpp.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
inline constexpr ir::Function<"index(Tensor self, Tensor?[] indices) -> Tensor"> index;
}  // namespace entries
inline Tensor index(const Tensor& self, const Tensors& indices) {
  return entries::index(self, indices);
}

// ---- positions in several dimensions, or masks
inline constexpr ir::Function<
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor">
    index_put;
inline constexpr ir::Function<
    "index_backward(Tensor grad, int[] self_sizes, Tensor?[] indices) -> Tensor">
    index_backward;
inline constexpr ir::Inplace index_put_{index_put};

// ---- positions in one dimension
inline constexpr ir::Function<"index_select(Tensor self, int dim, Tensor index) -> Tensor">
    index_select;
inline constexpr ir::Function<
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor">
    index_add;
inline constexpr ir::Function<
    "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor">
    index_copy;
inline constexpr ir::Function<
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor">
    index_fill;
inline constexpr ir::Function<
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor">
    index_fill_number;
inline constexpr ir::Function<
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor">
    embedding;
inline constexpr ir::Function<
    "embedding_dense_backward(Tensor grad_output, Tensor indices, Dim num_weights, int "
    "padding_idx, bool scale_grad_by_freq) -> Tensor">
    embedding_dense_backward;
// The rows of each bag of indices combined: mode 0 their sum, 1 their mean, 2 their maximum. Bag b
// begins at offsets[b]; with include_last_offset the last offset is the end of the last bag.
inline constexpr ir::Function<
    "embedding_bag_rows(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq=False, int mode=0, Tensor? per_sample_weights=None, bool "
    "include_last_offset=False, int padding_idx=-1) -> Tensor">
    embedding_bag_rows;
// Rows that indices name, scaled down to a norm of at most max_norm; the other rows as they are.
inline constexpr ir::Function<
    "embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor">
    embedding_renorm;
inline constexpr ir::Inplace embedding_renorm_{embedding_renorm};
inline constexpr ir::Inplace index_add_{index_add};
inline constexpr ir::Inplace index_copy_{index_copy};
inline constexpr ir::Inplace index_fill_{index_fill};

// ---- a position for each element, along one dimension
inline constexpr ir::Function<
    "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor">
    gather;
inline constexpr ir::Function<
    "gather_backward(Tensor grad, int[] self_sizes, int dim, Tensor index) -> Tensor">
    gather_backward;
inline constexpr ir::Function<
    "take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor">
    take_along_dim;
inline constexpr ir::Function<
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor">
    scatter;
// With a number as source; another name in C++, where a number may stand for any Tensor.
inline constexpr ir::Function<
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> "
    "Tensor">
    scatter_value;
inline constexpr ir::Function<
    "scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor">
    scatter_add;
inline constexpr ir::Inplace scatter_{scatter};
inline constexpr ir::Inplace scatter_value_{scatter_value};
inline constexpr ir::Inplace scatter_add_{scatter_add};

// ---- positions among all elements, and where elements are true
inline constexpr ir::Function<"take(Tensor self, Tensor index) -> Tensor"> take;
inline constexpr ir::Function<
    "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor">
    put;
inline constexpr ir::Function<"masked_select(Tensor self, Tensor mask) -> Tensor"> masked_select;
inline constexpr ir::Function<"masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor">
    masked_scatter;
inline constexpr ir::Function<
    "masked_scatter_backward(Tensor grad_output, Tensor mask, int[] sizes) -> Tensor">
    masked_scatter_backward;
inline constexpr ir::Function<"nonzero(Tensor self) -> Tensor"> nonzero;
inline constexpr ir::Function<"nonzero_numpy(Tensor self) -> Tensor[]"> nonzero_numpy;
inline constexpr ir::Function<"argwhere(Tensor self) -> Tensor"> argwhere;
inline constexpr ir::Function<"one_hot(Tensor self, int num_classes=-1) -> Tensor"> one_hot;
inline constexpr ir::Inplace put_{put};
inline constexpr ir::Inplace masked_scatter_{masked_scatter};

}  // namespace fg
