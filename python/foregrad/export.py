"""Programs that were exported, as PyTorch's: they do not exist here."""

from foregrad._refusing_module import refusals

__getattr__ = refusals("export", "foregrad.compile with its cache keeps what was compiled")
