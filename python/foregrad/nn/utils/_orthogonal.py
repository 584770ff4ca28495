"""Orthogonal matrices computed from any matrix of the same sizes."""

from foregrad import _C
from foregrad.autograd._modes import no_grad
from foregrad.nn import _reflections as reflections
from foregrad.nn.modules.module import Module

_f = _C._functions
MAPS = ("matrix_exp", "cayley", "householder")


def _is_orthogonal(q, eps=None):
    """Whether the columns are orthonormal, within the rounding of the sizes."""
    rows, columns = q.shape[-2:]
    identity = _f.eye(columns, dtype=q.dtype)
    if eps is None:
        from foregrad import finfo
        eps = 10.0 * columns * finfo(q.dtype).eps
    return bool((q.transpose(-2, -1) @ q - identity).abs().le(eps).all())


class _Orthogonal(Module):
    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        base = None
        if use_trivialization:
            rows, columns = weight.shape[-2:]
            size = max(rows, columns)
            base = weight.detach().new_empty((*weight.shape[:-2], size, size))
        self.register_buffer("base", base)

    def forward(self, X):
        wide = X.size(-2) < X.size(-1)
        x = X.transpose(-2, -1) if wide else X
        q = self._reflected(x) if self.orthogonal_map == "householder" else self._turned(x)
        if self.base is not None:
            q = self.base @ q
        return q.transpose(-2, -1) if wide else q

    def _turned(self, x):
        """The image of the skew-symmetric matrix below the diagonal."""
        rows, columns = x.shape[-2:]
        a = x.tril(-1)
        if rows != columns:
            a = _f.cat([a, a.new_zeros((*a.shape[:-1], rows - columns))], -1)
        a = a - a.transpose(-2, -1)
        if self.orthogonal_map == "matrix_exp":
            q = reflections.exponential(a)
        else:
            identity = _f.eye(rows, dtype=a.dtype).expand(a.shape)
            q = reflections.solved(identity - a / 2, identity + a / 2)
        return q[..., :columns] if rows != columns else q

    def _reflected(self, x):
        a = x.tril(-1)
        tau = 2 / (1 + (a * a).sum(-2))
        signs = x.detach().diagonal(dim1=-2, dim2=-1).trunc()
        return reflections.product(a, tau) * signs.unsqueeze(-2)

    @no_grad()
    def right_inverse(self, Q):
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got "
                             f"a tensor of shape {Q.shape}.")
        wide = Q.size(-2) < Q.size(-1)
        q = Q.transpose(-2, -1) if wide else Q
        made = self._factored(q) if self.base is None else self._put_in_base(q)
        return made.transpose(-2, -1) if wide else made

    def _factored(self, q):
        if self.orthogonal_map != "householder":
            raise NotImplementedError("It is not possible to assign to the matrix exponential or "
                                      "the Cayley parametrizations when use_trivialization=False.")
        made = []
        for one in q.reshape(-1, *q.shape[-2:]):
            packed, tau = reflections.factor(one)
            diagonal = packed.diagonal()
            signs = diagonal.sign()
            diagonal.copy_(_f.where(tau == 0, -signs, signs))
            made.append(packed.to(q.dtype))
        return _f.stack(made).view(q.shape)

    def _put_in_base(self, q):
        """The matrix becomes the base, and a minus identity the tensor that is trained."""
        if not _is_orthogonal(q):
            q = reflections.orthogonalized(q)
        rows, columns = q.shape[-2:]
        if rows != columns:  # any vectors that make it square
            more = q.new_empty((*q.shape[:-1], rows - columns)).normal_(0, 1)
            more = more - q @ (q.transpose(-2, -1) @ more)
            whole = reflections.orthogonalized(_f.cat([q, more], -1))
            q = _f.cat([q, whole[..., columns:]], -1)
        self.base.copy_(q)
        return -_f.eye(rows, columns, dtype=q.dtype).expand(*q.shape[:-2], rows, columns).clone()
