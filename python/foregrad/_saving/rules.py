"""Rules for pickles: which names exist, which calls are made, which objects change.

Careful builds plain data, tensors and classes that the user trusts. Listing builds nothing and
notes which other names a pickle has.
"""

from __future__ import annotations

import collections
import pickle

from foregrad import _C
from foregrad import _types as types
from foregrad._saving import names, plain, rebuild

_MOST_FRAGILE = 10_000  # Python destroys nested ones of them by recursion, without a limit
_MOST_IN_KEY, _DEEPEST_KEY = 10_000, 100
_MOST_EQUAL_HASHES = 64

trusted = {}  # classes and functions that the user added, by name
_SMALL = (int, float, bool, type(None))
_DICTS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)


def _makers():
    """The function that makes an object of a file, by the class or function that the file calls."""
    table = {thing: (lambda rules, *args, make=thing: make(*args))
             for thing in names.KNOWN.values() if callable(thing) and not isinstance(thing, type)}
    table.update({
        _C.Size: lambda rules, *args: rebuild._size(*args),
        types.device: lambda rules, *args: rebuild._device(*args),
        collections.OrderedDict: plain.ordered_dict, collections.Counter: plain.counter,
        collections.defaultdict: plain.default_dict, collections.deque: plain.deque,
        set: plain.set_of(set), frozenset: plain.set_of(frozenset),
        complex: plain.complex_number, bytearray: plain.byte_array})
    return {id(thing): make for thing, make in table.items()}


_MAKERS = _makers()
_COPIES = {"_codecs.encode": plain.encoded,
           "numpy.dtype": plain.numpy_dtype,
           **{f"numpy.{core}.multiarray.{name}": make for core in ("core", "_core")
              for name, make in (("_reconstruct", plain.numpy_empty),
                                 ("scalar", plain.numpy_scalar))},
           **{f"numpy.{core}.numeric._frombuffer": plain.numpy_from_buffer
              for core in ("core", "_core")}}


class _Maker:
    """A function of another package, by the name that files have for it."""

    def __init__(self, name, make):
        self.name, self.make = name, make

    def __repr__(self):
        return self.name


class Careful:
    """Builds what is known to be harmless, and refuses everything else by its name."""

    def __init__(self, length, persistent):
        self._persistent = persistent
        self._left = 4 * length + 65536
        self._fragile = 0
        self._hashes = {}

    # ---- names

    def find(self, module, name):
        full = names.modern(module, name)
        found = known(full)
        if found is not None:
            return found
        names.refuse_absent(full)
        raise pickle.UnpicklingError(refusal(full))

    def persistent(self, reference):
        if self._persistent is None:
            raise pickle.UnpicklingError("load: the file refers to memory where it has none")
        return self._persistent(reference)

    # ---- calls

    def call(self, function, arguments):
        if isinstance(function, _Maker):
            return function.make(self, *arguments)
        if id(function) in _MAKERS:
            return _MAKERS[id(function)](self, *arguments)
        if not _is_trusted(function):
            raise pickle.UnpicklingError(f"load: the file calls {function!r}, which makes nothing "
                                         "that files of tensors need")
        return function(*arguments)

    def new(self, cls, arguments, options):
        if isinstance(cls, type) and _is_trusted(cls):
            return cls.__new__(cls, *arguments, **options)
        if options:
            raise TypeError(f"{cls!r} takes no named arguments")
        return self.call(cls, arguments)

    # ---- changes

    def build(self, target, state):
        kind = type(target)
        if _is_own(target) or isinstance(target, _Maker) or _is_trusted(target):
            raise pickle.UnpicklingError(f"load: the file changes {target!r} itself; "
                                         "weights_only=True lets it change objects of its own only")
        if kind is collections.OrderedDict or kind in rebuild.OWN_TENSORS:
            rebuild.set_attributes(target, state)
        elif _is_trusted(kind):
            _set_state(target, state)
        elif plain.is_array(target):
            plain.set_numpy_state(self, target, state)
        elif plain.is_numpy_dtype(target):
            plain.set_numpy_dtype_state(self, target, state)
        else:
            raise TypeError(f"a {kind.__name__} takes no attributes")

    def append(self, target, items):
        if type(target) is list or type(target) is collections.deque:
            target.extend(items)
        elif _is_trusted(type(target)):
            for item in items:
                target.append(item)
        else:
            raise TypeError(f"a {type(target).__name__} takes no items")

    def add(self, target, items):
        if type(target) is not set and not _is_trusted(type(target)):
            raise TypeError(f"a {type(target).__name__} is no set")
        self.check_keys(items, target)
        for item in items:
            target.add(item)

    def set_items(self, target, pairs):
        if type(target) not in _DICTS and not _is_trusted(type(target)):
            raise TypeError(f"a {type(target).__name__} takes no keys")
        self.check_keys([key for key, _ in pairs], target)
        for key, value in pairs:
            target[key] = value

    # ---- limits

    def budget(self, size):
        """Counts copies: a file must not copy one long text again and again."""
        self._left -= size + 1
        if self._left < 0:
            raise ValueError("the file makes more copies of its data than a pickle needs")

    def fragile(self):
        self._fragile += 1
        if self._fragile > _MOST_FRAGILE:
            raise ValueError(f"more than {_MOST_FRAGILE} objects of the classes defaultdict and "
                             "deque, which Python cannot destroy safely when they are nested")

    def check_keys(self, keys, target=None):
        """Refuses keys that would take long: nested without end, or all of one hash."""
        seen = {} if target is None else self._seen(target)
        for key in keys:
            if type(key) in (str, bytes):
                continue
            if type(key) not in _SMALL:
                _check_size(key)
            mark = hash(key)
            seen[mark] = seen.get(mark, 0) + 1
            if seen[mark] > _MOST_EQUAL_HASHES:
                raise ValueError("many different keys have one hash, which would take very long")

    def _seen(self, target):
        """Counts of hashes in one container, which is held because its id is the key."""
        return self._hashes.setdefault(id(target), (target, {}))[1]


def _check_size(key):
    """The hash of a tuple looks at everything in it, however often it comes."""
    layer, count = [key], 0
    for _ in range(_DEEPEST_KEY):
        layer = [item for each in layer if isinstance(each, (tuple, frozenset)) for item in each]
        count += len(layer)
        if count > _MOST_IN_KEY:
            break
        if not layer:
            return
    raise ValueError("a key is nested too deeply, or too large")


def _set_state(target, state):
    """Attributes of an object whose class the user trusts, as pickle sets them."""
    if hasattr(target, "__setstate__"):
        target.__setstate__(state)
        return
    state, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if state:
        target.__dict__.update(state)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def _is_own(thing):
    """Whether it is a class or function of the program, and no object of the file."""
    return isinstance(thing, (type, types.dtype, types._Named, names.StorageKind)) or \
        id(thing) in _MAKERS


def _is_trusted(thing):
    return any(thing is each for each in trusted.values())


def known(full):
    """The harmless or trusted object of a name, or None."""
    if full in names.KNOWN:
        return names.KNOWN[full]
    if full in trusted:
        return trusted[full]
    if full.startswith("torch."):
        mine = names.ours(full, load=False) if trusted else None
        if mine is not None and _is_trusted(mine):
            return mine
    if full in _COPIES:
        return _Maker(full, _COPIES[full])
    if full in ("numpy.ndarray",):
        import numpy

        return numpy.ndarray
    return None


def refusal(full):
    """The sentence about a name that is not known."""
    mine = names.ours(full, load=False) if full.startswith("torch.") else None
    here = names.name_of(mine) if isinstance(mine, type) else full
    return (f"load: the file names {full}, and weights_only=True builds tensors, containers, "
            "numbers and texts only; if you trust the file, allow it with "
            f"foregrad.serialization.add_safe_globals([{here}]), or pass weights_only=False, which "
            "may run any code that the file names")


# ---- listing

class Nothing:
    """Stands for whatever a pickle would make; a name of the file has its text."""

    def __init__(self, name=""):
        self.name = name


class Listing:
    """Makes nothing; `refused` are the names that Careful would refuse, `references` the memory."""

    def __init__(self):
        self.refused, self.references = [], []

    def find(self, module, name):
        full = names.modern(module, name)
        found = known(full)
        if found is None and full not in self.refused:
            self.refused.append(full)
        return found if isinstance(found, (names.StorageKind, types.dtype)) else Nothing(full)

    def persistent(self, reference):
        self.references.append(reference)
        return Nothing()

    def call(self, function, arguments):
        return Nothing()

    def new(self, cls, arguments, options):
        return Nothing()

    def build(self, target, state):
        pass

    def append(self, target, items):
        pass

    add = set_items = append

    def check_keys(self, keys):
        for key in keys:
            _check_size(key)
