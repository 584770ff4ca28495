"""torch.autograd.Function in all its forms."""
from observe import graph, outcome, program, raises, see, see_all, see_grads


def function(torch, name="Custom", bases=None, **methods):
    """A Function class: its methods become static."""
    fixed = {k: staticmethod(v) if callable(v) else v for k, v in methods.items()}
    return type(name, bases or (torch.autograd.Function,), fixed)


def square_class(torch, **more):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    def backward(ctx, g):
        x, = ctx.saved_tensors
        return 2 * x * g

    return function(torch, "Square", **{"forward": forward, "backward": backward, **more})


def passing(torch, backward, forward=None, **more):
    """A Function of one tensor whose backward is what matters."""
    return function(torch, "Passing", forward=forward or (lambda ctx, x: x * 2), backward=backward,
                    **more)


@program
def save_and_use(torch, draw):
    x = draw.tensor(3, grad=True)
    y = square_class(torch).apply(x)
    see("y", y)
    see("graph", graph(y))
    y.sum().backward()
    see_grads(x=x)


@program
def twice_differentiable(torch, draw):
    x = draw.tensor(3, grad=True)
    y = square_class(torch).apply(x)
    g, = torch.autograd.grad(y.sin().sum(), x, create_graph=True)
    see("g", g)
    see("h", torch.autograd.grad(g.exp().sum(), x))


@program
def no_input_requires_grad(torch, draw):
    y = square_class(torch).apply(draw.tensor(3))
    see("y", y)
    with torch.no_grad():
        see("no_grad", square_class(torch).apply(draw.tensor(3, grad=True)))


@program
def context_attributes(torch, draw):
    notes = []

    def forward(ctx, x, factor, word):
        ctx.factor, ctx.word = factor, word
        notes.append(ctx.needs_input_grad)
        return x * factor

    def backward(ctx, g):
        notes.append((ctx.factor, ctx.word, ctx.needs_input_grad))
        return g * ctx.factor, None, None

    x = draw.tensor(3, grad=True)
    scale = function(torch, "Scale", forward=forward, backward=backward)
    y = scale.apply(x, 3.0, "word")
    y.sum().backward()
    see("notes", notes)
    see_grads(x=x)
    see("node is ctx", (y.grad_fn.factor, type(y.grad_fn).__name__, y.grad_fn.name()))


@program
def grad_mode_inside(torch, draw):
    notes = []

    def forward(ctx, x):
        notes.append(torch.is_grad_enabled())
        return x * 2

    def backward(ctx, g):
        notes.append((torch.is_grad_enabled(), g.requires_grad))
        return g * 2

    x = draw.tensor(3, grad=True)
    double = function(torch, "Double", forward=forward, backward=backward)
    torch.autograd.grad(double.apply(x).sum(), x)
    torch.autograd.grad(double.apply(x).sum(), x, create_graph=True)
    see("notes", notes)


@program
def several_outputs(torch, draw):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y, 5

    def backward(ctx, g, h, n):
        x, y = ctx.saved_tensors
        return g * y + h, g * x + h

    both = function(torch, "Both", forward=forward, backward=backward)
    x, y = draw.tensor(3, grad=True), draw.tensor(3, grad=True)
    a, b, n = both.apply(x, y)
    see_all(a=a, b=b, n=n)
    see("numbers", (a.output_nr, b.output_nr))
    a.sum().backward(retain_graph=True)
    see_grads(x=x, y=y)
    (a * b).sum().backward()
    see_grads(x=x, y=y)


@program
def undefined_gradients(torch, draw):
    notes = []

    def make(materialize):
        def forward(ctx, x):
            ctx.set_materialize_grads(materialize)
            return x * 2, x * 3

        def backward(ctx, g, h):
            notes.append((None if g is None else g.tolist(), None if h is None else h.tolist()))
            return g * 2 if h is None else g * 2 + h * 3

        return function(torch, "Pair", forward=forward, backward=backward)

    for materialize in (True, False):
        x = draw.tensor(2, grad=True)
        make(materialize).apply(x)[0].sum().backward()
        see_grads(x=x)
    see("notes", notes)


@program
def none_gradient(torch, draw):
    x = draw.tensor(3, grad=True)
    y = passing(torch, lambda ctx, g: None).apply(x)
    y.sum().backward()
    see_grads(x=x)
    z = draw.tensor(3, grad=True)
    (passing(torch, lambda ctx, g: None).apply(z) * 1 + z).sum().backward()
    see_grads(z=z)


@program
def backward_errors(torch, draw):
    x = draw.tensor(3, grad=True)

    def run(backward):
        return lambda: passing(torch, backward).apply(x).sum().backward()

    raises("too many", run(lambda ctx, g: (g, g)))
    raises("too many but none", run(lambda ctx, g: (g, None)))
    raises("empty", run(lambda ctx, g: ()))
    raises("number", run(lambda ctx, g: 1.0))
    raises("shape", run(lambda ctx, g: g[:2]))
    raises("broadcast shape", run(lambda ctx, g: g.expand(2, 3)))
    raises("list", run(lambda ctx, g: [g]))
    raises("dtype", run(lambda ctx, g: g.float()))
    raises("own", run(lambda ctx, g: 1 / 0))
    raises("key", run(lambda ctx, g: {}["missing"]))
    see_grads(x=x)


@program
def missing_methods(torch, draw):
    x = draw.tensor(3, grad=True)
    only_forward = function(torch, "OnlyForward", forward=lambda ctx, x: x * 2)
    raises("backward missing", lambda: only_forward.apply(x).sum().backward())
    raises("forward missing", lambda: function(torch, "Empty").apply(x))
    raises("called", lambda: square_class(torch)()(x))
    raises("not static", lambda: type("Old", (torch.autograd.Function,),
                                      {"forward": lambda self, x: x})()(x))
    raises("no arguments", lambda: function(torch, "None_", forward=lambda ctx: 3).apply())
    raises("too few", lambda: square_class(torch).apply())


@program
def both_vjp_and_backward(torch, draw):
    x = draw.tensor(3, grad=True)
    own = function(torch, "Own", forward=lambda ctx, x: x * 2, vjp=lambda ctx, g: g * 2)
    own.apply(x).sum().backward()
    see_grads(x=x)
    both = function(torch, "Both", forward=lambda ctx, x: x * 2, vjp=lambda ctx, g: g,
                    backward=lambda ctx, g: g)
    raises("both", lambda: both.apply(x).sum().backward())


@program
def mark_dirty(torch, draw):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    triple = function(torch, "Triple", forward=forward, backward=lambda ctx, g: g * 3)
    x = draw.tensor(3, grad=True)
    b = x.clone()
    c = triple.apply(b)
    see("same", c is b)
    see_all(b=b, c=c)
    see("graph", graph(b))
    (b * b).sum().backward()
    see_grads(x=x)
    raises("leaf", lambda: triple.apply(x))


@program
def mark_dirty_on_a_view(torch, draw):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.mul_(3)

    triple = function(torch, "Triple", forward=forward, backward=lambda ctx, g: g * 3)
    x = draw.tensor(4, grad=True)
    b = x.clone()
    v = b[0:2]
    raises("view", lambda: triple.apply(v))
    see("b", b)
    raises("v", lambda: v * 1)
    raises("backward", lambda: (b * b).sum().backward())
    see_grads(x=x)


@program
def mark_dirty_errors(torch, draw):
    def not_returned(ctx, x):
        ctx.mark_dirty(x)
        return x * 1

    bad = function(torch, "Bad", forward=not_returned, backward=lambda ctx, g: g)
    raises("not returned", lambda: bad.apply(draw.tensor(3, grad=True).clone()))

    def not_an_input(ctx, x):
        y = x * 2
        ctx.mark_dirty(y)
        return y

    odd = function(torch, "Odd", forward=not_an_input, backward=lambda ctx, g: g)
    raises("not an input", lambda: odd.apply(draw.tensor(3, grad=True).clone()))
    words = function(torch, "Words", forward=lambda ctx, x: ctx.mark_dirty("x") or x * 1,
                     backward=lambda ctx, g: g)
    raises("not a tensor", lambda: words.apply(draw.tensor(3, grad=True)))


@program
def written_without_mark(torch, draw):
    def forward(ctx, x):
        return x.mul_(3)

    quiet = function(torch, "Quiet", forward=forward, backward=lambda ctx, g: g * 3)
    x = draw.tensor(3, grad=True)
    b = x.clone()
    c = outcome(lambda: quiet.apply(b))
    see_all(c=c, b=b)


@program
def non_differentiable(torch, draw):
    def forward(ctx, x):
        top, where = x.max(0)
        ctx.mark_non_differentiable(where)
        ctx.size = x.shape[0]
        ctx.where = where
        return top, where

    def backward(ctx, g, unused):
        result = torch.zeros(ctx.size, dtype=torch.float64)
        result[ctx.where] = g
        return result

    x = draw.tensor(4, grad=True)
    top, where = function(torch, "Top", forward=forward, backward=backward).apply(x)
    see_all(top=top, where=where)
    top.backward()
    see_grads(x=x)

    def floats(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y

    y = passing(torch, lambda ctx, g: g, floats).apply(x)
    see("y", y)


@program
def integer_outputs(torch, draw):
    x = draw.tensor(4, grad=True)
    y = passing(torch, lambda ctx, g: None, lambda ctx, x: x.long()).apply(x)
    see("y", y)


@program
def returns_input(torch, draw):
    x = draw.tensor(3, grad=True)
    y = passing(torch, lambda ctx, g: g * 5, lambda ctx, x: x).apply(x)
    see("y", y)
    see("same", y is x)
    y.sum().backward()
    see_grads(x=x)
    z = draw.tensor(3)
    see("plain", passing(torch, lambda ctx, g: g, lambda ctx, x: x).apply(z) is z)


@program
def returns_view(torch, draw):
    x = draw.tensor(4, grad=True)
    b = x.clone()
    y = passing(torch, lambda ctx, g: torch.cat([g, g]), lambda ctx, x: x[0:2]).apply(b)
    see("y", y)
    y.sum().backward(retain_graph=True)
    see_grads(x=x)
    raises("write", lambda: y.mul_(2))
    raises("write base", lambda: b.mul_(2))
    raises("use", lambda: y * 1)


@program
def returns_two_views(torch, draw):
    x = draw.tensor(4, grad=True)
    both = function(torch, "Halves", forward=lambda ctx, x: (x[0:2], x[2:4]),
                    backward=lambda ctx, g, h: torch.cat([g, h]))
    a, b = both.apply(x.clone())
    see_all(a=a, b=b)
    (a * b).sum().backward()
    see_grads(x=x)
    raises("write", lambda: a.mul_(2))


@program
def result_may_be_written(torch, draw):
    x = draw.tensor(3, grad=True)
    y = square_class(torch).apply(x)
    y.mul_(2)
    y[0] = 1
    see("y", y)
    y.sum().backward()
    see_grads(x=x)
