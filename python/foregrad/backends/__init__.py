"""Libraries behind the functions, as PyTorch names them: whether they are here, and their settings.

Settings of libraries for GPUs are kept and change nothing, as in PyTorch without a GPU.
"""

from foregrad.backends import (
    cpu,
    cuda,
    cudnn,
    cusparselt,
    mha,
    mkl,
    mkldnn,
    mps,
    nnpack,
    openmp,
    opt_einsum,
    quantized,
)

__all__ = ["cpu", "cuda", "cudnn", "cusparselt", "mha", "mkl", "mkldnn", "mps", "nnpack", "openmp",
           "opt_einsum", "quantized"]

fp32_precision = "none"

