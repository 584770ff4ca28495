"""Logs for TensorBoard: SummaryWriter, on the package tensorboard."""

try:
    import tensorboard as _tensorboard
except ImportError:
    raise ImportError(
        "utils.tensorboard: the package 'tensorboard' is not installed; install it with "
        "`pip install tensorboard`") from None

from foregrad.utils.tensorboard._file_writer import FileWriter
from foregrad.utils.tensorboard.writer import SummaryWriter

__all__ = ["FileWriter", "SummaryWriter"]

del _tensorboard
