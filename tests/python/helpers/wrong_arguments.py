"""Calls public functions with arguments of all kinds; run as a program by wrong_arguments_test.

Usage: wrong_arguments.py FOLDER PART PARTS. The call that is being made stands in FOLDER/call, what
was wrong in FOLDER/wrong, and at the end the number of calls in FOLDER/done; a crash or a hang is
seen by the caller. FOLDER/thread has the same of some calls in another thread.
"""

import contextlib
import inspect
import io
import os
import resource
import sys
import threading
import warnings

import numpy as np

import foregrad as fg
import foregrad._late  # noqa: F401

# Names of Python's own; a class is called itself.
SKIPPED = {"__setstate__", "__del__", "__class__", "__init_subclass__", "__subclasshook__",
           "__new__", "__init__"}
LAST = ("set_num_threads", "set_default_dtype", "set_grad_enabled",
        "set_default_tensor_type")  # later calls would see them
# Texts for developers of the library, or of the standard library, that no user should see.
FORBIDDEN = ("internal error", "std::", "vector::", "basic_", "bad_", "C++ exception", "_M_",
             "please report")
THREAD = 20  # another thread calls one function of so many


class Raises:
    """An object that raises an error when a function looks at it closely."""

    def _raise(self, *args):
        raise ArithmeticError("on purpose")

    __index__ = __float__ = __int__ = __len__ = __iter__ = __getitem__ = __bool__ = _raise
    __array__ = __dlpack__ = _raise


class Shrinks:
    """An integer that empties the list which holds it."""

    def __init__(self, holder):
        self.holder = holder

    def __index__(self):
        del self.holder[:]
        return 1

    def __float__(self):
        return float(self.__index__())


def shrinking():
    holder = [1, 2, 3]
    holder.insert(1, Shrinks(holder))
    return holder


def nested(depth):
    result = []
    for _ in range(depth):
        result = [result]
    return result


def values():
    itself = [1, 2]
    itself.append(itself)
    only_itself = []
    only_itself.append(only_itself)
    mapping = {}
    mapping["self"] = mapping
    return {
        "None": None, "text": "text", "empty text": "", "bytes": b"bytes",
        "half a character": "\ud800", "2**63-1": 2**63 - 1, "2**62": 2**62,
        "-2**63": -2**63, "-2**63+100": -2**63 + 100, "2**64": 2**64, "-1": -1,
        "2**200": 2**200, "nan": float("nan"), "inf": float("inf"), "complex": 1j, "True": True,
        "[]": [], "()": (), "itself": itself, "only itself": only_itself, "mapping": mapping,
        "deep": nested(5000), "Raises": Raises(), "[Raises]": [Raises()], "class": Raises,
        "function": len, "[2**63-1]": [2**63 - 1], "(-2**63,)": (-2**63,), "[None]": [None],
        "[text]": ["text"], "[1, 2]": [1, 2], "shrinking": None, "slice": slice(None),
        "Ellipsis": ..., "int64": fg.tensor([1, 0]), "bool": fg.tensor([[True, False]]),
        "zero-dim": fg.tensor(2.0), "empty": fg.ones(0, 3), "half": fg.ones(2, 2).half(),
        "abstract size": fg.ones(2, 3).shape, "dtype": fg.float16, "object array":
        np.array([object()]), "reversed array": np.arange(4.0)[::-1], "grad":
        fg.ones(2, 3, requires_grad=True), "set": {1, 2}, "iterator": None,
    }


MADE = {"shrinking": shrinking, "iterator": lambda: iter([1, 2])}  # anew for each function


# Modules of which all public names are called. Files are written to FOLDER.
fg._late.load_all()  # every name, whatever a program used before
MODULES = (fg, fg.nn.functional, fg.nn.init, fg.nn.utils, fg.autograd, fg.autograd.graph,
           fg.autograd.function, fg.compiler, fg.compiler.cache, fg.optim, fg.safetensors,
           fg.utils.hooks, fg.utils.dlpack, fg.cuda, fg.accelerator, fg.amp, fg.jit, fg.testing,
           fg.backends.cuda, fg.backends.cudnn)


def make_matrix():
    return fg.arange(6.0).reshape(2, 3)


def make_node():
    return fg.ones(2, requires_grad=True).sin().grad_fn


def make_optimizer(kind=fg.optim.SGD):
    return kind([fg.ones(2, requires_grad=True)], lr=0.1)


# Objects of which all public methods are called.
RECEIVERS = {
    "Tensor": make_matrix, "Node": make_node, "Generator": fg.Generator,
    "SavedTensor": lambda: make_node()._raw_saved_self, "Linear": lambda: fg.nn.Linear(3, 3),
    "SGD": make_optimizer, "Adam": lambda: make_optimizer(fg.optim.Adam),
    "StepLR": lambda: fg.optim.lr_scheduler.StepLR(make_optimizer(), 2),
    "Compiled": lambda: fg.compile(lambda x: x * 2, backend="interpreter"),
}
SIZES = ((), (3,), (3, 3), (3, 3, 2), (3, 4, [2]))  # of a layer; it takes the first that it can
nn = fg.nn
MADE_LAYERS = {  # those that need more than sizes, or are large if nothing is said
    nn.RNNBase: lambda: nn.RNNBase("LSTM", 3, 3),
    nn.RNNCellBase: lambda: nn.RNNCellBase(3, 3, True, 4),
    nn.Unflatten: lambda: nn.Unflatten(0, (1, 2)),
    nn.DataParallel: lambda: nn.DataParallel(nn.Linear(3, 3)),
    nn.Transformer: lambda: nn.Transformer(4, 2, 1, 1, 8),
    nn.TransformerDecoder: lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 8), 1),
    nn.TransformerDecoderLayer: lambda: nn.TransformerDecoderLayer(4, 2, 8),
    nn.TransformerEncoder: lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8), 1),
    nn.TransformerEncoderLayer: lambda: nn.TransformerEncoderLayer(4, 2, 8),
}


def layer_maker(kind):
    """A function that makes a layer with sizes of its kind."""
    if kind in MADE_LAYERS:
        return MADE_LAYERS[kind]
    for sizes in SIZES:
        try:
            kind(*sizes)
        except (TypeError, ValueError):
            continue
        return lambda: kind(*sizes)
    raise AssertionError(f"no sizes for {kind}")


def is_public(name, function):
    error = inspect.isclass(function) and issubclass(function, BaseException)
    return not name.startswith("_") and callable(function) and not error


def targets():
    """(name, function, the maker of the object that is its first argument or None)."""
    found = []
    for module in MODULES:
        for name in sorted(dir(module)):
            function = getattr(module, name)
            if is_public(name, function) and name not in LAST:
                found.append((f"{module.__name__}.{name}", function, None))
    for name in sorted(dir(fg.optim.lr_scheduler)):
        function = getattr(fg.optim.lr_scheduler, name)
        if is_public(name, function):
            found.append((f"lr_scheduler.{name}", function, make_optimizer))
    for name in sorted(dir(fg.nn)):
        layer = getattr(fg.nn, name)
        if inspect.isclass(layer):
            found.append((f"nn.{name}", layer, None))
            if issubclass(layer, fg.nn.Module):
                found.append((f"{name}.__call__", layer.__call__, layer_maker(layer)))
    for owner, make in RECEIVERS.items():
        kind = type(make())
        for name in sorted(dir(kind)):
            method = getattr(kind, name)
            own = method is not getattr(object, name, None)
            known = name in SKIPPED
            if callable(method) and own and not known:
                found.append((f"{owner}.{name}", method, make))
    return found + [(f"foregrad.{name}", getattr(fg, name), None) for name in LAST]


def chosen(part, parts):
    return [target for i, target in enumerate(targets()) if i % parts == part]


def count_calls(part, parts):
    return len(values()) * sum(3 if make else 4 for _, _, make in chosen(part, parts))


class Report:
    def __init__(self, folder):
        self.call = os.path.join(folder, "call")
        self.wrong = os.path.join(folder, "wrong")
        self.done = os.path.join(folder, "done")
        self.calls = 0
        self.place = open(self.call, "w", encoding="utf-8")

    def begin(self, what):
        self.place.seek(0)
        self.place.write(f"{what:<400}")
        self.place.flush()

    def blame(self, what, why):
        with open(self.wrong, "a", encoding="utf-8", errors="replace") as file:
            file.write(f"{what}: {why}\n")

    def attempt(self, what, function, arguments):
        self.begin(what)
        try:
            function(*arguments)
        except SystemError as error:  # a function that gave an error and a result, or neither
            self.blame(what, f"SystemError: {error}")
        except Exception as error:  # noqa: BLE001: any other kind is an answer
            try:
                text = str(error)
            except Exception as unreadable:  # noqa: BLE001
                self.blame(what, f"{type(error).__name__} without text: {unreadable}")
                return
            if any(word in text for word in FORBIDDEN):
                self.blame(what, f"{type(error).__name__}: {text[:300]}")
        finally:
            self.calls += 1

    def end(self):
        with open(self.done, "w", encoding="utf-8") as file:
            file.write(str(self.calls))


def run(report, part, parts):
    for name, function, make in chosen(part, parts):
        for kind in KINDS:
            one = MADE[kind]() if kind in MADE else KINDS[kind]
            fresh = make_matrix()
            start = (make(),) if make else ()
            report.attempt(f"{name}({kind})", function, (*start, one))
            report.attempt(f"{name}(x, {kind})", function, (*start, fresh, one))
            report.attempt(f"{name}({kind}, {kind})", function, (*start, one, one))
            if not make:
                report.attempt(f"{name}(x, y, {kind})", function, (fresh, fresh.clone(), one))
    report.end()


def main():
    global KINDS
    folder, part, parts = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    os.chdir(folder)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(1000)
    KINDS = values()
    with contextlib.redirect_stdout(io.StringIO()):
        run(Report(folder), part, parts)
        other = os.path.join(folder, "thread")
        os.makedirs(other, exist_ok=True)
        thread = threading.Thread(target=run, args=(Report(other), part, THREAD * parts))
        thread.start()
        thread.join()


if __name__ == "__main__":
    main()
