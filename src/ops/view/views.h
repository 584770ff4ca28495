// Views: tensors that share the memory of another one. Functions that may have to copy (reshape,
// flatten) are here too, because they are views where they can be.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
FG_FUNCTION ir::Function<"select(Tensor(a) self, int dim, int index) -> Tensor(a)"> select;
}  // namespace entries
inline Tensor select(const Tensor& self, int64_t dim, int64_t index) {
  return entries::select(self, dim, index);
}

// ---- other sizes over the same elements
FG_FUNCTION ir::Function<"view(Tensor(a) self, int[] size) -> Tensor(a)",
                         "view.dtype(Tensor(a) self, DType dtype) -> Tensor(a)">
    view;
FG_FUNCTION ir::Function<"view_as(Tensor(a) self, Tensor other) -> Tensor(a)"> view_as;
FG_FUNCTION ir::Function<"_unsafe_view(Tensor self, int[] size) -> Tensor"> _unsafe_view;
FG_FUNCTION ir::Function<"reshape(Tensor(a) self, int[] shape) -> Tensor(a)"> reshape;
FG_FUNCTION ir::Function<"reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)"> reshape_as;
FG_FUNCTION ir::Function<"flatten(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)">
    flatten;
FG_FUNCTION ir::Function<"unflatten(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)"> unflatten;
FG_FUNCTION ir::Function<"ravel(Tensor(a) self) -> Tensor(a)"> ravel;
FG_FUNCTION ir::Function<"unsqueeze(Tensor(a) self, int dim) -> Tensor(a)"> unsqueeze;
FG_FUNCTION ir::Function<"squeeze(Tensor(a) self) -> Tensor(a)",
                         "squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)",
                         "squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)">
    squeeze;
FG_FUNCTION ir::Function<"expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)">
    expand;
FG_FUNCTION ir::Function<"expand_as(Tensor(a) self, Tensor other) -> Tensor(a)"> expand_as;

// ---- dimensions in another order
FG_FUNCTION ir::Function<"permute(Tensor(a) self, int[] dims) -> Tensor(a)"> permute;
FG_FUNCTION ir::Function<"transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"> transpose;
FG_FUNCTION ir::Function<"swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)"> swapaxes;
FG_FUNCTION ir::Function<"swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)"> swapdims;
FG_FUNCTION ir::Function<"t(Tensor(a) self) -> Tensor(a)"> t;
FG_FUNCTION ir::Function<"numpy_T(Tensor(a) self) -> Tensor(a)"> numpy_T;
FG_FUNCTION ir::Function<"mT(Tensor(a) self) -> Tensor(a)"> mT;
FG_FUNCTION
ir::Function<"movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
             "movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)">
    movedim;
FG_FUNCTION
ir::Function<"moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)",
             "moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)">
    moveaxis;

// ---- parts
FG_FUNCTION ir::Function<
    "slice(Tensor(a) self, int dim=0, Dim? start=None, Dim? end=None, Dim step=1) -> Tensor(a)">
    slice;
FG_FUNCTION ir::Function<"narrow(Tensor(a) self, int dim, Dim start, Dim length) -> Tensor(a)">
    narrow;
FG_FUNCTION
ir::Function<"diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)">
    diagonal;
FG_FUNCTION ir::Function<"unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)">
    unfold;
FG_FUNCTION ir::Function<
    "as_strided(Tensor(a) self, int[] size, int[] stride, Dim? storage_offset=None) -> Tensor(a)">
    as_strided;
FG_FUNCTION ir::Function<"alias(Tensor(a) self) -> Tensor(a)"> alias_of;
FG_FUNCTION ir::Function<"detach(Tensor(a) self) -> Tensor(a)"> detach;

// ---- several parts at once
FG_FUNCTION ir::Function<"unbind(Tensor(a) self, int dim=0) -> Tensor(a)[]"> unbind;
FG_FUNCTION ir::Function<"split.Tensor(Tensor(a) self, int split_size, int dim=0) -> Tensor(a)[]",
                         "split.sizes(Tensor(a) self, int[] split_size, int dim=0) -> Tensor(a)[]">
    split;
FG_FUNCTION
ir::Function<"split_with_sizes(Tensor(a) self, int[] split_sizes, int dim=0) -> Tensor(a)[]">
    split_with_sizes;
FG_FUNCTION ir::Function<"chunk(Tensor(a) self, int chunks, int dim=0) -> Tensor(a)[]"> chunk;

}  // namespace fg
