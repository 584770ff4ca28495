"""Divergences of two distributions of one family."""

from __future__ import annotations

import math
from collections.abc import Callable

import foregrad as fg
from foregrad.distributions.bernoulli import Bernoulli
from foregrad.distributions.beta import Beta
from foregrad.distributions.binomial import Binomial
from foregrad.distributions.categorical import Categorical
from foregrad.distributions.cauchy import Cauchy
from foregrad.distributions.continuous_bernoulli import ContinuousBernoulli
from foregrad.distributions.dirichlet import Dirichlet
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.exponential import Exponential
from foregrad.distributions.gamma import Gamma
from foregrad.distributions.geometric import Geometric
from foregrad.distributions.gumbel import Gumbel
from foregrad.distributions.half_normal import HalfNormal
from foregrad.distributions.independent import Independent
from foregrad.distributions.kl import kl_divergence, register_kl
from foregrad.distributions.laplace import Laplace
from foregrad.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _log_det,
    _mahalanobis,
)
from foregrad.distributions.multivariate_normal import (
    MultivariateNormal,
    _batch_mahalanobis,
    _half_log_det,
)
from foregrad.distributions.normal import Normal
from foregrad.distributions.one_hot_categorical import OneHotCategorical
from foregrad.distributions.pareto import Pareto
from foregrad.distributions.poisson import Poisson
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.uniform import Uniform
from foregrad.distributions.utils import _sum_rightmost, euler_constant
from foregrad.nn.functional import softplus


def _of(family: type) -> Callable:
    return register_kl(family, family)


@_of(Bernoulli)
def _bernoulli(p, q):
    ones = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    ones = fg.where(p.probs == 0, 0.0, fg.where(q.probs == 0, math.inf, ones))
    zeros = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    zeros = fg.where(p.probs == 1, 0.0, fg.where(q.probs == 1, math.inf, zeros))
    return ones + zeros


@_of(Beta)
def _beta(p, q):
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    total_p, total_q = p1 + p0, q1 + q0
    norms = (q1.lgamma() + q0.lgamma() + total_p.lgamma()
             - p1.lgamma() - p0.lgamma() - total_q.lgamma())
    return (norms + (p1 - q1) * fg.digamma(p1) + (p0 - q0) * fg.digamma(p0)
            + (total_q - total_p) * fg.digamma(total_p))


@_of(Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is "
                                  "not implemented")
    of_trial = (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return fg.where(p.total_count > q.total_count, math.inf, p.total_count * of_trial)


@_of(Categorical)
def _categorical(p, q):
    terms = p.probs * (p.logits - q.logits)
    terms = fg.where(p.probs == 0, 0.0, fg.where(q.probs == 0, math.inf, terms))
    return terms.sum(-1)


@_of(ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    return (p.mean * (p.logits - q.logits) + p._cont_bern_log_norm() + fg.log1p(-p.probs)
            - q._cont_bern_log_norm() - fg.log1p(-q.probs))


@_of(Dirichlet)
def _dirichlet(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    change = (a - b) * (a.digamma() - total.digamma().unsqueeze(-1))
    return (total.lgamma() - b.sum(-1).lgamma() + (b.lgamma() - a.lgamma()).sum(-1)
            + change.sum(-1))


@_of(Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@_of(ExponentialFamily)
def _exponential_family(p, q):
    """The Bregman divergence of the log normaliser, between natural parameters."""
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families "
                                  "cannot be computed using Bregman divergences")
    ours = [one.detach().requires_grad_() for one in p._natural_params]
    theirs = q._natural_params
    normalizer = p._log_normalizer(*ours)
    slopes = fg.autograd.grad(normalizer.sum(), ours, create_graph=True)
    result = q._log_normalizer(*theirs) - normalizer
    for mine, other, slope in zip(ours, theirs, slopes):
        result = result - _sum_rightmost((other - mine) * slope, len(q.event_shape))
    return result


@_of(Gamma)
def _gamma(p, q):
    a, b = p.concentration, q.concentration
    return (b * (p.rate / q.rate).log() + fg.lgamma(b) - fg.lgamma(a)
            + (a - b) * fg.digamma(a) + (q.rate - p.rate) * (a / p.rate))


@_of(Gumbel)
def _gumbel(p, q):
    ratio, at_p, at_q = p.scale / q.scale, p.loc / q.scale, q.loc / q.scale
    return (-ratio.log() - at_q + at_p + ratio * euler_constant
            + fg.exp(at_q + (1 + ratio).lgamma() - at_p) - (1 + euler_constant))


@_of(Geometric)
def _geometric(p, q):
    return -p.entropy() - fg.log1p(-q.probs) / p.probs - q.logits


@_of(HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@_of(Laplace)
def _laplace(p, q):
    ratio, far = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + far / q.scale + ratio * fg.exp(-far / p.scale) - 1


@_of(Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    far = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + far - 1 - ratio.log())


@_of(OneHotCategorical)
def _one_hot_categorical(p, q):
    return _categorical(p._categorical, q._categorical)


@_of(Pareto)
def _pareto(p, q):
    ratio = q.alpha / p.alpha
    result = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return fg.where(p.support.lower_bound < q.support.lower_bound, math.inf, result)


@_of(Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@_of(TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms:
        raise NotImplementedError("kl_divergence: the two have different transforms")
    if p.event_shape != q.event_shape:
        raise NotImplementedError("kl_divergence: the two have different event shapes")
    return kl_divergence(p.base_dist, q.base_dist)


@_of(Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    return fg.where((q.low > p.low) | (q.high < p.high), math.inf, result)


@_of(Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("kl_divergence: the two have different numbers of event "
                                  "dimensions")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@_of(Cauchy)
def _cauchy(p, q):
    """From Chyzak and Nielsen (2019)."""
    far = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return far.log() - (4 * p.scale * q.scale).log()


# ---- normal vectors: half of log |Q| / |P| + tr(Q^-1 P) + far^T Q^-1 far - n


def _require_events(p, q) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two (Low Rank) Multivariate Normals with different "
                         "event shapes cannot be computed")


def _square_norm(matrices: fg.Tensor) -> fg.Tensor:
    return matrices.pow(2).sum((-2, -1))


def _shrunk(q) -> fg.Tensor:
    """A with Q^-1 = D^-1 - A^T A."""
    scaled = (q._unbroadcasted_cov_factor / q._unbroadcasted_cov_diag.unsqueeze(-1)).mT
    return fg.linalg.solve_triangular(q._capacitance_tril, scaled, upper=False)


def _low_rank_distance(p, q) -> fg.Tensor:
    return _mahalanobis(q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag, q.loc - p.loc,
                        q._capacitance_tril)


@_of(LowRankMultivariateNormal)
def _low_rank(p, q):
    _require_events(p, q)
    diag_p, diag_q = p._unbroadcasted_cov_diag, q._unbroadcasted_cov_diag
    factor, part = p._unbroadcasted_cov_factor, _shrunk(q)
    trace = ((diag_p / diag_q).sum(-1) + _square_norm(factor / diag_q.sqrt().unsqueeze(-1))
             - _square_norm(part * diag_p.sqrt().unsqueeze(-2)) - _square_norm(part @ factor))
    volumes = _log_det(diag_q, q._capacitance_tril) - _log_det(diag_p, p._capacitance_tril)
    return 0.5 * (volumes + trace + _low_rank_distance(p, q) - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _full_low_rank(p, q):
    _require_events(p, q)
    lower, diag = p._unbroadcasted_scale_tril, q._unbroadcasted_cov_diag
    trace = _square_norm(lower / diag.sqrt().unsqueeze(-1)) - _square_norm(_shrunk(q) @ lower)
    volumes = _log_det(diag, q._capacitance_tril) - 2 * _half_log_det(lower)
    return 0.5 * (volumes + trace + _low_rank_distance(p, q) - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _low_rank_full(p, q):
    _require_events(p, q)
    lower, diag = q._unbroadcasted_scale_tril, p._unbroadcasted_cov_diag
    batch = fg.broadcast_tensors(lower[..., 0, 0], diag[..., 0])[0].shape
    wide = fg.diag_embed(diag.sqrt()).expand(tuple(batch) + (-1, -1))
    solve = fg.linalg.solve_triangular
    trace = (_square_norm(solve(lower, p._unbroadcasted_cov_factor, upper=False))
             + _square_norm(solve(lower, wide, upper=False)))
    volumes = 2 * _half_log_det(lower) - _log_det(diag, p._capacitance_tril)
    distance = _batch_mahalanobis(lower, q.loc - p.loc)
    return 0.5 * (volumes + trace + distance - p.event_shape[0])


@_of(MultivariateNormal)
def _multivariate_normal(p, q):
    _require_events(p, q)
    lower_p, lower_q = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    trace = _square_norm(fg.linalg.solve_triangular(lower_q, lower_p, upper=False))
    distance = _batch_mahalanobis(lower_q, q.loc - p.loc)
    volumes = 2 * (_half_log_det(lower_q) - _half_log_det(lower_p))
    return 0.5 * (volumes + trace + distance - p.event_shape[0])
