"""Graphs of Python code as PyTorch's fx makes them, which do not exist here."""

from foregrad._refusing_module import refusals

__getattr__ = refusals("fx", "foregrad.compile captures functions, and prints their graphs")
