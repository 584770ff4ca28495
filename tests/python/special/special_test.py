"""Special functions: values, extremes, derivatives, dtypes, names."""
import math

import pytest

import foregrad as fg
from foregrad import special

INF, NAN = math.inf, math.nan


def t(data):
    return fg.tensor(data, dtype=fg.float64)


# Digits from tables and from arithmetic with 40 digits.
VALUES = [
    (special.gammaln, [0.5, 10.0, -2.5], [0.5723649429247001, 12.801827480081469,
                                          -0.056243716497674054]),
    (special.digamma, [1.0, 0.5, -0.5], [-0.5772156649015329, -1.9635100260214235,
                                         0.03648997397857652]),
    (lambda x: special.polygamma(1, x), [1.0, 0.5, -0.5], [1.6449340668482264, 4.934802200544679,
                                                           8.934802200544679]),
    (lambda x: special.polygamma(3, x), [1.0, 5.5], [6.493939402266829, 0.015690592675882818]),
    (lambda x: special.zeta(x, t(1.0)), [2.0, 4.0], [math.pi**2 / 6, math.pi**4 / 90]),
    (lambda x: special.gammainc(x, t(2.0)), [0.5, 2.0, 9.0],
     [0.9544997361036416, 0.5939941502901616, 0.00023744732826132823]),
    (lambda x: special.gammaincc(x, t(2.0)), [0.5, 2.0, 9.0],
     [0.04550026389635841, 0.4060058497098381, 0.9997625526717387]),
    (lambda x: special.multigammaln(x, 3), [2.5, 7.0], [1.8809954616117741, 18.74639984342339]),
    (special.erfinv, [0.5, -0.999], [0.4769362762044699, -2.326753765513525]),
    (special.erfcx, [-1.0, 0.3, 5.0, 100.0], [5.00898008076228, 0.7345993345676551,
                                              0.11070463773306863, 0.005641613782989433]),
    (special.ndtr, [-9.0, 0.0, 1.0], [1.1285884059538425e-19, 0.5, 0.841344746068543]),
    (special.ndtri, [1e-300, 0.1, 0.975],
     [-37.0470962993612, -1.2815515655446004, 1.959963984540054]),
    (special.log_ndtr, [-40.0, -1.0, 3.0], [-804.6084420137538, -1.8410216450092636,
                                            -0.0013508099647481923]),
    (special.entr, [0.5, 2.0], [0.34657359027997264, -1.3862943611198906]),
    (special.i0, [0.5, 9.0], [1.0634833707413236, 1093.588354511375]),
    (special.i1, [0.5, -9.0], [0.25789430539089636, -1030.9147225169565]),
    (special.i0e, [0.5, 200.0], [0.6450352704491501, 0.028227159949111916]),
    (special.i1e, [0.5, -200.0], [0.15642080318487173, -0.02815650339483292]),
    (special.sinc, [0.5, 1.5], [0.6366197723675814, -0.2122065907891938]),
]


@pytest.mark.parametrize("function, x, expected", VALUES)
def test_values_are_those_of_tables(function, x, expected):
    assert function(t(x)).tolist() == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("function, x, expected", [
    (fg.lgamma, [0.0, -1.0, INF, NAN], [INF, INF, INF, NAN]),
    (fg.digamma, [0.0, -0.0, -2.0, INF, NAN], [-INF, INF, NAN, INF, NAN]),
    (fg.erfinv, [1.0, -1.0, 1.5, NAN], [INF, -INF, NAN, NAN]),
    (special.ndtri, [0.0, 1.0, -0.1, NAN], [-INF, INF, NAN, NAN]),
    (special.log_ndtr, [-INF, INF, NAN], [-INF, 0.0, NAN]),
    (special.erfcx, [-INF, INF, -30.0, NAN], [INF, 0.0, INF, NAN]),
    (special.entr, [0.0, -1.0, INF], [0.0, -INF, -INF]),
    (fg.i0, [INF, -INF, NAN, 800.0], [INF, INF, NAN, INF]),
    (lambda x: fg.logaddexp(x, t([INF, -INF, -INF, 1.0])), [INF, -INF, INF, NAN],
     [INF, -INF, INF, NAN]),
    (lambda x: special.xlog1py(x, t([-1.0, NAN, -2.0, -1.0])), [0.0, 0.0, 0.0, 1.0],
     [0.0, NAN, 0.0, -INF]),
    (lambda x: special.gammainc(x, t([0.0, INF, 1.0, -1.0])), [1.0, 1.0, 0.0, 1.0],
     [0.0, 1.0, 1.0, NAN]),
])
def test_extremes_are_those_of_pytorch(function, x, expected):
    assert function(t(x)).tolist() == pytest.approx(expected, rel=0, abs=0, nan_ok=True)


@pytest.mark.parametrize("function, low, high", [
    (fg.lgamma, 0.2, 9), (fg.digamma, 0.3, 9), (lambda x: fg.polygamma(2, x), 0.5, 6),
    (lambda x: fg.mvlgamma(x, 2), 0.8, 6), (fg.erfinv, -0.9, 0.9), (special.erfcx, -2, 6),
    (special.ndtr, -3, 3), (special.ndtri, 0.05, 0.95), (special.log_ndtr, -7, 3),
    (special.entr, 0.1, 3), (fg.sinc, -2.3, 2.2), (fg.i0, -6, 6), (special.i0e, 0.2, 6),
    (special.i1, -6, 6), (special.i1e, 0.2, 6), (lambda x: special.zeta(t(2.5), x), 0.4, 6),
    (lambda x: special.gammainc(t(2.5), x), 0.3, 6),
    (lambda x: special.gammaincc(t(2.5), x), 0.3, 6),
    (lambda x: fg.logaddexp(x, t(0.5)), -3, 3), (lambda x: fg.logaddexp2(x, t(0.5)), -3, 3),
    (lambda x: special.xlog1py(x, x), 0.2, 3),
])
def test_derivatives_of_the_first_and_second_order(function, low, high):
    x = fg.linspace(low, high, 5, dtype=fg.float64).requires_grad_()
    assert fg.autograd.gradcheck(function, (x,))
    assert fg.autograd.gradgradcheck(function, (x,))


def test_derivatives_at_the_origin_are_finite_to_the_third_order():
    for function in (fg.sinc, fg.i0, special.i1):
        x = t(0.0).requires_grad_()
        value = function(x)
        for _ in range(3):
            (value,) = fg.autograd.grad(value, x, create_graph=True)
            assert value.isfinite()


def test_the_incomplete_gamma_function_has_a_slope_by_its_shape():
    a = t([0.3, 2.0, 9.0, 80.0]).requires_grad_()
    assert fg.autograd.gradcheck(lambda a: special.gammainc(a, t([0.5, 3.0, 7.0, 85.0])), (a,))
    with pytest.raises(NotImplementedError, match="zeta"):
        special.zeta(a + 1, t(2.0)).sum().backward()


def test_complements_and_recurrences_hold_over_many_scales():
    a = t([1e-3, 0.1, 1.0, 30.0, 1e3, 1e6]).unsqueeze(-1)
    x = a * t([0.5, 0.99, 1.0, 1.01, 2.0])
    assert (special.gammainc(a, x) + special.gammaincc(a, x) - 1).abs().max() < 1e-15
    upper = special.gammainc(a + 1, x)
    term = fg.exp(fg.xlogy(a, x) - x - fg.lgamma(a + 1))
    assert (special.gammainc(a, x) - upper - term).abs().max() < 1e-9
    y = t([-37.0, -5.0, -0.3, 0.0, 2.0, 7.0])
    assert (special.ndtri(special.ndtr(y)) - y).abs().max() < 1e-4
    assert fg.allclose(special.log_ndtr(y), special.ndtr(y).log(), rtol=1e-12)


def test_narrow_dtypes_and_integers():
    for dtype in (fg.float32, fg.float16, fg.bfloat16):
        x = fg.tensor([0.5, 1.5], dtype=dtype)
        for function in (fg.lgamma, fg.digamma, fg.i0, special.erfcx, special.log_ndtr):
            assert function(x).dtype == dtype
            assert fg.allclose(function(x).double(), function(x.double()), rtol=2e-2, atol=1e-2)
    assert fg.lgamma(fg.tensor([3, 4])).dtype == fg.float32


def test_names_are_in_their_modules_and_where_pytorch_has_them():
    for name in ("lgamma", "digamma", "polygamma", "mvlgamma", "erfinv", "i0", "sinc", "logaddexp",
                 "igamma", "igammac", "_standard_gamma_grad"):
        assert hasattr(fg, name), name
    for name in ("ndtr", "special_ndtr", "entr", "i1e", "zeta"):
        assert not hasattr(fg, name) and not hasattr(fg.Tensor, name), name
    assert special.gammaln is fg.lgamma and special.psi is fg.digamma
    assert special.expit is fg.sigmoid and special.gammainc is fg.igamma
    assert fg.tensor([3.0]).lgamma_().item() == pytest.approx(math.log(2))
    with pytest.raises(RuntimeError, match="does not support negative n"):
        fg.polygamma(-1, t([1.0]))
    with pytest.raises(RuntimeError, match="greater than or equal to 1"):
        fg.mvlgamma(t([3.0]), 0)


def test_captured_functions_have_the_bits_of_eager_ones():
    def function(a, x):
        first = fg.lgamma(a) * special.ndtri(fg.sigmoid(x)) + special.log_ndtr(x)
        second = special.i0e(x) + fg.polygamma(2, a) + special.gammainc(a, a + x * x)
        return first * second + special.erfcx(x) + fg.logaddexp(a, x)

    a = fg.linspace(0.2, 9, 40).requires_grad_()
    x = fg.linspace(-3, 3, 40).requires_grad_()
    expected = function(a, x)
    got = fg.compile(function, fullgraph=True)(a, x)
    assert fg.equal(got, expected)
    for ours, theirs in zip(fg.autograd.grad(got.sum(), (a, x)),
                            fg.autograd.grad(expected.sum(), (a, x))):
        assert fg.equal(ours, theirs)
