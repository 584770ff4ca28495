"""Refusals of parameters and values, texts, and the switch of validation."""
import math
import pickle

import pytest

import foregrad as fg
from foregrad import distributions as D
from foregrad.distributions import constraints as C

t = fg.tensor


@pytest.mark.parametrize("make, words", [
    (lambda: D.Normal(0.0, -1.0), r"Expected parameter scale \(Tensor of shape \(\)\) of "
     r"distribution Normal\(loc: 0.0, scale: -1.0\) to satisfy the constraint "
     r"GreaterThan\(lower_bound=0.0\), but found invalid values"),
    (lambda: D.Uniform(1.0, 0.0), r"parameter low .* LessThan\(upper_bound=0.0\)"),
    (lambda: D.Categorical(t([0.5, -1.0])), r"parameter probs .* Simplex\(\)"),
    (lambda: D.Geometric(0.0), "to be positive"),
    (lambda: D.MultivariateNormal(fg.zeros(2), -fg.eye(2)), r"PositiveDefinite\(\)"),
    (lambda: D.MultivariateNormal(fg.zeros(2)), "Exactly one of"),
    (lambda: D.MultivariateNormal(fg.zeros(2), fg.ones(2)), "at least two-dimensional"),
    (lambda: D.LowRankMultivariateNormal(fg.zeros(3), fg.ones(2, 1), fg.ones(3)), "3 x m"),
    (lambda: D.Wishart(t(1.0), fg.eye(3)), "greater than ndim - 1 = 2"),
    (lambda: D.LKJCholesky(1), "Found dim=1"),
    (lambda: D.Bernoulli(), "Either `probs` or `logits` must be specified, but not both"),
    (lambda: D.Bernoulli(0.5, logits=1.0), "but not both"),
    (lambda: D.Categorical(t(1.0)), "at least one-dimensional"),
    (lambda: D.Dirichlet(t(1.0)), "at least one-dimensional"),
    (lambda: D.Normal("a", 1.0), "got a str"),
    (lambda: D.Independent(D.Normal(fg.zeros(2), 1.0), 2), "actual 2 vs 1"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3), "but was 3"),
    (lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), D.StickBreakingTransform()),
     "shape with size at least 1"),
    (lambda: D.MixtureSameFamily(D.Categorical(fg.ones(3)), D.Normal(fg.zeros(2), 1.0)),
     r"\(3\) does not equal `component_distribution.batch_shape\[-1\]` \(2\)"),
    (lambda: D.MixtureSameFamily(D.Normal(0.0, 1.0), D.Normal(fg.zeros(2), 1.0)), "Categorical"),
    (lambda: D.Distribution.set_default_validate_args(3), "expected True or False"),
])
def test_parameters_that_do_not_hold_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


@pytest.mark.parametrize("call, words", [
    (lambda: D.Normal(0.0, 1.0).log_prob(3), "must be a Tensor"),
    (lambda: D.Normal(0.0, 1.0).log_prob(t(math.nan)), r"within the support \(Real\(\)\)"),
    (lambda: D.Normal(fg.zeros(2), 1.0).log_prob(fg.zeros(3)), "not broadcastable"),
    (lambda: D.Dirichlet(fg.ones(3)).log_prob(fg.ones(2) / 2), "right-most size"),
    (lambda: D.Bernoulli(0.5).log_prob(t(0.5)), "Boolean"),
    (lambda: D.Binomial(3, t(0.2)).log_prob(t(4.0)), "IntegerInterval"),
    (lambda: D.Uniform(0.0, 1.0).log_prob(t(2.0)), "Interval"),
    (lambda: D.Multinomial(3, fg.ones(3)).log_prob(t([1.0, 1.0, 2.0])), r"Multinomial\(\)"),
])
def test_values_outside_of_the_support_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


@pytest.mark.parametrize("call", [
    lambda: D.Bernoulli(0.5).rsample(), lambda: D.Bernoulli(0.5).cdf(t(1.0)),
    lambda: D.Gamma(1.0, 1.0).icdf(t(0.5)), lambda: D.Poisson(1.0).entropy(),
    lambda: D.VonMises(t(0.0), t(1.0)).rsample(), lambda: D.Normal(0.0, 1.0).enumerate_support(),
    lambda: D.Independent(D.Bernoulli(fg.ones(2) / 2), 1).enumerate_support(),
    lambda: D.Binomial(t([3.0, 4.0]), t(0.2)).enumerate_support(),
    lambda: D.Multinomial(t([3.0]), fg.ones(3)),
])
def test_what_a_distribution_does_not_have_is_not_implemented(call):
    with pytest.raises(NotImplementedError):
        call()


def test_validation_can_be_switched_off_for_one_or_for_all():
    made = D.Normal(0.0, -1.0, validate_args=False)
    assert made.log_prob(t(1.0)).isnan()
    assert D.Uniform(0.0, 1.0, validate_args=False).log_prob(t(2.0)) == -math.inf
    try:
        D.Distribution.set_default_validate_args(False)
        D.Normal(0.0, -1.0)
        with pytest.raises(ValueError):
            D.Normal(0.0, -1.0, validate_args=True)
    finally:
        D.Distribution.set_default_validate_args(True)


def test_distributions_without_constraints_or_support_warn():
    class Own(D.Distribution):
        def rsample(self, sample_shape=()):
            return fg.zeros(sample_shape)

    with pytest.warns(UserWarning, match="does not define `arg_constraints`"):
        made = Own()
    with pytest.warns(UserWarning, match="does not define `support`"):
        made._validate_sample(t(0.0))
    with pytest.warns(UserWarning, match="sample_n will be deprecated"):
        assert made.sample_n(3).shape == (3,)


def test_a_subclass_with_its_own_constructor_must_expand_itself():
    class Own(D.Normal):
        def __init__(self, spread):
            super().__init__(0.0, spread)

    with pytest.raises(NotImplementedError, match="must also define a custom .expand"):
        Own(1.0).expand((3,))


def test_texts_are_those_of_pytorch():
    assert repr(D.Normal(0.0, 1.0)) == "Normal(loc: 0.0, scale: 1.0)"
    assert repr(D.Normal(fg.zeros(2), 1.0)) == (
        "Normal(loc: foregrad.Size([2]), scale: foregrad.Size([2]))")
    assert repr(D.Categorical(fg.ones(3))) == "Categorical(probs: foregrad.Size([3]))"
    assert repr(D.Independent(D.Normal(0.0, 1.0), 0)) == (
        "Independent(Normal(loc: 0.0, scale: 1.0), 0)")
    assert repr(C.interval(0, 2)) == "Interval(lower_bound=0, upper_bound=2)"
    assert repr(C.real_vector) == "IndependentConstraint(Real(), 1)"


@pytest.mark.parametrize("constraint, inside, outside", [
    (C.boolean, [0.0, 1.0], [0.5, -1.0]), (C.nonnegative_integer, [0.0, 7.0], [0.5, -1.0]),
    (C.positive_integer, [1.0, 7.0], [0.0, 1.5]),
    (C.integer_interval(1, 3), [1.0, 3.0], [0.0, 2.5]),
    (C.real, [-3.0, math.inf], [math.nan]), (C.positive, [0.1], [0.0, math.nan]),
    (C.nonnegative, [0.0], [-0.1, math.nan]), (C.less_than(2), [1.9], [2.0]),
    (C.unit_interval, [0.0, 1.0], [1.1, -0.1]), (C.half_open_interval(0, 1), [0.0], [1.0]),
])
def test_constraints_of_numbers(constraint, inside, outside):
    assert constraint.check(t(inside)).all() and not constraint.check(t(outside)).any()


@pytest.mark.parametrize("constraint, inside, outside", [
    (C.simplex, [0.2, 0.8], [0.5, 0.6]), (C.one_hot, [0.0, 1.0], [1.0, 1.0]),
    (C.multinomial(3), [1.0, 2.0], [2.0, 2.0]), (C.real_vector, [1.0, 2.0], [1.0, math.nan]),
    (C.lower_triangular, [[1.0, 0.0], [2.0, -3.0]], [[1.0, 0.5], [2.0, 3.0]]),
    (C.lower_cholesky, [[1.0, 0.0], [2.0, 3.0]], [[1.0, 0.0], [2.0, -3.0]]),
    (C.corr_cholesky, [[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.6, 0.9]]),
    (C.square, [[1.0, 0.0], [2.0, 3.0]], [[1.0, 0.0]]),
    (C.symmetric, [[1.0, 2.0], [2.0, 3.0]], [[1.0, 0.0], [2.0, 3.0]]),
    (C.positive_definite, [[2.0, 1.0], [1.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]),
    (C.positive_semidefinite, [[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]),
])
def test_constraints_of_vectors_and_matrices(constraint, inside, outside):
    assert constraint.check(t(inside)) and not constraint.check(t(outside))


def test_dependent_constraints_cannot_be_checked():
    assert C.is_dependent(C.dependent) and not C.is_dependent(C.real)
    with pytest.raises(ValueError, match="Cannot determine validity"):
        C.dependent.check(t(1.0))
    with pytest.raises(NotImplementedError):
        C.dependent.event_dim
    assert C.dependent(event_dim=1).event_dim == 1
    assert C.is_dependent(D.Uniform.support) and D.Uniform(0.0, 1.0).support.event_dim == 0
    with pytest.raises(AssertionError, match="must be a Constraint"):
        C.independent(3, 1)


def test_distributions_pickle():
    made = D.Independent(D.Gamma(t([1.0, 2.0]), t(3.0)), 1)
    again = pickle.loads(pickle.dumps(made))
    assert fg.equal(again.log_prob(t([1.0, 2.0])), made.log_prob(t([1.0, 2.0])))
