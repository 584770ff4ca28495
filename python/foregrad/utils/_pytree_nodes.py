"""Containers that trees are made of: how each is taken apart, put together, and named."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections import OrderedDict, defaultdict, deque, namedtuple


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """A position on a path."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """The item there."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """A key on a path."""

    key: object

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """The value there."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """An attribute on a path."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, obj):
        """The value there."""
        return getattr(obj, self.name)


def keystr(kp):
    """A path as text, such as ['a'][0].b."""
    return "".join(str(key) for key in kp)


def key_get(obj, kp):
    """The thing at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


# ---- kinds of tuples

def is_namedtuple_class(cls):
    """Whether a class is a named tuple."""
    fields = getattr(cls, "_fields", None)
    return (isinstance(cls, type) and issubclass(cls, tuple) and isinstance(fields, tuple)
            and all(type(field) is str for field in fields))


def is_namedtuple_instance(obj):
    """Whether an object is a named tuple."""
    return is_namedtuple_class(type(obj))


def is_namedtuple(obj):
    """Whether an object or a class is a named tuple."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_class(cls):
    """Whether a class is a tuple with names that C makes, such as the result of max()."""
    return (isinstance(cls, type) and cls.__bases__ == (tuple,)
            and all(isinstance(getattr(cls, name, None), int)
                    for name in ("n_sequence_fields", "n_fields", "n_unnamed_fields")))


def is_structseq_instance(obj):
    """Whether an object is such a tuple."""
    return is_structseq_class(type(obj))


def is_structseq(obj):
    """Whether an object or a class is such a tuple."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


# ---- the table

@dataclasses.dataclass(frozen=True)
class NodeDef:
    """The functions of one kind of container."""

    type: object
    flatten_fn: object
    unflatten_fn: object
    flatten_with_keys_fn: object = None
    to_dumpable_context: object = None
    from_dumpable_context: object = None


SUPPORTED_NODES: dict[object, NodeDef] = {}
_NAMES: dict[object, str] = {}
_CLASSES: dict[str, object] = {}


def register_pytree_node(cls, flatten_fn, unflatten_fn, *, serialized_type_name=None,
                         to_dumpable_context=None, from_dumpable_context=None,
                         flatten_with_keys_fn=None):
    """Makes a class a container: `flatten_fn` gives its children and a context, `unflatten_fn`
    makes an object of them."""
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node. Overwriting the previous "
                         "registration is not allowed.")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(f"Both to_dumpable_context and from_dumpable_context for {cls} must be "
                         "None or registered.")
    if serialized_type_name in _CLASSES:
        raise ValueError(f"register_pytree_node: the name {serialized_type_name!r} is taken by "
                         f"{_CLASSES[serialized_type_name]}; choose another")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn, flatten_with_keys_fn,
                                   to_dumpable_context, from_dumpable_context)
    if serialized_type_name is not None:
        _NAMES[cls], _CLASSES[serialized_type_name] = serialized_type_name, cls


def register_dataclass(cls, *, field_names=None, drop_field_names=None,
                       serialized_type_name=None):
    """Makes a dataclass a container of its fields."""
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"register_dataclass() can only be applied to dataclasses, got {cls}")
    names = field_names if field_names is not None else [
        field.name for field in dataclasses.fields(cls)
        if field.init and field.name not in (drop_field_names or ())]

    def flatten(obj):
        present = [name for name in names if getattr(obj, name) is not None]
        absent = [name for name in names if getattr(obj, name) is None]
        return [getattr(obj, name) for name in present], [present, absent]

    def with_keys(obj):
        values, context = flatten(obj)
        return [(GetAttrKey(name), value) for name, value in zip(context[0], values)], context

    def unflatten(values, context):
        return cls(**dict(zip(context[0], values)), **dict.fromkeys(context[1]))

    register_pytree_node(cls, flatten, unflatten, flatten_with_keys_fn=with_keys,
                         serialized_type_name=serialized_type_name)


def register_constant(cls):
    """Makes a class a container without children: its objects are part of the spec."""
    register_pytree_node(cls, lambda obj: ([], obj), lambda children, obj: obj,
                         flatten_with_keys_fn=lambda obj: ([], obj))


def node_of(tree):
    """The functions of a container; None for a leaf."""
    kind = type(tree)
    node = SUPPORTED_NODES.get(kind)
    if node is not None:
        return node
    if isinstance(tree, tuple):
        if is_namedtuple_class(kind):
            return SUPPORTED_NODES[namedtuple]
        if is_structseq_class(kind):
            return _structseq_node(kind)
    return None


@functools.lru_cache(None)
def _structseq_node(kind):
    """Results of functions with names become containers when they are met."""
    register_pytree_node(
        kind, lambda obj: (list(obj), None), lambda children, _: kind(children),
        flatten_with_keys_fn=lambda obj: (_numbered(obj), None))
    return SUPPORTED_NODES[kind]


def serialized_name(kind):
    """The name of a class in the text of a spec."""
    if kind not in _NAMES:
        raise NotImplementedError(f"No registered serialization name for {kind} found. Please "
                                  "register it with register_pytree_node.")
    return _NAMES[kind]


def find_class(name):
    """The class of such a name."""
    if name not in _CLASSES:
        raise NotImplementedError(f"Deserializing `{name}` in pytree is not registered.")
    return _CLASSES[name]


def _numbered(values):
    return [(SequenceKey(i), value) for i, value in enumerate(values)]


def _keyed(mapping):
    return [(MappingKey(key), value) for key, value in mapping.items()]


def _add(cls, name, flatten, unflatten, keys, write=None, read=None):
    register_pytree_node(
        cls, flatten, unflatten, serialized_type_name=name, to_dumpable_context=write,
        from_dumpable_context=read,
        flatten_with_keys_fn=lambda obj: (keys(obj), flatten(obj)[1]))


def _unflatten_default(values, context):
    return defaultdict(context[0], zip(context[1], values))


def _write_default(context):
    factory = context[0]
    name = None if factory is None else f"{factory.__module__}.{factory.__qualname__}"
    return json.dumps({"default_factory": name, "keys": context[1]})


def _read_default(text):
    import builtins

    plain = json.loads(text)
    name = plain["default_factory"]
    if name is None:
        return [None, plain["keys"]]
    module, _, factory = name.rpartition(".")
    if module != "builtins" or not hasattr(builtins, factory):
        raise NotImplementedError(f"treespec_loads: the factory {name} of a defaultdict is not "
                                  "loaded from text; expected one of builtins")
    return [getattr(builtins, factory), plain["keys"]]


def _write_class(context):
    return json.dumps(f"{context.__module__}.{context.__qualname__}")


def _read_class(text):
    raise NotImplementedError(f"treespec_loads: the named tuple {text} is not loaded from text; "
                              "make the spec by tree_structure")


_add(tuple, "builtins.tuple", lambda obj: (list(obj), None), lambda v, _: tuple(v), _numbered)
_add(list, "builtins.list", lambda obj: (obj, None), lambda v, _: list(v), _numbered)
_add(dict, "builtins.dict", lambda obj: (list(obj.values()), list(obj)),
     lambda v, keys: dict(zip(keys, v)), _keyed)
_add(OrderedDict, "collections.OrderedDict", lambda obj: (list(obj.values()), list(obj)),
     lambda v, keys: OrderedDict(zip(keys, v)), _keyed)
_add(defaultdict, "collections.defaultdict",
     lambda obj: (list(obj.values()), [obj.default_factory, list(obj)]), _unflatten_default,
     _keyed, _write_default, _read_default)
_add(deque, "collections.deque", lambda obj: (list(obj), obj.maxlen),
     lambda v, maxlen: deque(v, maxlen=maxlen), _numbered)
_add(namedtuple, "collections.namedtuple", lambda obj: (list(obj), type(obj)),
     lambda v, cls: cls(*v),
     lambda obj: [(GetAttrKey(n), v) for n, v in zip(obj._fields, obj)], _write_class, _read_class)
