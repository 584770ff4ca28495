"""Draws the cases of every function, compares, prints a table per family and the differences."""
import argparse
import collections
import json
import multiprocessing
import re
import sys
import tomllib
import warnings
import zlib
from pathlib import Path

import torch

import cases
import cases_create  # noqa: F401  each registers its generators
import cases_elementwise  # noqa: F401
import cases_functional  # noqa: F401
import cases_index  # noqa: F401
import cases_loss  # noqa: F401
import cases_network  # noqa: F401
import cases_reduce  # noqa: F401
import cases_shape  # noqa: F401
import peers
from compare import Case, compare, run_torch
from draw import Draw
from mutate import mutate
from wire import Driver

HERE = Path(__file__).resolve().parent


def forms(function, count):
    """(form, whether the arguments are doubtful) of each case of a function."""
    half = (count + 1) // 2
    plan = [("plain", False)] * count
    if cases.family_of(function) != "backward":
        plan += [("plain", True)] * count
    if function.inplace and peers.find_inplace(function):
        plan += [("inplace", False)] * half + [("inplace", True)] * (half // 2)
    if function.out and peers.find_out(function):
        plan += [("out", False)] * half
    return plan


def out_tensors(draw, case, counterpart):
    """Tensors for out=: like the results, or empty, or of another dtype."""
    results, error = run_torch(case, counterpart)
    if error is not None:
        return [torch.empty(0)]
    kind = draw.choice(("same", "same", "empty", "dtype"))
    outs = []
    for result in results:
        dtype = draw.any_dtype() if kind == "dtype" else result.dtype
        outs.append(torch.zeros([0] if kind == "empty" else result.shape, dtype=dtype))
    return outs


def make_case(function, number, options, form, doubtful, counterpart):
    """The same seed and number make the same case, whatever else runs."""
    draw = Draw(zlib.crc32(f"{function.name} {options.seed} {number}".encode()))
    torch.manual_seed(number)
    if form == "out":
        draw.gradients = False
    case = Case(function, cases.arguments_of(draw, function, options.all_functions), form)
    if doubtful:
        case.note = mutate(draw, function, case.given)
    if form == "out":
        case.out = out_tensors(draw, Case(function, case.given), counterpart)
    return case


def serve(writing, functions, options):
    driver = Driver(options.driver)
    for function in functions:
        writing.send(run_function(driver, function, options))


def run_all(functions, options):
    """Yields run_function's result of each, from a second process, because PyTorch may die too."""
    functions = list(functions)
    while functions:
        reading, writing = multiprocessing.Pipe(duplex=False)
        child = multiprocessing.Process(target=serve, args=(writing, functions, options))
        child.start()
        writing.close()
        try:
            while functions:
                yield functions[0], *reading.recv()
                functions.pop(0)
        except EOFError:
            row = {"family": cases.family_of(functions[0]), "function": functions[0].name,
                   "case": 0, "form": "plain", "doubtful": "", "aspect": "the comparison died",
                   "input": "--verbose names the case", "ours": "", "torch": ""}
            yield functions.pop(0), [row], 1
        child.join()


def run_function(driver, function, options):
    """Rows of differences, and how many cases were compared."""
    family = cases.family_of(function)
    counterparts = {"plain": peers.find(function), "inplace": peers.find_inplace(function),
                    "out": peers.find_out(function)}
    rows, compared = [], 0
    for number, (form, doubtful) in enumerate(forms(function, options.cases)):
        case = make_case(function, number, options, form, doubtful, counterparts["plain"])
        if options.verbose:
            print(f"{function.name} #{number} {form} {case.note}: {case.text()}", flush=True)
        text = case.text()
        compared += 1
        for aspect, ours, theirs in compare(driver, case, counterparts[form], family):
            rows.append({"function": function.name, "family": family, "case": number, "form": form,
                         "doubtful": case.note, "aspect": aspect, "input": text,
                         "ours": str(ours), "torch": str(theirs)})
    return rows, compared


class Known:
    """The allow-list: what may differ, each with its reason."""

    def __init__(self):
        self.entries = tomllib.loads((HERE / "known.toml").read_text())["known"]
        self.used = collections.Counter()

    def reason(self, row):
        if row["aspect"] in ("crash", "the comparison died"):
            return None  # whatever the function
        for entry in self.entries:
            if all(re.search(entry[field], row[field]) for field in
                   ("function", "aspect", "input", "ours", "torch", "form") if field in entry):
                self.used[entry["reason"]] += 1
                entry["used"] = True
                return entry["reason"]
        return None


def summarise(functions, rows, counts):
    """Per family: functions, compared, equal, explained, differing, differing in strides only."""
    table = collections.defaultdict(collections.Counter)
    for function in functions:
        line = table[cases.family_of(function)]
        line["functions"] += 1
        line["compared"] += counts[function.name]
    grouped = collections.defaultdict(list)
    for row in rows:
        grouped[row["family"], row["function"], row["case"]].append(row)
    for (family, _, _), found in grouped.items():
        if any(not r["reason"] and r["aspect"] != "strides" for r in found):
            table[family]["differing"] += 1
        elif any(r["reason"] for r in found):
            table[family]["explained"] += 1
        else:
            table[family]["strides"] += 1
    return table


def print_table(table):
    columns = ("functions", "compared", "equal", "explained", "strides", "differing")
    print(f"{'family':12}" + "".join(f"{c:>11}" for c in columns))
    total = collections.Counter()
    for family, line in sorted(table.items()):
        line["equal"] = line["compared"] - sum(line[c] for c in columns[3:])
        total.update(line)
        print(f"{family:12}" + "".join(f"{line[c]:11}" for c in columns))
    print(f"{'all':12}" + "".join(f"{total[c]:11}" for c in columns))


def print_differences(rows, examples):
    groups = collections.defaultdict(list)
    for row in rows:
        if not row["reason"]:
            groups[row["function"], row["form"], row["aspect"]].append(row)
    for (function, form, aspect), found in sorted(groups.items()):
        print(f"\n{function} ({form}): {aspect}, {len(found)} times")
        if aspect == "strides":
            found = found[:1]
        for row in found[:examples]:
            doubtful = f"  [{row['doubtful']}]" if row["doubtful"] else ""
            print(f"  #{row['case']} {row['input']}{doubtful}\n    ours:  {row['ours']}\n"
                  f"    torch: {row['torch']}")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--driver", required=True)
    parser.add_argument("--function", metavar="NAME", action="append",
                        help="only this function: a full name, or a name for all its overloads")
    parser.add_argument("--family", metavar="NAME", action="append")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cases", type=int, default=20, help="good arguments per function")
    parser.add_argument("--examples", type=int, default=2, help="printed per kind of difference")
    parser.add_argument("--json", metavar="FILE", help="write every difference as JSON")
    parser.add_argument("--verbose", action="store_true", help="print each case before it runs")
    return parser.parse_args()


def wanted(function, options):
    return (not options.function or {function.name, function.base} & set(options.function)) and \
        (not options.family or cases.family_of(function) in options.family)


def main():
    options = parse_options()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    known = Known()
    options.all_functions = Driver(options.driver).functions()
    functions = [f for f in options.all_functions if wanted(f, options)]
    alone = [f for f in functions if peers.find(f) is None]
    functions = [f for f in functions if peers.find(f) is not None]
    rows, counts = [], {}
    for function, found, counts[function.name] in run_all(functions, options):
        print(f"\r{len(counts)}/{len(functions)} {function.name:40}", end="", file=sys.stderr)
        rows += found
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    for row in rows:
        row["reason"] = known.reason(row)
    table = summarise(functions, rows, counts)
    print_table(table)
    print_differences(rows, options.examples)
    print("\nexplained (known.toml):" if known.used else "")
    for reason, count in known.used.most_common():
        print(f"  {count:5} {reason}")
    if not options.function and not options.family:
        unused = [e["reason"] for e in known.entries if "used" not in e]
        print(f"{len(unused)} entries of known.toml explained nothing with this seed")
        for reason in unused:
            print(f"        {reason}")
    print("without a counterpart in PyTorch: " + ", ".join(f.name for f in alone))
    if options.json:
        Path(options.json).write_text(json.dumps(
            {"seed": options.seed, "cases": options.cases, "counts": counts, "table": table,
             "without_counterpart": [f.name for f in alone], "differences": rows}, indent=1))
    return 1 if any(line["differing"] for line in table.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
