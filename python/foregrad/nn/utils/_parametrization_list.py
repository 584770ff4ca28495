"""ParametrizationList: the modules that compute one tensor, and the tensors it is made of."""

from __future__ import annotations

from collections.abc import Sequence

from foregrad import _C
from foregrad.autograd._modes import no_grad
from foregrad.nn.modules.container import ModuleList
from foregrad.nn.modules.module import Module
from foregrad.nn.parameter import Parameter

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor

__all__ = ["ParametrizationList"]

Tensor = _C.Tensor


def check_like(value, like, what, of):
    """Refuses a value that is no tensor of the dtype and the sizes of another one."""
    if not isinstance(value, Tensor):
        raise ValueError(f"register_parametrization: the {what} must return a tensor, got "
                         f"{type(value).__name__}")
    if value.dtype != like.dtype:
        raise ValueError(f"register_parametrization: the {what} may not change the dtype unless "
                         f"`unsafe=True`: got {value.dtype}, {of} has {like.dtype}")
    if value.shape != like.shape:
        raise ValueError(f"register_parametrization: the {what} may not change the shape unless "
                         f"`unsafe=True`: got {value.shape}, {of} has {like.shape}")


def register_parameter_or_buffer(module, name, tensor):
    """Registers a tensor as that which it is."""
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _set_data(tensor, value):
    """Puts a value, of any sizes, into a tensor that may be trained."""
    trained = tensor.requires_grad
    tensor.requires_grad_(False).data = value.detach()
    tensor.requires_grad_(trained)


class ParametrizationList(ModuleList):
    """Holds `original`, or `original0`, `original1` ..., and the modules that are applied."""

    original: Tensor
    unsafe: bool
    is_tensor: bool
    ntensors: int

    def __init__(self, modules: Sequence[Module], original: Tensor,
                 unsafe: bool = False) -> None:
        if len(modules) == 0:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        new = self._inverse_of(original)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors "
                             f"(list, tuple...). Got {type(new).__name__}")
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._take_one(original, new)
        else:
            self._take_several(original, new)
        if not unsafe:
            with no_grad():
                check_like(self(), original, "parametrization", "the unparametrized tensor")

    def _inverse_of(self, value):
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    try:
                        value = module.right_inverse(value)
                    except NotImplementedError:
                        pass  # the identity
        return value

    def _take_one(self, original, new):
        if original.dtype != new.dtype:
            raise ValueError("When `right_inverse` outputs one tensor, it may not change the "
                             f"dtype: got {new.dtype}, the original has {original.dtype}")
        if new is not original:
            _set_data(original, new)
        register_parameter_or_buffer(self, "original", original)

    def _take_several(self, original, new):
        for i, part in enumerate(new):
            if not isinstance(part, Tensor):
                raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors "
                                 f"(list, tuple...). Got element {i} of the sequence with type "
                                 f"{type(part).__name__}.")
            if isinstance(original, Parameter):
                part = Parameter(part.detach(), original.requires_grad)
            part.requires_grad_(original.requires_grad)
            register_parameter_or_buffer(self, f"original{i}", part)

    def originals(self) -> list[str]:
        """The names of the tensors that the parametrised one is computed from."""
        return ["original"] if self.is_tensor else [f"original{i}" for i in range(self.ntensors)]

    def right_inverse(self, value: Tensor) -> None:
        """Sets the originals so that the parametrised tensor becomes a value."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not "
                                       "implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                if not isinstance(value, Tensor):
                    raise ValueError("`right_inverse` should return a tensor. Got "
                                     f"{type(value).__name__}")
                self._set("original", value)
                return
            if not isinstance(value, Sequence):
                raise ValueError("'right_inverse' must return a sequence of tensors. Got "
                                 f"{type(value)}.")
            if len(value) != self.ntensors:
                raise ValueError("'right_inverse' must return a sequence of tensors of length "
                                 f"{self.ntensors}. Got a sequence of length {len(value)}.")
            for name, part in zip(self.originals(), value):
                self._set(name, part)

    def _set(self, name, value):
        original = getattr(self, name)
        if original.dtype != value.dtype:
            raise ValueError(f"The tensor `{name}` that `right_inverse` returned may not change "
                             f"the dtype: got {value.dtype}, it has {original.dtype}")
        _set_data(original, value)

    def forward(self) -> Tensor:
        """The value that is computed now."""
        first, *others = self._modules.values()
        value = first(*[getattr(self, name) for name in self.originals()])
        for module in others:
            value = module(value)
        return value
