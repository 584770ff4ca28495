"""Tensors from Python data, and functions whose arguments only Python can express."""

import warnings

from foregrad import _C
from foregrad._device import expect_cpu

__all__ = ["tensor", "as_tensor", "asarray", "from_numpy", "from_dlpack", "scalar_tensor",
           "einsum", "result_type", "broadcast_tensors", "meshgrid",
           "norm", "nonzero", "where", "numel", "is_floating_point", "linspace", "logspace",
           "narrow"]


def tensor(data, *, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """A new tensor with a copy of the data: a number, nested sequences, or an array."""
    expect_cpu(device, "tensor")
    if pin_memory:
        raise RuntimeError("tensor: pin_memory needs an accelerator; only cpu exists")
    if isinstance(data, _C.Tensor):
        warnings.warn(
            "To copy construct from a tensor, it is recommended to use "
            "sourceTensor.detach().clone() or "
            "sourceTensor.detach().clone().requires_grad_(True), rather than "
            "foregrad.tensor(sourceTensor).", UserWarning, stacklevel=2)
    result = _C._tensor_from_data(data, dtype)
    if requires_grad:
        result.requires_grad_()
    return result


def as_tensor(data, dtype=None, device=None):
    """The data as a tensor, without a copy where that is possible."""
    expect_cpu(device, "as_tensor")
    if isinstance(data, _C.Tensor):
        return data if dtype is None else data.to(dtype)
    if hasattr(data, "__array_interface__") or hasattr(data, "__dlpack__"):
        shared = _C._share_array(data, "as_tensor")
        return shared if dtype is None else shared.to(dtype)
    return _C._tensor_from_data(data, dtype)


def asarray(obj, *, dtype=None, device=None, copy=None, requires_grad=False):
    """The object as a tensor, with or without a copy."""
    result = tensor(obj, dtype=dtype, device=device) if copy else as_tensor(obj, dtype, device)
    return result.requires_grad_() if requires_grad else result


def from_numpy(ndarray):
    """A tensor over the memory of a numpy array."""
    if not hasattr(ndarray, "__array_interface__"):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    if not ndarray.flags.writeable:
        warnings.warn("The given NumPy array is not writable; writing to the tensor is undefined "
                      "behaviour. Copy the array first.", UserWarning, stacklevel=2)
    if not ndarray.dtype.isnative:
        raise ValueError("from_numpy: the array has another byte order than this machine")
    return _C._share_array(ndarray, "from_numpy")


def from_dlpack(ext_tensor):
    """A tensor over the memory of another library's array (numpy, PyTorch, JAX)."""
    if isinstance(ext_tensor, _C.Tensor):
        return ext_tensor.detach()
    return _C._share_array(ext_tensor, "from_dlpack")


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False):
    """A zero-dim tensor."""
    dtype = dtype or _C.get_default_dtype()
    return tensor(s, dtype=dtype, device=device, requires_grad=requires_grad)


def result_type(tensor1, tensor2):
    """The dtype that arithmetic between the two would have."""
    first = tensor1 if isinstance(tensor1, _C.Tensor) else None
    zeros = _C._functions.zeros
    if first is None and not isinstance(tensor2, _C.Tensor):
        return _C._functions.add(zeros((), dtype=tensor(tensor1).dtype), tensor2).dtype
    shape = [zeros([0] * t.dim() if t.dim() else (), dtype=t.dtype)
             if isinstance(t, _C.Tensor) else t for t in (tensor1, tensor2)]
    if not isinstance(shape[0], _C.Tensor):
        shape.reverse()
    return _C._functions.mul(*shape).dtype


def broadcast_tensors(*tensors):
    """The tensors expanded to their common sizes."""
    sizes = ()
    for one in tensors:
        longest = max(len(sizes), one.dim())
        left = (1,) * (longest - len(sizes)) + tuple(sizes)
        right = (1,) * (longest - one.dim()) + tuple(one.shape)
        for a, b in zip(left, right):
            if a != b and a != 1 and b != 1:
                raise RuntimeError(f"broadcast_tensors: sizes {left} and {right} do not broadcast")
        sizes = tuple(b if a == 1 else a for a, b in zip(left, right))
    return tuple(one if tuple(one.shape) == sizes else one.expand(sizes) for one in tensors)


def meshgrid(*tensors, indexing=None):
    """Grids of coordinates given by vectors."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    swap = indexing == "xy" and len(tensors) >= 2
    if swap:
        tensors = (tensors[1], tensors[0], *tensors[2:])
    sizes = [max(t.numel(), 1) if t.dim() == 0 else t.shape[0] for t in tensors]
    grids = []
    for i, one in enumerate(tensors):
        shape = [1] * len(sizes)
        shape[i] = sizes[i]
        grids.append(one.reshape(shape).expand(sizes))
    if swap:
        grids[0], grids[1] = grids[1], grids[0]
    return tuple(grids)


def _subscripts(numbers):
    """[0, 1, ...] as 'AB...', in the letters of PyTorch."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
    for number in numbers:
        if number is not Ellipsis and not 0 <= number < len(letters):
            raise ValueError(f"einsum: got the subscript {number}; expected 0 to 51, or ...")
    return "".join("..." if number is Ellipsis else letters[number] for number in numbers)


def einsum(*args):
    """Sums of products: einsum('ij,jk->ik', a, b), or einsum(a, [0, 1], b, [1, 2], [0, 2])."""
    if len(args) < 2 or (isinstance(args[1], (list, tuple)) and not args[1]):
        raise ValueError("einsum: expected an equation, or lists of subscripts, and the tensors "
                         "that they are for")
    if isinstance(args[0], str):
        equation, *tensors = args
        if isinstance(tensors[0], (list, tuple)):
            tensors = tensors[0]
        return _C._functions.einsum(equation, list(tensors))
    if not isinstance(args[0], _C.Tensor):
        raise TypeError("einsum(): argument 'equation' (position 1) must be str, not "
                        f"{type(args[0]).__name__}")
    args, result = (args[:-1], args[-1]) if len(args) % 2 else (args, None)
    equation = ",".join(map(_subscripts, args[1::2]))
    if result is not None:
        equation += "->" + _subscripts(result)
    return _C._functions.einsum(equation, list(args[::2]))


def norm(input, p="fro", dim=None, keepdim=False, out=None, dtype=None):
    """The p-norm of all elements, or over dimensions."""
    if out is not None:
        raise NotImplementedError("norm: out= is not here yet; copy_ the result")
    p = 2 if p in (None, "fro") else p
    if p == "nuc":
        raise NotImplementedError("norm: p='nuc' is not here yet")
    if isinstance(p, str):
        raise RuntimeError(f"norm: p is '{p}'; expected a number, 'fro' or 'nuc'")
    return _C._functions.norm(input, p, dim, keepdim, dtype=dtype)


def nonzero(input, *, out=None, as_tuple=False):
    """Positions of the elements that are not zero."""
    if as_tuple:
        return _C._functions.nonzero_numpy(input)
    return _C._functions.nonzero(input, out=out)


def numel(input):
    """The number of elements."""
    return _C._numel(input)


def is_floating_point(input):
    """Whether the elements are floats."""
    return input.dtype.is_floating_point


def _spaced(name):
    function = getattr(_C._functions, name)

    def call(start, end, steps, *args, **kwargs):
        for end_name, number in (("start", start), ("end", end)):
            if isinstance(number, _C.Tensor) and number.dim() != 0:
                raise RuntimeError(f"{name} only supports 0-dimensional start and end tensors, but "
                                   f"got {end_name} with {number.dim()} dimension(s).")
        start, end = (number.detach() if isinstance(number, _C.Tensor) else number
                      for number in (start, end))
        return function(start, end, steps, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = function.__doc__
    return call


linspace = _spaced("linspace")
logspace = _spaced("logspace")


def narrow(input, dim, start, length):
    """`length` elements of one dimension, from `start` on."""
    if isinstance(start, _C.Tensor) and (start.dim() != 0 or start.dtype.is_floating_point
                                         or start.dtype is _C.bool):
        raise RuntimeError("narrow: start must be an 0-dim integral Tensor, got sizes "
                           f"{tuple(start.shape)} of {start.dtype}")
    return _C._functions.narrow(input, dim, start, length)


def where(condition, *args, **kwargs):
    """Elements of one tensor or the other; without them, the positions where it is true."""
    if not args and not kwargs:
        return nonzero(condition, as_tuple=True)
    return _C._functions.where(condition, *args, **kwargs)
