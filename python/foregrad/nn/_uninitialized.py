"""Tensors without sizes: they are there to be named, moved and saved, and refuse all else."""

from __future__ import annotations

from foregrad import _C
from foregrad.autograd._modes import no_grad

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Sequence
    from foregrad import Size, Tensor
    from foregrad import device as _device
    from foregrad import dtype as _dtype
    from typing import Any, NoReturn

    _Device = str | _device | None

__all__ = ["UninitializedTensorMixin", "is_lazy"]

# Methods that conversions of modules, optimisers and copies need.
_ALLOWED = {"bfloat16", "char", "copy_", "cpu", "cuda", "dim", "double", "float", "get_device",
            "half", "int", "is_complex", "is_floating_point", "is_inference", "long",
            "register_hook", "register_post_accumulate_grad_hook", "requires_grad_", "retain_grad",
            "short", "size", "to", "type", "zero_"}
_LATER = ("Call `forward` with a dummy batch to initialize the parameters before calling foregrad "
          "functions")


class UninitializedTensorMixin:
    """A tensor that has a dtype and a device, and no sizes until materialize()."""

    cls_to_become: Any = None

    def materialize(self, shape: Sequence[int], device: _Device = None,
                    dtype: _dtype | None = None) -> None:
        """Gives the tensor its sizes; from then on it is an ordinary one, not filled yet."""
        with no_grad():
            trained = self.requires_grad
            self.requires_grad_(False).data = _C._functions.empty(
                tuple(shape), device=device, dtype=self.dtype if dtype is None else dtype)
            self.__class__ = self.cls_to_become
            self.requires_grad_(trained)

    @property
    def shape(self) -> Size:
        """The sizes, which are not known."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes.")

    def share_memory_(self) -> NoReturn:
        """Refuses: there is no memory to share."""
        raise RuntimeError("Can't share memory on an uninitialized parameter or buffer. Call "
                           "`forward` to initialize the parameters before calling "
                           "`module.share_memory()`.")

    def __repr__(self):
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            make, arguments, state = self.__reduce_ex__(2)
            memo[id(self)] = made = make(*arguments)
            made.__dict__.update(state)
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        return type(self), (self.requires_grad, None, self.dtype), dict(self.__dict__)


def is_lazy(param: Any) -> bool:
    """Whether a tensor has no sizes yet."""
    return isinstance(param, UninitializedTensorMixin)


def _refusing(name):
    def refuse(self, *args, **kwargs):
        raise ValueError(f"Attempted to use an uninitialized parameter in Tensor.{name}. This "
                         "error happens when you are using a `LazyModule` or explicitly "
                         f"manipulating uninitialized parameters: {_LATER}")

    refuse.__name__ = name
    return refuse


def _refuse_the_rest():
    kept = {*vars(object), *vars(UninitializedTensorMixin), "__del__", "__dict__", "__hash__",
            "__setstate__"}
    for name, value in vars(_C.Tensor).items():
        operator = name.startswith("__") and name.endswith("__")
        if name in kept or name in _ALLOWED or (name.startswith("_") and not operator):
            continue
        if callable(value):
            setattr(UninitializedTensorMixin, name, _refusing(name))
    for name in ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"):
        setattr(UninitializedTensorMixin, name, _refusing(name))
    UninitializedTensorMixin.__hash__ = object.__hash__


_refuse_the_rest()
