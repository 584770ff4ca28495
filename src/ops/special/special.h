// Special functions, elementwise. Their entries name the places in Python: foregrad.special, and
// some also beside the other functions.
#pragma once

#include "ir/function.h"

namespace fg {

// The C library has functions of these names: see ops/elementwise/unary.h.
namespace entries {
inline constexpr ir::Function<"lgamma(Tensor self) -> Tensor"> lgamma;
}  // namespace entries
inline Tensor lgamma(const Tensor& self) { return entries::lgamma(self); }

// ---- the gamma function's family
inline constexpr ir::Function<"digamma(Tensor self) -> Tensor"> digamma;
inline constexpr ir::Function<"polygamma(int n, Tensor self) -> Tensor"> polygamma;
inline constexpr ir::Function<"mvlgamma(Tensor self, int p) -> Tensor"> mvlgamma;
inline constexpr ir::Function<"igamma(Tensor self, Tensor other) -> Tensor"> igamma;
inline constexpr ir::Function<"igammac(Tensor self, Tensor other) -> Tensor"> igammac;
inline constexpr ir::Function<"special_zeta(Tensor self, Tensor other) -> Tensor"> special_zeta;
// How gamma- and Dirichlet-distributed values move with their shapes.
inline constexpr ir::Function<"_standard_gamma_grad(Tensor self, Tensor output) -> Tensor">
    _standard_gamma_grad;
inline constexpr ir::Function<"_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor">
    _dirichlet_grad;

// ---- the normal distribution's family
inline constexpr ir::Function<"erfinv(Tensor self) -> Tensor"> erfinv;
inline constexpr ir::Function<"special_erfcx(Tensor self) -> Tensor"> special_erfcx;
inline constexpr ir::Function<"special_ndtr(Tensor self) -> Tensor"> special_ndtr;
inline constexpr ir::Function<"special_ndtri(Tensor self) -> Tensor"> special_ndtri;
inline constexpr ir::Function<"special_log_ndtr(Tensor self) -> Tensor"> special_log_ndtr;

// ---- logarithms with their factors, sums of exponentials
inline constexpr ir::Function<"special_entr(Tensor self) -> Tensor"> special_entr;
inline constexpr ir::Function<"special_xlog1py(Tensor self, Tensor other) -> Tensor">
    special_xlog1py;
inline constexpr ir::Function<"logaddexp(Tensor self, Tensor other) -> Tensor"> logaddexp;
inline constexpr ir::Function<"logaddexp2(Tensor self, Tensor other) -> Tensor"> logaddexp2;
inline constexpr ir::Function<"sinc(Tensor self) -> Tensor"> sinc;

// ---- modified Bessel functions of the first kind
inline constexpr ir::Function<"i0(Tensor self) -> Tensor"> i0;
inline constexpr ir::Function<"special_i0e(Tensor self) -> Tensor"> special_i0e;
inline constexpr ir::Function<"special_i1(Tensor self) -> Tensor"> special_i1;
inline constexpr ir::Function<"special_i1e(Tensor self) -> Tensor"> special_i1e;

inline constexpr ir::Inplace lgamma_{entries::lgamma};
inline constexpr ir::Inplace digamma_{digamma};
inline constexpr ir::Inplace mvlgamma_{mvlgamma};
inline constexpr ir::Inplace igamma_{igamma};
inline constexpr ir::Inplace igammac_{igammac};
inline constexpr ir::Inplace erfinv_{erfinv};
inline constexpr ir::Inplace sinc_{sinc};
inline constexpr ir::Inplace i0_{i0};

}  // namespace fg
