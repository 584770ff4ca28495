// Matrix products and functions made of them.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"mm(Tensor self, Tensor mat2) -> Tensor"> mm;
inline constexpr ir::Function<"bmm(Tensor self, Tensor mat2) -> Tensor"> bmm;
inline constexpr ir::Function<"mv(Tensor self, Tensor vec) -> Tensor"> mv;
inline constexpr ir::Function<"dot(Tensor self, Tensor tensor) -> Tensor"> dot;
inline constexpr ir::Function<"vdot(Tensor self, Tensor other) -> Tensor"> vdot;
inline constexpr ir::Function<"outer(Tensor self, Tensor vec2) -> Tensor"> outer;
inline constexpr ir::Function<"matmul(Tensor self, Tensor other) -> Tensor"> matmul;
inline constexpr ir::Function<
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor">
    addmm;
inline constexpr ir::Function<
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor">
    addmv;
inline constexpr ir::Function<
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
    "Tensor">
    baddbmm;
inline constexpr ir::Function<
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
    "Tensor">
    addbmm;
inline constexpr ir::Function<"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor">
    linear;
inline constexpr ir::Inplace addmm_{addmm};
inline constexpr ir::Inplace addmv_{addmv};
inline constexpr ir::Inplace baddbmm_{baddbmm};
inline constexpr ir::Inplace addbmm_{addbmm};

namespace ops {
// a^T @ b, laid out in memory as the gradient of a transposed matrix should be: its update then
// reads and writes along the rows of both.
Tensor product_like(const Tensor& a, const Tensor& b, bool transposed);
}  // namespace ops

// y[o] = sum over i and j of x1[i] * weight[o][i][j] * x2[j], plus bias[o].
inline constexpr ir::Function<
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor">
    bilinear;

}  // namespace fg
