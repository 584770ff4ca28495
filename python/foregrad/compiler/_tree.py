"""Arguments and results as flat lists: what is a tensor, what is a number, what is constant."""

from foregrad import _C

Tensor = _C.Tensor
_CONSTANTS = (int, bool, str, bytes, type(None), complex, type(Ellipsis))


class Leaf:
    """A place of the structure: a tensor, a float, or something that is not looked into."""

    __slots__ = ("kind",)

    def __init__(self, kind):
        self.kind = kind

    def __repr__(self):
        return self.kind


TENSOR, FLOAT, OBJECT = Leaf("tensor"), Leaf("float"), Leaf("object")


def flatten(tree, tensors, floats, objects):
    """Adds the leaves of `tree` to the lists and returns its structure, which is hashable."""
    kind = type(tree)
    if kind is float:
        floats.append(tree)
        return FLOAT
    if isinstance(tree, Tensor):
        tensors.append(tree)
        return TENSOR
    if kind in _CONSTANTS:
        return (kind, tree)
    if kind is tuple or kind is list:
        return (kind, tuple([flatten(item, tensors, floats, objects) for item in tree]))
    if isinstance(tree, dict) and kind.__module__ in ("builtins", "collections"):
        keys = tuple(tree)
        return (kind, keys, tuple([flatten(tree[k], tensors, floats, objects) for k in keys]))
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return (kind, "fields", tuple([flatten(i, tensors, floats, objects) for i in tree]))
    if isinstance(tree, (_C.dtype, _C.Size, slice)):
        return (kind, repr(tree))
    objects.append(tree)
    return (OBJECT, id(tree))


def map_leaves(tree, replace):
    """The same structure with every leaf replaced by replace(leaf); containers are made anew."""
    kind = type(tree)
    if kind is tuple or kind is list:
        return kind(map_leaves(item, replace) for item in tree)
    if isinstance(tree, dict) and kind.__module__ in ("builtins", "collections"):
        copied = tree.copy()
        for key, value in tree.items():
            copied[key] = map_leaves(value, replace)
        return copied
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind(*(map_leaves(item, replace) for item in tree))
    return replace(tree)
