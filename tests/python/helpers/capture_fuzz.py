"""Random programs, run eagerly and captured: everything that their caller sees must be equal.

As a program: capture_fuzz.py [--seed first] [--count programs] prints the differences, each with
the smallest program that still has it, and how often capture refused and why.
"""

import argparse
import collections
import copy
import dataclasses
import itertools
import random
import re
import time
import warnings

import numpy
from capture_custom import WRITERS
from capture_observe import MISSES, STOPS, Observation, Refused, Subject, is_refusal
from capture_programs import LAYOUTS, SHAPES, make_program


def same(one, two):
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, numpy.ndarray) and isinstance(two, numpy.ndarray):
        if one.shape != two.shape or one.dtype != two.dtype:
            return False
        return one.tobytes() == two.tobytes() or numpy.array_equal(
            numpy.nan_to_num(one), numpy.nan_to_num(two)) and _same_kinds(one, two)
    return type(one) is type(two) and one == two


def _same_kinds(one, two):
    """NaN where the other has it, and signs of zeros."""
    if one.dtype.kind != "f":
        return False
    missing = numpy.isnan(one)
    return (missing == numpy.isnan(two)).all() and (
        numpy.signbit(one) == numpy.signbit(two))[~missing].all()


def rounds(label, one, two, one_path, error):
    """Sums of three or more gradients may be taken in another order; zeros have any sign."""
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        return all(same(a, b) or rounds(label, a, b, one_path, error) for a, b in zip(one, two))
    if not isinstance(one, numpy.ndarray) or not isinstance(two, numpy.ndarray):
        return False
    if not re.match("gradient|second|backward|hook", label) or one.shape != two.shape:
        return False
    if one_path and re.match("gradient of root", label):
        return numpy.array_equal(one, two, equal_nan=True)
    return numpy.allclose(one, two, rtol=error, atol=error, equal_nan=True)


def has_one_path(program, seen):
    """A result's gradient comes from one place: nothing was written that has another history."""
    return not program.after and not any("input" in label and "version" in label and value
                                         for label, value in seen)


def has_writers(program):
    """A backward or a hook of the program writes, or reads what others may write."""
    text = program.text()
    return "g.mul_" in text or any(writer.__name__ in text for writer in WRITERS)


def first_difference(program, one, two):
    """(label, eager, captured), or None."""
    one_path = has_one_path(program, one)
    error = 1e-4 if "float32" in program.text() else 1e-9  # large terms may cancel
    if has_writers(program):
        one, two = until_error(one, two)
    one, two = without_missed(one, two)
    for (label, value), (other, found) in zip(one, two):
        if label != other:
            return f"{label} / {other}", value, found
        if found is STOPS and value == "raised RuntimeError":
            continue
        if not same(value, found) and not rounds(
                label, value, found, one_path, error):
            return label, value, found
    if len(one) != len(two):
        return "length", len(one), len(two)
    return None


# Backwards of all results for all leaves, of the first order: captured code refuses none of them.
OF_ALL = ("gradients of all", "gradients of all again", "backward")


def until_error(one, two):
    """Observations before a backward failed that writes: how far it got is not known."""
    for i, ((label, value), (_, found)) in enumerate(zip(one, two)):
        excused = found is STOPS and (label not in OF_ALL or not is_done(value))
        if found is MISSES or excused:
            return one[:i], two[:i]
        if label.startswith(("gradient", "second", "backward")) and str(value).startswith("raised"):
            return one[:i + 1], two[:i + 1]
    return one, two


def stop_of(one, two):
    """The label of the first backward that eager runs and captured code refuses, or None."""
    return next((label for (label, value), (_, found) in zip(one, two)
                 if found is STOPS and is_done(value)), None)


def is_done(value):
    return isinstance(value, str) and value == "done"


def without_missed(one, two):
    """Leaves out what a captured function says it does not know, and what follows from that."""
    missed = [label for label, value in two if value is MISSES]
    if not missed:
        return one, two
    for label in ("after", "backward"):
        if label in missed:
            one, two = (list(itertools.takewhile(lambda x: x[0] != label, seen))
                        for seen in (one, two))

    unknown = ["hook", "backward result"]
    if any(label.startswith("second") for label in missed):
        unknown.append("second")  # each of them is computed from the one before

    def keep(label):
        return not label.startswith(tuple(unknown)) and not any(
            label == m or label.startswith(m + ": ") for m in missed)

    return [[x for x in seen if keep(x[0])] for seen in (one, two)]


def calls_of(program):
    """Calls of one compiled function: data, floats and variations."""
    rng = random.Random(program.seed + 7)
    # The backward of Both and a hook that adds one are not linear. Where what the caller saved
    # leads to them and what the function saved too, eager calls them once with the sum, captured
    # code twice.
    text = program.text()
    linear = not program.after or "Both.apply" not in text and "g + 1" not in text
    base = {"hooks": rng.random() < 0.3, "second": program.seed % 10 == 0 and linear,
            "saved": rng.random() < 0.1}
    floats = program.floats
    calls = [(1, floats, base), (2, tuple(f * 1.5 + 0.25 for f in floats), base)]
    if rng.random() < 0.3:
        inputs = copy.deepcopy(program.inputs)
        changed = rng.choice(inputs)
        changed.layout = rng.choice(LAYOUTS)
        if rng.random() < 0.3:
            changed.shape = rng.choice(SHAPES)
        if changed.dtype != "int64":
            changed.kind = rng.choice(("leaf", "nonleaf", "plain"))
        calls.append((3, floats, {**base, "inputs": inputs}))
    if rng.random() < 0.15:
        calls.append((4, floats, {**base, "no_grad": True}))
    if len(calls) > 2:
        calls.append((5, floats, base))
    return calls


def difference(program, stops, fullgraph=True):
    """The first difference between eager and captured, or None; Refused when it is not captured.

    Labels of backwards that captured code refuses and eager does not are added to `stops`.
    """
    eager, captured = Subject(program), Subject(program, fullgraph)
    for i, (seed, floats, variant) in enumerate(calls_of(program)):
        expected = Observation(program, eager, seed, floats, variant)
        found = Observation(program, captured, seed, floats, variant)
        if fullgraph and found.error is not None:
            # A backward of several errors may meet another one first, where gradients have other
            # layouts.
            fails_later = any(isinstance(value, str) and value.startswith("raised ")
                              for label, value in expected.seen if label.startswith("gradient"))
            if is_refusal(found.error) or expected.error is None and fails_later:
                raise Refused(re.sub(r": \[.*", "", str(found.error)))
            # Capture meets the statements in the same order, but elements only when the graph
            # runs: of two errors in a program it may find the other one first.
            if expected.error is not None and not isinstance(found.error, AssertionError):
                return None
        stop = stop_of(expected.seen, found.seen)
        stops += [stop] if stop else []
        seen = first_difference(program, expected.seen, found.seen)
        if seen:
            last = found.error or found.first_error
            error = f" ({last})" if last is not None else ""
            return f"call {i}: {seen[0]}", seen[1], f"{seen[2]}{error}"
    return None


def check(program):
    """(the difference or None, the reason of a refusal or None, the backwards that stopped)."""
    stops = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return difference(program, stops), None, stops
        except Refused as refused:
            return difference(program, stops, fullgraph=False), str(refused), stops


# ---- smaller programs


def _kind(found):
    return re.sub(r"\d+|call \d+: ", "", found[0])


def _without(items, i):
    return items[:i] + items[i + 1:]


def smaller(program):
    """Programs with one thing less."""
    for i in reversed(range(len(program.statements))):
        yield dataclasses.replace(program, statements=_without(program.statements, i))
    for i in range(len(program.results)):
        yield dataclasses.replace(program, results=_without(program.results, i))
    for i in range(len(program.after)):
        yield dataclasses.replace(program, after=_without(program.after, i))
    if program.shape > 1:
        yield dataclasses.replace(program, shape=1)
    for i, spec in enumerate(program.inputs):
        for change in ({"layout": "contiguous"}, {"kind": "leaf"}, {"kind": "plain"},
                       {"reach": "argument"}, {"same": ""}):
            if all(getattr(spec, k) == v for k, v in change.items()):
                continue
            if spec.dtype == "int64" and "kind" in change:
                continue
            if change == {"kind": "leaf"} and spec.kind == "plain":
                continue
            inputs = list(program.inputs)
            inputs[i] = dataclasses.replace(spec, **change)
            yield dataclasses.replace(program, inputs=inputs)
        text = program.source()
        if text.count(spec.name) <= 3 and not any(spec.name in s for s in program.statements
                                                  + program.results):
            yield dataclasses.replace(program, inputs=_without(program.inputs, i))


def shrink(program, found):
    """The smallest program found that differs in the same way, and how."""
    kind, going = _kind(found), True
    while going:
        going = False
        for candidate in smaller(program):
            try:
                now, *_ = check(candidate)
            except Exception:
                continue
            if now and _kind(now) == kind:
                program, found, going = candidate, now, True
                break
    return program, found


# ---- many programs


class Report:
    """Outcomes of the programs, counted."""

    def __init__(self):
        self.programs = 0
        self.writers = 0  # programs of which a backward or a hook writes
        self.refused = collections.Counter()
        self.refused_writers = collections.Counter()
        self.stopped = collections.Counter()  # programs, by their first backward that stops
        self.differences = []  # (program, found)

    def add(self, program):
        found, refused, stops = check(program)
        writes = has_writers(program)
        self.programs += 1
        self.writers += writes
        if refused:
            text = refused.partition(" (captured from")[0]
            reasons = self.refused_writers if writes else self.refused
            reasons[re.sub(r"^\w+: |\d+", "", text)] += 1
        if stops:
            self.stopped[re.sub(r"\d+", "", stops[0])] += 1
        if found:
            self.differences.append((program, found))
        return found

    def stopped_at_first_order(self):
        return sum(n for label, n in self.stopped.items() if not label.startswith("second"))

    def text(self):
        others = self.programs - self.writers
        lines = [f"{self.programs} programs, {len(self.differences)} differ",
                 f"{self.refused.total()} refused of {others} without writers",
                 f"{self.refused_writers.total()} refused of {self.writers} with writers",
                 f"{self.stopped.total()} stopped"]
        for counter in (self.refused, self.refused_writers, self.stopped):
            lines += ["", *(f"{n:6} {reason}" for reason, n in counter.most_common())]
        return "\n".join(lines)


def describe(program, found):
    return f"{program.text()}\n# {found[0]}\n# eager:    {found[1]}\n# captured: {found[2]}\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--backend", default="interpreter", help="native or interpreter")
    parser.add_argument("--shrink", type=int, default=10, help="how many differences to shrink")
    options = parser.parse_args()
    report, start = Report(), time.time()
    for seed in range(options.seed, options.seed + options.count):
        program = make_program(seed)
        program.backend = options.backend
        found = report.add(program)
        if found and len(report.differences) <= options.shrink:
            print(describe(*shrink(program, found)), flush=True)
    print(report.text())
    print(f"{time.time() - start:.1f} s")
    return 1 if report.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
