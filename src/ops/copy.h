// Copies and conversions.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"clone(Tensor self) -> Tensor"> clone;
inline constexpr ir::Function<"contiguous(Tensor(a) self) -> Tensor(a)"> contiguous;
inline constexpr ir::Function<"to(Tensor(a) self, DType dtype, bool copy=False) -> Tensor(a)"> to;
inline constexpr ir::Function<"copy(Tensor self, Tensor src) -> Tensor"> copy;
inline constexpr ir::Function<"fill(Tensor self, Scalar value) -> Tensor"> fill;
inline constexpr ir::Function<"zero(Tensor self) -> Tensor"> zero;
inline constexpr ir::Inplace copy_{copy};
inline constexpr ir::Inplace fill_{fill};
inline constexpr ir::Inplace zero_{zero};

}  // namespace fg
