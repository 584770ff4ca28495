// Linear algebra of batches of small matrices: factorisations of symmetric matrices, triangular
// systems. Shown in Python as foregrad.linalg, and some beside the other functions.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor">
    linalg_cholesky;
inline constexpr ir::Function<
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> "
    "(Tensor L, Tensor info)">
    linalg_cholesky_ex;
inline constexpr ir::Function<"cholesky(Tensor self, bool upper=False) -> Tensor"> cholesky;
inline constexpr ir::Function<
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor">
    cholesky_solve;
inline constexpr ir::Function<"cholesky_inverse(Tensor self, bool upper=False) -> Tensor">
    cholesky_inverse;
inline constexpr ir::Function<
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor">
    linalg_solve_triangular;
inline constexpr ir::Function<
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)">
    triangular_solve;

// Eigenvalues in ascending order, and an orthonormal eigenvector per column.
inline constexpr ir::Function<
    "linalg_eigh(Tensor self, str UPLO='L') -> (Tensor eigenvalues, Tensor eigenvectors)">
    linalg_eigh;
inline constexpr ir::Function<"linalg_eigvalsh(Tensor self, str UPLO='L') -> Tensor">
    linalg_eigvalsh;

}  // namespace fg
