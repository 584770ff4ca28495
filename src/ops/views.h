// Views: tensors that share the memory of another one.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"view(Tensor(a) self, int[] size) -> Tensor(a)"> view;
inline constexpr ir::Function<"reshape(Tensor(a) self, int[] shape) -> Tensor(a)"> reshape;
inline constexpr ir::Function<"permute(Tensor(a) self, int[] dims) -> Tensor(a)"> permute;
inline constexpr ir::Function<"transpose(Tensor(a) self, int dim0, int dim1) -> Tensor(a)">
    transpose;
inline constexpr ir::Function<"t(Tensor(a) self) -> Tensor(a)"> t;
inline constexpr ir::Function<"select(Tensor(a) self, int dim, int index) -> Tensor(a)"> select;
inline constexpr ir::Function<
    "slice(Tensor(a) self, int dim=0, Dim? start=None, Dim? end=None, Dim step=1) -> Tensor(a)">
    slice;
inline constexpr ir::Function<"unsqueeze(Tensor(a) self, int dim) -> Tensor(a)"> unsqueeze;
inline constexpr ir::Function<"squeeze(Tensor(a) self, int[]? dim=None) -> Tensor(a)"> squeeze;
inline constexpr ir::Function<
    "expand(Tensor(a) self, int[] size, *, bool implicit=False) -> Tensor(a)">
    expand;
inline constexpr ir::Function<
    "as_strided(Tensor(a) self, int[] size, int[] stride, Dim? storage_offset=None) -> Tensor(a)">
    as_strided;

}  // namespace fg
