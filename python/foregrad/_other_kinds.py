"""Methods of tensors about devices and kinds of tensors that do not exist here: they answer with
the truth, or say by name what is missing."""

import builtins

from foregrad import _C
from foregrad import _types as types
from foregrad._tensor import _method

Tensor = _C.Tensor


def _moves_to(kind):
    def move(self, device=None, non_blocking=False, memory_format=types.preserve_format):
        if isinstance(device, builtins.int) and not isinstance(device, builtins.bool):
            types.device(device)  # says that there is no such number
        where = types.device(kind) if device is None else types.device(device)
        if where.type not in (kind, "cpu"):
            raise RuntimeError(f"{kind}: Invalid device, must be {kind} device")
        types.expect_cpu(types.device(kind), kind)

    move.__name__ = kind
    move.__doc__ = "A copy on an accelerator: there is none, so that this says so."
    setattr(Tensor, kind, move)


for _name in ("cuda", "xpu", "mtia", "ipu"):
    _moves_to(_name)


def _is_never(name, doc):
    setattr(Tensor, name, property(lambda self: False, doc=doc))


for _name in ("is_xpu", "is_mps", "is_ipu", "is_vulkan", "is_xla", "is_mtia", "is_maia",
              "is_sparse_csr"):
    _is_never(_name, "Whether the tensor is of this kind: never.")


@_method
def is_conj(self):
    """Whether the tensor waits to be conjugated: never."""
    return False


@_method
def is_neg(self):
    """Whether the tensor waits to be negated: never."""
    return False


@_method
def is_distributed(self):
    """Whether the tensor is spread over processes: never."""
    return False


@_method
def is_pinned(self, device=None):
    """Whether the memory is locked for an accelerator: never."""
    return False


@_method
def pin_memory(self, device=None):
    """Locks the memory for an accelerator: there is none, so that this says so."""
    raise RuntimeError("pin_memory: there is no accelerator to lock memory for; leave it out, or "
                       "ask foregrad.accelerator.is_available()")


@_method
def is_nonzero(self):
    """Whether the only element is not zero."""
    if self.numel() != 1:
        raise RuntimeError("is_nonzero: the truth value of a tensor with "
                           f"{self.numel()} elements is ambiguous; it must have one")
    return builtins.bool(self)


@_method
def is_shared(self):
    """Whether other processes see the memory."""
    from foregrad.multiprocessing._memory import is_shared as call

    return call(self)


@_method
def share_memory_(self):
    """Moves the elements to memory that other processes see."""
    from foregrad.multiprocessing._memory import share as call

    return call(self)


def _refused_as_sparse(name):
    def refuse(self, *args, **kwargs):
        raise NotImplementedError(f"{name}: sparse tensors do not exist here; keep the tensor "
                                  "dense")

    refuse.__name__ = name
    refuse.__doc__ = "Sparse tensors do not exist here, so that this says so."
    setattr(Tensor, name, refuse)


for _name in ("to_sparse", "to_sparse_csr", "to_sparse_coo", "to_sparse_csc", "to_sparse_bsr",
              "to_sparse_bsc", "coalesce", "is_coalesced"):
    _refused_as_sparse(_name)


@_method
def to_dense(self, dtype=None, *, masked_grad=None):
    """The tensor itself, as it is dense."""
    return self if dtype is None else self.to(dtype)


@_method
def dense_dim(self):
    """The number of dimensions: all are dense."""
    return self.ndim


@_method
def sparse_dim(self):
    """The number of sparse dimensions: none."""
    return 0


@_method
def resolve_conj(self):
    """The tensor itself: real numbers are their own conjugates."""
    return self


@_method
def resolve_neg(self):
    """The tensor itself: it never waits to be negated."""
    return self


@_method
def conj(self):
    """The tensor itself: real numbers are their own conjugates."""
    return self
