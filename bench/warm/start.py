"""One start of a contender: the first finished training step of the GPT, then some more.

Arguments: ours, torch or jax; safetensors files with the parameters and with the data, which
everybody reads with the reader made for it. Prints the seconds of the first call, the median of
later ones, when the first step was finished, and its loss. Until then nothing is loaded that the
contender does not need.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "train"))
import models  # noqa: E402

LATER = 5


def ours():
    from foregrad.safetensors import load_file
    from ours import make_step
    return load_file, make_step


def torch():
    from safetensors.torch import load_file
    from torch_step import compiled_step
    return load_file, compiled_step


def jax():
    from jax_step import make_step
    from safetensors.numpy import load_file
    return load_file, make_step


def timed(step):
    begin = time.perf_counter()
    loss = step()
    return time.perf_counter() - begin, loss


def main(name, weights, data):
    def start(model):
        found = load_file(data)
        return models.MODELS[model], load_file(weights), [found["words"], found["targets"]]

    models.start = start  # before the contenders import it
    load_file, make_step = {"ours": ours, "torch": torch, "jax": jax}[name]()
    step = make_step("gpt")
    first, loss = timed(step)
    finished = time.time()
    later = sorted(timed(step)[0] for _ in range(LATER))
    import json
    print(json.dumps({"first": first, "later": later[LATER // 2], "finished": finished,
                      "loss": loss}), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
