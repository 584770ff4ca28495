"""Divergences of distributions of two families: -H(p) - mean of log q, or infinity."""

from __future__ import annotations

import math

import foregrad as fg
from foregrad.distributions.bernoulli import Bernoulli
from foregrad.distributions.beta import Beta
from foregrad.distributions.binomial import Binomial
from foregrad.distributions.continuous_bernoulli import ContinuousBernoulli
from foregrad.distributions.exponential import Exponential
from foregrad.distributions.gamma import Gamma
from foregrad.distributions.gumbel import Gumbel
from foregrad.distributions.kl import register_kl
from foregrad.distributions.laplace import Laplace
from foregrad.distributions.normal import Normal
from foregrad.distributions.pareto import Pareto
from foregrad.distributions.poisson import Poisson
from foregrad.distributions.uniform import Uniform

# ---- infinite: p has values that q has not

_UNIT = (Beta, ContinuousBernoulli)
_REAL = (Gumbel, Laplace, Normal)


def _infinite(p, q):
    return fg.full(p.batch_shape, math.inf, dtype=p.mean.dtype)


_BEYOND = {
    Beta: (Pareto,),
    ContinuousBernoulli: (Pareto,),
    Exponential: (*_UNIT, Pareto, Uniform),
    Gamma: (*_UNIT, Pareto, Uniform),
    **{one: (*_UNIT, Exponential, Gamma, Pareto, Uniform) for one in _REAL},
    Pareto: (*_UNIT, Uniform),
    Poisson: (Bernoulli, Binomial),
}
for _p, _others in _BEYOND.items():
    for _q in _others:
        register_kl(_p, _q)(_infinite)


# ---- q whose mean log density follows from moments of p


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Pareto, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p, q):
    square = p.variance + (p.mean - q.loc).pow(2)
    return (-p.entropy() + 0.5 * math.log(2 * math.pi) + q.scale.log()
            + square / (2 * q.scale.pow(2)))


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
@register_kl(Pareto, Exponential)
def _to_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    return fg.where(p.low < 0, math.inf, _to_exponential(p, q))


def _to_gamma(p, q, mean_log):
    a, rate = q.concentration, q.rate
    norm = a.lgamma() - a * rate.log()
    return -p.entropy() + norm - (a - 1) * mean_log + rate * p.mean


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    total = p.concentration1 + p.concentration0
    return _to_gamma(p, q, p.concentration1.digamma() - total.digamma())


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    euler = 0.57721566490153286060
    return _to_gamma(p, q, -euler - p.rate.log())


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    return _to_gamma(p, q, p.scale.log() + p.alpha.reciprocal())


def _x_log_x(x):
    return fg.xlogy(x, x)


def _mean_log(low, high):
    """The mean of log x for x uniform in [low, high]."""
    return (_x_log_x(high) - _x_log_x(low)) / (high - low) - 1


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    result = _to_gamma(p, q, _mean_log(p.low, p.high))
    return fg.where(p.low < 0, math.inf, result)


# ---- the Gumbel distribution: log scale + (mean - loc) / scale + mean of exp((loc - x) / scale)


def _to_gumbel(p, q, mean_exp):
    return -p.entropy() + q.scale.log() + (p.mean - q.loc) / q.scale + mean_exp


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    steps = p.rate * q.scale
    return _to_gumbel(p, q, fg.exp(q.loc / q.scale) * steps / (steps + 1))


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    steps = p.rate * q.scale
    return _to_gumbel(p, q, fg.exp(q.loc / q.scale) * (1 + 1 / steps).pow(-p.concentration))


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    half = 0.5 * (p.scale / q.scale).pow(2)
    return _to_gumbel(p, q, fg.exp((q.loc - p.loc) / q.scale + half))


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    low, high = (p.low - q.loc) / q.scale, (p.high - q.loc) / q.scale
    return _to_gumbel(p, q, (fg.exp(-low) - fg.exp(-high)) / (high - low))


# ---- the others


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    far = p.loc - q.loc
    z = far / (math.sqrt(2) * p.scale)
    distance = (math.sqrt(2 / math.pi) * p.scale * fg.exp(-z * z) + far * fg.erf(z))
    return -p.entropy() + fg.log(2 * q.scale) + distance / q.scale


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    return (-p.entropy() - p.mean * q.logits - fg.log1p(-q.probs) - q._cont_bern_log_norm())


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    result = _beta_continuous_bernoulli(p, q)
    return fg.where((p.high > 1) | (p.low < 0), math.inf, result)


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _unit_uniform(p, q):
    result = -p.entropy() + (q.high - q.low).log()
    return fg.where((q.low > 0) | (q.high < 1), math.inf, result)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    a, b = q.concentration1, q.concentration0
    norm = a.lgamma() + b.lgamma() - (a + b).lgamma()
    below, above = _mean_log(p.low, p.high), _mean_log(1 - p.high, 1 - p.low)
    result = -p.entropy() + norm - (a - 1) * below - (b - 1) * above
    return fg.where((p.high > 1) | (p.low < 0), math.inf, result)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    norm = q.alpha.log() + q.alpha * q.scale.log()
    result = -p.entropy() - norm + (q.alpha + 1) * _mean_log(p.low, p.high)
    return fg.where(p.low < q.scale, math.inf, result)
