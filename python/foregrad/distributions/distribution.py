"""The base of all distributions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import foregrad as fg
from foregrad import Size, _C
from foregrad.distributions import constraints
from foregrad.distributions.utils import _refuse, lazy_property

__all__ = ["Distribution"]


def _elements(tensor: fg.Tensor) -> str:
    """A parameter as texts show it: its value, or its sizes."""
    return f"{tensor}" if tensor.numel() == 1 else f"{tensor.size()}"


class Distribution:
    """A probability distribution over events of shape `event_shape`, for each index of a batch."""

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Sets whether distributions check their arguments and values unless they are told."""
        if value not in [True, False]:
            raise ValueError(f"set_default_validate_args: got {value!r}; expected True or False")
        Distribution._validate_args = value

    def __init__(self, batch_shape: Size = Size(), event_shape: Size = Size(),
                 validate_args: bool | None = None) -> None:
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if _C.is_capturing():
            self._is_captured = True
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._validate_parameters()
        super().__init__()

    def _validate_parameters(self) -> None:
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(f"{self.__class__} does not define `arg_constraints`. Please set "
                          "`arg_constraints = {}` or initialize the distribution with "
                          "`validate_args=False` to turn off validation.", stacklevel=3)
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue  # follows from another parameter, which is checked
            value = getattr(self, name)
            _refuse(constraint.check(value),
                    lambda: f"Expected parameter {name} ({type(value).__name__} of shape "
                            f"{tuple(value.shape)}) of distribution {self!r} to satisfy the "
                            f"constraint {constraint!r}, but found invalid values:\n{value}",
                    f"Expected parameter {name} of distribution {type(self).__name__} to satisfy "
                    f"the constraint {type(constraint).__name__.lstrip('_')}, but found invalid "
                    "values")

    def expand(self, batch_shape: Iterable[int], _instance: Any = None) -> Distribution:
        """The same distribution over a larger batch, without copies of its parameters."""
        raise NotImplementedError

    @property
    def batch_shape(self) -> Size:
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self) -> Size:
        """The shape of one event."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """The constraint of each parameter."""
        raise NotImplementedError

    @property
    def support(self) -> constraints.Constraint | None:
        """The set of values that can be drawn."""
        raise NotImplementedError

    @property
    def mean(self) -> fg.Tensor:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> fg.Tensor:
        """The most probable value."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> fg.Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> fg.Tensor:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = Size()) -> fg.Tensor:
        """Values without gradients: a tensor of sample_shape + batch_shape + event_shape."""
        with fg.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = Size()) -> fg.Tensor:
        """Values through which gradients reach the parameters."""
        raise NotImplementedError

    def sample_n(self, n: int) -> fg.Tensor:
        """n values, or batches of values."""
        warnings.warn("sample_n will be deprecated. Use .sample((n,)) instead", UserWarning,
                      stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value: fg.Tensor) -> fg.Tensor:
        """The logarithm of the density or probability at a value."""
        raise NotImplementedError

    def cdf(self, value: fg.Tensor) -> fg.Tensor:
        """The probability of values up to this one."""
        raise NotImplementedError

    def icdf(self, value: fg.Tensor) -> fg.Tensor:
        """The value up to which values have this probability."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> fg.Tensor:
        """All values of a discrete distribution, along a new first dimension."""
        raise NotImplementedError

    def entropy(self) -> fg.Tensor:
        """The entropy, for each index of the batch."""
        raise NotImplementedError

    def perplexity(self) -> fg.Tensor:
        """exp of the entropy."""
        return fg.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = Size()) -> Size:
        return Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def _validate_sample(self, value: fg.Tensor) -> None:
        """Refuses values whose shape does not fit or that are outside of the support."""
        if not isinstance(value, fg.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event_start = value.dim() - len(self._event_shape)
        if tuple(value.shape[event_start:]) != tuple(self._event_shape):
            raise ValueError("The right-most size of value must match event_shape: "
                             f"{value.size()} vs {self._event_shape}.")
        expected = self._batch_shape + self._event_shape
        for i, j in zip(reversed(value.size()), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError("Value is not broadcastable with batch_shape+event_shape: "
                                 f"{value.size()} vs {Size(expected)}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{self.__class__} does not define `support` to enable sample "
                          "validation. Please initialize the distribution with "
                          "`validate_args=False` to turn off validation.", stacklevel=3)
            return
        if support is None:
            raise AssertionError("support is None; expected a constraint")
        _refuse(support.check(value),
                lambda: f"Expected value argument ({type(value).__name__} of shape "
                        f"{tuple(value.shape)}) to be within the support ({support!r}) of the "
                        f"distribution {self!r}, but found invalid values:\n{value}",
                "Expected the value argument to be within the support of the distribution "
                f"{type(self).__name__}, but found invalid values")

    def _get_checked_instance(self, cls: type, _instance: Any = None) -> Any:
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom "
                "__init__ method must also define a custom .expand() method.")
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, cls: type, batch_shape: Iterable[int], instance: Any,
                  parameters: dict[str, int], event_shape: Any = None) -> Any:
        """expand() of a class: `parameters` are its attributes with the dimensions of an event."""
        new = self._get_checked_instance(cls, instance)
        batch = tuple(batch_shape)
        for name, dims in parameters.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                tail = tuple(value.shape[value.dim() - dims:])
                new.__dict__[name] = value.expand(batch + tail)
        event_shape = self._event_shape if event_shape is None else event_shape
        super(cls, new).__init__(Size(batch), event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def __repr__(self) -> str:
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = ", ".join(f"{name}: {_elements(self.__dict__[name])}" for name in names)
        return f"{self.__class__.__name__}({shown})"
