"""GradScaler: a loss times a factor, so that gradients of short floats do not vanish; the factor
grows while gradients are finite and shrinks after a step in which one was not."""

from __future__ import annotations

import warnings

from foregrad import _C
from foregrad._device import _device

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from typing import Any
    from foregrad import Tensor
    from foregrad.optim import Optimizer

__all__ = ["GradScaler"]

_READY, _UNSCALED, _STEPPED = range(3)
_SETTINGS = ("scale", "growth_factor", "backoff_factor", "growth_interval", "_growth_tracker")


class GradScaler:
    """Scales losses and unscales gradients; steps with infinite gradients are left out."""

    def __init__(self, device: str = "cuda", init_scale: float = 65536.0,
                 growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        self._device, self._enabled = str(device), bool(enabled)
        if self._enabled and _device(self._device).type == "cuda":
            warnings.warn("GradScaler is enabled, but CUDA is not available.  Disabling.",
                          UserWarning, stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        assert growth_factor > 1.0, "The growth factor must be > 1.0."
        assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._init_scale, self._scale = init_scale, None
        self._optimizers: dict[int, dict[str, Any]] = {}

    # ---- the factor

    def scale(self, outputs: Any) -> Any:
        """A tensor, or tensors in lists and tuples, times the factor."""
        if not self._enabled:
            return outputs
        if self._scale is None:
            self._scale = float(self._init_scale)
        if isinstance(outputs, _C.Tensor):
            return outputs * self._scale
        if hasattr(outputs, "__iter__"):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _expect_scale(self, name):
        if self._scale is None:
            raise AssertionError(f"Attempted {name} but _scale is None.  This may indicate your "
                                 "script did not use scaler.scale(loss or outputs) earlier in the "
                                 "iteration.")

    def _state_of(self, optimizer):
        return self._optimizers.setdefault(id(optimizer), {"stage": _READY, "infinite": None})

    # ---- steps

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divides the gradients of an optimiser's parameters, before they are clipped."""
        if not self._enabled:
            return
        self._expect_scale("unscale_")
        state = self._state_of(optimizer)
        if state["stage"] == _UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the "
                               "last update().")
        if state["stage"] == _STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        state["infinite"] = self._unscale(optimizer)
        state["stage"] = _UNSCALED

    def _unscale(self, optimizer):
        """Divides, and answers whether a gradient is not finite."""
        inverse, infinite = 1.0 / self._scale, False
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                grad = parameter.grad
                if grad is None:
                    continue
                if grad.dtype is _C.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                plain = grad.detach()  # it may have a history
                plain.mul_(inverse)
                infinite = infinite or not plain.isfinite().all().item()
        return infinite

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> float | None:
        """Runs optimizer.step(...), unless a gradient is not finite."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._expect_scale("step")
        state = self._state_of(optimizer)
        if state["stage"] == _STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] == _READY:
            self.unscale_(optimizer)
        if state["infinite"] is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if state["infinite"] else optimizer.step(*args, **kwargs)
        state["stage"] = _STEPPED
        return result

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Changes the factor after the steps of an iteration."""
        if not self._enabled:
            return
        self._expect_scale("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            self._adapt()
        self._optimizers.clear()

    def _adapt(self):
        found = [state["infinite"] for state in self._optimizers.values()
                 if state["infinite"] is not None]
        if not found:
            raise AssertionError("No inf checks were recorded prior to update.")
        if any(found):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = self._scale * self._growth_factor
            self._scale = grown if grown <= 3.4028234663852886e38 else self._scale
            self._growth_tracker = 0

    # ---- settings

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def get_scale(self) -> float:
        """The factor, 1.0 when nothing is scaled."""
        if not self._enabled:
            return 1.0
        return float(self._init_scale if self._scale is None else self._scale)

    def get_growth_factor(self) -> float:
        """The factor's growth after enough finite steps."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Sets that growth."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor's change after a step that was left out."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Sets that change."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of finite steps before the factor grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Sets that number."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """The factor and its settings; empty when nothing is scaled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes what state_dict gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from "
                               "a disabled instance of GradScaler.")
        missing = [name for name in _SETTINGS if name not in state_dict]
        if missing:
            raise KeyError(missing[0])
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale = float(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]

    def __getstate__(self) -> dict[str, Any]:
        if self._enabled and self._optimizers:
            raise AssertionError("A GradScaler instance may only be pickled at the beginning of an "
                                 "iteration, or at the end after scaler.update().")
        return self.__dict__.copy()
