"""LBFGS: minima that it finds, and what it refuses."""

import math

import foregrad as fg
import pytest

nn, optim = fg.nn, fg.optim


def test_rosenbrock_is_solved_by_lbfgs_with_a_line_search():
    p = nn.Parameter(fg.tensor([-1.5, 2.0], dtype=fg.float64))
    optimizer = optim.LBFGS([p], max_iter=40, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        loss = 100 * (p[1] - p[0] ** 2) ** 2 + (1 - p[0]) ** 2
        loss.backward()
        return loss

    first = optimizer.step(closure)
    assert math.isclose(first.item(), 100 * (2 - 2.25) ** 2 + 6.25)
    optimizer.step(closure)
    assert fg.allclose(p, fg.ones(2, dtype=fg.float64), atol=1e-6)
    assert optimizer.state[p]["n_iter"] <= 80
    for search in (None, "strong_wolfe"):
        q = nn.Parameter(fg.tensor([3.0], dtype=fg.float64))
        plain = optim.LBFGS([q], lr=0.5, history_size=2, line_search_fn=search)

        def square():
            plain.zero_grad()
            loss = (q * q).sum()
            loss.backward()
            return loss

        for _ in range(3):
            plain.step(square)
        assert abs(q.item()) < 1e-4


def test_what_lbfgs_refuses():
    p = nn.Parameter(fg.ones(2, 2))
    with pytest.raises(ValueError, match="doesn't support per-parameter options"):
        optim.LBFGS([{"params": [p]}, {"params": [nn.Parameter(fg.ones(1))]}])
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        optim.LBFGS([p], lr=-1)
    optimizer = optim.LBFGS([p], line_search_fn="armijo")
    with pytest.raises(RuntimeError, match="only 'strong_wolfe' is supported"):
        optimizer.step(lambda: (p * p).sum())
    with pytest.raises(TypeError, match="LBFGS calls its loss several times"):
        fg.compiler.compile_step(lambda: (p * p).sum(), [p], optimizer)
