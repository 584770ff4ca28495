"""Captured functions: compile(), and what it is made of."""

from foregrad.compiler._compile import CaptureError, Compiled, compile, counters  # noqa: F401

__all__ = ["CaptureError", "Compiled", "compile", "counters"]
