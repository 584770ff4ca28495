"""PyTorch's architecture optimisation, which does not exist here."""

from foregrad._refusing_module import refusals
from foregrad.ao import quantization  # noqa: F401

__getattr__ = refusals("ao", "keep the model in floats")
