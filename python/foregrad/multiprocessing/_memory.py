"""Memory of tensors that processes share.

A tensor is moved once: its elements go to a file without a place on a disk, and its data become a
view of the mapped file. Another process gets the file by its descriptor, or by a name in /dev/shm
(strategy `file_system`, which keeps no descriptors open), and maps it.
"""

from __future__ import annotations

import atexit
import itertools
import mmap
import os
import weakref
from multiprocessing import reduction

from foregrad import _C

Tensor = _C.Tensor
__all__ = ["get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy"]

_STRATEGIES = ("file_descriptor", "file_system")
_FOLDER = "/dev/shm"
_strategy = "file_descriptor"
_numbers = itertools.count()
_shared = weakref.WeakValueDictionary()  # memory by the address of a tensor's storage
_owner = os.getpid()
_links = set()  # names that were given to other processes and may not have been taken


def get_sharing_strategy() -> str:
    """How memory goes to other processes: 'file_descriptor' or 'file_system'."""
    return _strategy


def get_all_sharing_strategies() -> set[str]:
    """The names of both."""
    return set(_STRATEGIES)


def set_sharing_strategy(new_strategy: str) -> None:
    """Sets how memory goes to other processes."""
    global _strategy
    if new_strategy not in _STRATEGIES:
        raise AssertionError(f"invalid sharing strategy {new_strategy!r}, expected one of "
                             f"{get_all_sharing_strategies()}")
    _strategy = new_strategy


class Memory(mmap.mmap):
    """A mapped file: with a descriptor, or with a name."""

    descriptor, name, maker = None, None, None

    def __del__(self):
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
        if self.name is not None and self.maker == os.getpid():
            _remove(self.name)


def _remove(path):
    try:
        os.unlink(path)
    except OSError:
        pass


def _new_name():
    return os.path.join(_FOLDER, f"foregrad_{os.getpid()}_{next(_numbers)}")


def _make(bytes_):
    """New memory, of the strategy of this moment."""
    if _strategy == "file_system":
        name = _new_name()
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    else:
        name, descriptor = None, os.memfd_create("foregrad", os.MFD_CLOEXEC)
    try:
        # Taken now: later, a full folder would end the program instead of raising an error.
        os.posix_fallocate(descriptor, 0, bytes_)
        return _map(descriptor, bytes_, name)
    except OSError as error:
        os.close(descriptor)
        if name:
            _remove(name)
        raise RuntimeError(f"share_memory_: {bytes_} bytes of shared memory cannot be had "
                           f"({error.strerror}); make {_FOLDER} larger, or share less") from None


def _map(descriptor, bytes_, name=None):
    memory = Memory(descriptor, bytes_)
    if name is None:
        memory.descriptor = descriptor
    else:
        os.close(descriptor)
        memory.name, memory.maker = name, os.getpid()
    return memory


def _over(memory, dtype):
    """All elements of the memory, as one row."""
    flat = _C._share_array(memoryview(memory), "share_memory_")
    row = flat if dtype is flat.dtype else flat.view(dtype)
    row = _C._make_subclass(Tensor, row, False)  # no view of anything
    _shared[_C._storage_ptr(row)] = memory
    return row


def is_shared(tensor):
    """Whether the memory of a tensor is shared."""
    return _memory_of(tensor) is not None


def _memory_of(tensor):
    return _shared.get(_C._storage_ptr(tensor))


def share(tensor):
    """Moves the elements of a tensor to shared memory; returns the tensor."""
    if _memory_of(tensor) is not None or tensor.numel() == 0:
        return tensor
    if tensor._is_view() or _C._storage_uses(tensor) > 1:
        raise RuntimeError("share_memory_: other tensors, such as a base or views, have the same "
                           "memory and would stay behind; share it before they are made, or share "
                           "a clone()")
    whole = _C._whole_storage(tensor)
    row = _over(_make(whole.nbytes), tensor.dtype)
    with _no_grad():
        row.copy_(whole.view(tensor.dtype) if whole.dtype is not tensor.dtype else whole)
        moved = _C._same_layout(row, tensor)
    kept = tensor.requires_grad
    if kept and tensor.is_leaf:
        tensor.requires_grad_(False).data = moved
        tensor.requires_grad_(True)
    else:
        tensor.data = moved
    return tensor


def _no_grad():
    from foregrad.autograd import no_grad

    return no_grad()


# ---- to other processes

def _reduce(tensor):
    """A tensor as the arguments that make it in another process."""
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("Cowardly refusing to serialize non-leaf tensor which requires_grad, "
                           "since autograd does not support crossing process boundaries.  If you "
                           "just want to transfer the data, call detach() on the tensor before "
                           "serializing (e.g., putting it on the queue).")
    layout = (tensor.dtype, tuple(tensor.shape), tensor.stride(), tensor.storage_offset())
    attributes = dict(vars(tensor))
    if tensor.numel() == 0:
        return _rebuild, (type(tensor), None, 0, layout, tensor.requires_grad, attributes)
    source = tensor
    if _memory_of(tensor) is None and tensor._is_view():
        # The base may be large and not shared: the elements go alone.
        source = tensor.detach().clone()
        layout = (source.dtype, tuple(source.shape), source.stride(), source.storage_offset())
    share(source)
    memory = _memory_of(source)
    return _rebuild, (type(tensor), _handle(memory), len(memory), layout, tensor.requires_grad,
                      attributes)


def _handle(memory):
    """The way to the memory that another process gets."""
    if memory.name is None:
        return reduction.DupFd(memory.descriptor)
    link = _new_name() + "_sent"  # one name per receiver, that removes it
    os.link(memory.name, link)
    _links.add(link)
    return link


def _opened(handle, bytes_):
    if not isinstance(handle, str):
        return _map(handle.detach(), bytes_)
    descriptor = os.open(handle, os.O_RDWR | os.O_CLOEXEC)
    name = _new_name()
    os.rename(handle, name)  # this process may send it on
    return _map(descriptor, bytes_, name)


def _rebuild(cls, handle, bytes_, layout, requires_grad, attributes):
    """The tensor over the memory that was sent."""
    dtype, shape, strides, offset = layout
    if handle is None:
        data = _C._functions.empty_strided(shape, strides, dtype=dtype)
    else:
        row = _over(_opened(handle, bytes_), dtype)
        data = _C._make_subclass(Tensor, row.as_strided(shape, strides, offset), False)
    result = data if cls is Tensor else _C._make_subclass(cls, data, False)
    if requires_grad:
        result.requires_grad_()
    vars(result).update(attributes)
    return result


def _remove_links():
    if os.getpid() == _owner:
        for link in _links:
            _remove(link)


def _in_child():
    global _owner
    _owner = os.getpid()
    _links.clear()


def install():
    """Makes the pickler of processes know tensors."""
    from foregrad.nn.parameter import Buffer, Parameter

    for cls in (Tensor, Parameter, Buffer):
        reduction.ForkingPickler.register(cls, _reduce)
    atexit.register(_remove_links)
    os.register_at_fork(after_in_child=_in_child)
