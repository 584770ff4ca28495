"""The modules of foregrad.nn, one family per file."""

from foregrad.nn.modules import (
    _lazy_conv,
    _lazy_layers,
    activation,
    adaptive,
    attention,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy,  # noqa: F401
    linear,
    linear_cross_entropy_options,
    loss,
    module,  # noqa: F401
    normalization,
    padding,
    parameters,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
    utils,  # noqa: F401
)
from foregrad.nn.modules._lazy_conv import *  # noqa: F401,F403
from foregrad.nn.modules._lazy_layers import *  # noqa: F401,F403
from foregrad.nn.modules.activation import *  # noqa: F401,F403
from foregrad.nn.modules.adaptive import *  # noqa: F401,F403
from foregrad.nn.modules.attention import *  # noqa: F401,F403
from foregrad.nn.modules.batchnorm import *  # noqa: F401,F403
from foregrad.nn.modules.channelshuffle import *  # noqa: F401,F403
from foregrad.nn.modules.container import *  # noqa: F401,F403
from foregrad.nn.modules.conv import *  # noqa: F401,F403
from foregrad.nn.modules.distance import *  # noqa: F401,F403
from foregrad.nn.modules.dropout import *  # noqa: F401,F403
from foregrad.nn.modules.flatten import *  # noqa: F401,F403
from foregrad.nn.modules.fold import *  # noqa: F401,F403
from foregrad.nn.modules.instancenorm import *  # noqa: F401,F403
from foregrad.nn.modules.linear import *  # noqa: F401,F403
from foregrad.nn.modules.linear_cross_entropy_options import *  # noqa: F401,F403
from foregrad.nn.modules.loss import *  # noqa: F401,F403
from foregrad.nn.modules.module import Module  # noqa: F401
from foregrad.nn.modules.normalization import *  # noqa: F401,F403
from foregrad.nn.modules.padding import *  # noqa: F401,F403
from foregrad.nn.modules.parameters import *  # noqa: F401,F403
from foregrad.nn.modules.pixelshuffle import *  # noqa: F401,F403
from foregrad.nn.modules.pooling import *  # noqa: F401,F403
from foregrad.nn.modules.rnn import *  # noqa: F401,F403
from foregrad.nn.modules.sparse import *  # noqa: F401,F403
from foregrad.nn.modules.transformer import *  # noqa: F401,F403
from foregrad.nn.modules.upsampling import *  # noqa: F401,F403

_FAMILIES = (_lazy_conv, _lazy_layers, activation, adaptive, attention, batchnorm,
             channelshuffle, container, conv, distance, dropout, flatten, fold, instancenorm,
             linear, linear_cross_entropy_options, loss, normalization, padding, parameters,
             pixelshuffle, pooling, rnn, sparse, transformer, upsampling)
__all__ = ["Module", *(name for family in _FAMILIES for name in family.__all__)]

# Names stand in the modules where PyTorch has them, too.
for _home, _family, _start in (
        (conv, _lazy_conv, "Lazy"), (batchnorm, _lazy_layers, "LazyB"),
        (instancenorm, _lazy_layers, "LazyI"), (linear, _lazy_layers, "LazyL"),
        (container, parameters, "Parameter"), (activation, attention, "Multihead")):
    for _name in _family.__all__:
        if _name.startswith(_start):
            setattr(_home, _name, getattr(_family, _name))
