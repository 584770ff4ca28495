"""Trains the models of bench/train under one library and prints the losses of every step.

usage: worker.py torch|foregrad STEPS STARTS MODEL...; a line of JSON per run. Runs in float32 have
several starts: the first has the weights themselves, in others each is moved by at most one unit in
its last place.
"""
import json
import sys
from pathlib import Path

import numpy

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench" / "train"))
from models import Gpt, start  # noqa: E402

SETTINGS = dict(betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01)
# Rounding grows with the rate when batches are normalised: at 1e-3 PyTorch's own float32 is 10 %
# from its float64 after 100 steps, and nothing could be told from it any more.
RATE = {"mlp": 1e-3, "cnn": 1e-4, "gpt": 1e-3}
# The GPT of the benchmark takes a second per step in double; this one has all of its parts.
Gpt.LAYERS, Gpt.WIDTH, Gpt.HEADS, Gpt.CONTEXT, Gpt.BATCH = 2, 64, 4, 64, 4
Gpt.shapes = Gpt.shapes_of(Gpt.LAYERS, Gpt.WIDTH, Gpt.CONTEXT, Gpt.WORDS)


def examples(draw, clear, count, *shape):
    """Noisy copies of ten things, and which one each is: something to learn that is never done."""
    things = numpy.random.default_rng(3).normal(size=(10, *shape))
    kind = draw.integers(0, 10, count)
    return clear * things[kind] + draw.normal(size=(count, *shape)), kind


def pieces(draw):
    """Pieces of a text that does not change, and what follows each letter."""
    text = (ROOT / "LICENSE").read_bytes()
    letters = numpy.frombuffer(text, dtype="uint8").astype("int64") % Gpt.WORDS
    begin = draw.integers(0, len(letters) - Gpt.CONTEXT, (Gpt.BATCH, 1))
    places = begin + numpy.arange(Gpt.CONTEXT)
    return letters[places], letters[places + 1]


DATA = {"mlp": lambda draw: examples(draw, 0.1, 64, 784),
        "cnn": lambda draw: examples(draw, 1.0, 8, 3, 16, 16),
        "gpt": pieces}


def weights_of(name, begin):
    """The model and its weights; of another beginning than 0, with other last bits."""
    model, weights, _ = start(name)
    if begin:
        draw = numpy.random.default_rng(begin)
        weights = {n: (a * (1 + 2.0**-23 * draw.integers(-1, 2, a.shape))).astype("float32")
                   for n, a in weights.items()}
    return model, weights


class Run:
    """A model under a library: its parameters, and other data for every step."""

    def __init__(self, library, name, dtype, steps, begin=0):
        self.library, self.rate = library, RATE[name]
        dtype = getattr(library, dtype)
        model, weights = weights_of(name, begin)
        p = {n: library.tensor(a, dtype=dtype).requires_grad_() for n, a in weights.items()}
        self.parameters, functional = list(p.values()), library.nn.functional
        # Not a method: what is compiled must not reach the data of all steps.
        self.loss = lambda *batch: model.loss(library, functional, p, *batch)
        draw = numpy.random.default_rng(11)
        self.data = [[library.tensor(a, dtype=dtype if a.dtype.kind == "f" else library.int64)
                      for a in DATA[name](draw)] for _ in range(steps)]

    def eager(self):
        optimizer = self.library.optim.AdamW(self.parameters, lr=self.rate, **SETTINGS)
        losses = []
        for batch in self.data:
            optimizer.zero_grad()
            loss = self.loss(*batch)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def compiled(self):
        adamw = self.library.compiler.AdamW(lr=self.rate, **SETTINGS)
        step = self.library.compiler.compile_step(self.loss, self.parameters, adamw, fullgraph=True)
        return [step(*batch).item() for batch in self.data]


def main():
    name, steps, starts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    library = __import__(name)
    if name == "foregrad":
        import foregrad.compiler  # noqa: F401
    ways = [Run.eager] if name == "torch" else [Run.eager, Run.compiled]
    for model in sys.argv[4:]:
        runs = [(dtype, way, 0) for dtype in ("float64", "float32") for way in ways]
        runs += [("float32", ways[-1], begin) for begin in range(1, starts)]
        for dtype, way, begin in runs:
            losses = way(Run(library, model, dtype, steps, begin))
            print(json.dumps({"model": model, "dtype": dtype, "way": way.__name__, "start": begin,
                              "losses": losses}), flush=True)


if __name__ == "__main__":
    main()
