"""The JSON-lines protocol of driver.cpp: values to JSON and back, and the driver as a process."""
import ast
import json
import math
import select
import subprocess

import torch

DTYPES = {str(d)[6:]: d for d in (
    torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16, torch.float32,
    torch.float64, torch.bool, torch.bfloat16)}
SECONDS = 60


def number(x):
    if isinstance(x, float) and not math.isfinite(x):
        return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    return x


def encode_tensor(t):
    plain = t.detach()
    if plain.dtype in (torch.float16, torch.bfloat16):
        plain = plain.double()
    json_tensor = {"dtype": str(t.dtype)[6:], "sizes": list(t.shape),
                   "data": [number(x) for x in plain.reshape(-1).tolist()],
                   "requires_grad": t.requires_grad}
    if not t.is_contiguous():
        json_tensor["strides"] = list(t.stride())
    return json_tensor


def encode(value):
    if isinstance(value, torch.Tensor):
        return encode_tensor(value)
    if isinstance(value, torch.dtype):
        return {"dtype": str(value)[6:]}
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": number(value)}
    return value


def decode(value):
    """A tensor of an answer as a contiguous torch tensor; other values as they are."""
    if not isinstance(value, dict):
        return value
    flat = [float(x) if isinstance(x, str) else x for x in value["data"]]
    wide = torch.tensor(flat, dtype=torch.float64 if DTYPES[value["dtype"]].is_floating_point
                        else torch.int64)
    return wide.to(DTYPES[value["dtype"]]).reshape(value["sizes"])


class Function:
    """One row of the library's table."""

    def __init__(self, row):
        self.name, self.arguments = row["name"], row["arguments"]
        self.base = self.name.split(".")[0]
        self.overload = self.name.partition(".")[2]
        self.inplace, self.out = row["inplace"], row["out"]
        self.deterministic = row["deterministic"]

    def positional(self, given):
        """Named arguments in schema order up to the last one given, defaults in between."""
        last = max([i for i, a in enumerate(self.arguments) if a["name"] in given], default=-1)
        return [given[a["name"]] if a["name"] in given else ast.literal_eval(a["default"])
                for a in self.arguments[:last + 1]]

    def for_torch(self, given):
        """The same for Python: what is keyword only goes by name."""
        values = self.positional({a["name"]: given[a["name"]] for a in self.arguments
                                  if a["name"] in given and not a["keyword_only"]})
        return values, {a["name"]: given[a["name"]] for a in self.arguments
                        if a["keyword_only"] and a["name"] in given}


class Driver:
    """The program under test. When it dies or hangs, the answer says so and a new one starts."""

    def __init__(self, program):
        self.program, self.process = program, None

    def ask(self, request):
        if self.process is None:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE,
                                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                            text=True, bufsize=1)
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
            ready = select.select([self.process.stdout], [], [], SECONDS)[0]
            line = self.process.stdout.readline() if ready else ""
        except BrokenPipeError:
            line, ready = "", True
        if line.endswith("\n"):
            return json.loads(line)
        self.process.kill()
        code = self.process.wait()
        self.process = None
        what = f"died with exit code {code}" if ready else f"no answer within {SECONDS} s"
        return {"ok": False, "kind": "crash", "message": what, "changed": []}

    def functions(self):
        answer = self.ask({"list": True})
        return [Function(row) for row in answer["functions"]]
