"""Prints what modules, optimisers and schedules do, under one library: a line of JSON per case.

usage: worker.py torch|foregrad FOLDER; files that one library writes are read by the other.
"""
import json
import sys
import warnings

import numpy

import errors
import files
import layers
import modules
import optimizers
import programs
import recurrent
import transformers
import utilities


def main():
    warnings.simplefilter("ignore")
    name, folder = sys.argv[1:]
    library = __import__(name)
    if name == "foregrad":
        import foregrad.optim  # noqa: F401
    library.manual_seed(0)
    numpy.random.seed(0)
    for source in (modules, layers, utilities, errors, programs, optimizers, recurrent,
                   transformers):
        for case in source.cases(library):
            print(json.dumps(case))
    for case in files.cases(library, name, folder):
        print(json.dumps(case))


if __name__ == "__main__":
    main()
