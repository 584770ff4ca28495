"""Runs programs of a family under one library; a line of JSON for everything that was seen."""
import argparse
import importlib
import json
import sys
import warnings
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import observe  # noqa: E402

# Families of more than one file.
PARTS = {"autograd_api": ("autograd_api", "autograd_hooks"),
         "views_and_inplace": ("views_and_inplace", "views_with_history"),
         "custom_functions": ("custom_functions", "custom_contexts")}


def run(library, family, name, function, seed):
    """The observations of one program; an exception that it did not ask for is the last."""
    observe.seen.clear()
    # A crash kills this process: the driver learns from this line which program it was.
    print(json.dumps({"program": name}), flush=True)
    library.manual_seed(seed)
    library.set_default_dtype(library.float32)
    draw = observe.Draw(library, zlib.crc32(f"{family} {name} {seed}".encode()))
    try:
        function(library, draw)
        observe.see("end", "reached")
    except Exception as error:
        observe.see("end", observe.Raised(error))
    line = {"program": name, "seen": observe.seen, "source": getattr(draw, "source", None)}
    print(json.dumps(line), flush=True)


def run_text(library, source):
    """Runs a program's text line by line; sees every tensor that has a name at the end."""
    observe.seen.clear()
    library.set_default_dtype(library.float32)
    names = {"torch": library}
    for line in source.split("\n"):
        try:
            exec(line, names)
        except Exception as error:
            observe.see("raised", observe.Raised(error))
    for name, value in list(names.items()):
        if name not in ("torch", "__builtins__"):
            observe.see(name, value)
    print(json.dumps({"program": "text", "seen": observe.seen}), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("family")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--program", action="append")
    parser.add_argument("--after", help="the program that ended the process before")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    library = importlib.import_module(options.library)
    if options.family == "text":
        for line in sys.stdin:
            run_text(library, json.loads(line))
        return
    for part in PARTS.get(options.family, (options.family,)):
        importlib.import_module(part)
    programs = observe.REGISTRY[options.family]
    names = options.program or list(programs)
    if options.after:
        names = names[names.index(options.after) + 1:]
    for name in names:
        run(library, options.family, name, programs[name], options.seed)


if __name__ == "__main__":
    main()
