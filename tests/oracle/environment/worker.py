"""Evaluates every expression with one library and prints the outcomes as JSON; started by run."""
import collections
import importlib
import json
import sys
import warnings
from pathlib import Path


def outcome(expression, names):
    """The text of the result in PyTorch's words, or the kinds of the error."""
    try:
        text = repr(eval(expression, names))
    except Exception as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        return {"error": type(error).__name__, "kinds": kinds, "text": str(error)}
    return {"error": None, "text": text.replace("foregrad", "torch")}


def main():
    warnings.simplefilter("ignore")
    torch = importlib.import_module(sys.argv[1])
    for module in ("utils.benchmark", "profiler", "testing", "multiprocessing"):
        importlib.import_module(f"{sys.argv[1]}.{module}")
    trees = importlib.import_module(f"{sys.argv[1]}.utils._pytree")
    names = {"torch": torch, "P": trees, "collections": collections}
    lines = (Path(__file__).parent / "expressions.txt").read_text().splitlines()
    found = {}
    for line in lines:
        if line and not line.startswith("#"):
            names.update(x=torch.ones(2), m=torch.ones(2, 2))
            found[line] = outcome(line, names)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
