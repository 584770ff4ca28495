"""Settings of CUDA's libraries, which are not here: they are kept and change nothing."""

from __future__ import annotations

import contextlib

from foregrad._device import not_compiled

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

__all__ = ["allow_fp16_bf16_reduction_math_sdp", "cudnn_sdp_enabled", "cufft_plan_cache",
           "enable_cudnn_sdp", "enable_flash_sdp", "enable_math_sdp", "enable_mem_efficient_sdp",
           "flash_sdp_enabled", "fp16_bf16_reduction_math_sdp_allowed", "is_built",
           "is_flash_attention_available", "math_sdp_enabled", "matmul",
           "mem_efficient_sdp_enabled", "preferred_blas_library", "preferred_linalg_library",
           "sdp_kernel"]


class _Matmul:
    """Settings of products; no other names, as in PyTorch."""

    __slots__ = ("allow_tf32", "allow_fp16_reduced_precision_reduction",
                 "allow_bf16_reduced_precision_reduction", "allow_fp16_accumulation",
                 "fp32_precision")

    def __init__(self):
        self.allow_tf32 = self.allow_fp16_accumulation = False
        self.allow_fp16_reduced_precision_reduction = True
        self.allow_bf16_reduced_precision_reduction = True
        self.fp32_precision = "none"


class _PlanCache:
    """The cache of transforms, of which there is none."""

    def __getattr__(self, name):
        raise not_compiled(f"backends.cuda.cufft_plan_cache.{name}", "cuda")

    def __getitem__(self, device):
        raise not_compiled("backends.cuda.cufft_plan_cache", "cuda", device)


matmul: Any = _Matmul()
cufft_plan_cache: Any = _PlanCache()
_enabled = {"flash": True, "math": True, "mem_efficient": True, "cudnn": True,
            "half reductions": False}
_preferred = {"linalg": "default", "blas": "cublas"}


def is_built() -> bool:
    """Whether the library was compiled for CUDA: no."""
    return False


def flash_sdp_enabled() -> bool:
    """Whether flash attention of CUDA was left enabled."""
    return _enabled["flash"]


def enable_flash_sdp(enabled: bool) -> None:
    """Sets that."""
    _enabled["flash"] = bool(enabled)


def math_sdp_enabled() -> bool:
    """Whether plain attention of CUDA was left enabled."""
    return _enabled["math"]


def enable_math_sdp(enabled: bool) -> None:
    """Sets that."""
    _enabled["math"] = bool(enabled)


def mem_efficient_sdp_enabled() -> bool:
    """Whether memory-efficient attention of CUDA was left enabled."""
    return _enabled["mem_efficient"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Sets that."""
    _enabled["mem_efficient"] = bool(enabled)


def cudnn_sdp_enabled() -> bool:
    """Whether cuDNN's attention was left enabled."""
    return _enabled["cudnn"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Sets that."""
    _enabled["cudnn"] = bool(enabled)


def fp16_bf16_reduction_math_sdp_allowed() -> bool:
    """Whether short sums in plain attention were allowed."""
    return _enabled["half reductions"]


def allow_fp16_bf16_reduction_math_sdp(enabled: bool) -> None:
    """Sets that."""
    _enabled["half reductions"] = bool(enabled)


def is_flash_attention_available() -> bool:
    """Whether flash attention of CUDA is here: no."""
    return False


@contextlib.contextmanager
def sdp_kernel(enable_flash: bool = True, enable_math: bool = True,
               enable_mem_efficient: bool = True, enable_cudnn: bool = True) -> Iterator[None]:
    """Sets the four for a while."""
    before = dict(_enabled)
    _enabled.update(flash=enable_flash, math=enable_math, mem_efficient=enable_mem_efficient,
                    cudnn=enable_cudnn)
    try:
        yield
    finally:
        _enabled.update(before)


def preferred_linalg_library(backend: str | None = None) -> str:
    """The library for linear algebra on a GPU that was asked for."""
    return _prefer("linalg", backend, ("default", "cusolver", "magma"))


def preferred_blas_library(backend: str | None = None) -> str:
    """The library for products on a GPU that was asked for."""
    return _prefer("blas", backend, ("default", "cublas", "cublaslt", "hipblaslt", "ck"))


def _prefer(kind, backend, known):
    if backend is not None and backend not in known:
        raise RuntimeError(f"preferred_{kind}_library: unknown input value {backend!r}; choose "
                           f"from {', '.join(known)}")
    if backend is not None:
        _preferred[kind] = backend
    return _preferred[kind]
