"""Weight norm and spectral norm as modules that compute one tensor."""

from foregrad.autograd._modes import no_grad
from foregrad.nn import functional as F
from foregrad.nn.modules.module import Module


def norm_except_dim(v, dim):
    """The norms over all dimensions but one; over all for None."""
    if dim is None or dim == -1:
        return v.norm()
    return v.norm(2, [d for d in range(v.dim()) if d != dim % v.dim()], keepdim=True)


def weight_of(g, v, dim):
    """v with the lengths g."""
    return v * (g / norm_except_dim(v, dim))


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return weight_of(weight_g, weight_v, self.dim)

    def right_inverse(self, weight):
        return norm_except_dim(weight, self.dim), weight


def as_matrix(weight, dim):
    """A weight with one dimension as rows and all others as columns."""
    if dim != 0:
        weight = weight.permute(dim, *[d for d in range(weight.dim()) if d != dim])
    return weight.flatten(1)


@no_grad()
def iterate(matrix, u, v, steps, eps):
    """Moves u and v, in place, towards the vectors of the largest singular value."""
    for _ in range(steps):
        u.copy_(F.normalize(matrix.mv(v), dim=0, eps=eps))
        v.copy_(F.normalize(matrix.t().mv(u), dim=0, eps=eps))


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if not -ndim <= dim < ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, "
                             f"{ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError("Expected n_power_iterations to be positive, but got "
                             f"n_power_iterations={n_power_iterations}")
        self.dim, self.eps = dim % ndim, eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = as_matrix(weight.detach(), self.dim)
            rows, columns = matrix.shape
            for name, size in (("_u", rows), ("_v", columns)):
                start = matrix.new_empty((size,)).normal_(0, 1)
                self.register_buffer(name, F.normalize(start, dim=0, eps=eps))
            iterate(matrix, self._u, self._v, 15, eps)

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = as_matrix(weight, self.dim)
        if self.training:
            iterate(matrix.detach(), self._u, self._v, self.n_power_iterations, self.eps)
        # Copies: the buffers move on before the backward runs.
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value):
        return value
