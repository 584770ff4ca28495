"""Neural networks: modules, and the functions that they are made of."""

from foregrad.nn import functional, init, modules, parameter, utils  # noqa: F401
from foregrad.nn.modules import *  # noqa: F401,F403
from foregrad.nn.parameter import Buffer, Parameter  # noqa: F401

__all__ = [*modules.__all__, "Buffer", "Parameter", "functional", "init", "modules", "parameter",
           "utils"]
