// Arithmetic with two or three operands, and the operators of C++.
#pragma once

#include "ir/function.h"

namespace fg {

// Names that the C library has too: see ops/elementwise/unary.h.
namespace entries {
FG_FUNCTION ir::Function<"remainder(Tensor self, Tensor other) -> Tensor"> remainder;
FG_FUNCTION ir::Function<"fmod(Tensor self, Tensor other) -> Tensor"> fmod;
FG_FUNCTION ir::Function<"pow(Tensor self, Tensor exponent) -> Tensor"> pow;
FG_FUNCTION ir::Function<"hypot(Tensor self, Tensor other) -> Tensor"> hypot;
FG_FUNCTION ir::Function<"atan2(Tensor self, Tensor other) -> Tensor"> atan2;
FG_FUNCTION ir::Function<"div(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor">
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

FG_FUNCTION ir::Function<"add(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> add;
FG_FUNCTION ir::Function<"sub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> sub;
FG_FUNCTION ir::Function<"rsub(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"> rsub;
FG_FUNCTION ir::Function<"mul(Tensor self, Tensor other) -> Tensor"> mul;
FG_FUNCTION ir::Function<"neg(Tensor self) -> Tensor"> neg;
FG_FUNCTION ir::Function<"floor_divide(Tensor self, Tensor other) -> Tensor"> floor_divide;
FG_FUNCTION ir::Function<"square(Tensor self) -> Tensor"> square;
FG_FUNCTION ir::Function<"xlogy(Tensor self, Tensor other) -> Tensor"> xlogy;
FG_FUNCTION ir::Function<
    "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor">
    addcmul;
FG_FUNCTION ir::Function<
    "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor">
    addcdiv;
FG_FUNCTION ir::InplaceOf<decltype(add)> add_;
FG_FUNCTION ir::InplaceOf<decltype(sub)> sub_;
FG_FUNCTION ir::InplaceOf<decltype(mul)> mul_;
FG_FUNCTION ir::InplaceOf<decltype(entries::div)> div_;
FG_FUNCTION ir::InplaceOf<decltype(neg)> neg_;
FG_FUNCTION ir::InplaceOf<decltype(entries::remainder)> remainder_;
FG_FUNCTION ir::InplaceOf<decltype(entries::fmod)> fmod_;
FG_FUNCTION ir::InplaceOf<decltype(floor_divide)> floor_divide_;
FG_FUNCTION ir::InplaceOf<decltype(entries::pow)> pow_;
FG_FUNCTION ir::InplaceOf<decltype(entries::hypot)> hypot_;
FG_FUNCTION ir::InplaceOf<decltype(entries::atan2)> atan2_;
FG_FUNCTION ir::InplaceOf<decltype(xlogy)> xlogy_;
FG_FUNCTION ir::InplaceOf<decltype(addcmul)> addcmul_;
FG_FUNCTION ir::InplaceOf<decltype(addcdiv)> addcdiv_;

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
