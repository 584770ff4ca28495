// Choosing between values: by a mask, by size, by limits, and the way between two of them.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
inline constexpr ir::Function<"fmax(Tensor self, Tensor other) -> Tensor"> fmax;
inline constexpr ir::Function<"fmin(Tensor self, Tensor other) -> Tensor"> fmin;
}  // namespace entries
inline Tensor fmax(const Tensor& self, const Tensor& other) { return entries::fmax(self, other); }
inline Tensor fmin(const Tensor& self, const Tensor& other) { return entries::fmin(self, other); }

inline constexpr ir::Function<"where(Tensor condition, Tensor self, Tensor other) -> Tensor"> where;
inline constexpr ir::Function<"masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor">
    masked_fill;
inline constexpr ir::Function<"maximum(Tensor self, Tensor other) -> Tensor"> maximum;
inline constexpr ir::Function<"minimum(Tensor self, Tensor other) -> Tensor"> minimum;
// Limits are numbers, or tensors that broadcast; an absent one is an undefined tensor.
inline constexpr ir::Function<"clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor">
    clamp;
inline constexpr ir::Function<"clamp_min(Tensor self, Tensor min) -> Tensor"> clamp_min;
inline constexpr ir::Function<"clamp_max(Tensor self, Tensor max) -> Tensor"> clamp_max;
inline constexpr ir::Function<"lerp(Tensor self, Tensor end, Tensor weight) -> Tensor"> lerp;
inline constexpr ir::Inplace masked_fill_{masked_fill};
inline constexpr ir::Inplace clamp_{clamp};
inline constexpr ir::Inplace clamp_min_{clamp_min};
inline constexpr ir::Inplace clamp_max_{clamp_max};
inline constexpr ir::Inplace lerp_{lerp};

}  // namespace fg
