"""Densities, distribution functions and entropies agree with each other and with formulas."""
import math

import pytest

import foregrad as fg
from foregrad import distributions as D


def t(data):
    return fg.tensor(data, dtype=fg.float64)


# A grid that holds all but a negligible part of the probability.
CONTINUOUS = {
    "Beta": (lambda: D.Beta(t(1.5), t(3.0)), 0, 1),
    "Cauchy": (lambda: D.Cauchy(t(0.0), t(0.02)), -90, 90),
    "ContinuousBernoulli": (lambda: D.ContinuousBernoulli(t(0.2)), 0, 1),
    "ContinuousBernoulli at a half": (lambda: D.ContinuousBernoulli(t(0.5001)), 0, 1),
    "Exponential": (lambda: D.Exponential(t(1.5)), 0, 30),
    "FisherSnedecor": (lambda: D.FisherSnedecor(t(5.0), t(30.0)), 0, 40),
    "Gamma": (lambda: D.Gamma(t(2.5), t(1.5)), 0, 40),
    "GeneralizedPareto": (lambda: D.GeneralizedPareto(t(1.0), t(2.0), t(-0.3)), 1, 7.66),
    "Gumbel": (lambda: D.Gumbel(t(0.5), t(1.5)), -10, 60),
    "HalfNormal": (lambda: D.HalfNormal(t(1.5)), 0, 20),
    "InverseGamma": (lambda: D.InverseGamma(t(8.0), t(3.0)), 0, 30),
    "Kumaraswamy": (lambda: D.Kumaraswamy(t(2.0), t(3.0)), 0, 1),
    "Laplace": (lambda: D.Laplace(t(0.5), t(0.7)), -25, 25),
    "LogNormal": (lambda: D.LogNormal(t(0.0), t(0.5)), 0, 30),
    "Mixture": (lambda: D.MixtureSameFamily(
        D.Categorical(t([0.3, 0.7])), D.Normal(t([-2.0, 3.0]), t([1.0, 0.5]))), -15, 15),
    "Normal": (lambda: D.Normal(t(1.0), t(2.0)), -20, 20),
    "Pareto": (lambda: D.Pareto(t(1.0), t(9.0)), 1, 40),
    "RelaxedBernoulli": (lambda: D.RelaxedBernoulli(t(1.7), t(0.3)), 0, 1),
    "StudentT": (lambda: D.StudentT(t(9.0), t(1.0), t(0.5)), -60, 60),
    "Transformed": (lambda: D.TransformedDistribution(
        D.Normal(t(0.0), t(0.5)), [D.TanhTransform(), D.AffineTransform(1.0, 2.0)]), -1, 3),
    "Uniform": (lambda: D.Uniform(t(-1.0), t(3.0)), -1, 3),
    "VonMises": (lambda: D.VonMises(t(0.5), t(4.0)), -math.pi, math.pi),
    "Weibull": (lambda: D.Weibull(t(2.0), t(3.0)), 0, 12),
}
DISCRETE = {
    "Bernoulli": lambda: D.Bernoulli(t([0.2, 0.7])),
    "Binomial": lambda: D.Binomial(7, t([0.2, 0.7])),
    "Categorical": lambda: D.Categorical(t([[0.2, 0.7, 0.1], [1.0, 1.0, 3.0]])),
    "OneHotCategorical": lambda: D.OneHotCategorical(t([[0.2, 0.7, 0.1], [1.0, 1.0, 3.0]])),
}


def grid(low, high, count=40001):
    step = (high - low) / count
    return low + (fg.arange(count, dtype=fg.float64) + 0.5) * step, step


@pytest.mark.parametrize("name", CONTINUOUS)
def test_a_density_sums_to_one_and_gives_its_moments_and_entropy(name):
    make, low, high = CONTINUOUS[name]
    made = make()
    x, step = grid(low, high)
    log_density = made.log_prob(x)
    weight = log_density.exp() * step
    assert weight.sum().item() == pytest.approx(1, abs=2e-4)
    if name not in ("Cauchy", "VonMises", "RelaxedBernoulli", "Transformed"):
        assert (weight * x).sum().item() == pytest.approx(made.mean.item(), rel=1e-3, abs=1e-3)
        square = (weight * (x - made.mean) ** 2).sum().item()
        assert square == pytest.approx(made.variance.item(), rel=5e-3)
    try:
        entropy = made.entropy()
    except NotImplementedError:
        return
    assert -fg.xlogy(weight, weight / step).sum().item() == pytest.approx(entropy.item(), abs=5e-3)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_distribution_function_is_the_integral_and_icdf_its_inverse(name):
    make, low, high = CONTINUOUS[name]
    made = make()
    x, step = grid(low, high)
    try:
        value = made.cdf(x)
    except NotImplementedError:
        pytest.skip("there is none, as in PyTorch")
    sums = (made.log_prob(x).exp() * step).cumsum(0) - made.log_prob(x).exp() * step / 2
    assert (sums - sums[0] - (value - value[0])).abs().max() < 2e-3
    try:
        back = made.icdf(value[1000:-1000])
    except NotImplementedError:
        return
    inside = (value[1000:-1000] > 1e-6) & (value[1000:-1000] < 1 - 1e-6)
    assert ((back - x[1000:-1000]).abs()[inside]).max() < 1e-6 * (high - low)


@pytest.mark.parametrize("name", DISCRETE)
def test_probabilities_of_all_values_sum_to_one(name):
    made = DISCRETE[name]()
    values = made.enumerate_support()
    log_prob = made.log_prob(values)
    assert (log_prob.exp().sum(0) - 1).abs().max() < 1e-12
    entropy = -fg.xlogy(log_prob.exp(), log_prob.exp()).sum(0)
    assert (entropy - made.entropy()).abs().max() < 1e-12


@pytest.mark.parametrize("made", [
    D.Poisson(t([0.4, 5.0])), D.Geometric(t([0.2, 0.7])), D.NegativeBinomial(t(3.0), t([0.5, 0.2])),
], ids=["Poisson", "Geometric", "NegativeBinomial"])
def test_probabilities_of_counts_sum_to_one_and_give_the_mean(made):
    values = fg.arange(400, dtype=fg.float64).unsqueeze(-1)
    weight = made.log_prob(values).exp()
    assert (weight.sum(0) - 1).abs().max() < 1e-9
    assert ((weight * values).sum(0) - made.mean).abs().max() < 1e-9


def test_normal_vectors_of_three_parameters_and_of_low_rank_agree():
    covariance = t([[2.0, 0.3, -0.2], [0.3, 1.5, 0.4], [-0.2, 0.4, 1.0]])
    loc, x = t([0.5, -1.0, 2.0]), t([[0.1, 0.2, 0.3], [2.0, -3.0, 1.0]])
    made = [D.MultivariateNormal(loc, covariance),
            D.MultivariateNormal(loc, precision_matrix=fg.cholesky_inverse(
                fg.linalg.cholesky(covariance))),
            D.MultivariateNormal(loc, scale_tril=fg.linalg.cholesky(covariance))]
    for one in made:
        assert fg.allclose(one.log_prob(x), made[0].log_prob(x))
        assert fg.allclose(one.covariance_matrix, covariance)
        assert fg.allclose(one.covariance_matrix @ one.precision_matrix,
                           fg.eye(3, dtype=fg.float64))
        assert fg.allclose(one.scale_tril @ one.scale_tril.mT, covariance)
    factor, diag = t([[1.0], [0.5], [-0.3]]), t([0.5, 1.0, 2.0])
    low = D.LowRankMultivariateNormal(loc, factor, diag)
    full = D.MultivariateNormal(loc, factor @ factor.mT + fg.diag_embed(diag))
    for name in ("covariance_matrix", "precision_matrix", "scale_tril", "variance"):
        assert fg.allclose(getattr(low, name), getattr(full, name)), name
    assert fg.allclose(low.log_prob(x), full.log_prob(x))
    assert fg.allclose(low.entropy(), full.entropy())


def test_a_wishart_matrix_of_size_one_is_a_gamma_number():
    made = D.Wishart(t(5.0), t([[2.0]]))
    gamma, x = D.Gamma(t(2.5), t(0.25)), t([[3.7]])
    assert fg.allclose(made.log_prob(x), gamma.log_prob(t(3.7)))
    assert fg.allclose(made.entropy(), gamma.entropy())


def test_a_flat_lkj_density_is_one_over_the_volume():
    # With concentration 1 all correlation matrices of size 3 are equally likely: pi^2 / 2 of them.
    made = D.LKJCholesky(3, t(1.0))
    factor = made.sample()
    # From factors to matrices the volume changes by the product of l_ii^(3 - i), i = 2, 3.
    assert fg.allclose(made.log_prob(factor) - factor[1, 1].log(), -t(math.pi ** 2 / 2).log())


def test_expanded_distributions_share_their_parameters():
    made = D.Normal(t([0.0, 1.0]), t(2.0))
    wide = made.expand((3, 2))
    assert wide.batch_shape == (3, 2) and wide.sample((4,)).shape == (4, 3, 2)
    assert wide.loc.data_ptr() == made.loc.data_ptr()
    assert fg.equal(wide.log_prob(t(0.5)), made.log_prob(t(0.5)).expand(3, 2))


def test_parameters_that_follow_are_computed_once():
    made = D.Bernoulli(logits=t([0.3, -1.0]))
    assert "probs" not in vars(made)
    assert made.probs is made.probs and fg.allclose(made.probs, fg.sigmoid(made.logits))


def test_an_exponential_family_has_its_entropy_from_the_log_normaliser():
    for made in (D.Gamma(t([0.7, 3.0]), t(2.0)), D.Exponential(t([0.7, 3.0])),
                 D.Bernoulli(t([0.3, 0.8])), D.ContinuousBernoulli(t([0.3, 0.8]))):
        assert fg.allclose(D.ExponentialFamily.entropy(made), made.entropy()), made
