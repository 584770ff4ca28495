"""Functions of neural networks."""

from foregrad.nn import functional as functional
from foregrad.nn import parameter as parameter
from foregrad.nn.parameter import Buffer as Buffer
from foregrad.nn.parameter import Parameter as Parameter
