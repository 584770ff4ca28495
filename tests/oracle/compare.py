"""One case: the same call in both libraries, and in what the outcomes differ."""
import math
import warnings

import torch

import peers
from wire import decode, encode

# rtol, atol
TOLERANCES = {torch.float64: (1e-9, 1e-10), torch.float32: (3e-5, 1e-5),
              torch.float16: (5e-3, 3e-3), torch.bfloat16: (4e-2, 3e-2)}
EXACT_FAMILIES = ("copy", "join", "rearrange", "sort")
EXCEPTIONS = {"runtime": ("RuntimeError", "OutOfMemoryError"), "index": ("IndexError",),
              "type": ("TypeError",), "value": ("ValueError",),
              # NotImplementedError is a RuntimeError in Python.
              "not_implemented": ("NotImplementedError", "RuntimeError"),
              "memory": ("RuntimeError", "MemoryError", "OutOfMemoryError")}


def flat(value):
    if isinstance(value, (tuple, list)):
        return [x for part in value for x in flat(part)]
    return [value]


def leaves_of(values):
    return [v for v in flat(values) if isinstance(v, torch.Tensor)]


def weights_for(outputs):
    """A gradient for every output that can have one: the same numbers each time."""
    return [[((k * 37 + i * 11) % 23 - 11) / 8 + 0.03 for k in range(t.numel())]
            if isinstance(t, torch.Tensor) and t.requires_grad else None
            for i, t in enumerate(outputs)]


class Case:
    """Arguments by name and the form of the call; `out` holds the tensors of out=."""

    def __init__(self, function, given, form="plain", note=""):
        self.function, self.given, self.form, self.note = function, given, form, note
        self.out = None

    def request(self):
        request = {"function": self.function.name, "form": self.form,
                   "args": encode(self.function.positional(self.given))}
        if self.out:
            request["out"] = encode(self.out)
        return request

    def text(self):
        return ", ".join(f"{n}={short(v)}" for n, v in self.given.items())


def short(value):
    if isinstance(value, torch.Tensor):
        sizes = ",".join(map(str, value.shape))
        strides = "" if value.is_contiguous() else f" strides {list(value.stride())}"
        numbers = value.detach().reshape(-1).tolist() if value.numel() <= 6 else "..."
        grad = " grad" if value.requires_grad else ""
        return f"{str(value.dtype)[6:]}[{sizes}]{strides}{grad} {numbers}"
    if isinstance(value, (list, tuple)):
        return "[" + "; ".join(short(v) for v in value) + "]"
    return str(value)


def run_torch(case, counterpart):
    """Outputs, or the exception."""
    args, named = case.function.for_torch(case.given)
    if case.form == "inplace":
        if isinstance(args[0], torch.Tensor) and args[0].requires_grad:
            args[0] = args[0].clone()
    if case.out:
        named["out"] = tuple(case.out) if len(case.out) > 1 else case.out[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return flat(counterpart(*args, **named)), None
        except Exception as error:  # whatever it raises is what we compare with
            return None, error


def backward(case, outputs, weights):
    chosen = [(o, w) for o, w in zip(outputs, weights) if w is not None]
    torch.autograd.backward(
        [o for o, _ in chosen],
        [torch.tensor(w, dtype=torch.float64).to(o.dtype).reshape(o.shape) for o, w in chosen])
    return [leaf.grad for leaf in leaves_of(case.function.positional(case.given))]


def compare(driver, case, counterpart, family):
    """A list of (aspect, ours, torch's); empty when the libraries agree."""
    request = case.request()
    storages = [t.untyped_storage().data_ptr()
                for t in leaves_of(case.function.positional(case.given))]
    outputs, error = run_torch(case, counterpart)
    grads = grad_error = None
    if outputs is not None and any(isinstance(o, torch.Tensor) and o.requires_grad
                                   for o in outputs):
        request["weights"] = weights_for(outputs)
        try:
            grads = backward(case, outputs, request["weights"])
        except Exception as e:
            grad_error = e
    answer = driver.ask(request)
    if answer.get("kind") in ("crash", "foreign", "internal"):
        return [("crash", f"{answer['kind']}: {answer['message']}", describe(outputs, error))]
    if error is not None or not answer["ok"]:
        return compare_errors(answer, outputs, error)
    tolerant = family not in EXACT_FAMILIES
    found = compare_outputs(case, answer, outputs, storages, tolerant)
    if case.form == "plain" and answer["changed"] and case.function.base not in WRITES:
        found.append(("changes its inputs", answer["changed"], []))
    if "weights" in request and not any(a in ("shape", "number of results") for a, _, _ in found):
        found += compare_gradients(case, answer["grads"], grads, grad_error)
    return found


WRITES = ("batch_norm", "native_batch_norm")  # running statistics


def describe(outputs, error):
    return f"{type(error).__name__}: {first_line(error)}" if error else "succeeds: " + ", ".join(
        short(o) for o in outputs)


def first_line(error):
    return (str(error).splitlines() or [""])[0][:200]


def compare_errors(answer, outputs, error):
    ours = "succeeds" if answer["ok"] else f"{answer['kind']}: {answer['message'][:200]}"
    if error is None:
        return [("only ours raises", ours, describe(outputs, None))]
    if answer["ok"]:
        return [("only torch raises", "succeeds: " + ", ".join(
            short(decode(o)) for o in answer["outputs"]), describe(outputs, error))]
    if type(error).__name__ not in EXCEPTIONS[answer["kind"]]:
        return [("kind of error", ours, describe(outputs, error))]
    if answer["changed"]:
        return [("error changes its inputs", answer["changed"], [])]
    return []


def compare_outputs(case, answer, outputs, storages, tolerant):
    ours = answer["outputs"]
    if len(ours) != len(outputs):
        return [("number of results", len(ours), len(outputs))]
    found = []
    for mine, theirs in zip(ours, outputs):
        if not isinstance(theirs, torch.Tensor):
            if mine != theirs:
                found.append(("value", mine, theirs))
            continue
        found += compare_metadata(case, mine, theirs, storages)
        if mine["sizes"] == list(theirs.shape):
            found += compare_values("value", case, mine, theirs, tolerant)
    return found


def compare_metadata(case, mine, theirs, storages):
    found = []
    if mine["dtype"] != str(theirs.dtype)[6:]:
        found.append(("dtype", mine["dtype"], str(theirs.dtype)[6:]))
    if mine["sizes"] != list(theirs.shape):
        return found + [("shape", mine["sizes"], list(theirs.shape))]
    place = theirs.untyped_storage().data_ptr()
    alias = storages.index(place) if place and place in storages and theirs.numel() else None
    aliased = mine["alias"] if theirs.numel() else None
    if case.form == "plain" and aliased != alias:
        found.append(("alias", aliased, alias))
    real = [s for s, n in zip(theirs.stride(), theirs.shape) if n > 1]
    if theirs.numel() and [s for s, n in zip(mine["strides"], theirs.shape) if n > 1] != real:
        aspect = "strides of a view" if alias is not None else "strides"
        found.append((aspect, mine["strides"], list(theirs.stride())))
    if alias is not None and mine["offset"] != theirs.storage_offset():
        found.append(("offset", mine["offset"], theirs.storage_offset()))
    if mine["requires_grad"] != theirs.requires_grad:
        found.append(("requires_grad", mine["requires_grad"], theirs.requires_grad))
    node = theirs.grad_fn.name() if theirs.grad_fn else None
    if mine["node"] != node and mine["requires_grad"] == theirs.requires_grad:
        found.append(("node", mine["node"], node))
    return found


def tolerance(case, *tensors):
    """That of the coarsest float dtype involved; integers are computed with in float32."""
    values = flat(list(case.given.values()) + (case.out or []) + list(tensors))
    dtypes = {v if isinstance(v, torch.dtype) else v.dtype for v in values
              if isinstance(v, (torch.dtype, torch.Tensor))}
    floats = [TOLERANCES[d if d.is_floating_point else torch.float32] for d in dtypes
              if d.is_floating_point or case.out]
    return max(floats, default=(0, 0))


def compare_values(aspect, case, mine, theirs, tolerant=True):
    a, b = decode(mine).double(), theirs.detach().double()
    if not case.function.deterministic:
        return [] if same_distribution(a, b) else [("distribution", short(a), short(b))]
    if case.function.base in ("empty", "empty_like", "empty_strided", "new_empty"):
        return []
    exact = not tolerant or not theirs.dtype.is_floating_point
    rtol, atol = (0, 0) if exact else tolerance(case, theirs)
    close = torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
    if bool(close.all()):
        return []
    place = int((~close).reshape(-1).nonzero()[0])
    return [(aspect, f"[{place}] {a.reshape(-1)[place].item()!r}",
             f"[{place}] {b.reshape(-1)[place].item()!r} of {b.numel()}, "
             f"{int((~close).sum())} differ")]


def same_distribution(a, b):
    """Kolmogorov and Smirnov, at a level of about one in a million."""
    a, b = a.reshape(-1).sort().values, b.reshape(-1).sort().values
    if a.numel() != b.numel() or bool(a.isnan().any()) != bool(b.isnan().any()):
        return False
    if a.numel() == 0 or bool(a.isnan().any()):
        return True
    points = torch.cat([a, b])
    below = [torch.searchsorted(x, points, right=True).double() / x.numel() for x in (a, b)]
    return float((below[0] - below[1]).abs().max()) < 2.7 * math.sqrt(2 / a.numel())


def compare_gradients(case, ours, theirs, error):
    if not case.function.deterministic:
        return []
    if isinstance(ours, dict):  # an error
        if error is not None:
            return []
        return [("backward raises", ours["message"][:200], "succeeds")]
    if error is not None:
        return [("only torch's backward raises", "succeeds", f"{type(error).__name__}: {error}")]
    found = []
    for i, (mine, other) in enumerate(zip(ours, theirs)):
        if (mine is None) != (other is None):
            found.append(("gradient", "none" if mine is None else short(decode(mine)),
                          f"input {i}: " + ("none" if other is None else short(other))))
        elif mine is not None:
            if mine["dtype"] != str(other.dtype)[6:] or mine["sizes"] != list(other.shape):
                found.append(("gradient's type", f"{mine['dtype']} {mine['sizes']}", short(other)))
            else:
                found += compare_values(f"gradient {i}", case, mine, other)
    return found
