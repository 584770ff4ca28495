// Comparisons, logic and bits, and the operators of C++ for them.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"eq(Tensor self, Tensor other) -> Tensor"> eq;
inline constexpr ir::Function<"ne(Tensor self, Tensor other) -> Tensor"> ne;
inline constexpr ir::Function<"lt(Tensor self, Tensor other) -> Tensor"> lt;
inline constexpr ir::Function<"le(Tensor self, Tensor other) -> Tensor"> le;
inline constexpr ir::Function<"gt(Tensor self, Tensor other) -> Tensor"> gt;
inline constexpr ir::Function<"ge(Tensor self, Tensor other) -> Tensor"> ge;
inline constexpr ir::Function<"logical_and(Tensor self, Tensor other) -> Tensor"> logical_and;
inline constexpr ir::Function<"logical_or(Tensor self, Tensor other) -> Tensor"> logical_or;
inline constexpr ir::Function<"logical_xor(Tensor self, Tensor other) -> Tensor"> logical_xor;
inline constexpr ir::Function<"logical_not(Tensor self) -> Tensor"> logical_not;
inline constexpr ir::Function<"bitwise_and(Tensor self, Tensor other) -> Tensor"> bitwise_and;
inline constexpr ir::Function<"bitwise_or(Tensor self, Tensor other) -> Tensor"> bitwise_or;
inline constexpr ir::Function<"bitwise_xor(Tensor self, Tensor other) -> Tensor"> bitwise_xor;
inline constexpr ir::Function<"bitwise_not(Tensor self) -> Tensor"> bitwise_not;
inline constexpr ir::Function<"bitwise_left_shift(Tensor self, Tensor other) -> Tensor">
    bitwise_left_shift;
inline constexpr ir::Function<"bitwise_right_shift(Tensor self, Tensor other) -> Tensor">
    bitwise_right_shift;
inline constexpr ir::Function<
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) "
    "-> Tensor">
    isclose;
inline constexpr ir::Function<
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool "
    "equal_nan=False) -> bool">
    allclose;
inline constexpr ir::Function<"equal(Tensor self, Tensor other) -> bool"> equal;
inline constexpr ir::Inplace eq_{eq};
inline constexpr ir::Inplace ne_{ne};
inline constexpr ir::Inplace lt_{lt};
inline constexpr ir::Inplace le_{le};
inline constexpr ir::Inplace gt_{gt};
inline constexpr ir::Inplace ge_{ge};
inline constexpr ir::Inplace logical_and_{logical_and};
inline constexpr ir::Inplace logical_or_{logical_or};
inline constexpr ir::Inplace logical_xor_{logical_xor};
inline constexpr ir::Inplace logical_not_{logical_not};
inline constexpr ir::Inplace bitwise_and_{bitwise_and};
inline constexpr ir::Inplace bitwise_or_{bitwise_or};
inline constexpr ir::Inplace bitwise_xor_{bitwise_xor};
inline constexpr ir::Inplace bitwise_not_{bitwise_not};
inline constexpr ir::Inplace bitwise_left_shift_{bitwise_left_shift};
inline constexpr ir::Inplace bitwise_right_shift_{bitwise_right_shift};

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
