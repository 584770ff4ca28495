"""Handles of hooks."""

from foregrad._C import RemovableHandle  # noqa: F401
