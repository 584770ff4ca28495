"""Programs that differ in one thing each, so that a key which leaves that thing out finds the code
of another one. A variant takes `compiled` (what to do to a function before it is called) and
returns tensors; eager code gives what is expected."""

import itertools
import struct

import foregrad as fg
import foregrad.nn.functional as F

VARIANTS = {}


def variant(*cases):
    """One variant per case, which is handed over."""

    def add(function):
        for i, case in enumerate(cases):
            name = f"{function.__name__}[{i}]"
            VARIANTS[name] = lambda compiled, case=case: function(compiled, case)
        return function

    return add


def some(*sizes, dtype=None):
    count = 1
    for size in sizes:
        count *= size
    x = (fg.arange(count, dtype=fg.float32) * 12.9898).sin().reshape(sizes)
    return x.to(dtype) if dtype else x


def gradients(result, *inputs):
    found = fg.autograd.grad([result.sum()], inputs, allow_unused=True)
    return [result, *[g for g in found if g is not None]]


def nan_of(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


# ---- constants: values, kinds, bits

@variant(0.0, -0.0, 2, 2.0, True, float("inf"), float("-inf"), float("nan"), 1e-320, 0.1,
         0.1 + 2e-17, nan_of(0x7ff8000000000001), nan_of(0xfff8000000000000), 2**24 + 1)
def number(compiled, value):
    x = some(5).requires_grad_()
    return gradients(compiled(lambda x: (x.sin() + 2) / value + x)(x), x)


@variant(2, 2.0, True, False, -3)
def number_of_integers(compiled, value):
    return [compiled(lambda x: x * value)(fg.arange(5))]


@variant(2**53, 2**53 + 1, 2**53 + 2, -2**62)
def long_integer(compiled, value):
    return [compiled(lambda x: x + value)(fg.arange(5))]


@variant([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], [1.0, 2.0, -0.0], [1.0, 2.0, 0.0],
         [1.0, 2.0, float("nan")], [1, 2, 3], [True, False, True])
def constant(compiled, values):
    x = some(3).requires_grad_()
    return gradients(compiled(lambda x: 1 / (x.sin() * fg.tensor(values)))(x), x)


@variant(*itertools.product((0, 99), (1.0, 2.0)))
def long_constant(compiled, case):
    place, value = case
    values = [0.5] * 100
    values[place] = value
    x = some(100).requires_grad_()
    return gradients(compiled(lambda x: x.sin() * fg.tensor(values))(x), x)


@variant("none", "tanh")
def text(compiled, approximate):
    x = some(5).requires_grad_()
    return gradients(compiled(lambda x: F.gelu(x, approximate=approximate))(x), x)


@variant(1.0, 2.0, -1.0)
def number_that_is_an_argument(compiled, value):
    x = some(5).requires_grad_()
    return gradients(compiled(lambda x, s: x.sin() * s + s)(x, value), x)


# ---- surroundings: modes, defaults

@variant(fg.float32, fg.float64)
def default_dtype(compiled, dtype):
    before = fg.get_default_dtype()
    fg.set_default_dtype(dtype)
    try:
        x = some(4).requires_grad_()
        result = compiled(lambda x: x * fg.tensor([0.1, 0.2, 0.3, 0.4]).sum() + fg.arange(4) / 3)(x)
        return gradients(result, x)
    finally:
        fg.set_default_dtype(before)


@variant(fg.float32, fg.float64)
def default_dtype_of_the_backward(compiled, dtype):
    class Made(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g + fg.full((4,), 0.1).double().float()

    x = some(4).requires_grad_()
    result = compiled(Made.apply)(x)
    before = fg.get_default_dtype()
    fg.set_default_dtype(dtype)
    try:
        return gradients(result, x)
    finally:
        fg.set_default_dtype(before)


@variant("on", "off around", "off inside", "inference", "detached", "half")
def grad_mode(compiled, mode):
    def f(x):
        if mode == "off inside":
            with fg.no_grad():
                y = x.sin()
        else:
            y = x.detach().sin() if mode == "detached" else x.sin()
        return x * y + (x.detach() if mode == "half" else x)

    x = some(5).requires_grad_()
    around = {"off around": fg.no_grad, "inference": fg.inference_mode}.get(mode)
    if around:
        with around():
            return [compiled(f)(x).clone()]
    return gradients(compiled(f)(x), x)


# ---- inputs: which need gradients, how they lie in memory, what they share

@variant(*itertools.product((False, True), repeat=2))
def requires_grad(compiled, flags):
    x, w = (some(4, 4).requires_grad_(flag) for flag in flags)
    result = compiled(lambda x, w: (x @ w).tanh() * w)(x, w)
    wanted = [t for t, flag in zip((x, w), flags) if flag]
    return gradients(result, *wanted) if wanted else [result]


def laid_out(how):
    base = some(8, 8)
    return {"plain": lambda: base[:4, :4].clone(), "turned": lambda: base[:4, :4].clone().t(),
            "part": lambda: base[:4, :4], "later part": lambda: base[4:, 4:],
            "steps": lambda: base[::2, ::2], "rows": lambda: base[:4, :1].expand(4, 4),
            "one": lambda: base[0, 0].expand(4, 4),
            "windows": lambda: base.as_strided((4, 4), (1, 1), 3)}[how]()


@variant("plain", "turned", "part", "later part", "steps", "rows", "one", "windows")
def layout(compiled, how):
    x = laid_out(how)
    w = some(4, 4).requires_grad_()
    return gradients(compiled(lambda x, w: (x @ w + x.t()).sin().reshape(-1) * 2)(x, w), w)


@variant(0, 1, 2)
def storage_offset(compiled, offset):
    x = some(12)[offset:offset + 8]
    return [compiled(lambda x: x.as_strided((2, 2), (2, 1), 2 + 1) * 2)(x)]


@variant("two", "same", "view", "alias", "overlap")
def shared(compiled, how):
    base = some(12)
    x = base[:8]
    y = {"two": x.clone(), "same": x, "view": x[:], "alias": x.detach(), "overlap": base[4:]}[how]
    w = some(8).requires_grad_()
    return gradients(compiled(lambda x, y, w: (x * w).sin() * y)(x, y, w), w)


@variant("two", "same")
def shared_with_gradients(compiled, how):
    x = some(8).requires_grad_()
    y = x if how == "same" else some(8).requires_grad_()
    result = compiled(lambda x, y: x.sin() * y.cos())(x, y)
    return gradients(result, x) if how == "same" else gradients(result, x, y)


@variant("leaf", "no leaf", "view of a leaf")
def history(compiled, how):
    start = some(8).requires_grad_()
    x = {"leaf": start, "no leaf": start * 1, "view of a leaf": start[:]}[how]
    return gradients(compiled(lambda x: x.sin() * x)(x), start)


@variant(fg.float32, fg.float64, fg.int64, fg.bool)
def dtype_of_an_input(compiled, dtype):
    return [compiled(lambda x: x + 1 + x)(some(6).add(2).to(dtype))]


# ---- writes and outputs

@variant("itself", "data", "detached", "view", "view of data", "copied", "cloned", "result")
def written_before_the_backward(compiled, how):
    """Whether a write between forward and backward is an error depends on what was saved."""
    def f(x, w):
        y = {"itself": lambda: x, "data": lambda: x.data, "detached": lambda: x.detach(),
             "view": lambda: x[:], "view of data": lambda: x.data[:], "cloned": lambda: x.clone(),
             "copied": lambda: fg.empty_like(x).copy_(x), "result": lambda: x}[how]()
        return w * y, y * 1 if how != "result" else y

    x, w = some(6), some(6).requires_grad_()
    result, _ = compiled(f)(x, w)
    x.add_(1)
    try:
        found = gradients(result, w)
    except RuntimeError as error:
        assert "modified by an inplace operation" in str(error)
        found = [fg.ones(1)]
    # Compiled code refuses where eager code reads the new elements.
    return found if "data" not in how else [fg.ones(2)]


@variant("out of place", "in place", "in place twice", "a part")
def written(compiled, how):
    def f(x, w):
        if how == "out of place":
            x = x + 1
        elif how == "a part":
            x[:2].add_(1)
        else:
            x.add_(1)
            if how == "in place twice":
                x.mul_(1)
        return x * w

    x, w = some(6), some(6).requires_grad_()
    return [*gradients(compiled(f)(x, w), w), x]


@variant("in place", "as data", "as data, unsaved")
def written_as_data(compiled, how):
    """A refused variant must not be found under the key of one that is not refused."""
    def f(x, w):
        if how == "in place":
            x.add_(1)
        else:
            x.data.add_(1)
        return x * w if how != "as data, unsaved" else x + w * 2

    x, w = some(6), some(6).requires_grad_()
    run = compiled(f)
    result = run(x, w)
    assert run is f or (how == "as data") == (run.compiled.refused is not None)
    return [*gradients(result, w), x]


@variant("both", "turned", "first twice", "detached", "input", "view", "sum")
def returned(compiled, how):
    def f(x):
        a, b = x.sin(), x.cos()
        return {"both": (a, b), "turned": (b, a), "first twice": (a, a),
                "detached": (a, b.detach()), "input": (a, x), "view": (a, a[1:]),
                "sum": (a + b, b)}[how]

    x = some(6).requires_grad_()
    one, other = compiled(f)(x)
    return [one, other, *gradients(one.sum() + 2 * other.sum(), x)]


@variant((1, 0), (0, 1), (1, 1))
def request(compiled, wanted):
    x, w = some(4).requires_grad_(), some(4).requires_grad_()
    one, other = compiled(lambda x, w: (x.sin() * w, (x * w).cos()))(x, w)
    result = sum(t.sum() for t, flag in zip((one, other), wanted) if flag)
    return gradients(result, *[t for t, flag in zip((w, x), wanted) if flag])


# ---- code that runs in the backward alone

def custom(factor, save="input", second=True):
    class Custom(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * x
            ctx.save_for_backward(x if save == "input" else y)
            return y

        @staticmethod
        def backward(ctx, g):
            kept, = ctx.saved_tensors
            kept = kept if second else kept.detach()
            return g * kept * factor

    return Custom.apply


@variant((2.0, "input"), (3.0, "input"), (2.0, "output"), (2, "input"))
def custom_backward(compiled, case):
    x = some(5).requires_grad_()
    f = custom(*case)
    return gradients(compiled(lambda x: f(x).sin())(x), x)


@variant((2.0, "input", True), (2.0, "input", False), (2.0, "output", True))
def second_derivative(compiled, case):
    x = some(5).requires_grad_()
    f = custom(*case)
    result = compiled(lambda x: f(x).sin() + x ** 3)(x)
    first, = fg.autograd.grad([result.sum()], [x], create_graph=True)
    return [first, *fg.autograd.grad([(first * first).sum()], [x])]


@variant("none", "tensor", "tensor, twice", "result", "node", "node before", "retain", "removed")
def hook(compiled, how):
    def f(x):
        y = x.sin()
        result = y * x
        if how.startswith("tensor"):
            y.register_hook(lambda g: g * (4 if how == "tensor, twice" else 2))
        elif how == "result":
            result.register_hook(lambda g: g * 2)
        elif how == "node":
            y.grad_fn.register_hook(lambda into, out: tuple(g * 2 for g in into))
        elif how == "node before":
            y.grad_fn.register_prehook(lambda out: tuple(g * 3 for g in out))
        elif how == "retain":
            y.retain_grad()
        elif how == "removed":
            y.register_hook(lambda g: g * 2).remove()
        return result

    x = some(5).requires_grad_()
    return gradients(compiled(f)(x), x)


@variant("none", "inside", "inside, doubled", "around")
def saved_tensor_hooks(compiled, how):
    def hooks(factor=1):
        return fg.autograd.graph.saved_tensors_hooks(lambda t: t * factor, lambda t: t)

    def f(x):
        if how.startswith("inside"):
            with hooks(2 if how.endswith("doubled") else 1):
                return x.sin() * x
        return x.sin() * x

    x = some(5).requires_grad_()
    run = compiled(f)
    if how == "around":
        with hooks():
            return gradients(run(x), x)
    return gradients(run(x), x)


def bits_of(tensors):
    """Everything there is to see of tensors; every NaN is one."""
    seen = []
    for t in tensors:
        values = t.detach().reshape(-1).tolist()
        values = [v.hex() if isinstance(v, float) else v for v in values]
        seen.append([str(t.dtype), list(t.shape), list(t.stride()), t.requires_grad, values])
    return seen
