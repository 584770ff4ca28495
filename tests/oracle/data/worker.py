"""Prints what every case does under one library: a line of JSON each. Usage: worker.py LIBRARY"""
import collections
import importlib
import inspect
import json
import re
import sys
import warnings

import numpy

import cases

Pair = collections.namedtuple("Pair", "x y")


def datasets(data):
    class Numbers(data.Dataset):
        def __init__(self, count=10):
            self.count = count

        def __len__(self):
            return self.count

        def __getitem__(self, index):
            return index

    class Endless(data.Dataset):
        def __getitem__(self, index):
            return index

    class Tens(Numbers):
        def __getitems__(self, indices):
            return [index * 10 for index in indices]

    class Short(Numbers):
        def __getitems__(self, indices):
            return indices[:-1]

    class Stream(data.IterableDataset):
        def __init__(self, count=5):
            self.count = count

        def __iter__(self):
            return iter(range(self.count))

    class Sized(Stream):
        def __len__(self):
            return self.count - 1

    class Seeds(Numbers):
        def __getitem__(self, index):
            info, state = data.get_worker_info(), numpy.random.get_state()[1][:4].tolist()
            entropy = [info.id, info.seed - info.id & 0xFFFFFFFF, info.seed - info.id >> 32, 0]
            words = numpy.random.SeedSequence(entropy).generate_state(4)
            numpy.random.seed(words)
            expected = numpy.random.get_state()[1][:4].tolist()
            return info.id, info.num_workers, repr(info)[:13], state == expected

    class Fails(Numbers):
        def __getitem__(self, index):
            if index == 2:
                raise KeyError("two")
            return index

    return {each.__name__: each for each in (Numbers, Endless, Tens, Short, Stream, Sized, Seeds,
                                             Fails)}


def plain(value, torch):
    """The value as JSON has it, with the classes of containers and the dtypes of tensors."""
    if isinstance(value, torch.Tensor):
        return ["tensor", str(value.dtype).split(".")[-1], value.tolist()]
    if isinstance(value, numpy.ndarray):
        return ["array", str(value.dtype), value.tolist()]
    if isinstance(value, dict):
        return [type(value).__name__, {str(k): plain(v, torch) for k, v in value.items()}]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [plain(each, torch) for each in value]]
    if isinstance(value, (bool, int, float, str, type(None))):
        return value
    return re.sub(r"(torch|foregrad)\.", "", re.sub(r" at 0x\w+", "", repr(value)))


def outcome(source, names, torch):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = plain(eval(source, names), torch)
        except Exception as error:
            words = re.split(r"[:\[(`]", str(error))[0].strip() if error.args else ""
            known = source in cases.OTHER_WORDS
            result = [type(error).__name__] + ([] if known else [words.removesuffix(".")])
    return [result, sorted({each.category.__name__ for each in caught})]


def main():
    library = sys.argv[1]
    torch = importlib.import_module(library)
    data = importlib.import_module(f"{library}.utils.data")
    collate = importlib.import_module(f"{library}.utils.data._utils.collate")
    names = {"torch": torch, "data": data, "np": numpy, "collections": collections, "Pair": Pair,
             "collate": collate, "loader": data.DataLoader, **datasets(data)}
    for source in cases.CASES:
        print(json.dumps([source, outcome(source, names, torch)]), flush=True)
    for name in cases.SIGNATURES:
        parameters = inspect.signature(getattr(data, name)).parameters.values()
        shown = [[each.name, str(each.kind), re.sub(r"<.*>", "", repr(each.default))]
                 for each in parameters]
        print(json.dumps([f"signature of {name}", shown]), flush=True)


if __name__ == "__main__":
    main()
