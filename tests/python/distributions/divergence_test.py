"""Divergences against the mean of the difference of log densities, and the table's dispatch."""
import math
import warnings

import pytest

import foregrad as fg
from foregrad import distributions as D
from foregrad.distributions.kl import _KL_REGISTRY


def t(data):
    return fg.tensor(data, dtype=fg.float64)


P = {
    "Bernoulli": lambda: D.Bernoulli(t(0.3)), "Beta": lambda: D.Beta(t(2.0), t(3.0)),
    "Binomial": lambda: D.Binomial(5, t(0.3)), "Categorical": lambda: D.Categorical(t([0.2, 0.8])),
    "Cauchy": lambda: D.Cauchy(t(0.5), t(2.0)),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t(0.3)),
    "Dirichlet": lambda: D.Dirichlet(t([2.0, 3.0, 4.0])),
    "Exponential": lambda: D.Exponential(t(1.5)), "Gamma": lambda: D.Gamma(t(3.0), t(1.5)),
    "Geometric": lambda: D.Geometric(t(0.4)), "Gumbel": lambda: D.Gumbel(t(0.5), t(1.5)),
    "HalfNormal": lambda: D.HalfNormal(t(1.5)), "Laplace": lambda: D.Laplace(t(0.5), t(1.0)),
    "LowRankMultivariateNormal": lambda: D.LowRankMultivariateNormal(
        t([0.5, 1.0]), t([[1.0], [0.3]]), t([0.5, 1.0])),
    "MultivariateNormal": lambda: D.MultivariateNormal(t([0.0, 1.0]), t([[2.0, 0.3], [0.3, 1.0]])),
    "Normal": lambda: D.Normal(t(0.5), t(1.0)),
    "OneHotCategorical": lambda: D.OneHotCategorical(t([0.2, 0.8])),
    "Pareto": lambda: D.Pareto(t(1.5), t(9.0)), "Poisson": lambda: D.Poisson(t(2.0)),
    "Uniform": lambda: D.Uniform(t(0.2), t(0.7)),
    "Independent": lambda: D.Independent(D.Normal(t([0.5, 0.0]), t(1.0)), 1),
    "TransformedDistribution": lambda: D.LogNormal(t(0.5), t(0.7)),
}
Q = {
    **P, "Beta": lambda: D.Beta(t(1.0), t(1.5)), "Gamma": lambda: D.Gamma(t(2.0), t(1.0)),
    "Bernoulli": lambda: D.Bernoulli(t(0.6)), "Binomial": lambda: D.Binomial(5, t(0.5)),
    "Cauchy": lambda: D.Cauchy(t(0.0), t(1.0)), "Categorical": lambda: D.Categorical(t([0.5, 0.5])),
    "Dirichlet": lambda: D.Dirichlet(t([1.0, 1.0, 2.0])),
    "Normal": lambda: D.Normal(t(0.0), t(2.0)),
    "Exponential": lambda: D.Exponential(t(0.7)), "Geometric": lambda: D.Geometric(t(0.2)),
    "Gumbel": lambda: D.Gumbel(t(0.0), t(2.0)), "HalfNormal": lambda: D.HalfNormal(t(2.0)),
    "Laplace": lambda: D.Laplace(t(0.0), t(2.0)), "Pareto": lambda: D.Pareto(t(1.0), t(2.0)),
    "Poisson": lambda: D.Poisson(t(3.0)), "Uniform": lambda: D.Uniform(t(0.0), t(1.0)),
    "Independent": lambda: D.Independent(D.Normal(t([0.0, 0.0]), t(2.0)), 1),
    "TransformedDistribution": lambda: D.LogNormal(t(0.0), t(1.0)),
    "OneHotCategorical": lambda: D.OneHotCategorical(t([0.5, 0.5])),
}
PAIRS = sorted((p.__name__, q.__name__) for p, q in _KL_REGISTRY
               if p.__name__ != "ExponentialFamily")


@pytest.mark.parametrize("p_name, q_name", PAIRS)
def test_a_divergence_is_the_mean_difference_of_log_densities(p_name, q_name):
    fg.manual_seed(1)
    p, q = P[p_name](), Q[q_name]()
    got = D.kl_divergence(p, q).item()
    x = p.sample((20000,))
    if got == math.inf:
        assert not q.support.check(x).all()
        return
    difference = p.log_prob(x) - q.log_prob(x)
    noise = difference.std().item() / math.sqrt(20000)
    assert difference.mean().item() == pytest.approx(got, abs=5 * noise + 1e-9)
    assert got >= -1e-12


def test_a_divergence_from_itself_is_zero():
    for name, make in P.items():
        assert abs(D.kl_divergence(make(), make()).item()) < 1e-12, name


def test_an_exponential_family_without_a_formula_takes_the_bregman_divergence():
    class Own(D.Gamma):
        pass

    own = D.kl.register_kl(Own, Own)
    general = _KL_REGISTRY[D.ExponentialFamily, D.ExponentialFamily]
    assert own(general) is general
    p, q = Own(t(3.0), t(1.5)), Own(t(2.0), t(1.0))
    expected = D.kl_divergence(D.Gamma(t(3.0), t(1.5)), D.Gamma(t(2.0), t(1.0)))
    assert fg.allclose(D.kl_divergence(p, q), expected)
    del _KL_REGISTRY[Own, Own]


def test_what_is_not_in_the_table_is_refused_by_name():
    with pytest.raises(NotImplementedError, match="p type Cauchy and q type Uniform"):
        D.kl_divergence(D.Cauchy(t(0.0), t(1.0)), D.Uniform(t(0.0), t(1.0)))
    with pytest.raises(TypeError, match="type_p to be a Distribution subclass"):
        D.register_kl(int, D.Normal)
    with pytest.raises(NotImplementedError, match="different exponential families"):
        D.kl_divergence(D.Normal(t(0.0), t(1.0)), D.Bernoulli(t(0.2)))


def test_the_most_special_function_is_taken_and_a_tie_is_told():
    class Special(D.Normal):
        pass

    try:
        D.register_kl(Special, D.Normal)(lambda p, q: "left")
        p = Special(t(0.0), t(1.0))
        assert D.kl_divergence(p, D.Normal(t(0.0), t(1.0))) == "left"
        D.register_kl(D.Normal, Special)(lambda p, q: "right")
        with pytest.warns(RuntimeWarning, match="Ambiguous kl_divergence"):
            assert D.kl_divergence(p, p) == "left"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert D.kl_divergence(p, p) == "left"
    finally:
        for pair in ((Special, D.Normal), (D.Normal, Special)):
            _KL_REGISTRY.pop(pair, None)
        D.kl._KL_MEMOIZE.clear()


def test_divergences_are_differentiable():
    mean = fg.tensor([0.3, -1.0], dtype=fg.float64, requires_grad=True)
    scale = fg.tensor([0.5, 2.0], dtype=fg.float64, requires_grad=True)
    assert fg.autograd.gradcheck(
        lambda m, s: D.kl_divergence(D.Normal(m, s), D.Laplace(0.0, s)), (mean, scale))
