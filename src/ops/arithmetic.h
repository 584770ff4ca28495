// Arithmetic with two operands, and the operators of C++.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> add;
inline constexpr ir::Function<"sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> sub;
inline constexpr ir::Function<"mul(Tensor self, Tensor other) -> Tensor"> mul;
inline constexpr ir::Function<
    "div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor">
    div;
inline constexpr ir::Function<"neg(Tensor self) -> Tensor"> neg;
inline constexpr ir::Inplace add_{add};
inline constexpr ir::Inplace sub_{sub};
inline constexpr ir::Inplace mul_{mul};
inline constexpr ir::Inplace div_{div};
inline constexpr ir::Inplace neg_{neg};

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }

}  // namespace fg
