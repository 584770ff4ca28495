"""Samples: moments and places in the distribution function, shapes, seeds, gradients by shape."""
import math

import pytest

import foregrad as fg
from foregrad import distributions as D

COUNT = 20000
t = fg.tensor
MADE = {
    "Bernoulli": lambda: D.Bernoulli(t([0.2, 0.7])),
    "Beta": lambda: D.Beta(t([0.5, 3.0]), t([2.0, 1.5])),
    "Binomial": lambda: D.Binomial(9, t([0.2, 0.9])),
    "Binomial of many": lambda: D.Binomial(500, t([0.1, 0.6])),
    "Chi2": lambda: D.Chi2(t([1.0, 7.0])),
    "ContinuousBernoulli": lambda: D.ContinuousBernoulli(t([0.2, 0.5, 0.9])),
    "Dirichlet": lambda: D.Dirichlet(t([[0.5, 1.0, 2.0], [4.0, 3.0, 9.0]])),
    "Exponential": lambda: D.Exponential(t([0.3, 4.0])),
    "FisherSnedecor": lambda: D.FisherSnedecor(t([3.0, 5.0]), t([20.0, 30.0])),
    "Gamma": lambda: D.Gamma(t([0.2, 1.0, 9.0]), t([1.0, 0.5, 3.0])),
    "GeneralizedPareto": lambda: D.GeneralizedPareto(t(1.0), t(2.0), t([0.1, 0.0, -0.4])),
    "Geometric": lambda: D.Geometric(t([0.2, 0.7])),
    "Gumbel": lambda: D.Gumbel(t([0.0, 3.0]), t([1.0, 0.5])),
    "HalfNormal": lambda: D.HalfNormal(t([0.5, 2.0])),
    "InverseGamma": lambda: D.InverseGamma(t([9.0, 12.0]), t([2.0, 0.5])),
    "Kumaraswamy": lambda: D.Kumaraswamy(t([0.7, 3.0]), t([2.0, 4.0])),
    "Laplace": lambda: D.Laplace(t([0.0, -2.0]), t([1.0, 0.3])),
    "LogNormal": lambda: D.LogNormal(t([0.0, -1.0]), t([0.3, 0.5])),
    "LowRankMultivariateNormal": lambda: D.LowRankMultivariateNormal(
        t([1.0, -1.0, 0.0]), t([[1.0], [0.5], [-2.0]]), t([0.5, 1.0, 0.1])),
    "MixtureSameFamily": lambda: D.MixtureSameFamily(
        D.Categorical(t([0.3, 0.7])), D.Normal(t([-2.0, 3.0]), t([1.0, 0.5]))),
    "Multinomial": lambda: D.Multinomial(8, t([0.1, 0.6, 0.3])),
    "MultivariateNormal": lambda: D.MultivariateNormal(
        t([1.0, -1.0]), t([[2.0, 0.8], [0.8, 1.0]])),
    "NegativeBinomial": lambda: D.NegativeBinomial(t([3.0, 10.0]), t([0.5, 0.2])),
    "Normal": lambda: D.Normal(t([0.0, -3.0]), t([1.0, 0.2])),
    "OneHotCategorical": lambda: D.OneHotCategorical(t([0.1, 0.6, 0.3])),
    "Pareto": lambda: D.Pareto(t([1.0, 2.0]), t([8.0, 9.0])),
    "Poisson": lambda: D.Poisson(t([0.4, 5.0, 60.0])),
    "StudentT": lambda: D.StudentT(t([9.0, 30.0]), t([1.0, 0.0]), t([2.0, 0.1])),
    "Uniform": lambda: D.Uniform(t([-1.0, 3.0]), t([2.0, 3.5])),
    "Weibull": lambda: D.Weibull(t([1.0, 3.0]), t([1.5, 4.0])),
    "Wishart": lambda: D.Wishart(t(6.0), t([[1.0, 0.3], [0.3, 0.5]])),
}


@pytest.mark.parametrize("name", MADE)
def test_samples_have_the_mean_and_the_variance(name):
    fg.manual_seed(1)
    made = MADE[name]()
    drawn = made.sample((COUNT,))
    assert drawn.shape == (COUNT,) + tuple(made.batch_shape) + tuple(made.event_shape)
    spread = made.variance.sqrt()
    distance = (drawn.mean(0) - made.mean) / spread * math.sqrt(COUNT)
    assert distance.abs().max() < 5, distance
    ratio = drawn.var(0) / made.variance
    assert (ratio - 1).abs().max() < 0.15, ratio


@pytest.mark.parametrize("name", [
    "Exponential", "Gamma", "GeneralizedPareto", "Gumbel", "HalfNormal", "Kumaraswamy", "Laplace",
    "LogNormal", "Normal", "Pareto", "Uniform", "Weibull"])
def test_the_distribution_function_of_samples_is_uniform(name):
    fg.manual_seed(2)
    made = MADE[name]()
    places = made.cdf(made.sample((COUNT,))).sort(dim=0).values
    even = (fg.arange(COUNT, dtype=fg.float32) + 0.5) / COUNT
    far = (places - even.reshape((COUNT,) + (1,) * len(made.batch_shape))).abs().max()
    assert far < 1.95 / math.sqrt(COUNT)  # Kolmogorov and Smirnov, at 0.1 %


def test_heavy_tails_have_their_medians_and_quartiles():
    fg.manual_seed(3)
    for made in (D.Cauchy(t([0.0, 2.0]), t([1.0, 3.0])), D.HalfCauchy(t([1.0, 3.0]))):
        drawn = made.sample((COUNT,)).sort(dim=0).values
        for share in (0.25, 0.5, 0.75):
            expected = made.icdf(fg.full((2,), share))
            assert ((drawn[int(COUNT * share)] - expected) / made.scale).abs().max() < 0.1


def test_angles_of_von_mises_have_their_mean_resultant():
    fg.manual_seed(4)
    made = D.VonMises(t([0.5, -2.0, 3.1, 0.0]), t([1e-6, 0.5, 4.0, 200.0]))
    drawn = made.sample((COUNT,))
    assert drawn.abs().max() <= math.pi + 1e-5
    length = fg.cos(drawn - made.loc).mean(0)
    assert (length - (1 - made.variance)).abs().max() < 0.02
    assert fg.sin(drawn - made.loc).mean(0).abs().max() < 0.02


def test_categories_come_as_often_as_their_probabilities_say():
    fg.manual_seed(5)
    made = D.Categorical(logits=t([[0.0, 1.0, -1.0], [2.0, 0.0, 0.0]]))
    counts = fg.nn.functional.one_hot(made.sample((COUNT,)), 3).to(fg.float32).mean(0)
    assert (counts - made.probs).abs().max() < 0.015


def test_correlations_of_lkj_factors_are_beta_distributed():
    fg.manual_seed(6)
    made = D.LKJCholesky(3, 2.0)
    factor = made.sample((COUNT,))
    assert D.constraints.corr_cholesky.check(factor).all()
    correlation = (factor @ factor.mT)[:, 0, 1]
    # (r + 1) / 2 is Beta(a, a) for a = concentration + (dim - 2) / 2.
    assert abs(correlation.mean()) < 0.02
    assert abs(correlation.var() - 1 / (2 * 2.5 + 1)) < 0.01


def test_small_shapes_neither_underflow_nor_leave_the_simplex():
    fg.manual_seed(7)
    for dtype in (fg.float32, fg.float64):
        drawn = D.Dirichlet(fg.full((1000, 4), 1e-3, dtype=dtype)).sample()
        assert (drawn > 0).all() and (drawn.sum(-1) - 1).abs().max() < 1e-5
        drawn = D.Gamma(fg.full((1000,), 1e-3, dtype=dtype), 1.0).sample()
        assert (drawn > 0).all() and drawn.isfinite().all()


def test_a_seed_gives_the_same_values_on_any_number_of_threads():
    before = fg.get_num_threads()
    try:
        seen = []
        for threads in (1, 3):
            fg.set_num_threads(threads)
            fg.manual_seed(8)
            seen.append([D.Gamma(fg.full((3000,), 0.7), 1.0).sample(),
                         D.Dirichlet(fg.ones(900, 3)).sample(),
                         D.Binomial(100, fg.full((3000,), 0.3)).sample(),
                         D.VonMises(fg.zeros(3000), fg.ones(3000)).sample()])
        assert all(fg.equal(a, b) for a, b in zip(*seen))
    finally:
        fg.set_num_threads(before)


def test_samples_take_no_gradient_and_rsamples_do():
    scale = t(1.0, requires_grad=True)
    made = D.Normal(0.0, scale)
    assert not made.sample().requires_grad and made.rsample().requires_grad
    with pytest.raises(NotImplementedError):
        D.Poisson(scale).rsample()


@pytest.mark.parametrize("make, moment", [
    (lambda a: D.Gamma(a, 1.0), lambda a: a),
    (lambda a: D.Beta(a, 2.0), lambda a: a / (a + 2)),
    (lambda a: D.Beta(1.5, a), lambda a: 1.5 / (1.5 + a)),
    (lambda a: D.Chi2(a), lambda a: a),
    (lambda a: D.Dirichlet(fg.stack([a, a * 0 + 1, a * 0 + 3], -1)),
     lambda a: fg.stack([a, a * 0 + 1, a * 0 + 3], -1) / (a.unsqueeze(-1) + 4)),
], ids=["gamma", "beta first", "beta second", "chi2", "dirichlet"])
def test_gradients_by_the_shape_are_those_of_the_mean(make, moment):
    fg.manual_seed(9)
    shape = t([0.3, 1.0, 4.0, 30.0], dtype=fg.float64, requires_grad=True)
    drawn = make(shape).rsample((COUNT,))
    weights = fg.arange(1, drawn.shape[-1] + 1, dtype=fg.float64) if drawn.dim() == 3 else 1.0
    (got,) = fg.autograd.grad((drawn.mean(0) * weights).sum(), shape)
    (expected,) = fg.autograd.grad((moment(shape) * weights).sum(), shape)
    assert ((got - expected) / expected.abs().clamp(min=1e-3)).abs().max() < 0.1


def test_the_slope_of_a_gamma_value_keeps_its_probability():
    a = t([0.1, 0.9, 3.0, 50.0, 400.0], dtype=fg.float64)
    x = a * 1.1
    step = 1e-6
    along = x + step * fg._standard_gamma_grad(a, x)
    change = fg.special.gammainc(a + step, along) - fg.special.gammainc(a, x)
    assert change.abs().max() < 1e-11


def test_a_second_gradient_through_a_gamma_sample_is_refused():
    a = t(2.0, requires_grad=True)
    (first,) = fg.autograd.grad(D.Gamma(a, 1.0).rsample(), a, create_graph=True)
    with pytest.raises(NotImplementedError, match="slope of random values"):
        first.backward()
