"""Quantised tensors, which do not exist here."""

from foregrad._refusing_module import refusals

__getattr__ = refusals("ao.quantization", "keep the model in floats")
