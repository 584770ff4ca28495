"""The older names of the profiler, and record_function."""

from __future__ import annotations

import functools

from foregrad import _C

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any
    from typing_extensions import Self

__all__ = ["emit_itt", "emit_nvtx", "kineto_available", "profile", "record_function"]


class record_function:
    """Names a block, or as a decorator a function, in the results of a profiler."""

    def __init__(self, name: str, args: str | None = None) -> None:
        if not isinstance(name, str):
            raise TypeError(f"record_function: name must be str, not {type(name).__name__}")
        self.name, self.args = name, args
        self._blocks: list[Any] = []

    def __enter__(self) -> Self:
        block = _C.RecordedBlock(self.name)
        block.enter()
        self._blocks.append(block)
        return self

    def __exit__(self, *error: object) -> None:
        self._blocks.pop().exit()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return function(*args, **kwargs)

        return recorded


class profile:
    """foregrad.profiler.profile without schedules, under its older name."""

    def __init__(self, enabled: bool = True, *, use_cuda: bool = False,
                 use_device: str | None = None, record_shapes: bool = False,
                 with_flops: bool = False, profile_memory: bool = False, with_stack: bool = False,
                 with_modules: bool = False, use_kineto: bool = False, use_cpu: bool = True,
                 experimental_config: Any = None, acc_events: bool = False,
                 custom_trace_id_callback: Any = None,
                 post_processing_timeout_s: float | None = None,
                 activity_filters: Any = None) -> None:
        from foregrad.profiler import profile as measured

        if use_cuda or use_device not in (None, "cpu"):
            import warnings

            warnings.warn(f"{use_device or 'cuda'} is not available, disabling its profiling",
                          UserWarning, stacklevel=2)
        if not use_cpu or activity_filters:
            raise NotImplementedError("autograd.profiler.profile: use_cpu=False and "
                                      "activity_filters are not here; leave them out")
        self.enabled = enabled
        self._profile = measured(
            record_shapes=record_shapes, profile_memory=profile_memory, with_stack=with_stack,
            with_flops=with_flops, with_modules=with_modules, acc_events=acc_events,
            experimental_config=experimental_config,
            custom_trace_id_callback=custom_trace_id_callback)

    def __enter__(self) -> Self:
        if self.enabled:
            self._profile.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.enabled:
            self._profile.stop()

    @property
    def function_events(self) -> Any:
        """All calls that were measured."""
        return self._profile.events()

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all of them."""
        return self._profile.events().self_cpu_time_total

    def key_averages(self, group_by_input_shape: bool = False, group_by_stack_n: int = 0,
                     group_by_overload_name: bool = False) -> Any:
        """Their sums by name."""
        return self._profile.key_averages(group_by_input_shape, group_by_stack_n,
                                          group_by_overload_name)

    def total_average(self) -> Any:
        """The sum of all."""
        return self._profile.events().total_average()

    def table(self, sort_by: str | None = None, row_limit: int = 100, **options: Any) -> str:
        """The calls as text, one row each."""
        return self._profile.events().table(sort_by=sort_by, row_limit=row_limit, **options)

    def export_chrome_trace(self, path: str) -> None:
        """Writes the calls for Chrome's trace viewer or Perfetto."""
        self._profile.export_chrome_trace(path)

    def export_stacks(self, path: str, metric: str = "self_cpu_time_total") -> None:
        """Writes the stacks with a number each."""
        self._profile.export_stacks(path, metric)

    def __str__(self) -> str:
        return "<unfinished profile>" if self._profile._events is None else self.table()


def kineto_available() -> bool:
    """Whether calls can be measured, in PyTorch's words: yes."""
    return True


class emit_nvtx:
    """A context that marks calls for NVIDIA's profilers, which need CUDA."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> Self:
        if self.enabled:
            raise RuntimeError("emit_nvtx: Foregrad is not compiled with CUDA enabled; use "
                               "foregrad.profiler.profile")
        return self

    def __exit__(self, *error: object) -> None:
        return None


class emit_itt:
    """A context that marks calls for Intel's profilers, which is not here."""

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled

    def __enter__(self) -> Self:
        if self.enabled:
            raise NotImplementedError("emit_itt: marks for Intel's profilers are not here; use "
                                      "foregrad.profiler.profile")
        return self

    def __exit__(self, *error: object) -> None:
        return None
