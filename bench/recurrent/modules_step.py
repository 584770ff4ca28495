"""A training step by modules, with the same code for PyTorch and for ours.

usage: modules_step.py torch eager|compiled [--losses]
"""
import sys

import clock
from models import CASES, HEADS, HIDDEN, INNER, LAYERS, RATE, WIDTH, start


def module_of(lib, case):
    nn = lib.nn
    if case == "lstm":
        return nn.LSTM(HIDDEN, HIDDEN)
    if case == "gru":
        return nn.GRU(HIDDEN, HIDDEN)
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, LAYERS, enable_nested_tensor=False)


def make_step(lib, case, compiled):
    parameters, x, target = start(case)
    module = module_of(lib, case)
    module.load_state_dict({name: lib.tensor(values) for name, values in parameters.items()})
    x, target = lib.tensor(x), lib.tensor(target)

    def loss_of(x, target):
        out = module(x)
        out = out if case == "transformer" else out[0]
        return lib.nn.functional.mse_loss(out, target)

    if compiled and lib.__name__ == "foregrad":
        step = lib.compiler.compile_step(loss_of, module.parameters(),
                                         lib.compiler.SGD(lr=RATE), fullgraph=True)
        return lambda: step(x, target).item()
    run = lib.compile(loss_of) if compiled else loss_of
    more = {"fused": True} if lib.__name__ == "torch" else {}
    optimizer = lib.optim.SGD(module.parameters(), lr=RATE, **more)

    def step():
        loss = run(x, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main():
    name, mode = sys.argv[1:3]
    lib = __import__(name)
    lib.set_num_threads(2)
    for case in CASES:
        clock.report(make_step(lib, case, mode == "compiled"),
                     [f"{case} eager", f"{case} compiled"])


if __name__ == "__main__":
    main()
