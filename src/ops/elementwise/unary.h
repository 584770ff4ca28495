// Functions of one operand, elementwise.
#pragma once

#include "ir/function.h"

namespace fg {

// The C library has functions of these names for numbers. Functions overload with those, objects
// would clash where a program says `using namespace fg`: the objects are in `entries`.
namespace entries {
inline constexpr ir::Function<"abs(Tensor self) -> Tensor"> abs;
inline constexpr ir::Function<"isnan(Tensor self) -> Tensor"> isnan;
inline constexpr ir::Function<"isinf(Tensor self) -> Tensor"> isinf;
inline constexpr ir::Function<"isfinite(Tensor self) -> Tensor"> isfinite;
inline constexpr ir::Function<"floor(Tensor self) -> Tensor"> floor;
inline constexpr ir::Function<"ceil(Tensor self) -> Tensor"> ceil;
inline constexpr ir::Function<"trunc(Tensor self) -> Tensor"> trunc;
inline constexpr ir::Function<"sqrt(Tensor self) -> Tensor"> sqrt;
inline constexpr ir::Function<"exp(Tensor self) -> Tensor"> exp;
inline constexpr ir::Function<"exp2(Tensor self) -> Tensor"> exp2;
inline constexpr ir::Function<"expm1(Tensor self) -> Tensor"> expm1;
inline constexpr ir::Function<"log(Tensor self) -> Tensor"> log;
inline constexpr ir::Function<"log1p(Tensor self) -> Tensor"> log1p;
inline constexpr ir::Function<"log2(Tensor self) -> Tensor"> log2;
inline constexpr ir::Function<"log10(Tensor self) -> Tensor"> log10;
inline constexpr ir::Function<"sin(Tensor self) -> Tensor"> sin;
inline constexpr ir::Function<"cos(Tensor self) -> Tensor"> cos;
inline constexpr ir::Function<"tan(Tensor self) -> Tensor"> tan;
inline constexpr ir::Function<"asin(Tensor self) -> Tensor"> asin;
inline constexpr ir::Function<"acos(Tensor self) -> Tensor"> acos;
inline constexpr ir::Function<"atan(Tensor self) -> Tensor"> atan;
inline constexpr ir::Function<"sinh(Tensor self) -> Tensor"> sinh;
inline constexpr ir::Function<"cosh(Tensor self) -> Tensor"> cosh;
inline constexpr ir::Function<"tanh(Tensor self) -> Tensor"> tanh;
inline constexpr ir::Function<"asinh(Tensor self) -> Tensor"> asinh;
inline constexpr ir::Function<"acosh(Tensor self) -> Tensor"> acosh;
inline constexpr ir::Function<"atanh(Tensor self) -> Tensor"> atanh;
inline constexpr ir::Function<"erf(Tensor self) -> Tensor"> erf;
inline constexpr ir::Function<"erfc(Tensor self) -> Tensor"> erfc;
inline constexpr ir::Function<"round(Tensor self, *, int decimals=0) -> Tensor"> round;
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
inline constexpr ir::Function<"sign(Tensor self) -> Tensor"> sign;
inline constexpr ir::Function<"sgn(Tensor self) -> Tensor"> sgn;
inline constexpr ir::Function<"positive(Tensor(a) self) -> Tensor(a)"> positive;
inline constexpr ir::Function<
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor">
    nan_to_num;
// rounding
inline constexpr ir::Function<"frac(Tensor self) -> Tensor"> frac;
// roots, exponentials, logarithms
inline constexpr ir::Function<"rsqrt(Tensor self) -> Tensor"> rsqrt;
inline constexpr ir::Function<"reciprocal(Tensor self) -> Tensor"> reciprocal;
inline constexpr ir::Function<"sigmoid(Tensor self) -> Tensor"> sigmoid;
inline constexpr ir::Function<"sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor">
    sigmoid_backward;
inline constexpr ir::Function<"logit(Tensor self, float? eps=None) -> Tensor"> logit;
// circular and hyperbolic functions
inline constexpr ir::Function<"tanh_backward(Tensor grad_output, Tensor output) -> Tensor">
    tanh_backward;

inline constexpr ir::Inplace abs_{entries::abs};
inline constexpr ir::Inplace sign_{sign};
inline constexpr ir::Inplace sgn_{sgn};
inline constexpr ir::Inplace nan_to_num_{nan_to_num};
inline constexpr ir::Inplace floor_{entries::floor};
inline constexpr ir::Inplace ceil_{entries::ceil};
inline constexpr ir::Inplace round_{entries::round};
inline constexpr ir::Inplace trunc_{entries::trunc};
inline constexpr ir::Inplace frac_{frac};
inline constexpr ir::Inplace sqrt_{entries::sqrt};
inline constexpr ir::Inplace rsqrt_{rsqrt};
inline constexpr ir::Inplace reciprocal_{reciprocal};
inline constexpr ir::Inplace exp_{entries::exp};
inline constexpr ir::Inplace exp2_{entries::exp2};
inline constexpr ir::Inplace expm1_{entries::expm1};
inline constexpr ir::Inplace log_{entries::log};
inline constexpr ir::Inplace log1p_{entries::log1p};
inline constexpr ir::Inplace log2_{entries::log2};
inline constexpr ir::Inplace log10_{entries::log10};
inline constexpr ir::Inplace sigmoid_{sigmoid};
inline constexpr ir::Inplace logit_{logit};
inline constexpr ir::Inplace sin_{entries::sin};
inline constexpr ir::Inplace cos_{entries::cos};
inline constexpr ir::Inplace tan_{entries::tan};
inline constexpr ir::Inplace asin_{entries::asin};
inline constexpr ir::Inplace acos_{entries::acos};
inline constexpr ir::Inplace atan_{entries::atan};
inline constexpr ir::Inplace sinh_{entries::sinh};
inline constexpr ir::Inplace cosh_{entries::cosh};
inline constexpr ir::Inplace tanh_{entries::tanh};
inline constexpr ir::Inplace asinh_{entries::asinh};
inline constexpr ir::Inplace acosh_{entries::acosh};
inline constexpr ir::Inplace atanh_{entries::atanh};
inline constexpr ir::Inplace erf_{entries::erf};
inline constexpr ir::Inplace erfc_{entries::erfc};

}  // namespace fg
