"""Random chains of operations over several tensors: views, writes, reductions, then gradients.

A program is made statement by statement: each is drawn from the shapes that exist so far, noted as
text and run at once. The text is the program: it is shown with a difference and runs by itself in
either library. A statement that raises is recorded and ends the chain.
"""
from observe import REGISTRY, Raised, see

COUNT = 200
UNARY = ("sin", "cos", "exp", "tanh", "sigmoid", "abs", "neg", "relu", "square", "atan", "expm1",
         "erf", "softmax0", "cumsum0", "clone", "detach", "contiguous", "reciprocal", "floor")
WRITES_ALONE = ("sin_", "cos_", "tanh_", "sigmoid_", "abs_", "neg_", "relu_", "zero_", "exp_",
                "detach_", "clamp_half")
BINARY = ("+", "-", "*", "/", "maximum", "where", "atan2", "hypot", "lerp")
WRITES_WITH = ("add_", "sub_", "mul_", "div_", "copy_", "masked_fill", "addcmul_", "index_add_")


class Chain:
    """The tensors made so far, by name, and the text that made them."""

    def __init__(self, torch, draw):
        self.names = {"torch": torch}
        self.draw, self.lines, self.tensors = draw, [], []
        self.leaves = []

    def run(self, line):
        """Runs a statement; False after an exception."""
        self.lines.append(line)
        self.draw.source = "\n".join(self.lines)
        try:
            exec(line, self.names)
        except Exception as error:
            see(line, Raised(error))
            return False
        return True

    def make(self, expression):
        name = f"t{len(self.tensors)}"
        if not self.run(f"{name} = {expression}"):
            return False
        if self[name] is None or not hasattr(self[name], "stride"):
            return True
        self.tensors.append(name)
        return True

    def __getitem__(self, name):
        return self.names[name]

    def any(self):
        """Newer tensors are drawn more often."""
        recent = self.tensors[-4:] if self.draw.chance(0.5) else self.tensors
        return self.draw.choice(recent)

    def shape(self, name):
        return tuple(self[name].shape)

    def fitting(self, name):
        """A tensor that broadcasts with another, or a number."""
        shape = self.shape(name)
        options = [t for t in self.tensors if broadcast(self.shape(t), shape) is not None]
        return self.draw.choice(options)

    def smaller(self, name):
        """A tensor that may be written into another, or a number."""
        shape = self.shape(name)
        options = [t for t in self.tensors if broadcast(self.shape(t), shape) == shape]
        return self.draw.choice(options) if options else repr(self.draw.number())


def broadcast(a, b):
    """The shape of both together, or None."""
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        return None
    return tuple(y if x == 1 else x for x, y in zip(a, b))


# ---- statements

def unary(chain):
    name, function = chain.any(), chain.draw.choice(UNARY)
    if function.endswith("0"):
        if not chain.shape(name):
            return True
        dim = chain.draw.integer(0, len(chain.shape(name)) - 1)
        return chain.make(f"{name}.{function[:-1]}({dim})")
    return chain.make(f"{name}.{function}()")


def binary(chain):
    name, function = chain.any(), chain.draw.choice(BINARY)
    other = chain.fitting(name)
    if function == "where":
        return chain.make(f"torch.where({name} > {other}, {name}, {other} * 2)")
    if function == "lerp":
        return chain.make(f"torch.lerp({name}, {other}, {chain.draw.number(0, 1)})")
    if len(function) > 1:
        return chain.make(f"torch.{function}({name}, {other})")
    if chain.draw.chance(0.2):
        number = chain.draw.number()
        return chain.make(chain.draw.choice((f"{name} {function} {number}",
                                             f"{number} {function} {name}")))
    return chain.make(f"{name} {function} {other}")


def view(chain):
    name = chain.any()
    text = view_of(chain, name)
    return True if text is None else chain.make(name + text)


def view_of(chain, name):
    """The text of a view of a tensor, or None when it has no such view."""
    draw, shape = chain.draw, chain.shape(name)
    if not shape:
        return draw.choice((".unsqueeze(0)", ".expand(2)", ".view(1)", "[None]"))
    dim = draw.integer(0, len(shape) - 1)
    other = draw.integer(0, len(shape) - 1)
    size = shape[dim]
    start = draw.integer(0, max(size - 1, 0))
    stop = draw.integer(min(start + 1, size), size)
    front = ":, " * dim
    options = [f".transpose({dim}, {other})", f".unsqueeze({dim})", ".flatten()",
               ".reshape(-1)", f"[{front}{start}:{stop}]", f"[{front}::2]", ".squeeze()",
               f".narrow({dim}, {start}, {stop - start})", "[..., None]",
               f".permute({', '.join(map(str, draw.sample(range(len(shape)), len(shape))))})"]
    if size:
        options += [f"[{front}{start}]", f".select({dim}, {start - size})", f".chunk(2, {dim})[0]",
                    f".unbind({dim})[{start}]", f".unfold({dim}, {min(2, size)}, {min(2, size)})"]
    if len(shape) == 2:
        options += [".t()", ".diagonal()", ".T"]
    if 1 in shape:
        one = shape.index(1)
        sizes = ", ".join("3" if i == one else "-1" for i in range(len(shape)))
        options += [f".expand({sizes})", f".squeeze({one})"]
    if chain.draw.chance(0.05):
        return f".expand({', '.join(map(str, (2, *shape)))})"
    return draw.choice(options)


def write_alone(chain):
    name, function = chain.any(), chain.draw.choice(WRITES_ALONE)
    call = "clamp_(-0.5, 0.5)" if function == "clamp_half" else function + "()"
    return chain.run(f"{name}.{call}")


def write_with(chain):
    name, function = chain.any(), chain.draw.choice(WRITES_WITH)
    other = chain.smaller(name)
    shape = chain.shape(name)
    if function == "masked_fill":
        return chain.run(f"{name}.masked_fill_({name} > 0.3, {chain.draw.number()})")
    if function == "addcmul_":
        return chain.run(f"{name}.addcmul_({chain.smaller(name)} * 1, {name} * 1)")
    if function == "index_add_":
        if not shape or not shape[0]:
            return True
        index = chain.draw.indices(shape[0], shape[0])
        return chain.run(f"{name}.index_add_(0, torch.tensor({index}), {name} * 0.5)")
    if function == "copy_":
        return chain.run(f"{name}.copy_({other} * 1)")
    return chain.run(f"{name}.{function}({other})")


def write_through(chain):
    """Through a view without a name of its own."""
    name = chain.any()
    text = view_of(chain, name)
    if text is None:
        return True
    how = chain.draw.choice((".mul_(1.5)", ".add_(0.25)", ".cos_()", ".fill_(0.5)", ".zero_()",
                             ".sigmoid_()"))
    return chain.run(name + text + how)


def set_item(chain):
    name = chain.any()
    shape = chain.shape(name)
    if not shape or not shape[0]:
        return True
    draw = chain.draw
    index = draw.choice((str(draw.integer(0, shape[0] - 1)), f"{name} > 0.5", "..., 0",
                         f"{draw.indices(2, shape[0])}", "::2"))
    if "0" == index[-1] and index.startswith("...") and not shape[-1]:
        return True
    if "[" in index and len(set(eval(index))) < 2:  # several writes to one place have no order
        index = f"[{draw.integer(0, shape[0] - 1)}]"
    values = [t for t in chain.tensors if not chain.shape(t)]
    value = f"{draw.choice(values)} * 1" if values and draw.chance(0.5) else repr(draw.number())
    if draw.chance(0.4) and not index.endswith("0.5"):
        return chain.run(f"{name}[{index}] = {name}[{index}].clone() * 2")
    return chain.run(f"{name}[{index}] = {value}")


def reduction(chain):
    name, draw = chain.any(), chain.draw
    shape = chain.shape(name)
    if not shape or 0 in shape:
        return chain.make(f"{name}.sum()")
    dim, keep = draw.integer(0, len(shape) - 1), draw.choice((True, False))
    return chain.make(name + draw.choice((
        ".sum()", ".mean()", f".sum({dim}, keepdim={keep})", f".mean({dim}, keepdim={keep})",
        f".amax({dim}, keepdim={keep})", f".logsumexp({dim}, keepdim={keep})", ".prod()",
        f".max({dim}, {keep})[0]", f".var({dim}, correction=0, keepdim={keep})",
        ".norm()", f".prod({dim}, {keep})")))


def joined(chain):
    name = chain.any()
    same = [t for t in chain.tensors if chain.shape(t) == chain.shape(name)]
    parts = ", ".join([name, chain.draw.choice(same)])
    if not chain.shape(name):
        return chain.make(f"torch.stack([{parts}])")
    return chain.make(chain.draw.choice((f"torch.cat([{parts}], 0)",
    f"torch.stack([{parts}], -1)")))


def product(chain):
    name = chain.any()
    shape = chain.shape(name)
    fitting = [t for t in chain.tensors if shape and len(chain.shape(t)) in (1, 2)
               and chain.shape(t)[0] == shape[-1]]
    if not fitting:
        return True
    return chain.make(f"{name} @ {chain.draw.choice(fitting)}")


def gather(chain):
    name, draw = chain.any(), chain.draw
    shape = chain.shape(name)
    if not shape or not shape[0]:
        return True
    index = draw.indices(3, shape[0])
    return chain.make(draw.choice((f"{name}[{index}]",
    f"{name}.index_select(0, torch.tensor({index}))",
                                   f"{name}[torch.tensor({index})]", f"{name}.flip(0)",
                                   f"{name}.roll(1, 0)")))


def unrecorded(chain):
    """A write or a view while gradients are off."""
    name = chain.any()
    if chain.draw.chance(0.5):
        return chain.run(f"with torch.no_grad(): {name}.mul_(0.5)")
    text = view_of(chain, name)
    new = f"t{len(chain.tensors)}"
    if text is None:
        return True
    if not chain.run(f"with torch.no_grad(): {new} = {name}{text}"):
        return False
    chain.tensors.append(new)
    return True


STATEMENTS = ([unary] * 4 + [binary] * 5 + [view] * 6 + [write_alone] * 3 + [write_with] * 4
              + [write_through] * 3 + [set_item] * 3 + [reduction] * 2 + [joined, product, gather]
              + [unrecorded])


# ---- whole programs

def start(chain):
    """Two or three leaves, copies that may be written to, and a tensor without history."""
    draw = chain.draw
    shape = draw.shape(1, 3, 3)
    for i in range(draw.integer(2, 3)):
        wanted = shape if i == 0 else draw.choice((shape, shape[1:], shape[:-1] + (1,)))
        leaf = f"x{i}"
        chain.run(f"{leaf} = torch.tensor({draw.nested(wanted)}, dtype=torch.float64, "
                  "requires_grad=True)")
        chain.leaves.append(leaf)
        chain.make(f"{leaf} * 1" if draw.chance(0.5) else f"{leaf}.clone()")
    chain.make(f"torch.tensor({draw.nested(shape)}, dtype=torch.float64)")


def finish(chain):
    """Everything that exists, then gradients of a few tensors, and second ones."""
    for name in chain.tensors:
        see(name, chain[name])
    leaves = ", ".join(chain.leaves)
    for name in dict.fromkeys(chain.tensors[-3:] + chain.draw.sample(chain.tensors, 2)):
        t = chain[name]
        if not t.requires_grad:
            continue
        lines = {f"g_{name}": f"torch.autograd.grad({name}.sum(), [{leaves}], create_graph=True, "
                              "allow_unused=True)",
                 f"s_{name}": f"sum((p * p).sum() for p in g_{name} if p is not None)",
                 f"h_{name}": f"torch.autograd.grad(s_{name}, [{leaves}], allow_unused=True, "
                              "retain_graph=True)"}
        for result, text in lines.items():
            if not chain.run(f"{result} = {text}"):
                break
            see(result, chain[result])
            if result[0] == "s" and not getattr(chain[result], "requires_grad", False):
                break



def run(torch, draw):
    chain = Chain(torch, draw)
    start(chain)
    for _ in range(draw.integer(4, 14)):
        statement = draw.choice(STATEMENTS)
        if not statement(chain):
            break  # the refusal is recorded: what would follow depends on it
    finish(chain)


REGISTRY[__name__] = {f"random_{i:03}": run for i in range(COUNT)}
