"""Distributions of an exponential family: entropy and divergence from their log normaliser."""

from __future__ import annotations

import foregrad as fg
from foregrad.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """exp(<t(x), theta> - F(theta) + k(x)) with natural parameters theta and log normaliser F."""

    @property
    def _natural_params(self) -> tuple[fg.Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: fg.Tensor) -> fg.Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        """The mean of k(x)."""
        raise NotImplementedError

    def entropy(self) -> fg.Tensor:
        """F(theta) - <theta, grad F(theta)> - mean of k."""
        result = -self._mean_carrier_measure
        parameters = [one.detach().requires_grad_() for one in self._natural_params]
        normalizer = self._log_normalizer(*parameters)
        gradients = fg.autograd.grad(normalizer.sum(), parameters, create_graph=True)
        result = result + normalizer
        for theta, gradient in zip(parameters, gradients):
            part = theta * gradient
            result = result - part.reshape(tuple(self._batch_shape) + (-1,)).sum(-1)
        return result
