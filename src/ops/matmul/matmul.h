// Matrix products and functions made of them.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"mm(Tensor self, Tensor mat2) -> Tensor"> mm;
FG_FUNCTION ir::Function<"bmm(Tensor self, Tensor mat2) -> Tensor"> bmm;
FG_FUNCTION ir::Function<"mv(Tensor self, Tensor vec) -> Tensor"> mv;
FG_FUNCTION ir::Function<"dot(Tensor self, Tensor tensor) -> Tensor"> dot;
FG_FUNCTION ir::Function<"vdot(Tensor self, Tensor other) -> Tensor"> vdot;
FG_FUNCTION ir::Function<"outer(Tensor self, Tensor vec2) -> Tensor"> outer;
FG_FUNCTION ir::Function<"matmul(Tensor self, Tensor other) -> Tensor"> matmul;
FG_FUNCTION ir::Function<
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor">
    addmm;
FG_FUNCTION ir::Function<
    "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor">
    addmv;
FG_FUNCTION ir::Function<
    "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
    "Tensor">
    baddbmm;
FG_FUNCTION ir::Function<
    "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> "
    "Tensor">
    addbmm;
FG_FUNCTION ir::Function<"linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor"> linear;
FG_FUNCTION ir::InplaceOf<decltype(addmm)> addmm_;
FG_FUNCTION ir::InplaceOf<decltype(addmv)> addmv_;
FG_FUNCTION ir::InplaceOf<decltype(baddbmm)> baddbmm_;
FG_FUNCTION ir::InplaceOf<decltype(addbmm)> addbmm_;

namespace ops {
// a^T @ b, laid out in memory as the gradient of a transposed matrix should be: its update then
// reads and writes along the rows of both.
Tensor product_like(const Tensor& a, const Tensor& b, bool transposed);
}  // namespace ops

// y[o] = sum over i and j of x1[i] * weight[o][i][j] * x2[j], plus bias[o].
FG_FUNCTION ir::Function<
    "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor">
    bilinear;

}  // namespace fg
