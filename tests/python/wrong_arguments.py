"""Calls public functions with arguments of all kinds; run as a program by wrong_arguments_test.

Usage: wrong_arguments.py FOLDER PART PARTS. The call that is being made stands in FOLDER/call, what
was wrong in FOLDER/wrong; a crash or a hang is seen by the caller.
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

# Names that end or change the process, wait for input or write files; each has tests of its own.
SKIPPED = {"save", "load", "compile", "set_num_threads", "set_default_dtype", "manual_seed",
           "set_rng_state", "set_printoptions", "seed", "set_grad_enabled", "set_memory_limit",
           "backward", "__setstate__", "__del__", "set_flush_denormal", "detect_anomaly",
           "set_detect_anomaly", "set_deterministic_debug_mode", "use_deterministic_algorithms",
           "__class__", "__init_subclass__", "__subclasshook__", "__new__", "__init__",
           "load_cache_artifacts", "main"}
# Texts for developers of the library, or of the standard library, that no user should see.
FORBIDDEN = ("internal error", "std::", "vector::", "basic_", "bad_", "C++ exception", "_M_",
             "please report")


class Raises:
    """Whoever looks at it closely gets an error."""

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
        "None": None, "text": "text", "empty text": "", "bytes": b"bytes", "2**63-1": 2**63 - 1,
        "2**62": 2**62, "-2**63": -2**63, "-2**63+100": -2**63 + 100, "2**64": 2**64, "-1": -1,
        "2**200": 2**200, "nan": float("nan"), "inf": float("inf"), "complex": 1j, "True": True,
        "[]": [], "()": (), "itself": itself, "only itself": only_itself, "mapping": mapping,
        "deep": nested(5000), "Raises": Raises(), "[Raises]": [Raises()], "class": Raises,
        "function": len, "[2**63-1]": [2**63 - 1], "(-2**63,)": (-2**63,), "[None]": [None],
        "[text]": ["text"], "[1, 2]": [1, 2], "shrinking": shrinking(), "slice": slice(None),
        "Ellipsis": ..., "int64": fg.tensor([1, 0]), "bool": fg.tensor([[True, False]]),
        "zero-dim": fg.tensor(2.0), "empty": fg.ones(0, 3), "half": fg.ones(2, 2).half(),
        "abstract size": fg.ones(2, 3).shape, "dtype": fg.float16, "object array":
        np.array([object()]), "reversed array": np.arange(4.0)[::-1], "grad":
        fg.ones(2, 3, requires_grad=True), "set": {1, 2}, "iterator": iter([1, 2]),
    }


def targets():
    tensor = fg.arange(6.0).reshape(2, 3)
    found = []
    for module in (fg, fg.nn.functional, fg.nn.init, fg.autograd, fg.autograd.graph,
                   fg.autograd.functional if hasattr(fg.autograd, "functional") else fg.autograd):
        for name in sorted(dir(module)):
            function = getattr(module, name)
            public = not name.startswith("_") and callable(function) and name not in SKIPPED
            if public and not (inspect.isclass(function) and issubclass(function, BaseException)):
                found.append((f"{module.__name__}.{name}", function, ()))
    for name in sorted(dir(fg.nn)):
        layer = getattr(fg.nn, name)
        if inspect.isclass(layer):
            found.append((f"nn.{name}", layer, ()))
    for name in sorted(dir(fg.Tensor)):
        method = getattr(fg.Tensor, name)
        if callable(method) and name not in SKIPPED:
            found.append((f"Tensor.{name}", method, (tensor,)))
    return found


class Report:
    def __init__(self, folder):
        self.call = os.path.join(folder, "call")
        self.wrong = os.path.join(folder, "wrong")
        self.place = open(self.call, "w", encoding="utf-8")

    def begin(self, what):
        self.place.seek(0)
        self.place.write(f"{what:<400}")
        self.place.flush()

    def blame(self, what, why):
        with open(self.wrong, "a", encoding="utf-8") as file:
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


def run(report, part, parts):
    for number, (name, function, first) in enumerate(targets()):
        if number % parts != part:
            continue
        for kind in values():
            fresh = fg.arange(6.0).reshape(2, 3)
            one = values()[kind] if kind in ("shrinking", "iterator") else KINDS[kind]
            start = tuple(fresh for _ in first)
            report.attempt(f"{name}({kind})", function, (*start, one))
            report.attempt(f"{name}(x, {kind})", function, (*start, fresh, one))
            report.attempt(f"{name}({kind}, {kind})", function, (*start, one, one))
            if not first:
                report.attempt(f"{name}(x, y, {kind})", function, (fresh, fresh.clone(), one))


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
        thread = threading.Thread(target=run, args=(Report(other), part, 20 * parts))
        thread.start()
        thread.join()


if __name__ == "__main__":
    main()
