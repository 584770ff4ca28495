"""Batches of samples: tensors are stacked, containers joined item by item.

In a worker process the stacked tensors are made where the batch travels, so that it is not copied
again (`_transport.sending`).
"""

from __future__ import annotations

import collections.abc
import copy
import functools
import re
import sys
from typing import Any

import foregrad
from foregrad._C import Tensor
from foregrad.utils.data import _transport

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable

    _Kinds = dict[type | tuple[type, ...], Callable[..., Any]]

__all__ = ["collate", "default_collate", "default_collate_err_msg_format", "default_collate_fn_map",
           "default_convert"]

np_str_obj_array_pattern = re.compile(r"[SaUO]")
default_collate_err_msg_format = ("default_collate: batch must contain tensors, numpy arrays, "
                                  "numbers, dicts or lists; found {}")


# ---- containers

def _is_plain_sequence(data):
    return isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes))


def _is_named_tuple(data):
    return isinstance(data, tuple) and hasattr(data, "_fields")


def _like_mapping(model, items):
    """The items in a mapping of the class of another one; a dict where that cannot be made."""
    if type(model) is dict:
        return items
    try:
        if isinstance(model, collections.abc.MutableMapping):
            made = copy.copy(model)  # keeps more than the items: the factory of a defaultdict
            made.update(items)
            return made
        return type(model)(items)
    except TypeError:
        return items


def _like_sequence(model, items):
    """The items in a sequence of the class of another one; a list where that cannot be made."""
    if type(model) is list:
        return items
    try:
        if isinstance(model, collections.abc.MutableSequence):
            made = copy.copy(model)
            for i, item in enumerate(items):
                made[i] = item
            return made
        return type(model)(items)
    except TypeError:
        return items


# ---- numpy, which is not loaded here: without it in the program there are no arrays of it

def _numpy():
    return sys.modules.get("numpy")


def _is_array(data):
    numpy = _numpy()
    return numpy is not None and isinstance(data, numpy.ndarray)


def default_convert(data: Any) -> Any:
    """The data with its numpy arrays and numbers made tensors."""
    numpy = _numpy()
    if isinstance(data, Tensor):
        return data
    if numpy and isinstance(data, (numpy.ndarray, numpy.bool_, numpy.number)):
        is_text = _is_array(data) and np_str_obj_array_pattern.search(data.dtype.str)
        return data if is_text else foregrad.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _like_mapping(data, {key: default_convert(data[key]) for key in data})
    if _is_named_tuple(data):
        return type(data)(*map(default_convert, data))
    if isinstance(data, tuple):
        return [default_convert(each) for each in data]
    if _is_plain_sequence(data):
        return _like_sequence(data, [default_convert(each) for each in data])
    return data


# ---- one function per kind of element

def _refuse_mixture(batch):
    for i, each in enumerate(batch):
        if not isinstance(each, Tensor):
            raise TypeError(f"default_collate: expected Tensor as element {i} in argument 0, but "
                            f"got {type(each).__name__}")


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Stacks tensors along a new first dimension."""
    batch = batch if isinstance(batch, (list, tuple)) else list(batch)
    first = batch[0]
    batcher = _transport.sending()
    if batcher is not None:
        made = batcher.stack(batch)
        if made is not None:
            return made
    try:
        return foregrad.stack(batch, 0)
    except TypeError:
        _refuse_mixture(batch)
        raise
    except RuntimeError:
        for i, each in enumerate(batch):
            if each.shape != first.shape:
                raise RuntimeError(
                    f"stack expects each tensor to be equal size, but got {list(first.shape)} at "
                    f"entry 0 and {list(each.shape)} at entry {i}; give the DataLoader a "
                    "collate_fn that pads them, or make them equal in the dataset") from None
        raise


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Stacks numpy arrays as tensors."""
    first = batch[0]
    if np_str_obj_array_pattern.search(first.dtype.str):
        raise TypeError(default_collate_err_msg_format.format(first.dtype))
    return collate([foregrad.as_tensor(each) for each in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """A vector of numpy's numbers, in the dtype that they have."""
    return foregrad.as_tensor(_numpy().asarray(batch))


def _vector(numbers, dtype=None):
    try:
        return foregrad.tensor(numbers, dtype=dtype)
    except ValueError:
        kinds = sorted({type(each).__name__ for each in numbers})
        raise TypeError("default_collate: expected numbers only, as the first sample has, but got "
                        f"{', '.join(kinds)}") from None


def collate_float_fn(batch, *, collate_fn_map=None):
    """A vector of doubles, which is the type of Python's floats."""
    return _vector(batch, foregrad.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """A vector of integers or bools."""
    return _vector(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """The texts as they are."""
    return batch


default_collate_fn_map: _Kinds = {Tensor: collate_tensor_fn, float: collate_float_fn,
                                  int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn}


@functools.cache
def _map_of_numpy(numpy):
    return {numpy.ndarray: collate_numpy_array_fn,
            (numpy.bool_, numpy.number, numpy.object_): collate_numpy_scalar_fn}


def _numpy_fn(first):
    """The function for an element of numpy; none where numpy is not even imported."""
    numpy = _numpy()
    for kind, function in _map_of_numpy(numpy).items() if numpy else ():
        if isinstance(first, kind):
            return function
    return None


def _fn_for(first, functions):
    """The function of a map for an element: by its class, or by a base of that."""
    kind = type(first)
    if kind in functions:
        return functions[kind]
    if functions.get(Tensor) is collate_tensor_fn and (function := _numpy_fn(first)):
        return function  # before its base: numpy's float64 is a float of Python, too
    return next((function for each, function in functions.items() if isinstance(first, each)), None)


def collate(batch: Any, *, collate_fn_map: _Kinds | None = None) -> Any:
    """A batch of samples, joined by the functions that the map has for their classes."""
    first = batch[0]
    if collate_fn_map is not None:
        function = _fn_for(first, collate_fn_map)
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    join = functools.partial(collate, collate_fn_map=collate_fn_map)
    if isinstance(first, collections.abc.Mapping):
        return _like_mapping(first, {key: join([each[key] for each in batch]) for key in first})
    if _is_named_tuple(first):
        return type(first)(*map(join, zip(*batch)))
    if _is_plain_sequence(first):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size: got "
                               f"{sorted({len(each) for each in batch})}")
        joined = [join(column) for column in zip(*batch)]
        return joined if isinstance(first, tuple) else _like_sequence(first, joined)
    raise TypeError(default_collate_err_msg_format.format(type(first)))


def default_collate(batch: Any) -> Any:
    """A batch of samples: tensors and arrays stacked, numbers as vectors, containers by item.

    Texts stay lists; tuples become lists, dictionaries and named tuples keep their class.
    """
    return collate(batch, collate_fn_map=default_collate_fn_map)
