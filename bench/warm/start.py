"""One start of a contender: the first finished training step of the GPT, then some more.

Arguments: ours, torch or jax; a safetensors file with the parameters. Prints the seconds of the
first call, the median of later ones, when the first step was finished, and its loss.
"""
import json
import statistics
import struct
import sys
import time
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "train"))
import models  # noqa: E402

LATER = 5


def read(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        data = numpy.frombuffer(file.read(), "uint8")
    header.pop("__metadata__", None)
    return {n: data[i["data_offsets"][0]:i["data_offsets"][1]].view("float32")
            .reshape(i["shape"]).copy() for n, i in header.items()}


def start_from(path):
    def start(name):
        model = models.MODELS[name]
        return model, read(path), model.data(numpy.random.default_rng(7))
    return start


def contender(name):
    if name == "ours":
        from ours import make_step
    elif name == "jax":
        from jax_step import make_step
    else:
        from torch_step import compiled_step as make_step
    return make_step


def main(name, path):
    models.start = start_from(path)  # before the contenders import it
    step = contender(name)("gpt")
    begin = time.perf_counter()
    loss = step()
    first, finished = time.perf_counter() - begin, time.time()
    later = []
    for _ in range(LATER):
        begin = time.perf_counter()
        step()
        later.append(time.perf_counter() - begin)
    print(json.dumps({"first": first, "later": statistics.median(later), "finished": finished,
                      "loss": loss}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
