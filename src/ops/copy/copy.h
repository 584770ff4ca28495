// Copies and conversions.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"clone(Tensor self) -> Tensor"> clone;
FG_FUNCTION ir::Function<"contiguous(Tensor(a) self) -> Tensor(a)"> contiguous;
FG_FUNCTION ir::Function<"to(Tensor(a) self, DType dtype, bool copy=False) -> Tensor(a)",
                         "to.other(Tensor(a) self, Tensor other, bool copy=False) -> Tensor(a)">
    to;
FG_FUNCTION ir::Function<"copy(Tensor self, Tensor src) -> Tensor"> copy;
FG_FUNCTION ir::Function<"fill(Tensor self, Scalar value) -> Tensor"> fill;
// Beside `fill`, because a plain number could stand for either argument.
FG_FUNCTION ir::Function<"fill.Tensor(Tensor self, Tensor value) -> Tensor"> fill_tensor;
FG_FUNCTION ir::Function<"zero(Tensor self) -> Tensor"> zero;
FG_FUNCTION ir::InplaceOf<decltype(copy)> copy_;
FG_FUNCTION ir::InplaceOf<decltype(fill)> fill_;
FG_FUNCTION ir::InplaceOf<decltype(fill_tensor)> fill_tensor_;
FG_FUNCTION ir::InplaceOf<decltype(zero)> zero_;

namespace ops {
// Values with the order of dimensions in memory that a copy of `self` keeps.
Tensor in_layout_of(const Tensor& self, const Tensor& values);
}  // namespace ops

}  // namespace fg
