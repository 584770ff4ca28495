"""Relaxed categorical distributions."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.categorical import Categorical
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.transformed_distribution import TransformedDistribution
from foregrad.distributions.transforms import ExpTransform
from foregrad.distributions.utils import clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """Logarithms of relaxed one-hot vectors (Maddison et al., 2017)."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector  # the log of a simplex
    has_rsample = True

    def __init__(self, temperature: fg.Tensor, probs: fg.Tensor | None = None,
                 logits: fg.Tensor | None = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:],
                         validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> ExpRelaxedCategorical:
        new = self._get_checked_instance(ExpRelaxedCategorical, _instance)
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        super(ExpRelaxedCategorical, new).__init__(Size(batch_shape), self.event_shape,
                                                   validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def logits(self) -> fg.Tensor:
        """The logarithms of the probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> fg.Tensor:
        """The probabilities."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    @property
    def _param(self) -> fg.Tensor:
        return self._categorical._param

    def _new(self, *args: Any, **kwargs: Any) -> fg.Tensor:
        return self._categorical._new(*args, **kwargs)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        shape = self._extended_shape(sample_shape)
        u = clamp_probs(fg.rand(shape, dtype=self.logits.dtype))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        k = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = fg.broadcast_tensors(self.logits, value)
        temperature = fg.as_tensor(self.temperature, dtype=logits.dtype)
        score = logits - value * temperature
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + (k - 1) * temperature.log() + fg.lgamma(fg.tensor(float(k),
                                                                        dtype=logits.dtype))


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of a simplex, the closer to corners the lower the temperature."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature: fg.Tensor, probs: fg.Tensor | None = None,
                 logits: fg.Tensor | None = None, validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> RelaxedOneHotCategorical:
        new = self._get_checked_instance(RelaxedOneHotCategorical, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def temperature(self) -> fg.Tensor:
        """The temperature of the relaxation."""
        return self.base_dist.temperature

    @property
    def logits(self) -> fg.Tensor:
        """The logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> fg.Tensor:
        """The probabilities."""
        return self.base_dist.probs
