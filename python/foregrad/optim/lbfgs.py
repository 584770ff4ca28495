"""LBFGS, which calls its loss several times per step."""

from __future__ import annotations

import foregrad
from foregrad import _C
from foregrad._optimizers import plain
from foregrad.autograd._modes import enable_grad, no_grad
from foregrad.optim._line_search import Point, strong_wolfe
from foregrad.optim.optimizer import Optimizer

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from foregrad import Tensor
    from foregrad.optim.optimizer import _Params
    from typing import Any

__all__ = ["LBFGS"]

Tensor = _C.Tensor


class LBFGS(Optimizer):
    """Steps along an estimate of Newton's direction, made of the last changes of the gradient.

    step(closure) calls closure, which computes the loss and its gradients, up to max_eval times.
    All parameters are in one group. line_search_fn: None or 'strong_wolfe'. Its state is that of
    the first parameter. It has no place in compile_step(): the number of calls depends on values.
    """

    def __init__(self, params: _Params, lr: float | Tensor = 1, max_iter: int = 20,
                 max_eval: int | None = None, tolerance_grad: float = 1e-7,
                 tolerance_change: float = 1e-9, history_size: int = 100,
                 line_search_fn: str | None = None) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"LBFGS: Invalid learning rate: {lr}; expected a number that is at "
                             "least 0")
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change,
            "history_size": history_size, "line_search_fn": line_search_fn})
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @property
    def _params(self):
        return self.param_groups[0]["params"]

    # ---- all parameters as one vector

    def _gather_flat_grad(self):
        flat = [p.new_zeros(p.numel()) if p.grad is None else p.grad.reshape(-1)
                for p in self._params]
        return foregrad.cat(flat, 0)

    def _add_grad(self, step, direction):
        begin = 0
        for p in self._params:
            count = p.numel()
            p.add_(direction[begin:begin + count].view_as(p), alpha=step)
            begin += count

    def _evaluate_along(self, closure, start, direction, step):
        """The point at start + step * direction; the parameters are those of `start` after it."""
        self._add_grad(step, direction)
        loss = float(closure())
        gradient = self._gather_flat_grad()
        for p, value in zip(self._params, start):
            p.copy_(value)
        return Point(step, loss, gradient, float(gradient.dot(direction)))

    # ---- steps

    def step(self, closure: Callable[[], Any]) -> Any:
        """Takes up to max_iter steps; closure() computes the loss and its gradients."""
        with no_grad():
            return self._step(enable_grad()(closure))

    def _step(self, closure):
        group = self.param_groups[0]
        if group["line_search_fn"] not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        state = self.state[self._params[0]]
        first = closure()
        loss, gradient = float(first), self._gather_flat_grad()
        evaluations = 1
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        state["func_evals"] += 1
        if gradient.abs().max() <= group["tolerance_grad"]:
            return first
        for i in range(group["max_iter"]):
            state["n_iter"] += 1
            direction = _direction(state, gradient, group["history_size"])
            state.update(d=direction, prev_flat_grad=gradient.clone(), prev_loss=loss)
            rate = float(plain(group["lr"]))
            is_first = state["n_iter"] == 1
            state["t"] = min(1.0, 1.0 / float(gradient.abs().sum())) * rate if is_first else rate
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            last = i + 1 == group["max_iter"]
            start = Point(0, loss, gradient, slope)
            loss, gradient, count = self._advance(closure, state, start, group, last)
            evaluations += count
            state["func_evals"] += count
            if last or evaluations >= group["max_eval"] or _has_settled(
                    state, loss, gradient, group):
                break
        return first

    def _advance(self, closure, state, start, group, last):
        """Moves along the direction; loss and gradient there, and the number of evaluations."""
        direction = state["d"]
        if group["line_search_fn"] == "strong_wolfe":
            before = [p.clone() for p in self._params]

            def evaluate(step):
                return self._evaluate_along(closure, before, direction, step)

            found, count = strong_wolfe(evaluate, start, state["t"], float(direction.abs().max()),
                                        1e-9)
            state["t"] = found.step
            self._add_grad(found.step, direction)
            return found.loss, found.gradient, count
        self._add_grad(state["t"], direction)
        if last:  # nothing will be asked of the place that is reached
            return start.loss, start.gradient, 0
        return float(closure()), self._gather_flat_grad(), 1


def _direction(state, gradient, history_size):
    """Minus the gradient times an estimate of the inverse Hessian."""
    if state["n_iter"] == 1:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return gradient.neg()
    changes, steps, scales = state["old_dirs"], state["old_stps"], state["ro"]
    change, step = gradient - state["prev_flat_grad"], state["d"] * state["t"]
    curvature = change.dot(step)
    if curvature > 1e-10:
        if len(changes) == history_size:
            for each in (changes, steps, scales):
                each.pop(0)
        changes.append(change)
        steps.append(step)
        scales.append(1.0 / curvature)
        state["H_diag"] = curvature / change.dot(change)
    direction, parts = gradient.neg(), [None] * len(changes)
    for i in reversed(range(len(changes))):
        parts[i] = steps[i].dot(direction) * scales[i]
        direction = direction - changes[i] * parts[i]
    direction = direction * state["H_diag"]
    for i in range(len(changes)):
        direction = direction + steps[i] * (parts[i] - changes[i].dot(direction) * scales[i])
    return direction


def _has_settled(state, loss, gradient, group):
    change = group["tolerance_change"]
    return bool(gradient.abs().max() <= group["tolerance_grad"]
                or (state["d"] * state["t"]).abs().max() <= change
                or abs(loss - state["prev_loss"]) < change)
