"""One contender: microseconds per batch, as JSON lines. Usage: cases.py torch|foregrad

Batches of 64. An image is 3 x 64 x 64 bytes in a compressed file; a sample unpacks it, flips every
other one, makes floats of it and normalises the channels. A small sample is a tuple of a vector of
8 floats, an int and a float. Workers persist; the first pass, which starts them, is not counted.
"""
import importlib
import json
import sys
import time
import zlib

import numpy

BATCH = 64


def datasets(torch, data):
    """The datasets by name, with their number of samples and of passes."""
    class Images(data.Dataset):
        def __init__(self, count):
            smooth = numpy.arange(3 * 64 * 64, dtype=numpy.uint32) // 7
            self.files = [zlib.compress((smooth * (i + 1)).astype(numpy.uint8).tobytes(), 1)
                          for i in range(count)]
            self.mean = torch.tensor([0.485, 0.456, 0.406]).view(3, 1, 1)
            self.deviation = torch.tensor([0.229, 0.224, 0.225]).view(3, 1, 1)

        def __len__(self):
            return len(self.files)

        def __getitem__(self, index):
            pixels = numpy.frombuffer(bytearray(zlib.decompress(self.files[index])), numpy.uint8)
            image = torch.from_numpy(pixels).view(3, 64, 64)
            if index % 2:
                image = image.flip(-1)
            image = image.float().div(255)
            return image.sub(self.mean).div(self.deviation), index % 10

    class Tuples(data.Dataset):
        def __init__(self, count):
            self.vectors = torch.arange(8. * count).view(count, 8)

        def __len__(self):
            return len(self.vectors)

        def __getitem__(self, index):
            return self.vectors[index], index, index / 3

    return {"images": (Images(40 * BATCH), 3), "tuples": (Tuples(100 * BATCH), 5)}


def per_batch(loader, passes):
    """Microseconds: the best of several passes, for the others were interrupted."""
    best = float("inf")
    for number in range(passes + 1):
        start, batches, total = time.perf_counter(), 0, 0.0
        for first, *_ in loader:
            batches += 1
            total += first[0, 0].sum().item()
        if number > 0:
            best = min(best, (time.perf_counter() - start) / batches)
    return best * 1e6


def main():
    name = sys.argv[1]
    torch = importlib.import_module(name)
    data = importlib.import_module(f"{name}.utils.data")
    for kind, (dataset, passes) in datasets(torch, data).items():
        for workers in (0, 2):
            torch.manual_seed(0)
            loader = data.DataLoader(dataset, BATCH, shuffle=True, num_workers=workers,
                                     persistent_workers=workers > 0)
            print(json.dumps({"case": f"{kind}, {workers} workers", "unit": "us",
                              "value": per_batch(loader, passes)}), flush=True)


if __name__ == "__main__":
    main()
