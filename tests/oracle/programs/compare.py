"""In what two observations differ, and which differences are known."""
import math
import re
import tomllib

# rtol, atol
TOLERANCES = {"torch.float64": (1e-9, 1e-10), "torch.float32": (3e-5, 1e-5),
              "torch.float16": (5e-3, 3e-3), "torch.bfloat16": (4e-2, 3e-2)}
PYTHON_FLOAT = (1e-5, 1e-6)
# Several differences of one tensor are told as one, by the first of these.
TENSOR_ASPECTS = ("type", "dtype", "shape", "values", "requires_grad", "node", "is_leaf", "stride",
                  "offset", "is_view", "version")


def close(a, b, tolerance):
    if isinstance(a, bool) or isinstance(b, bool) or isinstance(a, str) or isinstance(b, str):
        return a == b
    rtol, atol = tolerance
    return a == b or abs(a - b) <= atol + rtol * abs(b) or (math.isnan(a) and math.isnan(b))


def differs(ours, torch, label=""):
    """None, or (aspect, ours, torch's) where two normalised values differ first."""
    if isinstance(ours, dict) and isinstance(torch, dict) and ours["kind"] == torch["kind"]:
        if ours["kind"] == "tensor":
            return differs_in_tensor(ours, torch, label)
        if isinstance(ours.get("items"), list):
            return differs_in_items(ours, torch, label)
        return BY_KIND.get(ours["kind"], differs_plainly)(ours, torch)
    return differs_plainly(ours, torch)


def differs_plainly(ours, torch):
    return None if ours == torch else (kind_of_difference(ours, torch), show(ours), show(torch))


def is_raised(value):
    return isinstance(value, dict) and value["kind"] == "raised"


def kind_of_difference(ours, torch):
    raised = [is_raised(ours), is_raised(torch)]
    if raised == [True, False]:
        return "only ours raises"
    return "only torch raises" if raised == [False, True] else "value"


def tolerance_for(dtype, label):
    """That of the dtype, or of a narrower one that the label names: numbers came through it."""
    for pattern, narrow in ((r"bfloat16", "bfloat16"), (r"half|float16", "float16"),
                            (r"float\(\)|float32", "float32")):
        if re.search(pattern, label):
            return max(TOLERANCES["torch." + narrow], TOLERANCES.get(dtype, (0, 0)))
    return TOLERANCES.get(dtype, (0, 0))


def differs_in_tensor(ours, torch, label):
    tolerance = tolerance_for(torch["dtype"], label)
    for aspect in TENSOR_ASPECTS:
        a, b = ours[aspect], torch[aspect]
        if aspect == "values":
            same = len(a) == len(b) and all(close(x, y, tolerance) for x, y in zip(a, b))
        else:
            same = a == b
        if not same:
            return aspect_of(aspect, ours, torch), str(a), str(b)
    return None


def aspect_of(aspect, ours, torch):
    """Strides of sizes below two lead nowhere: a difference there has a name of its own."""
    sizes, strides = ours["shape"], zip(ours["stride"], torch["stride"])
    if aspect == "stride" and all(n < 2 or a == b for n, (a, b) in zip(sizes, strides)):
        return "stride of a size below two"
    return aspect


def differs_in_items(ours, torch, label):
    if len(ours["items"]) != len(torch["items"]):
        return "length", show(ours), show(torch)
    for i, (a, b) in enumerate(zip(ours["items"], torch["items"])):
        found = differs(a, b, label)
        if found:
            return f"item {i}: {found[0]}", found[1], found[2]
    return None


def differs_in_float(ours, torch):
    same = close(ours["value"], torch["value"], PYTHON_FLOAT)
    return None if same else ("value", str(ours["value"]), str(torch["value"]))


def differs_in_error(ours, torch):
    if ours["type"] == torch["type"]:
        return None
    return "exception", show(ours), show(torch)


BY_KIND = {"float": differs_in_float, "raised": differs_in_error}


def show(value):
    """A value for people."""
    if not isinstance(value, dict):
        return repr(value)
    if value["kind"] == "raised":
        return f"{value['type']}: {value['message']}"
    if value["kind"] == "tensor":
        return f"{value['dtype']}{value['shape']} {value['values'][:12]}"
    if "items" in value:
        return value["kind"] + "(" + ", ".join(map(show, value["items"])) + ")"
    return value.get("text", str(value.get("value")))


def compare(ours, torch):
    """Pairs the observations of a program: a list of (label, None or a difference).

    The pair of an observation has the same label for the same time. One without a pair is told
    only when nothing else differs: otherwise it follows from that.
    """
    if "crash" in ours or "crash" in torch:
        return [("end", ("crash", str(ours.get("crash", "reached")),
                         str(torch.get("crash", "reached"))))]
    mine, theirs = numbered(ours["seen"]), numbered(torch["seen"])
    # An exception that only one library met is told first: the rest may follow from it.
    found = [(key[0], ("only ours raises", show(mine[key]), "nothing"))
             for key in missing(mine, theirs) if is_raised(mine[key])]
    found += [(key[0], ("only torch raises", "nothing", show(theirs[key])))
              for key in missing(theirs, mine) if is_raised(theirs[key])]
    found += [(key[0], differs(mine[key], value, key[0])) for key, value in theirs.items()
              if key in mine]
    if any(difference for _, difference in found):
        return found
    for key in missing(theirs, mine)[:1]:
        found.append((key[0], ("only torch sees", "nothing", show(theirs[key]))))
    for key in missing(mine, theirs)[:1]:
        found.append((key[0], ("only ours sees", show(mine[key]), "nothing")))
    return found


def missing(one, other):
    """Observations of one that the other lacks, unless the other's program ended too early."""
    ended = is_raised(other.get(("end", 0)))
    return [] if ended else [key for key in one if key not in other]


def numbered(seen):
    """Observations by label and how often the label was there before."""
    counts, result = {}, {}
    for label, value in seen:
        result[label, counts.setdefault(label, 0)] = value
        counts[label] += 1
    return result


def read_known(path):
    entries = tomllib.loads(path.read_text())["known"] if path.exists() else []
    for entry in entries:
        entry["patterns"] = {k: re.compile(v) for k, v in entry.items() if k != "reason"}
    return entries


def reason_for(known, **facts):
    """The reason of the first entry whose patterns are all found, or None."""
    for entry in known:
        if all(p.search(facts[k]) for k, p in entry["patterns"].items()):
            return entry["reason"]
    return None
