// Indexing with tensors: reading and writing elements at positions that other tensors name.
// Indexing as in x[...] is in ops/index/indexing.cpp.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
FG_FUNCTION ir::Function<"index(Tensor self, Tensor?[] indices) -> Tensor"> index;
}  // namespace entries
inline Tensor index(const Tensor& self, const Tensors& indices) {
  return entries::index(self, indices);
}

// ---- positions in several dimensions, or masks
FG_FUNCTION ir::Function<
    "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor">
    index_put;
FG_FUNCTION
ir::Function<"index_backward(Tensor grad, int[] self_sizes, Tensor?[] indices) -> Tensor">
    index_backward;
FG_FUNCTION ir::InplaceOf<decltype(index_put)> index_put_;

// ---- positions in one dimension
FG_FUNCTION ir::Function<"index_select(Tensor self, int dim, Tensor index) -> Tensor"> index_select;
FG_FUNCTION ir::Function<
    "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor">
    index_add;
FG_FUNCTION ir::Function<"index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor">
    index_copy;
FG_FUNCTION ir::Function<
    "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor">
    index_fill;
FG_FUNCTION ir::Function<
    "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor">
    index_fill_number;
FG_FUNCTION ir::Function<
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, "
    "bool sparse=False) -> Tensor">
    embedding;
FG_FUNCTION ir::Function<
    "embedding_dense_backward(Tensor grad_output, Tensor indices, Dim num_weights, int "
    "padding_idx, bool scale_grad_by_freq) -> Tensor">
    embedding_dense_backward;
// The rows of each bag of indices combined: mode 0 their sum, 1 their mean, 2 their maximum. Bag b
// begins at offsets[b]; with include_last_offset the last offset is the end of the last bag.
FG_FUNCTION ir::Function<
    "embedding_bag_rows(Tensor weight, Tensor indices, Tensor offsets, bool "
    "scale_grad_by_freq=False, int mode=0, Tensor? per_sample_weights=None, bool "
    "include_last_offset=False, int padding_idx=-1) -> Tensor">
    embedding_bag_rows;
// Rows that indices name, scaled down to a norm of at most max_norm; the other rows as they are.
FG_FUNCTION ir::Function<
    "embedding_renorm(Tensor self, Tensor indices, float max_norm, float norm_type) -> Tensor">
    embedding_renorm;
FG_FUNCTION ir::InplaceOf<decltype(embedding_renorm)> embedding_renorm_;
FG_FUNCTION ir::InplaceOf<decltype(index_add)> index_add_;
FG_FUNCTION ir::InplaceOf<decltype(index_copy)> index_copy_;
FG_FUNCTION ir::InplaceOf<decltype(index_fill)> index_fill_;

// ---- a position for each element, along one dimension
FG_FUNCTION
ir::Function<"gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor">
    gather;
FG_FUNCTION
ir::Function<"gather_backward(Tensor grad, int[] self_sizes, int dim, Tensor index) -> Tensor">
    gather_backward;
FG_FUNCTION ir::Function<"take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor">
    take_along_dim;
FG_FUNCTION ir::Function<
    "scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor",
    "scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor">
    scatter;
// With a number as source; another name in C++, where a number may stand for any Tensor.
FG_FUNCTION ir::Function<
    "scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> "
    "Tensor">
    scatter_value;
FG_FUNCTION ir::Function<"scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor">
    scatter_add;
FG_FUNCTION ir::InplaceOf<decltype(scatter)> scatter_;
FG_FUNCTION ir::InplaceOf<decltype(scatter_value)> scatter_value_;
FG_FUNCTION ir::InplaceOf<decltype(scatter_add)> scatter_add_;

// ---- positions among all elements, and where elements are true
FG_FUNCTION ir::Function<"take(Tensor self, Tensor index) -> Tensor"> take;
FG_FUNCTION
ir::Function<"put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor"> put;
FG_FUNCTION ir::Function<"masked_select(Tensor self, Tensor mask) -> Tensor"> masked_select;
FG_FUNCTION ir::Function<"masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor">
    masked_scatter;
FG_FUNCTION
ir::Function<"masked_scatter_backward(Tensor grad_output, Tensor mask, int[] sizes) -> Tensor">
    masked_scatter_backward;
FG_FUNCTION ir::Function<"nonzero(Tensor self) -> Tensor"> nonzero;
FG_FUNCTION ir::Function<"nonzero_numpy(Tensor self) -> Tensor[]"> nonzero_numpy;
FG_FUNCTION ir::Function<"argwhere(Tensor self) -> Tensor"> argwhere;
FG_FUNCTION ir::Function<"one_hot(Tensor self, int num_classes=-1) -> Tensor"> one_hot;
FG_FUNCTION ir::InplaceOf<decltype(put)> put_;
FG_FUNCTION ir::InplaceOf<decltype(masked_scatter)> masked_scatter_;

}  // namespace fg
