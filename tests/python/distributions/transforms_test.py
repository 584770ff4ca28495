"""Transforms: there and back, change of volume by differentiation, caches, registries."""
import copy
import pickle

import pytest

import foregrad as fg
from foregrad import distributions as D
from foregrad.distributions import constraints as C


def t(data):
    return fg.tensor(data, dtype=fg.float64)


VECTOR = [0.3, -1.2, 0.7]
ELEMENTWISE = [
    (D.ExpTransform(), VECTOR), (D.SigmoidTransform(), VECTOR), (D.TanhTransform(), VECTOR),
    (D.SoftplusTransform(), VECTOR), (D.PowerTransform(t(2.5)), [0.3, 1.2, 0.7]),
    (D.AffineTransform(1.5, -2.0), VECTOR), (D.AffineTransform(t([1.0, 2.0, 3.0]), t(0.5)), VECTOR),
    (D.ExpTransform().inv, [0.3, 1.2, 0.7]), (D.identity_transform, VECTOR),
    (D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.TanhTransform()]), VECTOR),
    (D.CumulativeDistributionTransform(D.Normal(t(0.5), t(2.0))), VECTOR),
]
VECTORS = [
    (D.StickBreakingTransform(), VECTOR, lambda y: y[:-1]),
    (D.CorrCholeskyTransform(), VECTOR, lambda y: y[[1, 2, 2], [0, 0, 1]]),
    (D.IndependentTransform(D.ExpTransform(), 1), VECTOR, lambda y: y),
    (D.ReshapeTransform((4,), (2, 2)), [0.3, -1.2, 0.7, 2.0], lambda y: y.reshape(4)),
    (D.ComposeTransform([D.AffineTransform(0.5, 2.0), D.StickBreakingTransform()]), VECTOR,
     lambda y: y[:-1]),
    (D.CatTransform([D.ExpTransform(), D.TanhTransform()], 0, [1, 2]), VECTOR, lambda y: y),
]


def jacobian(function, x):
    x = x.detach().requires_grad_()
    y = function(x)
    rows = [fg.autograd.grad(one, x, retain_graph=True)[0] for one in y.reshape(-1)]
    return fg.stack(rows)


def log_abs_det(matrix):
    """By elimination with pivots."""
    rows, total = [list(map(float, row)) for row in matrix.tolist()], 0.0
    for k in range(len(rows)):
        best = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        total += t(abs(rows[k][k])).log().item()
        for i in range(k + 1, len(rows)):
            share = rows[i][k] / rows[k][k]
            rows[i] = [a - share * b for a, b in zip(rows[i], rows[k])]
    return total


@pytest.mark.parametrize("transform, data", ELEMENTWISE, ids=lambda v: type(v).__name__)
def test_elementwise_transforms_come_back_and_know_their_slope(transform, data):
    x = t(data)
    y = transform(x)
    assert fg.allclose(transform.inv(y), x)
    slope = jacobian(transform, x).diagonal()
    volume = transform.log_abs_det_jacobian(x, y)
    assert fg.allclose(volume.expand(3), slope.abs().log())
    assert fg.allclose(transform.inv.log_abs_det_jacobian(y, x), -volume)
    assert tuple(transform.forward_shape(x.shape)) == tuple(y.shape)
    assert transform.domain.check(x).all() and transform.codomain.check(y).all()
    sign = transform.sign
    expected = sign if isinstance(sign, fg.Tensor) else t(float(sign))
    assert fg.equal(slope.sign(), expected.expand(3))


@pytest.mark.parametrize("transform, data, free", VECTORS,
                         ids=lambda v: type(v).__name__ if isinstance(v, D.Transform) else "")
def test_vector_transforms_come_back_and_know_their_volume(transform, data, free):
    x = t(data)
    y = transform(x)
    assert fg.allclose(transform.inv(y), x)
    assert transform.codomain.check(y).all()
    volume = transform.log_abs_det_jacobian(x, y).sum()
    assert volume.item() == pytest.approx(log_abs_det(jacobian(lambda x: free(transform(x)), x)))
    assert tuple(transform.forward_shape(x.shape)) == tuple(y.shape)
    assert tuple(transform.inverse_shape(y.shape)) == tuple(x.shape)


def test_a_cache_gives_back_the_very_value():
    for make in (D.ExpTransform, D.TanhTransform, D.StickBreakingTransform):
        transform, x = make(cache_size=1), t([40.0, -3.0])
        y = transform(x)
        assert transform.inv(y) is x and transform(x) is y
        assert make().inv(make()(x)) is not x
    composed = D.ComposeTransform([D.TanhTransform(), D.AffineTransform(0.0, 2.0)], cache_size=1)
    x = t([30.0])  # tanh is 1 there
    assert composed.inv(composed(x)) is x


def test_inverses_are_one_object_and_pickle():
    exp = D.ExpTransform()
    assert exp.inv is exp.inv and exp.inv.inv is exp
    for one in (exp, exp.inv, D.AffineTransform(1.0, 2.0), D.ComposeTransform([exp, exp.inv])):
        again = pickle.loads(pickle.dumps(one))
        assert type(again) is type(one) and again == one
        assert fg.allclose(copy.deepcopy(one)(t([1.5])), one(t([1.5])))


@pytest.mark.parametrize("constraint, shape", [
    (C.real, (3,)), (C.positive, (3,)), (C.nonnegative, (3,)), (C.greater_than(2.0), (3,)),
    (C.greater_than_eq(t([1.0, -2.0, 0.0])), (3,)), (C.less_than(-1.0), (3,)),
    (C.unit_interval, (3,)), (C.interval(-1.0, 4.0), (3,)), (C.half_open_interval(-1.0, 0.0), (3,)),
    (C.simplex, (3,)), (C.corr_cholesky, (6,)), (C.real_vector, (3,)),
    (C.independent(C.positive, 1), (2, 3)), (C.cat([C.positive, C.unit_interval], 0, [2, 1]), (3,)),
    (C.stack([C.positive, C.less_than(0.0)], 0), (2, 3)),
], ids=lambda v: type(v).__name__ if isinstance(v, C.Constraint) else "")
def test_registries_reach_their_constraints_and_biject(constraint, shape):
    fg.manual_seed(1)
    for registry in (D.biject_to, D.transform_to):
        x = fg.randn(shape, dtype=fg.float64)
        transform = registry(constraint)
        y = transform(x)
        assert constraint.check(y).all()
        if registry is D.biject_to:
            assert transform.bijective and fg.allclose(transform.inv(y), x, atol=1e-6)
            assert transform.log_abs_det_jacobian(x, y).isfinite().all()


def test_matrices_are_reached_by_transform_to():
    x = t([[0.3, 5.0], [-1.0, 0.2]])
    for constraint in (C.lower_cholesky, C.positive_definite, C.positive_semidefinite):
        y = D.transform_to(constraint)(x)
        assert constraint.check(y)
        assert fg.allclose(D.transform_to(constraint)(D.transform_to(constraint).inv(y)), y)


def test_a_constraint_of_ones_own_can_be_registered():
    class Even(C.Constraint):
        pass

    @D.transform_to.register(Even)
    def to_even(constraint):
        return D.AffineTransform(0.0, 2.0)

    assert D.transform_to(Even()) == D.AffineTransform(0.0, 2.0)
    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        D.biject_to(Even())
    with pytest.raises(TypeError, match="Constraint subclass or instance"):
        D.biject_to.register(3, to_even)


@pytest.mark.parametrize("make, kind, words", [
    (lambda: D.ExpTransform(cache_size=2), ValueError, "cache_size must be 0 or 1"),
    (lambda: D.ReshapeTransform((2,), (3,)), ValueError, "different numbers of elements"),
    (lambda: D.AbsTransform().log_abs_det_jacobian(t(1.0), t(1.0)), NotImplementedError, "Abs"),
    (lambda: D.CorrCholeskyTransform().forward_shape((4,)), ValueError, "lower-diagonal"),
    (lambda: D.CorrCholeskyTransform().inverse_shape((4, 3)), ValueError, "not square"),
    (lambda: D.StickBreakingTransform().forward_shape(()), ValueError, "Too few dimensions"),
    (lambda: D.IndependentTransform(D.ExpTransform(), 2)(t([1.0])), ValueError, "Too few"),
    (lambda: D.SoftmaxTransform().sign, NotImplementedError, "not monotone"),
    (lambda: D.StickBreakingTransform().inv.domain.check(t([2.0, 3.0])) and None or
     D.CorrCholeskyTransform().event_dim, ValueError, "domain.event_dim"),
    (lambda: D.CatTransform([D.ExpTransform()], 0, [2])(t([1.0])), AssertionError, "expected 2"),
])
def test_mistakes_are_refused(make, kind, words):
    with pytest.raises(kind, match=words):
        make()


def test_texts_are_those_of_pytorch():
    assert repr(D.ExpTransform()) == "ExpTransform()"
    assert repr(D.ExpTransform().inv) == "_InverseTransform(ExpTransform())"
    assert repr(D.IndependentTransform(D.ExpTransform(), 1)) == (
        "IndependentTransform(ExpTransform(), 1)")
    assert repr(D.ComposeTransform([D.ExpTransform(), D.TanhTransform()])) == (
        "ComposeTransform(\n    ExpTransform(),\n    TanhTransform()\n)")
