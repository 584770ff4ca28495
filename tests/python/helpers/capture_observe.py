"""Runs a random program once and writes down everything that its caller can see."""

import contextlib
import functools
import random
import re

import foregrad as fg
from capture_custom import NAMES
from capture_programs import Holder, make_inputs
from foregrad.autograd.graph import saved_tensors_hooks
from foregrad.compiler import aot_function, min_cut_rematerialization_partition, nop

Tensor = fg.Tensor


class Refused(Exception):
    """Capture refuses the program."""


def _with_min_cut(function, backend="interpreter"):
    compiler = nop if backend == "interpreter" else backend
    return aot_function(function, compiler, partition_fn=min_cut_rematerialization_partition)


@functools.cache
def _has_min_cut():
    try:
        _with_min_cut(lambda x: x * 2)(fg.ones(1, requires_grad=True))
    except ValueError:
        return False
    return True


class Subject:
    """A program made callable: the function as it is, or compiled."""

    def __init__(self, program, compiled=None):
        self.program = program
        names = {"fg": fg, **NAMES}
        exec(compile(program.source(), f"<program {program.seed}>", "exec"), names)
        self.o, self.p = Holder(), Holder()
        self.cells = [i.name for i in program.inputs if i.reach == "closure"]
        cells = [None] * len(self.cells)
        if any(i.reach == "attribute" for i in program.inputs):
            cells.append(self.o)
        self.function, self.bind = names["make"](*cells)
        if compiled and program.seed % 5 == 3 and _has_min_cut():
            self.function = _with_min_cut(self.function, program.backend)
        elif compiled is not None:
            self.function = fg.compile(self.function, fullgraph=compiled, backend=program.backend)

    def call(self, tensors, floats):
        arguments, new = [], {}
        for spec in self.program.inputs:
            value = tensors[spec.name]
            if spec.reach == "argument":
                arguments.append(value)
            elif spec.reach == "closure":
                new[spec.name] = value
            elif spec.reach != "table":
                setattr(self.o if spec.reach == "attribute" else self.p, spec.name, value)
        self.bind(new)
        if any(i.reach == "object" for i in self.program.inputs):
            arguments.append(self.p)
        table = {i.name: tensors[i.name] for i in self.program.inputs if i.reach == "table"}
        if table:
            arguments.append({"rest": [None, 3], **table})
        return self.function(*arguments, *floats)


def is_refusal(error):
    text = str(error).partition(" (captured from")[0]  # without the line of an ordinary error
    if isinstance(error, AttributeError) and "'NoneType'" in text:
        return True  # a hook that eager calls in no backward, given no gradient
    return isinstance(error, RuntimeError) and (
        "captur" in text and "graph after" not in text or "not known here" in text
        or "has no gradient here" in text or "modified by an inplace operation" in text
        or "detached in place" in text or "more than one element of the written-to" in text)


def elements(tensor):
    return tensor.detach().numpy().copy()


def leaves_of(tree, found):
    """The tensors of a result, and its structure."""
    if isinstance(tree, Tensor):
        found.append(tree)
        return "tensor"
    if isinstance(tree, dict):
        return {key: leaves_of(value, found) for key, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return type(tree)(leaves_of(item, found) for item in tree)
    return tree


def _has_history(tensor):
    """False for a view that lost it: its base was written to in a way that it does not allow."""
    try:
        return tensor.is_leaf is not None
    except RuntimeError:
        return False


# Gradients that a captured function does not know, and says so: those of results from which it
# computes others, and of inputs that it writes to.
MISSES = "misses"
STOPS = "stops"  # a backward that captured code refuses when it runs


class Observation:
    """The observations of a run, in order: labels and values."""

    def __init__(self, program, subject, seed, floats, variant=None):
        self.seen = []
        self.program, self.subject, self.seed = program, subject, seed
        self.data = random.Random(seed + 1)
        self.run(floats, variant or {})

    def see(self, label, value):
        self.seen.append((label, value))

    def attempt(self, label, action):
        """The result of an action, or nothing when it fails; which of them is seen."""
        try:
            result = action()
            self.see(label, "done")
            return result
        except Exception as error:
            self.first_error = self.first_error or error
            kind = f"raised {type(error).__name__}"
            if "would miss" in str(error):
                kind = MISSES
            elif re.search("a backward (or a hook|uses a tensor that the forward did not)",
                           str(error)):
                kind = STOPS
            elif label.startswith("second") and re.search(
                    "leaf variable that requires grad|modified by an inplace operation|'NoneType'",
                    str(error)):
                # A hook writes to a gradient that only captured code is given; or it reads what has
                # no gradient, which captured code finds before that gradient is asked for.
                kind = STOPS
            self.see(label, kind)
            return None

    # ---- the call

    def run(self, floats, variant):
        specs = variant.get("inputs", self.program.inputs)
        self.tensors, self.leaves = make_inputs(specs, self.seed)
        self.inputs = dict(self.tensors)
        for name, tensor in self.tensors.items():
            if tensor._base is not None:
                self.inputs[f"base of {name}"] = tensor._base
        self.hooked = {}
        if variant.get("hooks"):
            self.add_hooks()
        self.first_error = None
        fg.manual_seed(self.seed)
        hooks = contextlib.nullcontext()
        if variant.get("saved"):
            hooks = saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t)
        with fg.set_grad_enabled(not variant.get("no_grad")), hooks:
            result = self.attempt("call", lambda: self.subject.call(self.tensors, floats))
            self.error, self.first_error = self.first_error, None
            self.see("grad mode after", fg.is_grad_enabled())
        self.see("random state after", fg.get_rng_state().tolist())
        if self.error is None:
            self.results = []
            self.see("structure", leaves_of(result, self.results))
            self.see_tensors("call")
            self.after()
            self.gradients(variant)
            self.writes()
        else:
            self.results = []
            self.see_tensors("failed call")

    def add_hooks(self):
        def note(grad, seen):
            if grad is not None:  # captured code calls no hook where there is no gradient
                seen.append(elements(grad))

        for name, tensor in self.tensors.items():
            if tensor.requires_grad:
                seen = self.hooked.setdefault(name, [])
                tensor.register_hook(lambda grad, seen=seen: note(grad, seen))

    def see_tensors(self, when):
        known = list(self.inputs.values())
        for name, tensor in self.inputs.items():
            self.see_tensor(f"{when}: input {name}", tensor, known)
            self.see(f"{when}: input {name} version", tensor._version)
        known += self.results
        for i, tensor in enumerate(self.results):
            same = next(j for j, other in enumerate(known) if other is tensor)
            self.see(f"{when}: result {i} is", same)
            self.see_tensor(f"{when}: result {i}", tensor, known)

    def see_tensor(self, label, tensor, known):
        self.see(f"{label} kind", (str(tensor.dtype), tuple(tensor.shape)))
        self.see(f"{label} strides", tensor.stride())
        self.see(f"{label} values", elements(tensor))
        if self.attempt(f"{label} history", lambda: str(tensor.is_leaf)) is None:
            return
        self.see(f"{label} requires_grad", tensor.requires_grad)
        self.see(f"{label} is_leaf", tensor.is_leaf)
        self.see(f"{label} is_view", tensor._is_view())
        base = tensor._base
        places = [j for j, other in enumerate(known) if other is base]
        self.see(f"{label} base", None if base is None else places[:1])
        self.see(f"{label} retains_grad", tensor.retains_grad)

    def after(self):
        """Runs the statements of the caller on the results."""
        for statement in self.program.after:
            found = {"r": list(self.results)}
            try:
                exec(statement, {"fg": fg}, found)
                self.see("after", "done")
            except IndexError:
                continue
            except Exception as error:
                misses = "would miss" in str(error)
                self.see("after", MISSES if misses else f"raised {type(error).__name__}")
                if misses:
                    return
            self.see_tensors("after")

    # ---- gradients

    def roots(self):
        found = []
        changed = [t for t in self.inputs.values() if _has_history(t) and not t.is_leaf]
        for tensor in [*self.results, *changed]:
            known = any(tensor is other for other in found)
            if not known and _has_history(tensor) and tensor.requires_grad:
                found.append(tensor)
        return found

    def random_like(self, tensor):
        count = tensor.numel()
        values = [self.data.uniform(-1, 1) for _ in range(count)]
        made = fg.tensor(values, dtype=tensor.dtype).reshape(tensor.shape)
        layout = self.data.random()
        if layout < 0.1:
            return made.sum().expand(tensor.shape)
        if layout < 0.2 and tensor.dim():
            return made.transpose(0, -1).contiguous().transpose(0, -1)
        return made

    def grad(self, label, roots, targets, tangents, **options):
        options = {"allow_unused": True, "retain_graph": True, **options}
        found = self.attempt(label, lambda: fg.autograd.grad(roots, targets, tangents, **options))
        seen = [None if g is None else elements(g) for g in found or ()]
        self.see(f"{label}: values", seen)
        self.see(f"{label}: require grad", [g is not None and g.requires_grad for g in found or ()])
        self.see_all(label, tangents or ())
        return found

    def see_all(self, label, tangents):
        """All tensors of the caller after a backward, and the gradients that it was given."""
        everything = [*self.inputs.values(), *self.results, *tangents]
        self.see(f"{label}: all values", [elements(t) for t in everything])
        self.see(f"{label}: all versions", [t._version for t in everything])
        self.see(f"{label}: all layouts", [(tuple(t.shape), t.stride()) for t in everything])

    def gradients(self, variant):
        roots = self.roots()
        if not roots:
            return
        tangents = [self.random_like(root) for root in roots]
        written = [t for t in self.tensors.values() if _has_history(t) and t.grad_fn is not None]
        if not self.leaves:
            return
        for i, root in enumerate(roots[:4]):
            self.grad(f"gradient of root {i}", [root], self.leaves, [tangents[i]])
            if written:
                self.grad(f"gradient of root {i} for inputs", [root], written, [tangents[i]])
        everything = range(len(roots))
        some = [i for i in everything if self.data.random() < 0.5] or [0]
        for label, chosen in (("all", everything), ("all again", everything), ("some", some)):
            self.grad(f"gradients of {label}", [roots[i] for i in chosen], self.leaves,
                      [tangents[i] for i in chosen])
        if variant.get("second"):
            self.second(roots, self.leaves, tangents)
        if self.attempt("backward", lambda: [fg.autograd.backward(roots, tangents)]) is None:
            return
        for i, leaf in enumerate(self.leaves):
            self.see(f"backward leaf {i}", None if leaf.grad is None else elements(leaf.grad))
        for i, result in enumerate(self.results):
            if _has_history(result) and result.retains_grad:
                grad = result.grad
                self.see(f"backward result {i}", None if grad is None else elements(grad))
        for name, grads in self.hooked.items():
            self.see(f"hook {name}", len(grads))
            for i, grad in enumerate(grads):
                self.see(f"hook {name} {i}", grad)

    def second(self, roots, targets, tangents):
        tangents = [t.requires_grad_() if self.data.random() < 0.5 else t for t in tangents]
        first = self.grad("second: first", roots, targets, tangents, create_graph=True)
        weighted = [(g * self.random_like(g)).sum() for g in first or () if g is not None
                    and g.requires_grad]
        if not weighted:
            return
        more = [t for t in tangents if t.requires_grad]
        self.grad("second: of all", weighted, targets + more, None)
        third = self.grad("second: of one", weighted[:1], targets, None, create_graph=True)
        sums = [g.sum() for g in third or () if g is not None and g.requires_grad]
        if sums:
            self.grad("second: third", sums, targets, None)

    # ---- aliasing

    def writes(self):
        """A write to one shows in others."""
        everything = {**self.inputs, **{f"result {i}": t for i, t in enumerate(self.results)}}
        for name, tensor in everything.items():
            if not tensor.is_floating_point() or tensor.numel() == 0:
                continue
            before = {n: t._version for n, t in everything.items()}
            try:
                tensor.detach().add_(1)
            except RuntimeError:
                self.see(f"write to {name}", "raised")
                continue
            for other, shown in everything.items():
                if other != name:
                    self.see(f"write to {name} shows in {other}", elements(shown))
                    self.see(f"write to {name} counts in {other}", shown._version - before[other])
