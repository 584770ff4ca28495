// Linear algebra of batches of small matrices: factorisations of symmetric matrices, triangular
// systems. Shown in Python as foregrad.linalg, and some beside the other functions.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor">
    linalg_cholesky;
FG_FUNCTION ir::Function<
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
    "(Tensor L, Tensor info)">
    linalg_cholesky_ex;
FG_FUNCTION ir::Function<"cholesky(Tensor self, bool upper=False) -> Tensor"> cholesky;
FG_FUNCTION ir::Function<"cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor">
    cholesky_solve;
FG_FUNCTION ir::Function<"cholesky_inverse(Tensor self, bool upper=False) -> Tensor">
    cholesky_inverse;
FG_FUNCTION ir::Function<
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor">
    linalg_solve_triangular;
FG_FUNCTION ir::Function<
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)">
    triangular_solve;

// Eigenvalues in ascending order, and an orthonormal eigenvector per column.
FG_FUNCTION ir::Function<
    "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)">
    linalg_eigh;
FG_FUNCTION ir::Function<"linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor"> linalg_eigvalsh;

}  // namespace fg
