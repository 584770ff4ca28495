"""Factorisations of symmetric matrices, triangular systems: values, gradients, refusals."""
import pytest

import foregrad as fg
from foregrad import linalg


def definite(*batch, n=4, seed=1):
    fg.manual_seed(seed)
    a = fg.randn(*batch, n, n, dtype=fg.float64)
    return a @ a.mT + fg.eye(n, dtype=fg.float64)


def triangular(*batch, n=4):
    return linalg.cholesky(definite(*batch, n=n))


@pytest.mark.parametrize("shape", [(), (3,), (2, 0), (2, 3)])
def test_a_cholesky_factor_multiplies_to_its_matrix(shape):
    a = definite(*shape)
    lower, upper = linalg.cholesky(a), linalg.cholesky(a, upper=True)
    assert fg.allclose(lower @ lower.mT, a) and fg.equal(upper, lower.mT)
    assert fg.equal(lower, lower.tril())
    factor, info = linalg.cholesky_ex(a)
    assert fg.equal(factor, lower) and info.shape == shape and info.dtype == fg.int32
    assert not info.any()


def test_only_one_triangle_is_read():
    a = definite()
    assert fg.equal(linalg.cholesky(a.tril()), linalg.cholesky(a))
    assert fg.allclose(linalg.cholesky(a.triu(), upper=True), linalg.cholesky(a).mT)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("unit", [False, True])
def test_triangular_systems_are_solved_from_both_sides(upper, left, unit):
    a = definite(3)
    b = fg.randn(2, 1, 4, 5, dtype=fg.float64) if left else fg.randn(3, 5, 4, dtype=fg.float64)
    x = linalg.solve_triangular(a, b, upper=upper, left=left, unitriangular=unit)
    used = a.triu() if upper else a.tril()
    if unit:
        used = used - fg.diag_embed(used.diagonal(dim1=-2, dim2=-1)) + fg.eye(4, dtype=fg.float64)
    got = used @ x if left else x @ used
    assert fg.allclose(got, b.expand(got.shape))


def test_systems_from_a_factor_and_the_inverse():
    a, b = definite(2), fg.randn(2, 4, 3, dtype=fg.float64)
    for upper in (False, True):
        factor = linalg.cholesky(a, upper=upper)
        assert fg.allclose(a @ fg.cholesky_solve(b, factor, upper), b)
        assert fg.allclose(a @ fg.cholesky_inverse(factor, upper), fg.eye(4, dtype=fg.float64))
    solution, copied = fg.triangular_solve(b[0], a[0], upper=False)
    assert fg.allclose(a[0].tril() @ solution, b[0]) and fg.equal(copied, a[0])


def test_eigenvalues_and_vectors_of_symmetric_matrices():
    a = definite(3) - 4 * fg.eye(4, dtype=fg.float64)
    values, vectors = linalg.eigh(a)
    assert fg.allclose(a @ vectors, vectors * values.unsqueeze(-2), atol=1e-10)
    assert fg.allclose(vectors.mT @ vectors, fg.eye(4, dtype=fg.float64), atol=1e-12)
    assert (values.diff() if hasattr(values, "diff") else values[:, 1:] - values[:, :-1]).min() >= 0
    assert fg.equal(linalg.eigvalsh(a), values)
    assert fg.allclose(linalg.eigvalsh(a.triu(), UPLO="U"), values)


def symmetric(x):
    return x @ x.mT + 0.5 * fg.eye(3, dtype=fg.float64)


@pytest.mark.parametrize("function", [
    lambda x, y: linalg.cholesky(symmetric(x)),
    lambda x, y: linalg.cholesky(symmetric(x), upper=True),
    lambda x, y: linalg.solve_triangular(x, y, upper=True),
    lambda x, y: linalg.solve_triangular(x, y.mT, upper=False, left=False),
    lambda x, y: linalg.solve_triangular(x, y, upper=False, unitriangular=True),
    lambda x, y: fg.cholesky_solve(y, x), lambda x, y: fg.cholesky_solve(y, x, True),
    lambda x, y: fg.cholesky_inverse(x), lambda x, y: linalg.eigvalsh(symmetric(x)),
    lambda x, y: linalg.eigh(symmetric(x))[1].pow(2),
], ids="cholesky upper left right unit solve solve_upper inverse eigvalsh eigh".split())
def test_gradients_of_the_first_and_second_order(function):
    fg.manual_seed(3)
    x = (fg.randn(2, 3, 3, dtype=fg.float64) + 2 * fg.eye(3, dtype=fg.float64)).requires_grad_()
    y = fg.randn(2, 3, 2, dtype=fg.float64).requires_grad_()
    assert fg.autograd.gradcheck(function, (x, y))
    assert fg.autograd.gradgradcheck(function, (x, y), atol=1e-4)


def test_float32_is_computed_in_itself():
    a = definite(2).float()
    lower = linalg.cholesky(a)
    assert lower.dtype == fg.float32 and fg.allclose(lower @ lower.mT, a, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("call, kind, words", [
    (lambda: linalg.cholesky(fg.tensor([[1.0, 2.0], [2.0, 1.0]])), linalg.LinAlgError,
     r"linalg.cholesky: The factorization could not be completed because the input is not "
     r"positive-definite \(the leading minor of order 2 is not positive-definite\)"),
    (lambda: linalg.cholesky(fg.stack([fg.eye(2), -fg.eye(2)])), linalg.LinAlgError,
     r"\(Batch element 1\)"),
    (lambda: linalg.cholesky_ex(-fg.eye(2), check_errors=True), linalg.LinAlgError, "order 1"),
    (lambda: linalg.cholesky(fg.ones(2, 3)), RuntimeError, "2 by 3 matrices"),
    (lambda: linalg.cholesky(fg.ones(3)), RuntimeError, "at least 2 dimensions"),
    (lambda: linalg.cholesky(fg.ones(2, 2, dtype=fg.int64)), RuntimeError, "floating point"),
    (lambda: linalg.cholesky(fg.ones(2, 2, dtype=fg.float16)), NotImplementedError, "float16"),
    (lambda: linalg.solve_triangular(fg.eye(2), fg.ones(3, 1), upper=True), RuntimeError,
     r"AX = B \(2x2 and 3x1\)"),
    (lambda: linalg.solve_triangular(fg.eye(2), fg.ones(2), upper=True), RuntimeError, "tensor B"),
    (lambda: linalg.solve_triangular(fg.eye(2), fg.ones(2, 1)), TypeError, "upper"),
    (lambda: linalg.solve_triangular(fg.eye(2), fg.ones(2, 1).double(), upper=True), RuntimeError,
     "same dtype"),
    (lambda: fg.cholesky_solve(fg.ones(2, 1), fg.eye(3)), RuntimeError, "3 by 3 but each b"),
    (lambda: linalg.eigh(fg.eye(2), UPLO="X"), RuntimeError, "'L' or 'U'"),
])
def test_mistakes_are_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_matrix_errors_are_runtime_errors():
    assert issubclass(linalg.LinAlgError, RuntimeError)


def test_captured_functions_have_the_bits_of_eager_ones():
    def function(a, b):
        lower = linalg.cholesky(a)
        return linalg.solve_triangular(lower, b, upper=False), linalg.eigvalsh(a), lower

    a, b = definite(2).requires_grad_(), fg.randn(2, 4, 3, dtype=fg.float64).requires_grad_()
    expected, got = function(a, b), fg.compile(function, fullgraph=True)(a, b)
    assert all(fg.equal(x, y) for x, y in zip(got, expected))
    total = [sum((one * one).sum() for one in each) for each in (got, expected)]
    for ours, theirs in zip(*(fg.autograd.grad(one, (a, b)) for one in total)):
        assert fg.equal(ours, theirs)
