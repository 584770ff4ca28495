"""Parameters that are probabilities or logits: one is given, the other follows."""

from __future__ import annotations

from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import lazy_property, logits_to_probs, probs_to_logits


def _require_one(probs: Any, logits: Any) -> None:
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")


class _ProbsOrLogits(Distribution):
    """A distribution with `probs` or `logits`; `_is_logits` says which of them was given."""

    _is_logits = False
    _is_binary = True

    @lazy_property
    def logits(self) -> fg.Tensor:
        """Log odds, or logarithms of probabilities."""
        return probs_to_logits(self.probs, is_binary=self._is_binary)

    @lazy_property
    def probs(self) -> fg.Tensor:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    @property
    def _param(self) -> fg.Tensor:
        parameter: fg.Tensor = self.logits if self._is_logits else self.probs
        return parameter

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> fg.Tensor:
        return self._param.new(*args, **kwargs)
