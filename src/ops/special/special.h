// Special functions, elementwise. Their entries name the places in Python: foregrad.special, and
// some also beside the other functions.
#pragma once

#include "ir/function.h"

namespace fg {

// The C library has functions of these names: see ops/elementwise/unary.h.
namespace entries {
FG_FUNCTION ir::Function<"lgamma(Tensor self) -> Tensor"> lgamma;
}  // namespace entries
inline Tensor lgamma(const Tensor& self) { return entries::lgamma(self); }

// ---- the gamma function's family
FG_FUNCTION ir::Function<"digamma(Tensor self) -> Tensor"> digamma;
FG_FUNCTION ir::Function<"polygamma(int n, Tensor self) -> Tensor"> polygamma;
FG_FUNCTION ir::Function<"mvlgamma(Tensor self, int p) -> Tensor"> mvlgamma;
FG_FUNCTION ir::Function<"igamma(Tensor self, Tensor other) -> Tensor"> igamma;
FG_FUNCTION ir::Function<"igammac(Tensor self, Tensor other) -> Tensor"> igammac;
FG_FUNCTION ir::Function<"special_zeta(Tensor self, Tensor other) -> Tensor"> special_zeta;
// How gamma- and Dirichlet-distributed values move with their shapes.
FG_FUNCTION ir::Function<"_standard_gamma_grad(Tensor self, Tensor output) -> Tensor">
    _standard_gamma_grad;
FG_FUNCTION ir::Function<"_dirichlet_grad(Tensor x, Tensor alpha, Tensor total) -> Tensor">
    _dirichlet_grad;

// ---- the normal distribution's family
FG_FUNCTION ir::Function<"erfinv(Tensor self) -> Tensor"> erfinv;
FG_FUNCTION ir::Function<"special_erfcx(Tensor self) -> Tensor"> special_erfcx;
FG_FUNCTION ir::Function<"special_ndtr(Tensor self) -> Tensor"> special_ndtr;
FG_FUNCTION ir::Function<"special_ndtri(Tensor self) -> Tensor"> special_ndtri;
FG_FUNCTION ir::Function<"special_log_ndtr(Tensor self) -> Tensor"> special_log_ndtr;

// ---- logarithms with their factors, sums of exponentials
FG_FUNCTION ir::Function<"special_entr(Tensor self) -> Tensor"> special_entr;
FG_FUNCTION ir::Function<"special_xlog1py(Tensor self, Tensor other) -> Tensor"> special_xlog1py;
FG_FUNCTION ir::Function<"logaddexp(Tensor self, Tensor other) -> Tensor"> logaddexp;
FG_FUNCTION ir::Function<"logaddexp2(Tensor self, Tensor other) -> Tensor"> logaddexp2;
FG_FUNCTION ir::Function<"sinc(Tensor self) -> Tensor"> sinc;

// ---- modified Bessel functions of the first kind
FG_FUNCTION ir::Function<"i0(Tensor self) -> Tensor"> i0;
FG_FUNCTION ir::Function<"special_i0e(Tensor self) -> Tensor"> special_i0e;
FG_FUNCTION ir::Function<"special_i1(Tensor self) -> Tensor"> special_i1;
FG_FUNCTION ir::Function<"special_i1e(Tensor self) -> Tensor"> special_i1e;

FG_FUNCTION ir::InplaceOf<decltype(entries::lgamma)> lgamma_;
FG_FUNCTION ir::InplaceOf<decltype(digamma)> digamma_;
FG_FUNCTION ir::InplaceOf<decltype(mvlgamma)> mvlgamma_;
FG_FUNCTION ir::InplaceOf<decltype(igamma)> igamma_;
FG_FUNCTION ir::InplaceOf<decltype(igammac)> igammac_;
FG_FUNCTION ir::InplaceOf<decltype(erfinv)> erfinv_;
FG_FUNCTION ir::InplaceOf<decltype(sinc)> sinc_;
FG_FUNCTION ir::InplaceOf<decltype(i0)> i0_;

}  // namespace fg
