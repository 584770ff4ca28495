"""Memory of tensors: the bytes that a tensor and its views share.

Files and pickles keep each memory once, as an UntypedStorage; a TypedStorage is the same memory
with a dtype, as older files and programs have it.
"""

from __future__ import annotations

import math
import weakref

from foregrad import _C
from foregrad import _types as types

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from foregrad import Tensor, device, dtype
    from typing import Any
    from typing_extensions import Self

__all__ = ["TypedStorage", "UntypedStorage"]

_LIMIT, _MOST_DIMENSIONS = 2**63, 64
_alive = weakref.WeakValueDictionary()  # the storage object of each memory, by address


def storage_of(tensor):
    """The memory of a tensor; the same object for all tensors over it, while one is held."""
    address = _C._storage_ptr(tensor)
    found = _alive.get(address)
    if found is None:
        # All bytes, also those behind the last whole element.
        whole = _C._whole_storage(_C._whole_storage(tensor).detach().view(types.uint8))
        found = _alive.setdefault(address, UntypedStorage._over(whole))
    return found


def tensor_over(storage, dtype, offset, sizes, strides):
    """A tensor over memory, whose claims are believed after they were checked."""
    numbers = (offset, *sizes, *strides)
    if any(type(number) is not int for number in numbers) or len(sizes) != len(strides):
        raise ValueError(f"sizes {sizes}, strides {strides} and offset {offset}: expected one size "
                         "and one stride per dimension, all of them integers")
    if len(sizes) > _MOST_DIMENSIONS:
        raise ValueError(f"{len(sizes)} dimensions; expected at most {_MOST_DIMENSIONS}")
    count = storage.nbytes() // dtype.itemsize
    reach = offset + sum((n - 1) * step for n, step in zip(sizes, strides))
    if min(numbers) < 0 or max(numbers) >= _LIMIT or \
            math.prod(max(n, 1) for n in sizes) >= _LIMIT or (0 not in sizes and reach >= count):
        raise ValueError(f"sizes {tuple(sizes)}, strides {tuple(strides)} and offset {offset} "
                         f"reach beyond the {count} elements in memory")
    whole = storage._bytes[:count * dtype.itemsize].view(dtype)
    return whole.as_strided(tuple(sizes), tuple(strides), offset).data


class UntypedStorage:
    """The bytes of one memory; tensors that share them have one such object."""

    def __init__(self, size: int | Sequence[int] = 0) -> None:
        if isinstance(size, int):
            self._bytes = _C._functions.empty((size,), dtype=types.uint8)
        else:
            self._bytes = _C._tensor_from_data(list(size), types.uint8)
        _alive[_C._storage_ptr(self._bytes)] = self

    @classmethod
    def _over(cls, data):
        made = object.__new__(cls)
        made._bytes = data
        return made

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._bytes.numel()

    size = __len__ = nbytes

    def element_size(self) -> int:
        """One: elements are bytes."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._bytes.data_ptr()

    def tolist(self) -> list[int]:
        """All bytes as numbers."""
        return self._bytes.tolist()

    def __iter__(self) -> Iterator[int]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> int:
        return self._bytes[index].item()

    def __setitem__(self, index: int, value: int) -> None:
        self._bytes[index] = value

    @property
    def device(self) -> device:
        """The device of the memory: the cpu."""
        return types.device("cpu")

    @property
    def is_cuda(self) -> bool:
        return False

    def cpu(self) -> Self:
        """The storage itself: it is there already."""
        return self

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Self:
        """Only the cpu exists here."""
        raise RuntimeError("cuda: only the cpu exists here")

    def untyped(self) -> Self:
        return self

    def clone(self) -> UntypedStorage:
        """The same bytes in other memory."""
        made = UntypedStorage(self.nbytes())
        made._bytes.copy_(self._bytes)
        return made

    def copy_(self, source: UntypedStorage, non_blocking: bool | None = None) -> Self:
        """Takes the bytes of another storage of the same size."""
        if source.nbytes() != self.nbytes():
            raise RuntimeError(f"copy_: the storage has {self.nbytes()} bytes, and the source "
                               f"{source.nbytes()}; expected the same size")
        self._bytes.copy_(source._bytes)
        return self

    def fill_(self, value: int) -> Self:
        """Gives all bytes one value."""
        self._bytes.fill_(value)
        return self

    def __repr__(self) -> str:
        lines = "".join(f" {each}\n" for each in self)
        return f"{lines}[foregrad.storage.UntypedStorage(device=cpu) of size {self.nbytes()}]"

    def __deepcopy__(self, memo: dict[Any, Any]) -> UntypedStorage:
        # By the memory: another object may have stood for it when another tensor was copied.
        key = ("foregrad storage", _C._storage_ptr(self._bytes))
        if key not in memo:
            memo[key] = self.clone()
        return memo[key]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        import pickle

        data = pickle.PickleBuffer(self._bytes) if protocol >= 5 else _C._to_bytes(self._bytes)
        return _from_bytes, (data,)


def _from_bytes(data):
    """The storage with a copy of some bytes."""
    made = UntypedStorage(memoryview(data).nbytes)
    memoryview(made._bytes)[:] = memoryview(data).cast("B")
    return made


class TypedStorage:
    """Memory whose elements have a dtype."""

    def __init__(self, *, wrap_storage: UntypedStorage, dtype: dtype) -> None:
        if not isinstance(wrap_storage, UntypedStorage) or not isinstance(dtype, types.dtype):
            raise TypeError("TypedStorage: expected an UntypedStorage and a dtype, got "
                            f"{type(wrap_storage).__name__} and {type(dtype).__name__}")
        self._untyped_storage, self.dtype = wrap_storage, dtype

    def untyped(self) -> UntypedStorage:
        """The memory without the dtype."""
        return self._untyped_storage

    def _elements(self):
        count = self.size()
        return tensor_over(self._untyped_storage, self.dtype, 0, (count,), (1,))

    def size(self) -> int:
        """The number of whole elements."""
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    __len__ = size

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._untyped_storage.nbytes()

    def element_size(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    def data_ptr(self) -> int:
        """The address of the first element."""
        return self._untyped_storage.data_ptr()

    def tolist(self) -> list[Any]:
        """All elements as numbers."""
        return self._elements().tolist()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __getitem__(self, index: int) -> Any:
        return self._elements()[index].item()

    def __setitem__(self, index: int, value: float) -> None:
        self._elements()[index] = value

    @property
    def device(self) -> device:
        """The device of the memory: the cpu."""
        return types.device("cpu")

    @property
    def is_cuda(self) -> bool:
        return False

    def cpu(self) -> Self:
        """The storage itself: it is there already."""
        return self

    def cuda(self, device: Any = None, non_blocking: bool = False) -> Self:
        """Only the cpu exists here."""
        raise RuntimeError("cuda: only the cpu exists here")

    def clone(self) -> TypedStorage:
        """The same elements in other memory."""
        return TypedStorage(wrap_storage=self._untyped_storage.clone(), dtype=self.dtype)

    def __repr__(self) -> str:
        lines = "".join(f" {each}\n" for each in self)
        return (f"{lines}[foregrad.storage.TypedStorage(dtype={self.dtype}, device=cpu) of size "
                f"{self.size()}]")

    def __reduce__(self) -> tuple[Any, ...]:
        return _typed, (self._untyped_storage, self.dtype)


def _typed(untyped, dtype):
    return TypedStorage(wrap_storage=untyped, dtype=dtype)


def _untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory of the tensor, as bytes."""
    return storage_of(self)


_C.Tensor.untyped_storage = _untyped_storage
_untyped_storage.__name__ = "untyped_storage"
