"""The modules of foregrad.nn, one family per file."""

from foregrad.nn.modules import (
    activation,
    attention,
    batchnorm,
    container,
    conv,
    dropout,
    flatten,
    instancenorm,
    linear,
    loss,
    module,  # noqa: F401
    normalization,
    parameters,
    pooling,
    rnn,
    sparse,
    transformer,
)
from foregrad.nn.modules.activation import *  # noqa: F401,F403
from foregrad.nn.modules.attention import *  # noqa: F401,F403
from foregrad.nn.modules.batchnorm import *  # noqa: F401,F403
from foregrad.nn.modules.container import *  # noqa: F401,F403
from foregrad.nn.modules.conv import *  # noqa: F401,F403
from foregrad.nn.modules.dropout import *  # noqa: F401,F403
from foregrad.nn.modules.flatten import *  # noqa: F401,F403
from foregrad.nn.modules.instancenorm import *  # noqa: F401,F403
from foregrad.nn.modules.linear import *  # noqa: F401,F403
from foregrad.nn.modules.loss import *  # noqa: F401,F403
from foregrad.nn.modules.module import Module  # noqa: F401
from foregrad.nn.modules.normalization import *  # noqa: F401,F403
from foregrad.nn.modules.parameters import *  # noqa: F401,F403
from foregrad.nn.modules.pooling import *  # noqa: F401,F403
from foregrad.nn.modules.rnn import *  # noqa: F401,F403
from foregrad.nn.modules.sparse import *  # noqa: F401,F403
from foregrad.nn.modules.transformer import *  # noqa: F401,F403

_FAMILIES = (activation, attention, batchnorm, container, conv, dropout, flatten, instancenorm,
             linear, loss, normalization, parameters, pooling, rnn, sparse, transformer)
__all__ = ["Module", *(name for family in _FAMILIES for name in family.__all__)]
