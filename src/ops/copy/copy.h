// Copies and conversions.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"clone(Tensor self) -> Tensor"> clone;
inline constexpr ir::Function<"contiguous(Tensor(a) self) -> Tensor(a)"> contiguous;
inline constexpr ir::Function<
    "to(Tensor(a) self, DType dtype, bool copy=False) -> Tensor(a)",
    "to.other(Tensor(a) self, Tensor other, bool copy=False) -> Tensor(a)">
    to;
inline constexpr ir::Function<"copy(Tensor self, Tensor src) -> Tensor"> copy;
inline constexpr ir::Function<"fill(Tensor self, Scalar value) -> Tensor"> fill;
// Beside `fill`, because a plain number could stand for either argument.
inline constexpr ir::Function<"fill.Tensor(Tensor self, Tensor value) -> Tensor"> fill_tensor;
inline constexpr ir::Function<"zero(Tensor self) -> Tensor"> zero;
inline constexpr ir::Inplace copy_{copy};
inline constexpr ir::Inplace fill_{fill};
inline constexpr ir::Inplace fill_tensor_{fill_tensor};
inline constexpr ir::Inplace zero_{zero};

namespace ops {
// Values with the order of dimensions in memory that a copy of `self` keeps.
Tensor in_layout_of(const Tensor& self, const Tensor& values);
}  // namespace ops

}  // namespace fg
