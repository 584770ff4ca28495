"""Probability distributions: samples, densities, divergences, and gradients through samples."""

from foregrad.distributions import constraints, kl, transforms
from foregrad.distributions.bernoulli import Bernoulli
from foregrad.distributions.beta import Beta
from foregrad.distributions.binomial import Binomial
from foregrad.distributions.categorical import Categorical
from foregrad.distributions.cauchy import Cauchy
from foregrad.distributions.chi2 import Chi2
from foregrad.distributions.constraint_registry import biject_to, transform_to
from foregrad.distributions.continuous_bernoulli import ContinuousBernoulli
from foregrad.distributions.dirichlet import Dirichlet
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.exp_family import ExponentialFamily
from foregrad.distributions.exponential import Exponential
from foregrad.distributions.fishersnedecor import FisherSnedecor
from foregrad.distributions.gamma import Gamma
from foregrad.distributions.generalized_pareto import GeneralizedPareto
from foregrad.distributions.geometric import Geometric
from foregrad.distributions.gumbel import Gumbel
from foregrad.distributions.half_cauchy import HalfCauchy
from foregrad.distributions.half_normal import HalfNormal
from foregrad.distributions.independent import Independent
from foregrad.distributions.inverse_gamma import InverseGamma
from foregrad.distributions.kl import kl_divergence, register_kl
from foregrad.distributions.kumaraswamy import Kumaraswamy
from foregrad.distributions.laplace import Laplace
from foregrad.distributions.lkj_cholesky import LKJCholesky
from foregrad.distributions.log_normal import LogNormal
from foregrad.distributions.logistic_normal import LogisticNormal
from foregrad.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from foregrad.distributions.mixture_same_family import MixtureSameFamily
from foregrad.distributions.multinomial import Multinomial
from foregrad.distributions.multivariate_normal import MultivariateNormal
from foregrad.distributions.negative_binomial import NegativeBinomial
from foregrad.distributions.normal import Normal
from foregrad.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from foregrad.distributions.pareto import Pareto
from foregrad.distributions.poisson import Poisson
from foregrad.distributions.relaxed_bernoulli import RelaxedBernoulli
from foregrad.distributions.relaxed_categorical import RelaxedOneHotCategorical
from foregrad.distributions.studentT import StudentT
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.uniform import Uniform
from foregrad.distributions.von_mises import VonMises
from foregrad.distributions.weibull import Weibull
from foregrad.distributions.wishart import Wishart
from foregrad.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from foregrad.distributions import _kl_cross, _kl_same  # noqa: F401: they fill the table

__all__ = ["Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "biject_to",
           "transform_to", "ContinuousBernoulli", "Dirichlet", "Distribution",
           "ExponentialFamily", "Exponential", "FisherSnedecor", "Gamma",
           "GeneralizedPareto", "Geometric", "Gumbel", "HalfCauchy", "HalfNormal",
           "Independent", "InverseGamma", "kl_divergence", "register_kl", "Kumaraswamy",
           "Laplace", "LKJCholesky", "LogNormal", "LogisticNormal",
           "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial",
           "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical",
           "OneHotCategoricalStraightThrough", "Pareto", "Poisson", "RelaxedBernoulli",
           "RelaxedOneHotCategorical", "StudentT", "TransformedDistribution", "Uniform",
           "VonMises", "Weibull", "Wishart", "AbsTransform", "AffineTransform",
           "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
           "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform",
           "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform",
           "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
           "SoftplusTransform", "StackTransform", "StickBreakingTransform",
           "TanhTransform", "Transform", "identity_transform"]
