// Choosing between values: by a mask, by size, by limits, and the way between two of them.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
FG_FUNCTION ir::Function<"fmax(Tensor self, Tensor other) -> Tensor"> fmax;
FG_FUNCTION ir::Function<"fmin(Tensor self, Tensor other) -> Tensor"> fmin;
}  // namespace entries
inline Tensor fmax(const Tensor& self, const Tensor& other) { return entries::fmax(self, other); }
inline Tensor fmin(const Tensor& self, const Tensor& other) { return entries::fmin(self, other); }

FG_FUNCTION ir::Function<"where(Tensor condition, Tensor self, Tensor other) -> Tensor"> where;
FG_FUNCTION ir::Function<"masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor">
    masked_fill;
FG_FUNCTION ir::Function<"maximum(Tensor self, Tensor other) -> Tensor"> maximum;
FG_FUNCTION ir::Function<"minimum(Tensor self, Tensor other) -> Tensor"> minimum;
// Limits are numbers, or tensors that broadcast; an absent one is an undefined tensor.
FG_FUNCTION ir::Function<"clamp(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor"> clamp;
FG_FUNCTION ir::Function<"clamp_min(Tensor self, Tensor min) -> Tensor"> clamp_min;
FG_FUNCTION ir::Function<"clamp_max(Tensor self, Tensor max) -> Tensor"> clamp_max;
FG_FUNCTION ir::Function<"lerp(Tensor self, Tensor end, Tensor weight) -> Tensor"> lerp;
FG_FUNCTION ir::InplaceOf<decltype(masked_fill)> masked_fill_;
FG_FUNCTION ir::InplaceOf<decltype(clamp)> clamp_;
FG_FUNCTION ir::InplaceOf<decltype(clamp_min)> clamp_min_;
FG_FUNCTION ir::InplaceOf<decltype(clamp_max)> clamp_max_;
FG_FUNCTION ir::InplaceOf<decltype(lerp)> lerp_;

}  // namespace fg
