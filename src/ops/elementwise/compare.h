// Comparisons, logic and bits, and the operators of C++ for them.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"eq(Tensor self, Tensor other) -> Tensor"> eq;
FG_FUNCTION ir::Function<"ne(Tensor self, Tensor other) -> Tensor"> ne;
FG_FUNCTION ir::Function<"lt(Tensor self, Tensor other) -> Tensor"> lt;
FG_FUNCTION ir::Function<"le(Tensor self, Tensor other) -> Tensor"> le;
FG_FUNCTION ir::Function<"gt(Tensor self, Tensor other) -> Tensor"> gt;
FG_FUNCTION ir::Function<"ge(Tensor self, Tensor other) -> Tensor"> ge;
FG_FUNCTION ir::Function<"logical_and(Tensor self, Tensor other) -> Tensor"> logical_and;
FG_FUNCTION ir::Function<"logical_or(Tensor self, Tensor other) -> Tensor"> logical_or;
FG_FUNCTION ir::Function<"logical_xor(Tensor self, Tensor other) -> Tensor"> logical_xor;
FG_FUNCTION ir::Function<"logical_not(Tensor self) -> Tensor"> logical_not;
FG_FUNCTION ir::Function<"bitwise_and(Tensor self, Tensor other) -> Tensor"> bitwise_and;
FG_FUNCTION ir::Function<"bitwise_or(Tensor self, Tensor other) -> Tensor"> bitwise_or;
FG_FUNCTION ir::Function<"bitwise_xor(Tensor self, Tensor other) -> Tensor"> bitwise_xor;
FG_FUNCTION ir::Function<"bitwise_not(Tensor self) -> Tensor"> bitwise_not;
FG_FUNCTION ir::Function<"bitwise_left_shift(Tensor self, Tensor other) -> Tensor">
    bitwise_left_shift;
FG_FUNCTION ir::Function<"bitwise_right_shift(Tensor self, Tensor other) -> Tensor">
    bitwise_right_shift;
FG_FUNCTION ir::Function<
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) "
    "-> Tensor">
    isclose;
FG_FUNCTION ir::Function<
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool "
    "equal_nan=False) -> bool">
    allclose;
FG_FUNCTION ir::Function<"equal(Tensor self, Tensor other) -> bool"> equal;
FG_FUNCTION ir::InplaceOf<decltype(eq)> eq_;
FG_FUNCTION ir::InplaceOf<decltype(ne)> ne_;
FG_FUNCTION ir::InplaceOf<decltype(lt)> lt_;
FG_FUNCTION ir::InplaceOf<decltype(le)> le_;
FG_FUNCTION ir::InplaceOf<decltype(gt)> gt_;
FG_FUNCTION ir::InplaceOf<decltype(ge)> ge_;
FG_FUNCTION ir::InplaceOf<decltype(logical_and)> logical_and_;
FG_FUNCTION ir::InplaceOf<decltype(logical_or)> logical_or_;
FG_FUNCTION ir::InplaceOf<decltype(logical_xor)> logical_xor_;
FG_FUNCTION ir::InplaceOf<decltype(logical_not)> logical_not_;
FG_FUNCTION ir::InplaceOf<decltype(bitwise_and)> bitwise_and_;
FG_FUNCTION ir::InplaceOf<decltype(bitwise_or)> bitwise_or_;
FG_FUNCTION ir::InplaceOf<decltype(bitwise_xor)> bitwise_xor_;
FG_FUNCTION ir::InplaceOf<decltype(bitwise_not)> bitwise_not_;
FG_FUNCTION ir::InplaceOf<decltype(bitwise_left_shift)> bitwise_left_shift_;
FG_FUNCTION ir::InplaceOf<decltype(bitwise_right_shift)> bitwise_right_shift_;

inline Tensor operator==(const Tensor& a, const Tensor& b) { return eq(a, b); }
inline Tensor operator!=(const Tensor& a, const Tensor& b) { return ne(a, b); }
inline Tensor operator<(const Tensor& a, const Tensor& b) { return lt(a, b); }
inline Tensor operator<=(const Tensor& a, const Tensor& b) { return le(a, b); }
inline Tensor operator>(const Tensor& a, const Tensor& b) { return gt(a, b); }
inline Tensor operator>=(const Tensor& a, const Tensor& b) { return ge(a, b); }
inline Tensor operator&(const Tensor& a, const Tensor& b) { return bitwise_and(a, b); }
inline Tensor operator|(const Tensor& a, const Tensor& b) { return bitwise_or(a, b); }
inline Tensor operator^(const Tensor& a, const Tensor& b) { return bitwise_xor(a, b); }
inline Tensor operator~(const Tensor& a) { return bitwise_not(a); }
inline Tensor operator!(const Tensor& a) { return logical_not(a); }

}  // namespace fg
