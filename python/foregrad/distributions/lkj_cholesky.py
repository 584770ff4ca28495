"""The LKJ distribution of Cholesky factors of correlation matrices."""

from __future__ import annotations

import math
from typing import Any

import foregrad as fg
from foregrad import Size
from foregrad.distributions import constraints
from foregrad.distributions.beta import Beta
from foregrad.distributions.distribution import Distribution
from foregrad.distributions.utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Factors L of correlation matrices with the density det(L L^T)^(concentration - 1).

    See Lewandowski, Kurowicka and Joe (2009); samples come from their onion method.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: fg.Tensor | float = 1.0,
                 validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError("Expected dim to be an integer greater than or equal to 2. Found "
                             f"dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)
        before = fg.arange(dim, dtype=self.concentration.dtype).sub(1).clamp(min=0)
        marginal = self.concentration + 0.5 * (dim - 2)
        self._beta = Beta(before + 0.5, marginal.unsqueeze(-1) - 0.5 * before,
                          validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> LKJCholesky:
        new = self._expanded(LKJCholesky, batch_shape, _instance, {"concentration": 0})
        new.dim = self.dim
        new._beta = self._beta.expand(tuple(batch_shape) + (self.dim,))
        return new

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        """Row by row a random direction, with a length whose square is beta-distributed."""
        with fg.no_grad():
            y = self._beta.sample(sample_shape).unsqueeze(-1)
            normal = fg.randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
            length = normal.pow(2).sum(-1, keepdim=True).sqrt()
            direction = normal / fg.where(length == 0, 1.0, length)
            rows = y.sqrt() * direction
            tiny = fg.finfo(rows.dtype).tiny
            rest = (1 - rows.pow(2).sum(-1)).clamp(min=tiny).sqrt()
            return rows + fg.diag_embed(rest)

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = fg.arange(2, self.dim + 1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        weight = (order * diagonal.log()).sum(-1)
        less = self.dim - 1
        alpha = self.concentration + 0.5 * less
        constant = (0.5 * less * math.log(math.pi) + fg.mvlgamma(alpha - 0.5, less)
                    - fg.lgamma(alpha) * less)
        return weight - constant
