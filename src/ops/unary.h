// Functions of one operand, elementwise.
#pragma once

#include "ir/function.h"

namespace fg {

// signs and tests
inline constexpr ir::Function<"abs(Tensor self) -> Tensor"> abs;
inline constexpr ir::Function<"sign(Tensor self) -> Tensor"> sign;
inline constexpr ir::Function<"sgn(Tensor self) -> Tensor"> sgn;
inline constexpr ir::Function<"positive(Tensor(a) self) -> Tensor(a)"> positive;
inline constexpr ir::Function<"isnan(Tensor self) -> Tensor"> isnan;
inline constexpr ir::Function<"isinf(Tensor self) -> Tensor"> isinf;
inline constexpr ir::Function<"isfinite(Tensor self) -> Tensor"> isfinite;
inline constexpr ir::Function<
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor">
    nan_to_num;
// rounding
inline constexpr ir::Function<"floor(Tensor self) -> Tensor"> floor;
inline constexpr ir::Function<"ceil(Tensor self) -> Tensor"> ceil;
inline constexpr ir::Function<"round(Tensor self, *, int decimals=0) -> Tensor"> round;
inline constexpr ir::Function<"trunc(Tensor self) -> Tensor"> trunc;
inline constexpr ir::Function<"frac(Tensor self) -> Tensor"> frac;
// roots, exponentials, logarithms
inline constexpr ir::Function<"sqrt(Tensor self) -> Tensor"> sqrt;
inline constexpr ir::Function<"rsqrt(Tensor self) -> Tensor"> rsqrt;
inline constexpr ir::Function<"reciprocal(Tensor self) -> Tensor"> reciprocal;
inline constexpr ir::Function<"exp(Tensor self) -> Tensor"> exp;
inline constexpr ir::Function<"exp2(Tensor self) -> Tensor"> exp2;
inline constexpr ir::Function<"expm1(Tensor self) -> Tensor"> expm1;
inline constexpr ir::Function<"log(Tensor self) -> Tensor"> log;
inline constexpr ir::Function<"log1p(Tensor self) -> Tensor"> log1p;
inline constexpr ir::Function<"log2(Tensor self) -> Tensor"> log2;
inline constexpr ir::Function<"log10(Tensor self) -> Tensor"> log10;
inline constexpr ir::Function<"sigmoid(Tensor self) -> Tensor"> sigmoid;
inline constexpr ir::Function<"sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor">
    sigmoid_backward;
inline constexpr ir::Function<"logit(Tensor self, float? eps=None) -> Tensor"> logit;
// circular and hyperbolic functions
inline constexpr ir::Function<"sin(Tensor self) -> Tensor"> sin;
inline constexpr ir::Function<"cos(Tensor self) -> Tensor"> cos;
inline constexpr ir::Function<"tan(Tensor self) -> Tensor"> tan;
inline constexpr ir::Function<"asin(Tensor self) -> Tensor"> asin;
inline constexpr ir::Function<"acos(Tensor self) -> Tensor"> acos;
inline constexpr ir::Function<"atan(Tensor self) -> Tensor"> atan;
inline constexpr ir::Function<"sinh(Tensor self) -> Tensor"> sinh;
inline constexpr ir::Function<"cosh(Tensor self) -> Tensor"> cosh;
inline constexpr ir::Function<"tanh(Tensor self) -> Tensor"> tanh;
inline constexpr ir::Function<"tanh_backward(Tensor grad_output, Tensor output) -> Tensor">
    tanh_backward;
inline constexpr ir::Function<"asinh(Tensor self) -> Tensor"> asinh;
inline constexpr ir::Function<"acosh(Tensor self) -> Tensor"> acosh;
inline constexpr ir::Function<"atanh(Tensor self) -> Tensor"> atanh;
inline constexpr ir::Function<"erf(Tensor self) -> Tensor"> erf;
inline constexpr ir::Function<"erfc(Tensor self) -> Tensor"> erfc;

inline constexpr ir::Inplace abs_{abs};
inline constexpr ir::Inplace sign_{sign};
inline constexpr ir::Inplace sgn_{sgn};
inline constexpr ir::Inplace nan_to_num_{nan_to_num};
inline constexpr ir::Inplace floor_{floor};
inline constexpr ir::Inplace ceil_{ceil};
inline constexpr ir::Inplace round_{round};
inline constexpr ir::Inplace trunc_{trunc};
inline constexpr ir::Inplace frac_{frac};
inline constexpr ir::Inplace sqrt_{sqrt};
inline constexpr ir::Inplace rsqrt_{rsqrt};
inline constexpr ir::Inplace reciprocal_{reciprocal};
inline constexpr ir::Inplace exp_{exp};
inline constexpr ir::Inplace exp2_{exp2};
inline constexpr ir::Inplace expm1_{expm1};
inline constexpr ir::Inplace log_{log};
inline constexpr ir::Inplace log1p_{log1p};
inline constexpr ir::Inplace log2_{log2};
inline constexpr ir::Inplace log10_{log10};
inline constexpr ir::Inplace sigmoid_{sigmoid};
inline constexpr ir::Inplace logit_{logit};
inline constexpr ir::Inplace sin_{sin};
inline constexpr ir::Inplace cos_{cos};
inline constexpr ir::Inplace tan_{tan};
inline constexpr ir::Inplace asin_{asin};
inline constexpr ir::Inplace acos_{acos};
inline constexpr ir::Inplace atan_{atan};
inline constexpr ir::Inplace sinh_{sinh};
inline constexpr ir::Inplace cosh_{cosh};
inline constexpr ir::Inplace tanh_{tanh};
inline constexpr ir::Inplace asinh_{asinh};
inline constexpr ir::Inplace acosh_{acosh};
inline constexpr ir::Inplace atanh_{atanh};
inline constexpr ir::Inplace erf_{erf};
inline constexpr ir::Inplace erfc_{erfc};

}  // namespace fg
