"""Distributions in captured functions: samples, densities and gradients with the bits of eager."""
import warnings

import pytest

import foregrad as fg
from foregrad import distributions as D

t = fg.tensor
A, B = [0.1, 0.2, -0.7], [0.3, -0.4, 0.5]

# From unconstrained numbers, so that gradients reach all parameters.
WITH_GRADIENTS = {
    "Beta": lambda a, b: D.Beta(a.exp(), b.exp()),
    "Cauchy": lambda a, b: D.Cauchy(a, b.exp()),
    "Chi2": lambda a, b: D.Chi2(a.exp() + b * b),
    "ContinuousBernoulli": lambda a, b: D.ContinuousBernoulli(logits=a + b),
    "Dirichlet": lambda a, b: D.Dirichlet(a.exp() + b * b),
    "Exponential": lambda a, b: D.Exponential((a + b).exp()),
    "FisherSnedecor": lambda a, b: D.FisherSnedecor(a.exp(), b.exp()),
    "Gamma": lambda a, b: D.Gamma(a.exp(), b.exp()),
    "GeneralizedPareto": lambda a, b: D.GeneralizedPareto(a, b.exp(), 0.2),
    "Gumbel": lambda a, b: D.Gumbel(a, b.exp()),
    "HalfCauchy": lambda a, b: D.HalfCauchy((a + b).exp()),
    "HalfNormal": lambda a, b: D.HalfNormal((a + b).exp()),
    "Independent": lambda a, b: D.Independent(D.Normal(a, b.exp()), 1),
    "InverseGamma": lambda a, b: D.InverseGamma(a.exp(), b.exp()),
    "Kumaraswamy": lambda a, b: D.Kumaraswamy(a.exp(), b.exp()),
    "Laplace": lambda a, b: D.Laplace(a, b.exp()),
    "LogNormal": lambda a, b: D.LogNormal(a, b.exp()),
    "LogisticNormal": lambda a, b: D.LogisticNormal(a, b.exp()),
    "LowRank": lambda a, b: D.LowRankMultivariateNormal(a, b.unsqueeze(-1), b.exp()),
    "MultivariateNormal": lambda a, b: D.MultivariateNormal(a, fg.diag_embed(b.exp()) + 0.1),
    "Normal": lambda a, b: D.Normal(a, b.exp()),
    "OneHotStraightThrough": lambda a, b: D.OneHotCategoricalStraightThrough(logits=a + b),
    "Pareto": lambda a, b: D.Pareto(a.exp(), b.exp()),
    "RelaxedBernoulli": lambda a, b: D.RelaxedBernoulli(t(0.5), logits=a + b),
    "RelaxedOneHot": lambda a, b: D.RelaxedOneHotCategorical(t(0.5), logits=a + b),
    "StudentT": lambda a, b: D.StudentT(a.exp(), b),
    "Transformed": lambda a, b: D.TransformedDistribution(
        D.Normal(a, b.exp()), [D.TanhTransform(cache_size=1), D.AffineTransform(1.0, 2.0)]),
    "Uniform": lambda a, b: D.Uniform(a, a + b.exp()),
    "Weibull": lambda a, b: D.Weibull(a.exp(), b.exp()),
    "Wishart": lambda a, b: D.Wishart(t(5.0), fg.diag_embed(b.exp() + a * a)),
}
WITHOUT = {
    "Bernoulli": lambda a, b: D.Bernoulli(logits=a + b),
    "Binomial": lambda a, b: D.Binomial(9, logits=a + b),
    "Categorical": lambda a, b: D.Categorical(logits=a + b),
    "Geometric": lambda a, b: D.Geometric(fg.sigmoid(a)),
    "LKJCholesky": lambda a, b: D.LKJCholesky(3, a.exp()),
    "Mixture": lambda a, b: D.MixtureSameFamily(D.Categorical(logits=a), D.Normal(a, b.exp())),
    "Multinomial": lambda a, b: D.Multinomial(5, logits=a),
    "NegativeBinomial": lambda a, b: D.NegativeBinomial(a.exp(), logits=b),
    "OneHotCategorical": lambda a, b: D.OneHotCategorical(logits=a),
    "Poisson": lambda a, b: D.Poisson(a.exp()),
    "VonMises": lambda a, b: D.VonMises(a, b.exp()),
}


def trial(function):
    """Results and gradients of a call, from one seed."""
    fg.manual_seed(5)
    a, b = t(A, requires_grad=True), t(B, requires_grad=True)
    value, log_prob, total = function(a, b)
    gradients = fg.autograd.grad(total, (a, b), allow_unused=True)
    return [value, log_prob, *(one for one in gradients if one is not None)]


@pytest.mark.parametrize("name", WITH_GRADIENTS | WITHOUT)
def test_samples_densities_and_gradients_are_those_of_eager_calls(name):
    make = (WITH_GRADIENTS | WITHOUT)[name]

    def function(a, b):
        made = make(a, b)
        value = made.rsample((3,)) if name in WITH_GRADIENTS else made.sample((3,))
        log_prob = made.log_prob(value)
        total = log_prob.sum() + ((value * value).sum() if name in WITH_GRADIENTS else 0)
        return value, log_prob, total

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        expected = trial(function)
        got = trial(fg.compile(function, fullgraph=True))
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected):
        assert fg.equal(ours.nan_to_num(), theirs.nan_to_num())


def test_a_compiled_loss_of_a_variational_autoencoder_trains():
    def loss(mean, log_scale):
        q = D.Normal(mean, log_scale.exp())
        z = q.rsample((16,))
        fit = D.Bernoulli(logits=z.sum(-1)).log_prob(fg.ones(16)).mean()
        return D.kl_divergence(q, D.Normal(fg.zeros(3), fg.ones(3))).sum() - fit

    compiled = fg.compile(loss, fullgraph=True)
    seen = []
    for function in (loss, compiled):
        fg.manual_seed(1)
        parameters = [t([1.0, -2.0, 3.0], requires_grad=True), t([0.5] * 3, requires_grad=True)]
        optimizer = fg.optim.SGD(parameters, lr=0.1)
        for _ in range(5):
            optimizer.zero_grad()
            value = function(*parameters)
            value.backward()
            optimizer.step()
        seen.append((value, *parameters))
    assert all(fg.equal(x, y) for x, y in zip(*seen))


def test_captured_code_refuses_parameters_when_it_runs():
    def function(scale):
        return D.Normal(fg.zeros(2), scale).log_prob(fg.ones(2))

    compiled = fg.compile(function, fullgraph=True)
    assert fg.equal(compiled(fg.ones(2)), function(fg.ones(2)))
    with pytest.raises(ValueError, match="parameter scale of distribution Normal to satisfy"):
        compiled(fg.ones(2) * -1)
    assert fg.equal(compiled(fg.ones(2)), function(fg.ones(2)))


def test_captured_code_refuses_values_outside_of_the_support():
    made = D.Uniform(fg.zeros(2), fg.ones(2))
    compiled = fg.compile(lambda x: made.log_prob(x), fullgraph=True)
    assert fg.equal(compiled(t([0.2, 0.5])), fg.zeros(2))
    with pytest.raises(ValueError, match="within the support of the distribution Uniform"):
        compiled(t([0.2, 1.5]))


def test_a_distribution_from_outside_keeps_no_value_of_a_capture():
    made = D.Bernoulli(t([0.2, 0.6]))
    compiled = fg.compile(lambda x: made.log_prob(x), fullgraph=True)
    captured = compiled(fg.ones(2))
    assert "logits" not in vars(made)
    assert fg.equal(captured, made.log_prob(fg.ones(2)))


def test_matrix_errors_of_captured_code_are_of_their_kind():
    compiled = fg.compile(lambda m: fg.linalg.cholesky(m), fullgraph=True)
    assert fg.equal(compiled(fg.eye(2)), fg.eye(2))
    with pytest.raises(fg.linalg.LinAlgError, match="leading minor of order 1"):
        compiled(-fg.eye(2))
