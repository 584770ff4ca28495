"""torch.nn.init: ways to fill parameters. Values come from our own random numbers."""

from foregrad import Generator, Tensor

def calculate_gain(nonlinearity: str, param: float | None = None) -> float: ...
def uniform_(
    tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None
) -> Tensor: ...
def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor: ...
def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor: ...
def constant_(tensor: Tensor, val: float) -> Tensor: ...
def ones_(tensor: Tensor) -> Tensor: ...
def zeros_(tensor: Tensor) -> Tensor: ...
def eye_(tensor: Tensor) -> Tensor: ...
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor: ...
def xavier_uniform_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor: ...
def xavier_normal_(
    tensor: Tensor, gain: float = 1.0, generator: Generator | None = None
) -> Tensor: ...
def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor: ...
def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor: ...
