"""Random programs for the tests of captured functions: source text, made from a seed.

A program is generated while it runs: each statement is tried on real tensors and kept if it works,
so that most programs are valid. What counts is the text, which is run again from the start.
"""

import dataclasses
import random
import warnings

import foregrad as fg
from capture_custom import NAMES

KINDS = ("leaf", "leaf", "nonleaf", "nonleaf", "plain")
LAYOUTS = ("contiguous",) * 4 + ("transposed", "sliced", "expanded", "part")
SHAPES = [(3,), (2, 3), (3, 3), (3, 2), (2, 2, 3), (1, 3), (4,), (), (2, 3), (3, 3)] * 3 + [(0, 3)]
LIMIT = 48  # elements of a tensor


@dataclasses.dataclass
class Input:
    """A tensor that a program is given."""

    name: str
    shape: tuple
    dtype: str
    layout: str
    kind: str
    reach: str  # argument, closure, attribute (of an object in the closure), object or table (two
    # kinds of arguments)
    same: str = ""  # an expression of another input: that tensor, or a view of it

    @property
    def text(self):
        forms = {"attribute": "o.{}", "object": "p.{}", "table": "t['{}']"}
        return forms.get(self.reach, "{}").format(self.name)


@dataclasses.dataclass
class Program:
    """A program to run: inputs, statements, results, and statements on the results."""

    seed: int
    inputs: list
    statements: list
    results: list
    shape: int  # of the results: in which containers
    after: list  # statements on the list of results `r`
    floats: tuple = ()
    backend: str = "interpreter"  # of the captured function

    def source(self):
        named = {kind: [i.name for i in self.inputs if i.reach == kind]
                 for kind in ("argument", "closure", "attribute", "object", "table")}
        arguments = named["argument"] + ["p"] * bool(named["object"])
        arguments += ["t"] * bool(named["table"])
        arguments += [f"k{i}" for i in range(len(self.floats))]
        cells = named["closure"] + ["o"] * bool(named["attribute"])
        lines = [f"def make({', '.join(cells)}):", f"    def f({', '.join(arguments)}):"]
        for statement in self.statements:
            lines += ["        " + line for line in statement.split("\n")]
        lines += [f"        return {self._returned()}", "    def bind(new):"]
        lines += [f"        nonlocal {', '.join(named['closure'])}"] * bool(named["closure"])
        lines += [f"        {name} = new[{name!r}]" for name in named["closure"]]
        return "\n".join(lines + ["        return None", "    return f, bind", ""])

    def _returned(self):
        r = self.results
        if self.shape == 0 and len(r) == 1:
            return r[0]
        if self.shape <= 1:
            return f"[{', '.join(r)}]"
        if self.shape == 2:
            return f"({''.join(x + ', ' for x in r)}None, 7)"
        items = "".join(x + ", " for x in r[1:])
        first = r[0] if r else "None"
        return f"{{'first': {first}, 'rest': [{items}{{'n': 3, 'none': None}}], 's': 'text'}}"

    def text(self):
        lines = [f"# seed {self.seed}"]
        for i in self.inputs:
            same = f", is {i.same}" if i.same else ""
            lines.append(f"# {i.text}: {i.dtype}{list(i.shape)} {i.layout} {i.kind}{same}")
        lines += [f"# k{i} = {value}" for i, value in enumerate(self.floats)]
        lines.append(self.source().rstrip())
        return "\n".join(lines + [f"# after, on the results r: {s}" for s in self.after])


class Holder:
    """An object whose attributes a program reads."""


def _full(shape, dtype, data):
    count = 1
    for size in shape:
        count *= size
    if dtype == "int64":
        return fg.tensor([data.randint(0, 2) for _ in range(count)]).reshape(shape)
    values = [data.choice((data.uniform(-2, 2), data.uniform(0, 1))) for _ in range(count)]
    return fg.tensor(values, dtype=getattr(fg, dtype)).reshape(shape)


def _laid_out(spec, data, through):
    """A tensor in the layout of the input: views of what `through` makes of the elements."""
    shape = spec.shape
    if spec.layout == "transposed" and len(shape) > 1:
        return through(_full((*shape[:-2], shape[-1], shape[-2]), spec.dtype, data)).transpose(-1,
                                                                                              -2)
    if spec.layout == "sliced" and shape:
        whole = through(_full((*shape[:-1], shape[-1] * 2), spec.dtype, data))
        return whole[..., ::2]
    if spec.layout == "part" and shape:
        return through(_full((shape[0] + 2, *shape[1:]), spec.dtype, data))[1:-1]
    if spec.layout == "expanded" and shape:
        return through(_full((1, *shape[1:]), spec.dtype, data)).expand(shape)
    return through(_full(shape, spec.dtype, data))


def _same_as(expression, tensors):
    try:
        return eval(expression, {}, dict(tensors))
    except (IndexError, RuntimeError):  # no such part
        return tensors[expression[:2]]


def make_inputs(inputs, seed):
    """Tensors by name, and the leaves that gradients are taken for."""
    data = random.Random(seed)
    tensors, leaves = {}, []

    def through(values):
        leaves.append(values.requires_grad_())
        return values * 1.0

    for spec in inputs:
        if spec.same:
            tensors[spec.name] = _same_as(spec.same, tensors)
            continue
        if spec.kind == "nonleaf":
            value = _laid_out(spec, data, through)
        else:
            value = _laid_out(spec, data, lambda values: values)
        if spec.kind == "leaf":
            value = value.detach().requires_grad_()
            leaves.append(value)
        tensors[spec.name] = value
    return tensors, leaves


def _make_specs(rng):
    specs = []
    for i in range(rng.choice((1, 1, 2, 2, 3, 4))):
        dtype = rng.choices(("float64", "float32", "int64"), (12, 2, 1))[0]
        reach = rng.choices(("argument", "closure", "attribute", "object", "table"),
                            (10, 2, 2, 1, 1))[0]
        kind = "plain" if dtype == "int64" else rng.choice(KINDS)
        spec = Input(f"x{i}", rng.choice(SHAPES), dtype, rng.choice(LAYOUTS), kind, reach)
        if specs and rng.random() < 0.12:
            other = rng.choice(specs)
            view = rng.choice(("", "", "", "", "[0:]", "[..., :1]", ".detach()"))
            if other.shape or view in ("", ".detach()"):
                spec.same = other.name + view
        specs.append(spec)
    return specs


class Generator:
    """Makes one program, running it as it grows."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.seed = seed
        self.specs = _make_specs(self.rng)
        self.floats = tuple(self.rng.choice((0.5, 2.0, -1.25, 3.0))
                            for _ in range(self.rng.choice((0, 0, 1, 2))))
        tensors, _ = make_inputs(self.specs, seed)
        self.env = {"o": Holder(), "p": Holder(), "t": {}}
        self.tensors = []  # expressions
        for spec in self.specs:
            holder = {"attribute": self.env["o"], "object": self.env["p"]}.get(spec.reach)
            if holder:
                setattr(holder, spec.name, tensors[spec.name])
            elif spec.reach == "table":
                self.env["t"][spec.name] = tensors[spec.name]
            else:
                self.env[spec.name] = tensors[spec.name]
            self.tensors.append(spec.text)
        self.env.update({f"k{i}": value for i, value in enumerate(self.floats)})
        self.globals = {"fg": fg, **NAMES}
        self.count = 0
        self.statements = []

    # ---- choices

    def value(self, expression):
        return eval(expression, self.globals, self.env)

    def pick(self, floating=True):
        for _ in range(6):
            recent = self.tensors[-5:] if self.rng.random() < 0.6 else self.tensors
            name = self.rng.choice(recent)
            if not floating or self.value(name).is_floating_point():
                return name
        return name

    def like(self, name):
        """Another tensor that probably goes with this one, or a number."""
        if self.rng.random() < 0.25:
            return self.number()
        shape = self.value(name).shape
        same = [n for n in self.tensors if self.value(n).shape == shape]
        return self.rng.choice(same if self.rng.random() < 0.7 else self.tensors)

    def number(self):
        floats = [f"k{i}" for i in range(len(self.floats))]
        if floats and self.rng.random() < 0.2:  # arithmetic of numbers
            forms = ("(1 - {0})", "(-{0})", "({0} * 2)", "abs({0})", "({0} / 3)", "({0} + {1})")
            return self.rng.choice(forms).format(*self.rng.choices(floats, k=2))
        return self.rng.choice(["2", "0.5", "-1.5", "3", *floats])

    def dim(self, name):
        dims = self.value(name).dim()
        return self.rng.randrange(-dims, dims) if dims else 0

    def new(self):
        self.count += 1
        return f"v{self.count}"

    # ---- statements

    def try_statement(self, text, names):
        """Runs it; keeps it if it works, and now and then if it does not."""
        try:
            with fg.set_grad_enabled(fg.is_grad_enabled()), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(text, self.globals, self.env)
            made = [self.env[name] for name in names]
            good = all(isinstance(t, fg.Tensor) and t.numel() <= LIMIT and t.dim() <= 4
                       for t in made)
        except Exception:
            if self.rng.random() < 0.01:
                self.statements.append(text)
                return None
            good = False
        if not good:
            return False
        self.statements.append(text)
        self.tensors += names
        return True

    def grow(self, producers):
        """Adds one statement; False when the program ends with an error."""
        makers, weights = producers
        for _ in range(12):
            maker = self.rng.choices(makers, weights)[0]
            made = maker(self)
            if made is None:
                continue
            text, names = made
            if self.rng.random() < 0.06:
                text = "with fg.no_grad():\n" + "\n".join("    " + s for s in text.split("\n"))
            kept = self.try_statement(text, names)
            if kept is None:
                return False
            if kept:
                return True
        return True

    def results(self):
        rng = self.rng
        count = rng.choice((1, 1, 2, 2, 3, 4))
        chosen = [rng.choice(self.tensors[-4:] if rng.random() < 0.7 else self.tensors)
                  for _ in range(count)]
        views = (".t()", ".view(-1)", "[0]", "[..., :1]", ".unsqueeze(0)", ".detach()",
                 ".expand_as({0})", ".transpose(0, -1)", ".T", ".reshape(-1)", ".data")
        for i, name in enumerate(chosen):
            if rng.random() < 0.2:
                text = name + rng.choice(views).format(name)
                try:
                    self.value(text)
                except Exception:
                    continue
                chosen[i] = text
        return chosen

    def after(self):
        """Statements of the caller, on the results."""
        if self.rng.random() < 0.8:
            return []
        i = self.rng.randrange(3)
        return [self.rng.choice((f"r[{i}].mul_(2)", f"r[{i}].view(-1)[0] = 5.0", f"r[{i}].sin_()",
                                 f"r[{i}].zero_()", f"r[{i}].add_(r[0])", f"r[{i}] * r[-1]",
                                 f"r[{i}].retain_grad()"))]

    def program(self, producers):
        length = self.rng.choice((1, 2, 3, 3, 4, 5, 6, 8, 12))
        for _ in range(length):
            if not self.grow(producers):
                break
        return Program(self.seed, self.specs, self.statements, self.results(),
                       self.rng.randrange(4), self.after(), self.floats)


OLD_SEEDS = range(2_000_000, 10_000_000)  # tests name some of them: they stay what they are


def make_program(seed):
    """The program of a seed."""
    from capture_statements import PRODUCERS, WITH_WRITES

    fg.manual_seed(seed)
    producers = PRODUCERS if seed in OLD_SEEDS else WITH_WRITES
    return Generator(seed).program(producers)
