#!/usr/bin/env python3
"""Writes tests/python/helpers/pytorch_files.py: small files that PyTorch wrote, as text.

Needs a Python with torch 2.13. The tests of the package read these files without it.
"""
import base64
import io
import textwrap
import zlib
from collections import Counter, OrderedDict
from pathlib import Path

import numpy
import torch

TARGET = Path(__file__).resolve().parents[3] / "tests" / "python" / "helpers" / "pytorch_files.py"
HEAD = '''"""Files of PyTorch {version}, which tests/oracle/saving/make_fixtures.py wrote down."""

import base64
import io
import zlib


def file(name):
    """A file as PyTorch wrote it."""
    return io.BytesIO(zlib.decompress(base64.b64decode(FILES[name])))


FILES = {{
'''
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", "bool",
          "bfloat16"]


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2), torch.nn.ReLU())


def trained():
    net = network()
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.25)
    net(torch.arange(12.0).view(4, 3)).pow(2).sum().backward()
    optimizer.step()
    return {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": 7}


def values():
    base = torch.arange(12.0).view(3, 4)
    marked = torch.ones(2)
    marked.note = {"a": [1]}
    named = torch.nn.Parameter(torch.full((2,), 3.0))
    named.note = "kept"
    return {
        "dtypes": {name: torch.tensor([0, 1]).to(getattr(torch, name)) for name in DTYPES},
        "views": [base, base[1:, ::2], base.t(), base[0].expand(2, 4)],
        "empty": torch.zeros(0, 3), "number": torch.tensor(2.5), "marked": marked,
        "grad": torch.ones(2, requires_grad=True), "named": named,
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "frozen": torch.nn.Parameter(torch.ones(1), requires_grad=False),
        "buffer": torch.nn.Buffer(torch.zeros(2)),
        "plain": [torch.Size([2, 3]), torch.float32, torch.bfloat16, torch.device("cpu"),
                  torch.strided, {1, 2}, b"bytes", bytearray(b"more"), 1 + 2j, 2**100, None, True,
                  Counter("aab"), OrderedDict(b=1, a=2), (1, (2.5, "text"))],
        "numpy": [numpy.arange(6, dtype="int16").reshape(2, 3), numpy.float64(2.5)],
        "storage": torch.arange(3.0).untyped_storage()}


def written(thing, **options):
    stream = io.BytesIO()
    torch.save(thing, stream, **options)
    return stream.getvalue()


def main():
    old = {"_use_new_zipfile_serialization": False}
    files = {"checkpoint": written(trained()), "values": written(values()),
             "module": written(network().eval()),
             "protocol 4": written([torch.ones(2), torch.Size([2]), b"x"], pickle_protocol=4),
             "stream": written(values(), **old),
             "sparse": written(torch.ones(2).to_sparse()),
             "complex": written(torch.ones(2, dtype=torch.complex64))}
    text = HEAD.format(version=torch.__version__.partition("+")[0])
    for name, data in files.items():
        packed = base64.b64encode(zlib.compress(data, 9)).decode()
        lines = textwrap.wrap(packed, 88)
        text += f'    "{name}": (\n' + "".join(f'        "{line}"\n' for line in lines) + "    ),\n"
    TARGET.write_text(text + "}\n")
    print(f"{len(files)} files of {sum(map(len, files.values()))} bytes, as {len(text)} characters")


if __name__ == "__main__":
    main()
