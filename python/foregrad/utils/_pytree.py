"""Trees of containers: flattened to a list of leaves and a description, and put together again.

Containers are lists, tuples, named tuples, dictionaries and their like, and registered classes; all
else is a leaf, None among them.
"""

from __future__ import annotations

import json
from collections import OrderedDict, defaultdict, namedtuple

from foregrad.utils._pytree_nodes import (  # noqa: F401
    SUPPORTED_NODES,
    GetAttrKey,
    MappingKey,
    NodeDef,
    SequenceKey,
    find_class,
    is_namedtuple,
    is_namedtuple_class,
    is_namedtuple_instance,
    is_structseq,
    is_structseq_class,
    is_structseq_instance,
    key_get,
    keystr,
    node_of,
    register_constant,
    register_dataclass,
    register_pytree_node,
    serialized_name,
)

_register_pytree_node = register_pytree_node


class TreeSpec:
    """The shape of a tree: the type and context of its container, and the specs of its children."""

    __slots__ = ("type", "context", "_children", "num_nodes", "num_leaves", "num_children")

    def __init__(self, type, context, children_specs):
        self.type, self.context, self._children = type, context, list(children_specs)
        self.num_children = len(self._children)
        self.num_nodes = 1 + sum(spec.num_nodes for spec in self._children)
        self.num_leaves = sum(spec.num_leaves for spec in self._children) if type else 1

    @property
    def children_specs(self):
        return self._children

    def children(self):
        """The specs of the children."""
        return list(self._children)

    def child(self, index):
        """The spec of one child."""
        return self._children[index]

    def is_leaf(self):
        """Whether the tree is one leaf."""
        return self.type is None

    def unflatten(self, leaves):
        """The tree with these leaves."""
        return tree_unflatten(leaves, self)

    def flatten_up_to(self, tree):
        """The parts of a tree where this one has leaves."""
        if self.is_leaf():
            return [tree]
        children, context = _children_like(self, tree)
        return [part for spec, child in zip(self._children, children)
                for part in spec.flatten_up_to(child)]

    def __eq__(self, other):
        return (isinstance(other, TreeSpec) and self.type is other.type
                and self.context == other.context and self._children == other._children)

    def __hash__(self):
        return hash((self.type, repr(self.context), tuple(self._children)))

    def __repr__(self, indent=0):
        if self.is_leaf():
            return "*"
        prefix = f"TreeSpec({self.type.__name__}, {self.context}, ["
        inner = indent + 2
        texts = [spec.__repr__(inner) for spec in self._children]
        return prefix + f",\n{' ' * inner}".join(texts) + "])"


LeafSpec = type("LeafSpec", (TreeSpec,), {
    "__slots__": (), "__doc__": "The spec of a leaf.",
    "__init__": lambda self: TreeSpec.__init__(self, None, None, [])})
_LEAF = LeafSpec()


def treespec_leaf():
    """The spec of a leaf."""
    return _LEAF


def tree_is_leaf(tree, is_leaf=None):
    """Whether something is no container, or taken for a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or node_of(tree) is None


def _flatten_into(tree, leaves, is_leaf):
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        leaves.append(tree)
        return _LEAF
    children, context = node.flatten_fn(tree)
    kind = namedtuple if is_namedtuple_instance(tree) and node.type is namedtuple else type(tree)
    return TreeSpec(kind, context, [_flatten_into(child, leaves, is_leaf) for child in children])


def tree_flatten(tree, is_leaf=None):
    """The leaves of a tree from left to right, and its spec."""
    leaves = []
    spec = _flatten_into(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The tree of a spec with these leaves."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError("tree_unflatten(leaves, treespec): Expected `treespec` to be instance of "
                        f"TreeSpec but got item of type {type(treespec)}.")
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but "
                         f"the spec refers to a pytree that holds {treespec.num_leaves} items "
                         f"({treespec}).")
    rest = iter(leaves)
    return _built(treespec, rest)


def _built(spec, rest):
    if spec.is_leaf():
        return next(rest)
    children = [_built(child, rest) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


def tree_iter(tree, is_leaf=None):
    """The leaves, one by one."""
    yield from tree_leaves(tree, is_leaf)


def tree_leaves(tree, is_leaf=None):
    """The leaves of a tree."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    """The spec of a tree."""
    return tree_flatten(tree, is_leaf)[1]


def _children_like(spec, tree):
    """The children of a tree whose container must be that of a spec."""
    node = node_of(tree)
    kind = namedtuple if node is not None and node.type is namedtuple else type(tree)
    dictionaries = (dict, OrderedDict, defaultdict)
    if node is None or (kind is not spec.type
                        and not (kind in dictionaries and spec.type in dictionaries)):
        raise ValueError(f"Type mismatch; expected {spec.type!r}, but got {type(tree)!r}.")
    if kind in dictionaries:
        keys = spec.context[1] if spec.type is defaultdict else spec.context
        if set(keys) != set(tree):
            raise ValueError(f"Node keys mismatch; expected {list(keys)}, but got {list(tree)}.")
        return [tree[key] for key in keys], spec.context
    children, context = node.flatten_fn(tree)
    children = list(children)
    if len(children) != spec.num_children:
        raise ValueError(f"Node arity mismatch; expected {spec.num_children}, but got "
                         f"{len(children)}.")
    if context != spec.context:
        raise ValueError(f"Node context mismatch for custom node type {spec.type!r}.")
    return children, context


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree of func(leaf, ...), also of several trees of the first one's shape."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return tree_unflatten([func(*row) for row in zip(*columns)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls func for every leaf; the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    for row in zip(leaves, *(spec.flatten_up_to(rest) for rest in rests)):
        func(*row)
    return tree


def _only(wanted):
    """Whether a leaf is of a type, or fits a predicate."""
    if isinstance(wanted, (type, tuple)) or type(wanted).__name__ == "UnionType":
        return lambda leaf: isinstance(leaf, wanted)
    if callable(wanted):
        return wanted
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(type_or_types_or_pred, /):
    """A decorator: the function is called for some leaves, and others stay."""
    fits = _only(type_or_types_or_pred)
    return lambda func: lambda leaf: func(leaf) if fits(leaf) else leaf


def tree_map_only(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """tree_map for leaves of a type; others stay."""
    return tree_map(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_map_only_(type_or_types_or_pred, /, func, tree, is_leaf=None):
    """Calls func for leaves of a type; the tree itself."""
    return tree_map_(map_only(type_or_types_or_pred)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether a predicate holds for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether a predicate holds for some leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether a predicate holds for all leaves of a type."""
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


def tree_any_only(type_or_types, /, pred, tree, is_leaf=None):
    """Whether a predicate holds for some leaf of a type."""
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if isinstance(leaf, type_or_types))


# ---- paths

def _with_paths(tree, path, found, is_leaf):
    node = None if is_leaf is not None and is_leaf(tree) else node_of(tree)
    if node is None:
        found.append((path, tree))
        return
    if node.flatten_with_keys_fn is None:
        raise ValueError(f"Did not find a flatten_with_keys_fn for type: {node.type}. Please pass "
                         "a flatten_with_keys_fn argument to register_pytree_node.")
    for key, child in node.flatten_with_keys_fn(tree)[0]:
        _with_paths(child, (*path, key), found, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """Pairs of the path to a leaf, and the leaf."""
    found = []
    _with_paths(tree, (), found, is_leaf)
    return found


def tree_flatten_with_path(tree, is_leaf=None):
    """These pairs, and the spec."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """The tree of func(path, leaf, ...)."""
    found, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [*zip(*found)] if found else [(), ()]
    columns += [spec.flatten_up_to(rest) for rest in rests]
    return tree_unflatten([func(*row) for row in zip(*columns)], spec)


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """Leaves of a tree, each as often as the spec has leaves there; None when they differ."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf():
        return None
    try:
        children, _ = _children_like(treespec, tree)
    except ValueError:
        return None
    result = []
    for child, spec in zip(children, treespec.children_specs):
        found = _broadcast_to_and_flatten(child, spec, is_leaf)
        if found is None:
            return None
        result += found
    return result


def arg_tree_leaves(*args, **kwargs):
    """The leaves of the arguments of a call."""
    return tree_leaves((args, kwargs))


# ---- specs as text

def _plain(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    node = SUPPORTED_NODES[spec.type]
    if node.to_dumpable_context is not None:
        context = node.to_dumpable_context(spec.context)
    else:
        try:
            context = json.dumps(spec.context)
        except TypeError as error:
            raise TypeError("Unable to serialize context. Please make the context json dump-able, "
                            "or register a custom serializer using "
                            "register_pytree_node.") from error
    return {"type": serialized_name(spec.type), "context": context,
            "children_spec": [_plain(child) for child in spec.children_specs]}


def treespec_dumps(treespec, protocol=None):
    """A spec as text."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError("treespec_dumps(treespec, protocol): Expected `treespec` to be instance of "
                        f"TreeSpec but got item of type {type(treespec)}.")
    if protocol not in (None, 1):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return json.dumps([1, _plain(treespec)])


def _spec_of(plain):
    if plain["type"] is None:
        return _LEAF
    kind = find_class(plain["type"])
    node = SUPPORTED_NODES[kind]
    read = node.from_dumpable_context or json.loads
    return TreeSpec(kind, read(plain["context"]), [_spec_of(one) for one in plain["children_spec"]])


def treespec_loads(serialized):
    """The spec of such a text."""
    protocol, plain = json.loads(serialized)
    if protocol != 1:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [1]")
    return _spec_of(plain)


def treespec_pprint(treespec):
    """A spec as a tree of stars."""
    from pprint import pformat

    star = type("_Star", (), {"__repr__": lambda self: "*"})()
    return pformat(tree_unflatten([star] * treespec.num_leaves, treespec))


def treespec_tuple(iterable=()):
    """The spec of a tuple of specs."""
    return TreeSpec(tuple, None, list(iterable))


def treespec_list(iterable=()):
    """The spec of a list of specs."""
    return TreeSpec(list, None, list(iterable))


def treespec_dict(mapping=(), /, **kwargs):
    """The spec of a dictionary of specs."""
    specs = dict(mapping, **kwargs)
    return TreeSpec(dict, list(specs), list(specs.values()))
