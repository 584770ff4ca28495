"""Batches on their way from a worker to the loader: the side of the worker.

Tensors of a batch lie in blocks. Small ones share the first block, which travels in the message
itself. Large ones lie in a segment: anonymous shared memory that both processes map, with a number.
The loader gives a segment back when the last tensor in it is gone, and the worker uses it again for
another batch, so that after the first batches no memory is requested, zeroed or mapped. Segments
have no names: they are gone with the processes, however these end. Where there is no shared memory
to be had, blocks travel in the message.

default_collate stacks samples where the batch lies (`Sender.stack`). All other tensors, and the
memory of numpy arrays, are copied there when the batch is pickled.
"""

import io
import mmap
import os
import pickle
import threading
import weakref
from multiprocessing.reduction import ForkingPickler

from foregrad import _C
from foregrad._C import Tensor

__all__ = []

SMALL = 16 << 10  # bytes of a batch that travel in the message
_ALIGNMENT = 64
_MOST_SEGMENTS = 48  # new ones per batch; each is at least as large as all before it together

_sender, _thread = None, None


def sending():
    """The sender of the batch that this thread is making; none outside of workers."""
    return _sender if _thread == threading.get_ident() else None


class _Use:
    """One use of a segment in this process: it lives as long as tensors in the segment."""

    def __init__(self, memory):
        self.memory = memory


class _Block:
    """Memory for some tensors of one batch."""

    def __init__(self, memory, size, number=None, keep=None):
        self.memory, self.size, self.number = memory, size, number
        self.keep = memory if keep is None else keep
        self.used, self.address = 0, None

    def reserve(self, count):
        """The offset of so many bytes; None if they do not fit."""
        begin = -(-self.used // _ALIGNMENT) * _ALIGNMENT
        if begin + count > self.size:
            return None
        self.used = begin + count
        return begin

    def tensor(self, offset, dtype, sizes, strides):
        made = _C._tensor_in(self.memory, offset, dtype, sizes, strides, self.keep)
        if self.address is None:
            self.address = made.data_ptr() - offset
        return made


class _Segment:
    """Shared memory; `descriptor` is there until the loader has it."""

    def __init__(self, number, size):
        self.number, self.size = number, size
        self.descriptor = os.memfd_create("foregrad-batch", os.MFD_CLOEXEC)
        try:
            os.ftruncate(self.descriptor, size)
            self.memory = mmap.mmap(self.descriptor, size,
                                    flags=mmap.MAP_SHARED | getattr(mmap, "MAP_POPULATE", 0))
        except BaseException:
            os.close(self.descriptor)
            raise
        self.lent, self._use = False, None

    def is_free(self):
        """Whether neither the loader nor anything in this process has tensors in it."""
        return not self.lent and (self._use is None or self._use() is None)

    def block(self):
        use = _Use(self.memory)
        self._use = weakref.ref(use)
        return _Block(self.memory, self.size, self.number, use)


def _rounded(size):
    """The size, a bit more: batches that differ little fit into each other's segments."""
    step = max(mmap.PAGESIZE, 1 << max(size.bit_length() - 3, 0))
    return -(-size // step) * step


def _reach(sizes, strides):
    return 0 if 0 in sizes else 1 + sum((n - 1) * step for n, step in zip(sizes, strides))


def _dense_strides(tensor):
    """The strides of a copy: those of the tensor if it fills its memory, else row by row."""
    strides = tensor.stride()
    if _reach(tensor.shape, strides) == tensor.numel():
        return strides
    made, step = [], 1
    for size in reversed(tensor.shape):
        made.append(step)
        step *= max(size, 1)
    return tuple(reversed(made))


class Sender:
    """The memory of the batches of one worker."""

    def __init__(self):
        self._segments, self._next_number = {}, 0
        self._forgotten = []  # numbers that the loader need not keep
        self._shares, self._last_bytes = hasattr(os, "memfd_create"), 0
        self.begin()

    def begin(self):
        """Begins a batch."""
        self.blocks, self._large = [], None

    def release(self, returned, retired):
        """Takes segments back from the loader, or forgets them."""
        for number in returned:
            self._segments[number].lent = False
        for number in retired:
            del self._segments[number]

    def collating(self, function, data):
        """Calls a collate_fn, whose tensors are made where they travel."""
        global _sender, _thread
        _sender, _thread = self, threading.get_ident()
        try:
            return function(data)
        finally:
            _sender = _thread = None

    # ---- places for tensors

    def reserve(self, count):
        """A block with so many free bytes, and where they begin."""
        if not self.blocks:
            self.blocks.append(_Block(bytearray(SMALL), SMALL))
        small, large = self.blocks[0], self._large
        for block in (small, large):
            if block is not None and (begin := block.reserve(count)) is not None:
                return block, begin
        self._large = self._new_block(count)
        self.blocks.append(self._large)
        return self._large, self._large.reserve(count)

    def _new_block(self, count):
        segment = self._free_segment(count) if self._shares else None
        return _Block(bytearray(count), count) if segment is None else segment.block()

    def _free_segment(self, count):
        """A segment for so many bytes and the rest of the batch; None where there is none."""
        taken = self._large_bytes()
        wanted = max(count, taken, self._last_bytes - taken)
        inside = {block.number for block in self.blocks}
        free = [each for each in self._segments.values()
                if each.is_free() and each.number not in inside]
        fitting = [each for each in free if each.size >= wanted]
        if fitting:
            return min(fitting, key=lambda each: each.size)
        if len(self.blocks) > _MOST_SEGMENTS:
            return None
        for each in free:  # too small from now on
            del self._segments[each.number]
            self._forgotten.append(each.number)
            if each.descriptor is not None:
                os.close(each.descriptor)
        try:
            made = _Segment(self._next_number, _rounded(wanted))
        except (OSError, MemoryError, ValueError):
            self._shares = False
            return None
        self._next_number += 1
        self._segments[made.number] = made
        return made

    def _large_bytes(self):
        return sum(block.used for block in self.blocks[1:])

    def empty(self, dtype, sizes, strides):
        """A tensor in the batch, and its block and offset."""
        block, begin = self.reserve(_reach(sizes, strides) * dtype.itemsize)
        return block.tensor(begin, dtype, sizes, strides), block, begin

    def stack(self, tensors):
        """The tensors stacked where the batch lies; None for those that need more than a copy."""
        first = tensors[0]
        if type(first) is not Tensor or not first.is_contiguous():
            return None
        count = first.numel()
        strides = first.stride()
        out, block, begin = self.empty(first.dtype, (len(tensors), *first.shape),
                                       (count, *strides))
        if _C._stack_into(tensors, out):
            return out
        block.used = begin
        return None

    def place_of(self, tensor):
        """The block and offset of a tensor, which is copied into the batch if it lies elsewhere."""
        sizes, strides = tuple(tensor.shape), tensor.stride()
        address, length = tensor.data_ptr(), _reach(sizes, strides) * tensor.itemsize
        for i, block in enumerate(self.blocks):
            begin = block.address
            if begin is not None and begin <= address and address + length <= begin + block.used:
                return i, address - begin, strides
        strides = _dense_strides(tensor)
        copy, block, begin = self.empty(tensor.dtype, sizes, strides)
        copy.copy_(tensor)
        return self.blocks.index(block), begin, strides

    # ---- the message

    def pack(self, data):
        """The parts of a message, and the descriptors of segments that the loader lacks."""
        stream, places = io.BytesIO(), _Places(self)
        _Pickler(stream, self, places).dump(data)
        blocks, descriptors = [], []
        for block in self.blocks:
            if block.number is None:
                blocks.append(block.used)
                continue
            segment = self._segments[block.number]
            blocks.append((block.number, block.used, segment.size,
                           segment.descriptor is not None))
            if segment.descriptor is not None:
                descriptors.append(segment.descriptor)
        head = pickle.dumps((blocks, places.all, self._forgotten), 5)
        inline = [memoryview(block.memory)[:block.used] for block in self.blocks
                  if block.number is None]
        return [len(head).to_bytes(4, "little"), head, *inline, stream.getbuffer()], descriptors

    def sent(self):
        """Called when the message is on its way: its segments are the loader's now."""
        self._last_bytes, self._forgotten = self._large_bytes(), []
        for block in self.blocks:
            if block.number is not None:
                segment = self._segments[block.number]
                segment.lent = True
                if segment.descriptor is not None:
                    os.close(segment.descriptor)
                    segment.descriptor = None
        self.begin()


# ---- pickles whose tensors lie in blocks

_PLACE = pickle.PickleBuffer(bytearray())  # stands in a pickle for a block
_WORTH_A_BLOCK = 1024  # smaller buffers stay in the pickle


def tensor_at(place, offset, dtype, sizes, strides):
    """The tensor of a pickle, in a block (memory, object to keep)."""
    return _C._tensor_in(place[0], offset, dtype, sizes, strides, place[1])


def tensor_like(data, cls, requires_grad, attributes):
    """A tensor of a subclass, with attributes, or one that requires a gradient."""
    if cls is Tensor:
        data.requires_grad_(requires_grad)
    else:
        data = _C._make_subclass(cls, data, requires_grad)
    data.__dict__.update(attributes)
    return data


class _Places:
    """The block of every tensor and buffer of a pickle, in their order."""

    def __init__(self, sender):
        self._sender, self.next, self.all = sender, None, []

    def add(self, buffer):
        """Called for every buffer; a true result leaves its bytes in the pickle."""
        if buffer is _PLACE:
            self.all.append(self.next)
            return False
        raw = buffer.raw()
        if raw.nbytes < _WORTH_A_BLOCK:
            return True
        block, begin = self._sender.reserve(raw.nbytes)
        memoryview(block.memory)[begin:begin + raw.nbytes] = raw
        self.all.append((self._sender.blocks.index(block), begin, raw.nbytes))
        return False


class _Pickler(ForkingPickler):
    """Writes a batch without the memory of its tensors."""

    def __init__(self, stream, sender, places):
        super().__init__(stream, 5, True, places.add)
        self._sender, self._places = sender, places

    def reducer_override(self, obj):
        if not isinstance(obj, Tensor):
            return NotImplemented
        if type(obj) is not Tensor or obj.requires_grad or obj.__dict__:
            if obj.requires_grad and not obj.is_leaf:
                raise RuntimeError(
                    "Cowardly refusing to serialize non-leaf tensor which requires_grad, since "
                    "autograd does not support crossing process boundaries.  If you just want to "
                    "transfer the data, call detach() on the tensor before serializing (e.g., "
                    "putting it on the queue).")
            plain = _C._as_subclass(obj.detach(), Tensor)
            return tensor_like, (plain, type(obj), obj.requires_grad, dict(obj.__dict__))
        self._places.next, offset, strides = self._sender.place_of(obj)
        return tensor_at, (_PLACE, offset, obj.dtype, tuple(obj.shape), strides)
