"""Handles of hooks."""

from __future__ import annotations

import weakref
from collections import OrderedDict

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any
    from typing_extensions import Self

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """Takes a hook out of its dictionary, and out of others that know it by the same id."""

    id: int

    next_id = 0

    def __init__(self, hooks_dict: OrderedDict[int, Any], *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = weakref.ref(hooks_dict)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        extra = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self.extra_dict_ref = tuple(weakref.ref(one) for one in extra if one is not None)

    def remove(self) -> None:
        """Removes the hook; does nothing when it is gone already."""
        for reference in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self):
        return self.hooks_dict_ref(), self.id, tuple(one() for one in self.extra_dict_ref)

    def __setstate__(self, state):
        hooks, self.id, extra = state if len(state) > 2 else (*state, ())
        # A dictionary that is gone stays gone.
        self.hooks_dict_ref = weakref.ref(OrderedDict() if hooks is None else hooks)
        self.extra_dict_ref = tuple(weakref.ref(one) for one in extra or () if one is not None)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()
