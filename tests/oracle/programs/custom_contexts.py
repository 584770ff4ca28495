"""torch.autograd.Function, second part: what is saved, forms of arguments and results, nesting."""
from custom_functions import function, passing, square_class
from observe import counted, graph, program, raises, see, see_all, see_grads

FAMILY = "custom_functions"


@program
def saved_input_changed(torch, draw):
    x = draw.tensor(3, grad=True)
    b = x.clone()
    y = square_class(torch).apply(b)
    b.add_(1)
    raises("backward", lambda: y.sum().backward())


@program
def saved_output(torch, draw):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx, g):
        y, = ctx.saved_tensors
        return g * y

    own = function(torch, "Exp", forward=forward, backward=backward)
    x = draw.tensor(3, grad=True)
    y = own.apply(x)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    see("g", g)
    see("h", torch.autograd.grad(g.sum(), x, retain_graph=True))
    y.add_(1)
    raises("changed", lambda: y.sum().backward())


@program
def saved_intermediate(torch, draw):
    notes = []

    def forward(ctx, x):
        middle = x * x
        ctx.save_for_backward(middle, None, x)
        return middle * x

    def backward(ctx, g):
        middle, nothing, x = ctx.saved_tensors
        notes.append((middle.requires_grad, nothing, x.requires_grad, x.is_leaf))
        return g * 3 * middle

    x = draw.tensor(3, grad=True)
    cube = function(torch, "Cube", forward=forward, backward=backward)
    g, = torch.autograd.grad(cube.apply(x).sum(), x, create_graph=True)
    see_all(g=g, notes=notes)


@program
def saved_is_the_same_object(torch, draw):
    notes = []
    x = draw.tensor(3, grad=True)

    def backward(ctx, g):
        notes.append(ctx.saved_tensors[0] is x)
        return g

    square_class(torch, backward=backward).apply(x).sum().backward()
    see("notes", notes)


@program
def backward_twice(torch, draw):
    x = draw.tensor(3, grad=True)
    y = square_class(torch).apply(x)
    y.sum().backward()
    raises("saved was freed", lambda: y.sum().backward())
    raises("saved_tensors", lambda: y.grad_fn.saved_tensors)
    z = passing(torch, lambda ctx, g: g * 2).apply(x)
    z.sum().backward()
    raises("nothing was saved", lambda: z.sum().backward())


@program
def save_errors(torch, draw):
    def saving(value):
        def forward(ctx, x):
            ctx.save_for_backward(value)
            return x * 2

        return lambda: passing(torch, lambda ctx, g: g, forward).apply(draw.tensor(2, grad=True))

    raises("number", saving(3.0))
    raises("list", saving([1]))
    raises("string", saving("x"))


@program
def save_twice_keeps_last(torch, draw):
    def forward(ctx, x):
        ctx.save_for_backward(x, x)
        ctx.save_for_backward(x * 3)
        return x * 2

    notes = []
    backward = lambda ctx, g: notes.append(len(ctx.saved_tensors)) or g * 2  # noqa: E731
    x = draw.tensor(2, grad=True)
    passing(torch, backward, forward).apply(x).sum().backward()
    see("notes", notes)


@program
def setup_context(torch, draw):
    notes = []

    def setup(ctx, inputs, output):
        notes.append((len(inputs), inputs[1:], type(output).__name__))
        ctx.save_for_backward(inputs[0])
        ctx.power = inputs[1]

    own = function(torch, "Power", forward=lambda x, power: x ** power, setup_context=setup,
                   backward=lambda ctx, g: (g * ctx.power * ctx.saved_tensors[0]
                                            ** (ctx.power - 1), None))
    x = draw.positive(3, grad=True)
    y = own.apply(x, 3)
    see("y", y)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    see_all(g=g, notes=notes)
    see("h", torch.autograd.grad(g.sum(), x))


@program
def keyword_arguments(torch, draw):
    own = function(torch, "Scaled", forward=lambda ctx, x, factor=2.0: x * factor,
                   backward=lambda ctx, g: (g * 2, None))
    x = draw.tensor(3, grad=True)
    raises("keyword", lambda: own.apply(x, factor=3.0))
    raises("unknown", lambda: own.apply(x, other=3.0))
    raises("default", lambda: own.apply(x))


@program
def once_differentiable(torch, draw):
    mark = torch.autograd.function.once_differentiable
    notes = []

    def backward(ctx, g):
        notes.append(torch.is_grad_enabled())
        return g * 2 * ctx.saved_tensors[0]

    x = draw.tensor(3, grad=True)
    y = square_class(torch, backward=mark(backward)).apply(x)
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    see("plain weights", g)
    y = square_class(torch, backward=mark(backward)).apply(x)
    h, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    see("h", h)
    raises("second", lambda: h.sum().backward())
    see("notes", notes)


@program
def nested_functions(torch, draw):
    inner = square_class(torch)
    outer = passing(torch, lambda ctx, g: inner.apply(g), lambda ctx, x: inner.apply(x))
    x = draw.tensor(3, grad=True)
    y = outer.apply(x)
    see("y", y)
    g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    see("g", g)
    see("h", torch.autograd.grad(g.sum(), x))


@program
def backward_inside_backward(torch, draw):
    def forward(ctx, x):
        with torch.enable_grad():
            ctx.inner = x.detach().requires_grad_()
            ctx.result = ctx.inner.sin() * ctx.inner
        return ctx.result.detach()

    def backward(ctx, g):
        return torch.autograd.grad(ctx.result, ctx.inner, g)[0]

    x = draw.tensor(3, grad=True)
    passing(torch, backward, forward).apply(x).sum().backward()
    see_grads(x=x)


@program
def tensors_in_lists(torch, draw):
    def forward(ctx, xs, y):
        return xs[0] * y

    own = function(torch, "Lists", forward=forward, backward=lambda ctx, g: (None, g))
    x, y = draw.tensor(3, grad=True), draw.tensor(3, grad=True)
    see("only the list", own.apply([x], draw.tensor(3)))
    own.apply([x], y).sum().backward()
    see_grads(x=x, y=y)


@program
def output_forms(torch, draw):
    x = draw.tensor(3, grad=True)
    for name, value in (("number", 3), ("none", None), ("text", "x"), ("list", [1]), ("empty", ())):
        raises(name, lambda: passing(torch, lambda ctx, g: g, lambda ctx, x: value).apply(x))
    raises("list of tensors", lambda: passing(
        torch, lambda ctx, *g: g[0], lambda ctx, x: [x * 1, x * 2]).apply(x))
    raises("one tuple", lambda: passing(torch, lambda ctx, g: g, lambda ctx, x: (x * 1,)).apply(x))


@program
def forward_raises(torch, draw):
    x = draw.tensor(3, grad=True)
    raises("own", lambda: passing(torch, lambda ctx, g: g, lambda ctx, x: {}["no"]).apply(x))
    see("grad mode", torch.is_grad_enabled())


@program
def hooks_on_custom_nodes(torch, draw):
    order, hook = counted()
    x = draw.tensor(3, grad=True)
    y = square_class(torch, backward=lambda ctx, g: order.append("backward") or g).apply(x)
    y.grad_fn.register_prehook(hook("pre"))
    y.grad_fn.register_hook(hook("post"))
    y.register_hook(hook("tensor"))
    y.sum().backward()
    see("order", order)


@program
def same_input_twice(torch, draw):
    own = function(torch, "Product", forward=lambda ctx, a, b: ctx.save_for_backward(a, b) or a * b,
                   backward=lambda ctx, g: (g * ctx.saved_tensors[1], g * ctx.saved_tensors[0]))
    x = draw.tensor(3, grad=True)
    y = own.apply(x, x)
    see("graph", graph(y))
    y.sum().backward()
    see_grads(x=x)


@program
def needs_input_grad(torch, draw):
    notes = []

    def backward(ctx, g):
        notes.append(ctx.needs_input_grad)
        return tuple(g if need else None for need in ctx.needs_input_grad)

    own = function(torch, "Sum", forward=lambda ctx, a, b, c: a + b, backward=backward)
    x, y = draw.tensor(3, grad=True), draw.tensor(3)
    own.apply(x, y, 1).sum().backward()
    own.apply(y, x, None).sum().backward()
    see("notes", notes)
    z = draw.tensor(3, grad=True)
    w = own.apply(x, z, 0)
    torch.autograd.grad(w.sum(), x)
    see("only one is asked for", notes)


@program
def gradient_for_no_grad_input(torch, draw):
    own = function(torch, "Sum", forward=lambda ctx, a, b: a + b, backward=lambda ctx, g: (g, g))
    x, y = draw.tensor(3, grad=True), draw.tensor(3)
    own.apply(x, y).sum().backward()
    see_grads(x=x, y=y)
    raises("number gets a gradient", lambda: own.apply(x, 2.0).sum().backward())
    see_grads(x=x)


@program
def sizes_of_gradients(torch, draw):
    own = function(torch, "Row", forward=lambda ctx, x: x.expand(3, 4) * 1,
                   backward=lambda ctx, g: g)
    x = draw.tensor(1, 4, grad=True)
    raises("expandable", lambda: own.apply(x).sum().backward())
    see_grads(x=x)


@program
def save_for_forward_and_shared(torch, draw):
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * 2

    x = draw.tensor(2, grad=True)
    raises("save_for_forward", lambda: passing(torch, lambda ctx, g: g, forward).apply(x))


@program
def subclass_of_function(torch, draw):
    parent = square_class(torch)
    child = function(torch, "Child", (parent,), forward=lambda ctx, x: parent.forward(ctx, x) * 2)
    x = draw.tensor(3, grad=True)
    y = child.apply(x)
    see("y", y)
    y.sum().backward()
    see_grads(x=x)
    see("names", (parent.__name__, child._backward_cls.__name__))


@program
def retained_graph_of_custom(torch, draw):
    x = draw.tensor(3, grad=True)
    y = square_class(torch).apply(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    see_grads(x=x)
    raises("third", lambda: y.sum().backward())
