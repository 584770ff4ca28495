"""Stores of a function into attributes, dictionaries and lists: results that are stored again after
every call of captured code, as eager code would have done."""

from operator import is_

from foregrad import _C

Tensor = _C.Tensor
_PLAIN = (int, float, bool, str, bytes, complex, type(None), _C.dtype, _C.Size)


class Store:
    """One thing that was stored: a variable, an entry of a dictionary, an item of a list."""

    def __init__(self, holder, key, value):
        self.holder, self.key, self.value = holder, key, value

    def put(self, value):
        if self.key is _VARIABLE:
            self.holder.write(value)
        elif self.key is _LAST:
            self.holder.append(value)
        else:
            self.holder[self.key] = value


_LAST, _VARIABLE = object(), object()  # a new item of a list; a Place


def _stores_of(holder, before):
    """The stores into a container since; None: it was changed in another way."""
    if isinstance(holder, list):
        same = all(old is new for old, new in zip(before, holder))
        if len(holder) < len(before):
            return None
        if same:
            return [Store(holder, _LAST, value) for value in holder[len(before):]]
        if len(holder) == len(before):
            return [Store(holder, i, value) for i, value in enumerate(holder)
                    if value is not before[i]]
        return None
    if list(holder)[:len(before)] != list(before):  # some are gone, or in another order
        return None
    return [Store(holder, key, value) for key, value in list(holder.items())
            if key not in before or value is not before[key]]


def _is_same(holder, before):
    """Whether nothing was stored in a container; most are looked at for no other reason."""
    if len(holder) != len(before) or not all(map(is_, holder, before)):
        return False
    return isinstance(holder, list) or all(map(is_, holder.values(), before.values()))


def _is_storable(value, seen):
    """Tensors, plain values, and new containers of such that nothing else holds."""
    if isinstance(value, Tensor):
        return type(value) is Tensor or not _C.is_abstract(value)
    if isinstance(value, _PLAIN):
        return True
    if type(value) not in (tuple, list, dict) or id(value) in seen:
        return False
    seen.add(id(value))
    return all(_is_storable(item, seen)
               for item in (value.values() if type(value) is dict else value))


def _containers(value, found):
    if type(value) in (tuple, list, dict):
        found.add(id(value))
        for item in value.values() if type(value) is dict else value:
            _containers(item, found)
    return found


def take_stores(originals, variables, result):
    """Takes back, in order, the stores of a function that was captured, and returns them.

    A store that cannot be repeated, in a container that is changed in other ways too, stays.
    """
    taken, seen = [], _containers(result, {id(holder) for holder, _ in originals})
    for holder, before in originals:
        if not isinstance(holder, (list, dict)) or _is_same(holder, before):
            continue
        stores = _stores_of(holder, before)
        if not stores or not all(_is_storable(store.value, seen) for store in stores):
            continue
        taken += stores
        if isinstance(holder, list):
            holder[:] = before
        else:
            holder.clear()
            holder.update(before)
    for place, before in variables:
        now = place.read()
        if now is not before and _is_storable(now, seen):
            taken.append(Store(place, _VARIABLE, now))
            place.write(before)
    return taken


class After:
    """Repeats the stores with the values of a call, and returns its result."""

    def __init__(self, stores):
        self._stores = [(store.holder, store.key) for store in stores]

    def __call__(self, made):
        result, values = made
        for (holder, key), value in zip(self._stores, values):
            Store(holder, key, value).put(value)
        return result
