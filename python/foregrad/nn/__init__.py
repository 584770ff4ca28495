"""Functions of neural networks."""

from foregrad.nn import functional  # noqa: F401
from foregrad.nn.parameter import Buffer, Parameter  # noqa: F401
