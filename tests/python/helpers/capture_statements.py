"""The statements that random programs are made of, each by a function of the generator.

A function returns the text and the names of the tensors that it makes, or None when it does not
apply to what it picked.
"""

_PRODUCERS = []


def weight(weight):
    def add(function):
        _PRODUCERS.append((function, weight))
        return function

    return add


def _assign(g, text):
    name = g.new()
    return f"{name} = {text}", [name]


# ---- arithmetic


@weight(10)
def unary(g):
    x = g.pick()
    return _assign(g, g.rng.choice((
        "{0}.sin()", "{0}.cos()", "{0}.exp()", "{0}.tanh()", "{0}.sigmoid()", "{0}.relu()", "-{0}",
        "{0}.abs()", "{0}.square()", "({0}.abs() + 0.1).sqrt()", "{0}.abs().log1p()", "{0}.clone()",
        "{0}.reciprocal()", "{0}.contiguous()", "{0} ** 2", "2 ** {0}", "{0}.clamp(-0.5, 0.5)",
        "fg.nn.functional.gelu({0})", "fg.nn.functional.silu({0})", "{0}.pow(3)", "1 - {0}",
        "fg.triu({0})", "{0}.to(fg.float32)", "{0}.double()", "{0}.flip(0)", "{0}.roll(1, -1)",
        "{0}.erf()", "{0}.to(fg.float64)", "{0} * 1", "{0}.type_as({0})")).format(x))


@weight(10)
def binary(g):
    x = g.pick()
    y = g.like(x)
    return _assign(g, g.rng.choice((
        "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / {1}", "{1} * {0}", "{1} - {0}", "{1} / {0}",
        "fg.maximum({0}, {1})", "fg.atan2({0}, {1})", "{0}.abs() ** {1}", "fg.lerp({0}, {1}, 0.3)",
        "fg.hypot({0}, {1})", "fg.add({0}, {1}, alpha=2)", "{0}.fmod({1})")).format(x, y))


@weight(2)
def compare(g):
    x = g.pick(False)
    return _assign(g, g.rng.choice((
        "{0} > {1}", "{0} <= {1}", "{0} == {1}", "({0} > 0).to(fg.float64)", "{0}.isnan()",
        "{0}.argmax()", "{0}.argsort()", "{0}.long()", "({0} > 0).sum()")).format(x, g.like(x)))


@weight(6)
def reduce(g):
    x = g.pick()
    dim, keep = g.dim(x), g.rng.choice((True, False))
    return _assign(g, g.rng.choice((
        "{0}.sum()", "{0}.sum({1})", "{0}.mean()", "{0}.mean({1}, keepdim={2})", "{0}.amax({1})",
        "{0}.prod({1})", "{0}.var({1})", "{0}.std()", "{0}.logsumexp({1})", "{0}.norm()",
        "{0}.cumsum({1})", "{0}.cumprod({1})", "{0}.sum({1}, keepdim={2})", "{0}.max()",
        "{0}.amin()", "{0}.prod()", "fg.linalg_vector_norm({0}, dim={1})")).format(x, dim, keep))


@weight(2)
def reduce_two(g):
    x = g.pick()
    one, two = g.new(), g.new()
    call = g.rng.choice(("{0}.max({1})", "{0}.min({1})", "{0}.sort({1})", "{0}.topk(1, {1})",
                         "fg.var_mean({0}, dim={1})")).format(x, g.dim(x))
    return f"{one}, {two} = {call}", [one, two]


@weight(5)
def product(g):
    x, y = g.pick(), g.pick()
    return _assign(g, g.rng.choice((
        "{0} @ {1}", "{0} @ {0}.transpose(-1, -2)", "{0}.transpose(-1, -2) @ {1}", "{0}.mm({1})",
        "fg.outer({0}.view(-1), {1}.view(-1))", "fg.einsum('ij,kj->ik', {0}, {1})",
        "fg.addmm({0}, {0}, {1})", "{0}.reshape(-1).dot({0}.reshape(-1))",
        "fg.nn.functional.linear({0}, {1})", "{0}.mv({1})")).format(x, y))


@weight(4)
def normalise(g):
    x = g.pick()
    return _assign(g, g.rng.choice((
        "{0}.softmax({1})", "{0}.log_softmax({1})", "fg.softmax({0}, {1})",
        "fg.nn.functional.layer_norm({0}, {0}.shape[-1:])",
        "{0} / ({0}.abs().sum({1}, keepdim=True) + 1)")).format(x, g.dim(x)))


@weight(4)
def choose(g):
    x = g.pick()
    y = g.like(x)
    return _assign(g, g.rng.choice((
        "fg.where({0} > 0, {0}, {1})", "fg.where({0} > {1}, {1}, {0})",
        "{0}.masked_fill({0} > 0.5, 2.0)", "fg.where({0} < 0, 0.0, {0})",
        "{0}.nan_to_num()")).format(x, y))


@weight(4)
def join(g):
    x, y = g.pick(), g.pick()
    return _assign(g, g.rng.choice((
        "fg.cat([{0}, {0}], {2})", "fg.cat([{0}, {1}], {2})", "fg.stack([{0}, {0}])",
        "fg.stack([{0}, {1}], -1)", "fg.cat([{0}.view(-1), {1}.reshape(-1)])",
        "{0}.repeat(2)", "fg.nn.functional.pad({0}, (1, 0))")).format(x, y, g.dim(x)))


@weight(5)
def index(g):
    x = g.pick()
    return _assign(g, g.rng.choice((
        "{0}[[0, 1, 0]]", "{0}[fg.tensor([1, 0])]", "{0}.index_select({1}, fg.tensor([0, 0, 1]))",
        "{0}.gather({1}, {0}.argsort({1}))", "{0}[..., fg.tensor([0, 0])]", "{0}[:, [1, 0]]",
        "fg.take({0}, fg.tensor([0, 1]))", "{0}[None, fg.tensor(0)]",
        "fg.take_along_dim({0}, {0}.argmax({1}, keepdim=True), {1})")).format(x, g.dim(x)))


@weight(0.25)
def ask(g):
    """Refused: the values decide what happens."""
    x = g.pick()
    return _assign(g, g.rng.choice((
        "{0} * {0}.sum().item()", "{0} * 2 if {0}.sum() > 0 else {0} * 3", "{0}[{0} > 0]",
        "{0}.nonzero().double()", "fg.masked_select({0}, {0} > 0)")).format(x))


# ---- views

VIEWS = ("{0}.t()", "{0}.transpose({1}, {2})", "{0}.T", "{0}.view(-1)", "{0}.reshape(-1)",
         "{0}.view({0}.shape)", "{0}[1:]", "{0}[..., ::2]", "{0}[..., -1]", "{0}[0]",
         "{0}.select({1}, 0)", "{0}.narrow({1}, 0, 1)", "{0}.unsqueeze({1})", "{0}.squeeze()",
         "{0}.expand(2, *{0}.shape)", "{0}.diagonal()", "{0}.view_as({0})", "{0}[...]",
         "{0}.unfold({1}, 2, 1)", "{0}.movedim({1}, {2})", "{0}.flatten()", "{0}[None]",
         "{0}.as_strided((2,), (1,))", "{0}.unflatten(-1, (1, -1))", "{0}.detach()",
         "{0}.expand_as({0})", "{0}.unsqueeze(0)[0]", "{0}[:, 1:]", "{0}.squeeze(0)",
         "{0}.reshape({0}.shape)", "{0}.mT", "{0}.permute(*range({0}.dim())[::-1])")


@weight(14)
def view(g):
    x = g.pick(g.rng.random() < 0.9)
    return _assign(g, g.rng.choice(VIEWS).format(x, g.dim(x), g.dim(x)))


@weight(3)
def many_views(g):
    x = g.pick()
    if not g.value(x).dim() or not g.value(x).numel():
        return None
    dim = g.dim(x)
    size = g.value(x).shape[dim]
    text, count = g.rng.choice((
        ("{0}.unbind({1})", size), ("{0}.split(1, {1})", size), ("{0}.chunk(2, {1})", min(2, size)),
        ("{0}.split([1, {2}], {1})", 2)))
    names = [g.new() for _ in range(count)]
    rest = "".join(name + ", " for name in names)
    return f"{rest}= {text.format(x, dim, size - 1)}", names


@weight(0.2)
def data(g):
    return _assign(g, f"{g.pick()}.data")


# ---- writes

WRITES = ("{0}.add_({1})", "{0}.mul_({1})", "{0}.sub_({1})", "{0}.copy_({1})", "{0}[0] = {2}",
          "{0}[..., 0] = {2}", "{0}[..., 0] = {1}", "{0}[0] = {1}", "{0}.zero_()",
          "{0}.fill_({2})", "{0}.sin_()", "{0}.tanh_()", "{0} += {1}", "{0}[1:] *= {2}",
          "{0}[{0} > 0] = {2}", "{0}.index_put_((fg.tensor([0]),), {1}[0])", "{0}.relu_()",
          "{0}.masked_fill_({0} > 0.5, {2})", "{0}.clamp_(-1, 1)", "{0}.exp_()", "{0}.div_({2})",
          "{0}.index_add_(0, fg.tensor([0, 0]), {0}[:2].detach())", "{0}.view(-1)[0] = {2}",
          "{0}.scatter_(0, fg.zeros_like({0}).long(), 2.0)", "{0}.t().mul_({2})", "{0}[:] = {1}",
          "{0}.detach().add_({2})", "{0}.diagonal().fill_({2})", "{0}.index_fill_(0, "
          "fg.tensor([0]), 3.0)", "{0}.addcmul_({0}, {1})", "{0}.lerp_({1}, 0.25)",
          "{0}.cumsum_(0)", "{0}.unsqueeze(0).expand_as({0})[0].add_({2})", "{0}[[0, 1]] += {2}",
          "{0}.neg_()", "{0}.pow_(2)")


@weight(16)
def write(g):
    x = g.pick(g.rng.random() < 0.95)
    if "." in x and "+= " in x:
        return None
    text = g.rng.choice(WRITES).format(x, g.like(x), g.number())
    if text.startswith(f"{x} += ") and x.startswith("x"):
        return None  # would make an argument local
    return text, []


@weight(0.2)
def write_data(g):
    return g.rng.choice(("{0}.data.add_(1)", "{0}.data[0] = 2.0", "{0}.data.copy_({1})")).format(
        g.pick(), g.pick()), []


@weight(0.5)
def reshape_in_place(g):
    x = g.pick()
    return g.rng.choice(("{0}.t_()", "{0}.unsqueeze_(0)", "{0}.squeeze_()", "{0}.detach_()",
                         "{0}.transpose_(0, -1)", "{0}.requires_grad_()")).format(x), []


# ---- tensors from nothing, random numbers


@weight(3)
def constant(g):
    x = g.pick()
    return _assign(g, g.rng.choice((
        "fg.ones_like({0})", "fg.zeros({0}.shape, dtype=fg.float64)", "{0}.new_zeros({0}.shape)",
        "fg.tensor([1.0, 2.0, 3.0], dtype=fg.float64)", "fg.arange(3, dtype=fg.float64)",
        "fg.eye(3, dtype=fg.float64)", "fg.full_like({0}, {1})", "fg.empty_like({0}).fill_(1)",
        "fg.tensor([[1.0, 2.0, 3.0]] * 2)", "fg.ones(3, requires_grad=True)")).format(
            x, g.number()))


@weight(2)
def draw(g):
    x = g.pick()
    return _assign(g, g.rng.choice((
        "fg.rand_like({0})", "fg.randn_like({0})", "fg.nn.functional.dropout({0}, 0.5)",
        "{0} * fg.rand({0}.shape, dtype=fg.float64)", "fg.bernoulli({0}.sigmoid())",
        "fg.randperm(3)", "{0}.clone().uniform_()", "{0}.clone().normal_()")).format(x))


# ---- autograd


@weight(4)
def custom(g):
    x, y = g.pick(), g.pick()
    name, kind = g.rng.choice(("Cube", "Scale", "Dirty", "Pair", "Both", "Once", "Same",
                               "Turn")), g.new()
    if name == "Scale":
        return f"{kind} = Scale.apply({x}, {g.rng.choice(('2.0', '3', g.number()))})", [kind]
    if name == "Pair":
        other = g.new()
        return f"{kind}, {other} = Pair.apply({x}, {y})", [kind, other]
    if name == "Both":
        other = g.new()
        return f"{kind}, {other} = Both.apply({x})", [kind, other]
    return f"{kind} = {name}.apply({x})", [kind]


@weight(2.5)
def hook(g):
    x = g.pick()
    if x[0] == "x" or "." in x:  # on an input: refused, so seldom
        if g.rng.random() < 0.9:
            return None
    # A hook on one of several outputs gets None where only another one has a gradient.
    more = "lambda g: None if g is None else g + 1"
    return f"{x}.register_hook({g.rng.choice(('double', 'look', more))})", []


@weight(0.8)
def retain(g):
    return f"{g.pick()}.retain_grad()", []


@weight(0.5)
def inner_gradient(g):
    x = g.pick()
    again = g.rng.choice((True, False))
    return _assign(g, f"fg.autograd.grad(({x} ** 3).sum(), {x}, create_graph={again})[0]")


@weight(0.3)
def mode(g):
    return g.rng.choice(("fg.set_grad_enabled(False)", "fg.set_grad_enabled(True)")), []


@weight(0.3)
def enable(g):
    text, names = unary(g)
    return "with fg.enable_grad():\n    " + text, names


PRODUCERS = tuple(zip(*_PRODUCERS))  # programs of old seeds are made of these


@weight(3)
def writing_backward(g):
    x, y, made = g.pick(), g.pick(), g.new()
    name = g.rng.choice(("Counts",) * 4 + ("Reads",) * 3 + ("Given",) * 3 + (
        "WritesBoth", "WritesSaved", "Sums", "Tallies", "Bends"))
    alone = name in ("Given", "Sums", "Tallies")
    return f"{made} = {name}.apply({x})" if alone else f"{made} = {name}.apply({x}, {y})", [made]


@weight(2.5)
def writing_hook(g):
    x, y = g.pick(), g.pick()
    if (x[0] == "x" or "." in x) and g.rng.random() < 0.9:
        return None
    hooks = ("lambda g: writes(g, {0})", "lambda g: reads(g, {0})", "lambda g: copies(g, {0})",
             "lambda g: g.mul_(2)")
    return f"{x}.register_hook({g.rng.choice(hooks).format(y)})", []


WITH_WRITES = tuple(zip(*_PRODUCERS))
