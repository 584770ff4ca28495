// Arithmetic with two or three operands, and the operators of C++.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
inline constexpr ir::Function<"remainder(Tensor self, Tensor other) -> Tensor"> remainder;
inline constexpr ir::Function<"fmod(Tensor self, Tensor other) -> Tensor"> fmod;
inline constexpr ir::Function<"pow(Tensor self, Tensor exponent) -> Tensor"> pow;
inline constexpr ir::Function<"hypot(Tensor self, Tensor other) -> Tensor"> hypot;
inline constexpr ir::Function<"atan2(Tensor self, Tensor other) -> Tensor"> atan2;
inline constexpr ir::Function<
    "div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor">
    div;
}  // namespace entries
inline Tensor remainder(const Tensor& self, const Tensor& other) {
  return entries::remainder(self, other);
}
inline Tensor fmod(const Tensor& self, const Tensor& other) { return entries::fmod(self, other); }
inline Tensor pow(const Tensor& self, const Tensor& exponent) {
  return entries::pow(self, exponent);
}
inline Tensor hypot(const Tensor& self, const Tensor& other) { return entries::hypot(self, other); }
inline Tensor atan2(const Tensor& self, const Tensor& other) { return entries::atan2(self, other); }
inline Tensor div(const Tensor& self, const Tensor& other,
                  const std::optional<std::string>& rounding_mode = {}) {
  return entries::div(self, other, rounding_mode);
}

inline constexpr ir::Function<"add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> add;
inline constexpr ir::Function<"sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> sub;
inline constexpr ir::Function<"rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> rsub;
inline constexpr ir::Function<"mul(Tensor self, Tensor other) -> Tensor"> mul;
inline constexpr ir::Function<"neg(Tensor self) -> Tensor"> neg;
inline constexpr ir::Function<"floor_divide(Tensor self, Tensor other) -> Tensor"> floor_divide;
inline constexpr ir::Function<"square(Tensor self) -> Tensor"> square;
inline constexpr ir::Function<"xlogy(Tensor self, Tensor other) -> Tensor"> xlogy;
inline constexpr ir::Function<
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor">
    addcmul;
inline constexpr ir::Function<
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor">
    addcdiv;
inline constexpr ir::Inplace add_{add};
inline constexpr ir::Inplace sub_{sub};
inline constexpr ir::Inplace mul_{mul};
inline constexpr ir::Inplace div_{entries::div};
inline constexpr ir::Inplace neg_{neg};
inline constexpr ir::Inplace remainder_{entries::remainder};
inline constexpr ir::Inplace fmod_{entries::fmod};
inline constexpr ir::Inplace floor_divide_{floor_divide};
inline constexpr ir::Inplace pow_{entries::pow};
inline constexpr ir::Inplace hypot_{entries::hypot};
inline constexpr ir::Inplace atan2_{entries::atan2};
inline constexpr ir::Inplace xlogy_{xlogy};
inline constexpr ir::Inplace addcmul_{addcmul};
inline constexpr ir::Inplace addcdiv_{addcdiv};

inline Tensor& square_(const Tensor& self) { return pow_(self, 2); }

inline Tensor operator+(const Tensor& a, const Tensor& b) { return add(a, b); }
inline Tensor operator-(const Tensor& a, const Tensor& b) { return sub(a, b); }
inline Tensor operator*(const Tensor& a, const Tensor& b) { return mul(a, b); }
inline Tensor operator/(const Tensor& a, const Tensor& b) { return div(a, b); }
inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator-(const Tensor& a) { return neg(a); }
inline Tensor& operator+=(const Tensor& a, const Tensor& b) { return add_(a, b); }
inline Tensor& operator-=(const Tensor& a, const Tensor& b) { return sub_(a, b); }
inline Tensor& operator*=(const Tensor& a, const Tensor& b) { return mul_(a, b); }
inline Tensor& operator/=(const Tensor& a, const Tensor& b) { return div_(a, b); }

}  // namespace fg
