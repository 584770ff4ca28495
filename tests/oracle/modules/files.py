"""Files: what the package safetensors writes is read here, and the other way round."""
import os

import numpy

DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool",
          "bfloat16"]


def tensors(lib):
    draw = numpy.random.default_rng(3)
    made = {name: lib.tensor(draw.integers(0, 2, size=(3, 4)).tolist()).to(getattr(lib, name))
            for name in DTYPES}
    return {**made, "nothing": lib.zeros(0, 3), "number": lib.tensor(2.5),
            "model.0.weight": lib.tensor(draw.normal(size=(2, 3)).tolist())}


def described(loaded):
    return {name: [str(t.dtype).split(".")[1], list(t.shape), t.tolist()]
            for name, t in sorted(loaded.items())}


def theirs(folder):
    """PyTorch's side writes first; without the package there is nothing to compare."""
    try:
        import safetensors.torch
        import torch
    except ImportError:
        return
    path = os.path.join(folder, "theirs")
    safetensors.torch.save_file(tensors(torch), path, {"step": "3"})
    with open(path, "rb") as file:
        written = list(file.read())
    yield {"kind": "file", "case": "reading", "tensors": described(tensors(torch)),
           "metadata": "3"}
    yield {"kind": "file", "case": "writing", "bytes": written}


def ours(lib, folder):
    path = os.path.join(folder, "theirs")
    if not os.path.exists(path):
        return
    from foregrad import safetensors

    with safetensors.safe_open(path) as file:
        metadata = file.metadata()["step"]
    yield {"kind": "file", "case": "reading", "tensors": described(safetensors.load_file(path)),
           "metadata": metadata}
    yield {"kind": "file", "case": "writing",
           "bytes": list(safetensors.save(tensors(lib), {"step": "3"}))}


def cases(lib, name, folder):
    return theirs(folder) if name == "torch" else ours(lib, folder)
