// Functions of one operand, elementwise.
#pragma once

#include "ir/function.h"

namespace fg {

// The C library has functions of these names for numbers. Functions overload with those, objects
// would clash where a program says `using namespace fg`: the objects are in `entries`.
namespace entries {
FG_FUNCTION ir::Function<"abs(Tensor self) -> Tensor"> abs;
FG_FUNCTION ir::Function<"isnan(Tensor self) -> Tensor"> isnan;
FG_FUNCTION ir::Function<"isinf(Tensor self) -> Tensor"> isinf;
FG_FUNCTION ir::Function<"isfinite(Tensor self) -> Tensor"> isfinite;
FG_FUNCTION ir::Function<"floor(Tensor self) -> Tensor"> floor;
FG_FUNCTION ir::Function<"ceil(Tensor self) -> Tensor"> ceil;
FG_FUNCTION ir::Function<"trunc(Tensor self) -> Tensor"> trunc;
FG_FUNCTION ir::Function<"sqrt(Tensor self) -> Tensor"> sqrt;
FG_FUNCTION ir::Function<"exp(Tensor self) -> Tensor"> exp;
FG_FUNCTION ir::Function<"exp2(Tensor self) -> Tensor"> exp2;
FG_FUNCTION ir::Function<"expm1(Tensor self) -> Tensor"> expm1;
FG_FUNCTION ir::Function<"log(Tensor self) -> Tensor"> log;
FG_FUNCTION ir::Function<"log1p(Tensor self) -> Tensor"> log1p;
FG_FUNCTION ir::Function<"log2(Tensor self) -> Tensor"> log2;
FG_FUNCTION ir::Function<"log10(Tensor self) -> Tensor"> log10;
FG_FUNCTION ir::Function<"sin(Tensor self) -> Tensor"> sin;
FG_FUNCTION ir::Function<"cos(Tensor self) -> Tensor"> cos;
FG_FUNCTION ir::Function<"tan(Tensor self) -> Tensor"> tan;
FG_FUNCTION ir::Function<"asin(Tensor self) -> Tensor"> asin;
FG_FUNCTION ir::Function<"acos(Tensor self) -> Tensor"> acos;
FG_FUNCTION ir::Function<"atan(Tensor self) -> Tensor"> atan;
FG_FUNCTION ir::Function<"sinh(Tensor self) -> Tensor"> sinh;
FG_FUNCTION ir::Function<"cosh(Tensor self) -> Tensor"> cosh;
FG_FUNCTION ir::Function<"tanh(Tensor self) -> Tensor"> tanh;
FG_FUNCTION ir::Function<"asinh(Tensor self) -> Tensor"> asinh;
FG_FUNCTION ir::Function<"acosh(Tensor self) -> Tensor"> acosh;
FG_FUNCTION ir::Function<"atanh(Tensor self) -> Tensor"> atanh;
FG_FUNCTION ir::Function<"erf(Tensor self) -> Tensor"> erf;
FG_FUNCTION ir::Function<"erfc(Tensor self) -> Tensor"> erfc;
FG_FUNCTION ir::Function<"round(Tensor self, *, int decimals=0) -> Tensor"> round;
}  // namespace entries
inline Tensor abs(const Tensor& self) { return entries::abs(self); }
inline Tensor isnan(const Tensor& self) { return entries::isnan(self); }
inline Tensor isinf(const Tensor& self) { return entries::isinf(self); }
inline Tensor isfinite(const Tensor& self) { return entries::isfinite(self); }
inline Tensor floor(const Tensor& self) { return entries::floor(self); }
inline Tensor ceil(const Tensor& self) { return entries::ceil(self); }
inline Tensor trunc(const Tensor& self) { return entries::trunc(self); }
inline Tensor sqrt(const Tensor& self) { return entries::sqrt(self); }
inline Tensor exp(const Tensor& self) { return entries::exp(self); }
inline Tensor exp2(const Tensor& self) { return entries::exp2(self); }
inline Tensor expm1(const Tensor& self) { return entries::expm1(self); }
inline Tensor log(const Tensor& self) { return entries::log(self); }
inline Tensor log1p(const Tensor& self) { return entries::log1p(self); }
inline Tensor log2(const Tensor& self) { return entries::log2(self); }
inline Tensor log10(const Tensor& self) { return entries::log10(self); }
inline Tensor sin(const Tensor& self) { return entries::sin(self); }
inline Tensor cos(const Tensor& self) { return entries::cos(self); }
inline Tensor tan(const Tensor& self) { return entries::tan(self); }
inline Tensor asin(const Tensor& self) { return entries::asin(self); }
inline Tensor acos(const Tensor& self) { return entries::acos(self); }
inline Tensor atan(const Tensor& self) { return entries::atan(self); }
inline Tensor sinh(const Tensor& self) { return entries::sinh(self); }
inline Tensor cosh(const Tensor& self) { return entries::cosh(self); }
inline Tensor tanh(const Tensor& self) { return entries::tanh(self); }
inline Tensor asinh(const Tensor& self) { return entries::asinh(self); }
inline Tensor acosh(const Tensor& self) { return entries::acosh(self); }
inline Tensor atanh(const Tensor& self) { return entries::atanh(self); }
inline Tensor erf(const Tensor& self) { return entries::erf(self); }
inline Tensor erfc(const Tensor& self) { return entries::erfc(self); }
inline Tensor round(const Tensor& self, int64_t decimals = 0) {
  return entries::round(self, decimals);
}

// signs and tests
FG_FUNCTION ir::Function<"sign(Tensor self) -> Tensor"> sign;
FG_FUNCTION ir::Function<"sgn(Tensor self) -> Tensor"> sgn;
FG_FUNCTION ir::Function<"positive(Tensor(a) self) -> Tensor(a)"> positive;
FG_FUNCTION ir::Function<
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor">
    nan_to_num;
// rounding
FG_FUNCTION ir::Function<"frac(Tensor self) -> Tensor"> frac;
// roots, exponentials, logarithms
FG_FUNCTION ir::Function<"rsqrt(Tensor self) -> Tensor"> rsqrt;
FG_FUNCTION ir::Function<"reciprocal(Tensor self) -> Tensor"> reciprocal;
FG_FUNCTION ir::Function<"sigmoid(Tensor self) -> Tensor"> sigmoid;
FG_FUNCTION ir::Function<"sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor">
    sigmoid_backward;
FG_FUNCTION ir::Function<"logit(Tensor self, float? eps=None) -> Tensor"> logit;
// circular and hyperbolic functions
FG_FUNCTION ir::Function<"tanh_backward(Tensor grad_output, Tensor output) -> Tensor">
    tanh_backward;

FG_FUNCTION ir::InplaceOf<decltype(entries::abs)> abs_;
FG_FUNCTION ir::InplaceOf<decltype(sign)> sign_;
FG_FUNCTION ir::InplaceOf<decltype(sgn)> sgn_;
FG_FUNCTION ir::InplaceOf<decltype(nan_to_num)> nan_to_num_;
FG_FUNCTION ir::InplaceOf<decltype(entries::floor)> floor_;
FG_FUNCTION ir::InplaceOf<decltype(entries::ceil)> ceil_;
FG_FUNCTION ir::InplaceOf<decltype(entries::round)> round_;
FG_FUNCTION ir::InplaceOf<decltype(entries::trunc)> trunc_;
FG_FUNCTION ir::InplaceOf<decltype(frac)> frac_;
FG_FUNCTION ir::InplaceOf<decltype(entries::sqrt)> sqrt_;
FG_FUNCTION ir::InplaceOf<decltype(rsqrt)> rsqrt_;
FG_FUNCTION ir::InplaceOf<decltype(reciprocal)> reciprocal_;
FG_FUNCTION ir::InplaceOf<decltype(entries::exp)> exp_;
FG_FUNCTION ir::InplaceOf<decltype(entries::exp2)> exp2_;
FG_FUNCTION ir::InplaceOf<decltype(entries::expm1)> expm1_;
FG_FUNCTION ir::InplaceOf<decltype(entries::log)> log_;
FG_FUNCTION ir::InplaceOf<decltype(entries::log1p)> log1p_;
FG_FUNCTION ir::InplaceOf<decltype(entries::log2)> log2_;
FG_FUNCTION ir::InplaceOf<decltype(entries::log10)> log10_;
FG_FUNCTION ir::InplaceOf<decltype(sigmoid)> sigmoid_;
FG_FUNCTION ir::InplaceOf<decltype(logit)> logit_;
FG_FUNCTION ir::InplaceOf<decltype(entries::sin)> sin_;
FG_FUNCTION ir::InplaceOf<decltype(entries::cos)> cos_;
FG_FUNCTION ir::InplaceOf<decltype(entries::tan)> tan_;
FG_FUNCTION ir::InplaceOf<decltype(entries::asin)> asin_;
FG_FUNCTION ir::InplaceOf<decltype(entries::acos)> acos_;
FG_FUNCTION ir::InplaceOf<decltype(entries::atan)> atan_;
FG_FUNCTION ir::InplaceOf<decltype(entries::sinh)> sinh_;
FG_FUNCTION ir::InplaceOf<decltype(entries::cosh)> cosh_;
FG_FUNCTION ir::InplaceOf<decltype(entries::tanh)> tanh_;
FG_FUNCTION ir::InplaceOf<decltype(entries::asinh)> asinh_;
FG_FUNCTION ir::InplaceOf<decltype(entries::acosh)> acosh_;
FG_FUNCTION ir::InplaceOf<decltype(entries::atanh)> atanh_;
FG_FUNCTION ir::InplaceOf<decltype(entries::erf)> erf_;
FG_FUNCTION ir::InplaceOf<decltype(entries::erfc)> erfc_;

}  // namespace fg
