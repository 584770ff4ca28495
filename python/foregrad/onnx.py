"""ONNX files, which cannot be written here."""

from __future__ import annotations

from foregrad._refusing_module import refusals

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any, NoReturn

__all__ = ["export", "is_in_onnx_export"]

_ADVICE = ("ONNX is not written here; load the weights into PyTorch with foregrad.save and export "
           "there")


def export(model: Any, args: Any = (), f: Any = None, **options: Any) -> NoReturn:
    """Writes a model as ONNX, which cannot be done here."""
    raise NotImplementedError(f"onnx.export: {_ADVICE}")


def is_in_onnx_export() -> bool:
    """Whether a model is being exported: no."""
    return False


__getattr__ = refusals("onnx", _ADVICE)
