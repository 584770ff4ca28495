"""Householder reflections: the QR decomposition, and orthogonal matrices made of them.

A matrix of m rows and n columns, m >= n, is factored as LAPACK does: column i below the diagonal
holds the vector of reflection i, whose element at the diagonal is 1, and H_i = I - tau_i v v^T.
"""

import math

from foregrad import _C
from foregrad import _types as types
from foregrad.autograd._modes import no_grad

_f = _C._functions
_WIDTH = 32  # columns that are factored before the others follow by matrix products


def _panel(a):
    """Factors a few columns in place; returns their tau."""
    rows, columns = a.shape
    taus = []
    for j in range(min(rows, columns)):
        head, tail = a[j, j].item(), a[j + 1:, j]
        length = tail.norm().item() if rows > j + 1 else 0.0
        if length == 0.0:
            taus.append(0.0)
            continue
        beta = -math.copysign(math.hypot(head, length), head)
        taus.append((beta - head) / beta)
        tail.div_(head - beta)
        if j + 1 < columns:
            row, rest = a[j, j + 1:], a[j + 1:, j + 1:]
            along = (row + tail @ rest) * taus[-1]
            row.sub_(along)
            rest.sub_(tail.unsqueeze(1) * along)
        a[j, j] = beta
    return taus


def _joined(panel, taus):
    """(V, T) with H_1 H_2 ... = I - V T V^T for the reflections of a panel."""
    rows, count = panel.shape[0], len(taus)
    v = panel[:, :count].tril(-1) + _f.eye(rows, count, dtype=panel.dtype)
    t = panel.new_zeros((count, count))
    between = v.t() @ v
    for j, tau in enumerate(taus):
        t[j, j] = tau
        if j:
            t[:j, j] = -tau * (t[:j, :j] @ between[:j, j])
    return v, t


@no_grad()
def factor(matrix):
    """(the vectors below the diagonal and R above it, tau), in double precision."""
    a = matrix.double().clone()
    taus = []
    for start in range(0, min(a.shape), _WIDTH):
        panel, rest = a[start:, start:start + _WIDTH], a[start:, start + _WIDTH:]
        found = _panel(panel)
        if rest.numel():
            v, t = _joined(panel, found)
            rest.sub_(v @ (t.t() @ (v.t() @ rest)))
        taus += found
    return a, _C._tensor_from_data(taus, types.float64)


def _formed(packed, tau):
    """product(packed, tau), block by block."""
    rows, columns = packed.shape
    q = _f.eye(rows, columns, dtype=packed.dtype)
    taus = tau.tolist()
    for start in reversed(range(0, columns, _WIDTH)):
        v, t = _joined(packed[start:, start:start + _WIDTH], taus[start:start + _WIDTH])
        part = q[start:, start:]
        part.sub_(v @ (t @ (v.t() @ part)))
    return q


def product(vectors, tau):
    """The first columns of H_1 H_2 ...; batches in front, gradients flow."""
    rows, columns = vectors.shape[-2:]
    identity = _f.eye(rows, columns, dtype=vectors.dtype)
    v = vectors.tril(-1) + identity
    q = identity
    for i in range(columns - 1, -1, -1):
        one = v[..., :, i:i + 1]
        q = q - tau[..., i:i + 1].unsqueeze(-1) * one @ (one.transpose(-2, -1) @ q)
    return q


@no_grad()
def orthogonalized(matrix):
    """The Q of the QR decomposition whose R has no negative diagonal; for m >= n."""
    if matrix.dim() > 2:
        flat = [orthogonalized(one) for one in matrix.reshape(-1, *matrix.shape[-2:])]
        return _f.stack(flat).view(matrix.shape) if flat else matrix.clone()
    if 0 in matrix.shape:
        return matrix.clone()
    packed, tau = factor(matrix)
    signs = packed.diagonal().sign()
    return (_formed(packed, tau) * _f.where(signs == 0, _f.ones_like(signs), signs)).to(
        matrix.dtype)


def exponential(a):
    """exp(A) of square matrices: the series of A / 2^14, squared 14 times, in double precision."""
    small = a.double() * 2.0 ** -14
    identity = _f.eye(a.shape[-1], dtype=small.dtype)
    total = identity + small / 14
    for k in range(13, 0, -1):
        total = identity + small @ total / k
    for _ in range(14):
        total = total @ total
    return total.to(a.dtype)


def solved(left, right):
    """left^-1 @ right by elimination; for matrices whose symmetric part is positive."""
    n = left.shape[-1]
    both = _f.cat([left, right], -1)
    identity = _f.eye(n, dtype=left.dtype)
    for k in range(n):
        row = both[..., k:k + 1, :] / both[..., k:k + 1, k:k + 1]
        both = both - (both[..., :, k:k + 1] - identity[:, k:k + 1]) @ row
    return both[..., n:]
