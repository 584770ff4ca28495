"""backward and grad with their options, hooks, retained gradients, edges, versions and errors."""
from observe import counted, graph, outcome, program, raises, see, see_all, see_grads


def pair(draw):
    return draw.tensor(3, grad=True), draw.tensor(3, grad=True)


@program
def backward_accumulates(torch, draw):
    x, y = pair(draw)
    (x * y).sum().backward()
    see_grads(x=x, y=y)
    before = x.grad
    (x * x).sum().backward()
    see_grads(x=x, y=y)
    see("same object", x.grad is before)
    see("zeroed", before.zero_())
    see("backward returns", (x * y).sum().backward())


@program
def gradient_argument(torch, draw):
    x, y = pair(draw)
    z = x * y
    raises("none for a vector", lambda: z.backward(retain_graph=True))
    z.backward(torch.ones(3, dtype=torch.float64), retain_graph=True)
    see_grads(x=x, y=y)
    raises("wrong shape", lambda: z.backward(torch.ones(4, dtype=torch.float64), retain_graph=True))
    raises("broadcastable shape",
           lambda: z.backward(torch.ones(1, dtype=torch.float64), retain_graph=True))
    raises("wrong dtype", lambda: z.backward(torch.ones(3), retain_graph=True))
    raises("a number", lambda: z.backward(1.0, retain_graph=True))
    raises("one element", lambda: z[:1].backward(retain_graph=True))
    see_grads(x=x, y=y)


@program
def backward_twice(torch, draw):
    x, y = pair(draw)
    z = (x * y).sum()
    z.backward()
    raises("again", lambda: z.backward())
    w = (x + y).sum()
    w.backward()
    raises("again without saved tensors", lambda: w.backward())
    v = (x * y).sum()
    v.backward(retain_graph=True)
    v.backward()
    see_grads(x=x, y=y)


@program
def backward_on_no_grad(torch, draw):
    raises("plain", lambda: draw.tensor(1).sum().backward())
    x = draw.tensor(1, grad=True)
    x.backward()
    see_grads(x=x)
    raises("integer", lambda: torch.tensor([1]).backward())
    raises("integer requires grad", lambda: torch.tensor([1], requires_grad=True))
    raises("requires_grad_ of integer", lambda: torch.tensor([1]).requires_grad_())


@program
def backward_with_inputs(torch, draw):
    x, y = pair(draw)
    z = x * y
    w = z * z
    w.sum().backward(inputs=[x], retain_graph=True)
    see_grads(x=x, y=y)
    w.sum().backward(inputs=[z], retain_graph=True)
    see("z.grad", z.grad)
    w.sum().backward(inputs=y, retain_graph=True)
    see_grads(x=x, y=y)
    raises("empty", lambda: w.sum().backward(inputs=[], retain_graph=True))
    raises("unused", lambda: w.sum().backward(inputs=[draw.tensor(1, grad=True)],
                                              retain_graph=True))
    raises("without grad", lambda: w.sum().backward(inputs=[draw.tensor(1)], retain_graph=True))
    see_grads(x=x, y=y)


@program
def backward_many(torch, draw):
    x, y = pair(draw)
    a, b = (x * y).sum(), x * x
    torch.autograd.backward([a, b], [None, draw.weights_like(b)])
    see_grads(x=x, y=y)
    raises("count", lambda: torch.autograd.backward([x.sum(), y.sum()], [None]))
    raises("empty", lambda: torch.autograd.backward([]))
    raises("not a tensor", lambda: torch.autograd.backward([3]))
    raises("keyword", lambda: torch.autograd.backward(tensors=x.sum(), grad_tensors=None))


@program
def grad_forms(torch, draw):
    x, y = pair(draw)
    z = (x * y * y).sum()
    see("one", torch.autograd.grad(z, x, retain_graph=True))
    see("list", torch.autograd.grad([z], [x, y], retain_graph=True))
    see("with ones", torch.autograd.grad(z, (x,), torch.ones_like(z), retain_graph=True))
    raises("unused", lambda: torch.autograd.grad(x.sum(), [x, y]))
    see("allow_unused", torch.autograd.grad(x.sum(), [x, y], allow_unused=True))
    see("materialize", torch.autograd.grad(x.sum(), [x, y], materialize_grads=True))
    raises("materialize, not allowed", lambda: torch.autograd.grad(
        x.sum(), [x, y], materialize_grads=True, allow_unused=False))
    raises("input without grad", lambda: torch.autograd.grad(x.sum(), draw.tensor(3)))
    raises("empty inputs", lambda: torch.autograd.grad(x.sum(), []))
    raises("output without grad", lambda: torch.autograd.grad(draw.tensor(1).sum(), x))
    raises("vector", lambda: torch.autograd.grad(x * y, x))
    see_grads(x=x, y=y)


@program
def grad_of_itself(torch, draw):
    x, y = pair(draw)
    z = x * y
    see("z by z", torch.autograd.grad(z, z, draw.weights_like(z)))
    see("x by x", torch.autograd.grad(x, x, draw.weights_like(x)))
    w = z.sin()
    see("twice", torch.autograd.grad(w.sum(), [z, z, x]))


@program
def grad_of_intermediate(torch, draw):
    x, y = pair(draw)
    z = x * y
    w = z.exp() * z
    g, h = torch.autograd.grad(w.sum(), [z, x], create_graph=True)
    see_all(g=g, h=h)
    see("graph", graph(g))
    see("second", torch.autograd.grad(h.sum(), [x, y]))


@program
def create_graph_accumulates(torch, draw):
    x, y = pair(draw)
    (x * x * y).sum().backward(create_graph=True)
    see_grads(x=x, y=y)
    g = x.grad
    (g * g).sum().backward()
    see_grads(x=x, y=y)
    see("same object", x.grad is g)


@program
def third_order(torch, draw):
    x = draw.tensor(3, grad=True)
    g = (x.sin() * x.exp()).sum()
    for order in range(4):
        g, = torch.autograd.grad(g.sum(), x, create_graph=True)
        see(f"order {order}", g)


@program
def retain_grad(torch, draw):
    x, y = pair(draw)
    z = x * y
    see("before", (z.retains_grad, x.retains_grad))
    z.retain_grad()
    z.retain_grad()
    x.retain_grad()
    see("after", (z.retains_grad, x.retains_grad))
    (z * z).sum().backward()
    see("z.grad", z.grad)
    raises("no grad", lambda: draw.tensor(2).retain_grad())


@program
def grad_of_non_leaf_attribute(torch, draw):
    x, y = pair(draw)
    z = x * y
    z.sum().backward()
    see("z.grad", z.grad)
    see("leaf", (x.is_leaf, z.is_leaf, draw.tensor(1).is_leaf, z.detach().is_leaf))


@program
def set_grad(torch, draw):
    x = draw.tensor(3, grad=True)
    x.grad = draw.tensor(3)
    see_grads(x=x)
    raises("shape", lambda: setattr(x, "grad", draw.tensor(4)))
    raises("dtype", lambda: setattr(x, "grad", torch.zeros(3)))
    raises("itself", lambda: setattr(x, "grad", x))
    raises("number", lambda: setattr(x, "grad", 1.0))
    x.grad = None
    see_grads(x=x)
    x.grad = draw.tensor(3)
    del x.grad
    see_grads(x=x)
    p = draw.tensor(3)
    p.grad = draw.tensor(3)
    see_grads(p=p)


@program
def requires_grad_settings(torch, draw):
    x, y = pair(draw)
    z = x * y
    raises("non-leaf off", lambda: setattr(z, "requires_grad", False))
    raises("non-leaf on", lambda: setattr(z, "requires_grad", True))
    x.requires_grad = False
    see("x", x)
    see("chained", x.requires_grad_().requires_grad_(False))
    raises("number", lambda: setattr(x, "requires_grad", 1))
    raises("none", lambda: x.requires_grad_(None))


@program
def node_attributes(torch, draw):
    x, y = pair(draw)
    z = x * y
    node = z.grad_fn
    see("name", node.name())
    see("same object", z.grad_fn is node)
    see("next", [(type(n).__name__, i) for n, i in node.next_functions])
    leaf = node.next_functions[0][0]
    see("leaf name", leaf.name())
    see("variable", leaf.variable is x)
    see("metadata", type(node.metadata).__name__)
    see("slice name", type(x[0:2].grad_fn).__name__)
    b = x.clone()
    b[0:2].mul_(2)
    see("copy slices", b.grad_fn.name())
    see("unbind", [(type(t.grad_fn).__name__, t.output_nr) for t in b.unbind(0)])
    see("instance", isinstance(node, torch.autograd.graph.Node))


@program
def saved_attributes(torch, draw):
    x, y = pair(draw)
    z = x * y
    see("self", z.grad_fn._saved_self)
    see("other", outcome(lambda: z.grad_fn._saved_other))
    see("exp", x.exp().grad_fn._saved_result)
    see("pow", outcome(lambda: (x ** 3).grad_fn._saved_exponent))
    see("sum", outcome(lambda: (x + 1).sum(0).grad_fn._saved_dim))
    see("none", outcome(lambda: (x + y).grad_fn._saved_self))
    z.sum().backward()
    raises("after free", lambda: z.grad_fn._saved_self)


@program
def gradient_edges(torch, draw):
    x, y = pair(draw)
    z = x * y
    w = z.sin()
    edge = torch.autograd.graph.get_gradient_edge(z)
    see("node", (edge.node is z.grad_fn, edge.output_nr))
    see("leaf", type(torch.autograd.graph.get_gradient_edge(x).node).__name__)
    see("by edge", torch.autograd.grad(w.sum(), [edge], retain_graph=True))
    see("from edge", torch.autograd.grad([edge], [x], [draw.weights_like(z)], retain_graph=True))
    raises("no grad", lambda: torch.autograd.graph.get_gradient_edge(draw.tensor(2)))
    torch.autograd.backward([edge], [draw.weights_like(z)])
    see_grads(x=x, y=y)


@program
def saved_tensor_hooks(torch, draw):
    x, y = pair(draw)
    order, hook = counted()
    with torch.autograd.graph.saved_tensors_hooks(hook("pack", lambda t: t * 1),
                                                  hook("unpack", lambda t: t * 2)):
        z = (x * y).exp()
    see("order", order)
    z.sum().backward()
    see("order", order)
    see_grads(x=x, y=y)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: 5, lambda v: None):
        w = x * x
    raises("unpack gives no tensor", lambda: w.sum().backward())

    def use():
        with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
            with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
                return x * x

    raises("disabled", use)


@program
def increment_version(torch, draw):
    x, y = pair(draw)
    b = x.clone()
    z = b * y
    torch.autograd.graph.increment_version(b)
    see("version", b._version)
    raises("backward", lambda: z.sum().backward())


@program
def dtype_of_gradients(torch, draw):
    x = draw.tensor(3, dtype="float32", grad=True)
    y = draw.tensor(3, grad=True)
    (x * y).sum().backward()
    see_grads(x=x, y=y)
    z = draw.tensor(2, dtype="float16", grad=True)
    (z.float() * 2).sum().backward()
    see_grads(z=z)


@program
def gradient_layout(torch, draw):
    x = draw.tensor(2, 3, grad=True)
    (x.t() * draw.tensor(3, 2)).sum().backward()
    see_grads(x=x)
    y = draw.tensor(2, 3).t().requires_grad_()
    (y * 2).sum().backward()
    see_grads(y=y)
    z = draw.tensor(2, 3, grad=True)
    z.sum().backward()
    see_grads(z=z)
    w = draw.tensor(1, 3).expand(2, 3).requires_grad_()
    (w * w).sum().backward()
    see_grads(w=w)


@program
def is_leaf_and_versions_of_grad(torch, draw):
    x, y = pair(draw)
    (x * y).sum().backward()
    see("grad", (x.grad.requires_grad, x.grad.is_leaf))
    with torch.no_grad():
        x -= 0.1 * x.grad
    see("x", x)
    x.grad.zero_()
    see_grads(x=x)


@program
def gradcheck_agrees(torch, draw):
    x, y = pair(draw)
    see("right", torch.autograd.gradcheck(lambda a, b: (a * b).sin(), (x, y)))
    see("second", torch.autograd.gradgradcheck(lambda a, b: (a * b).sin(), (x, y)))
    wrong = lambda a: a.detach() * a  # noqa: E731
    raises("wrong", lambda: torch.autograd.gradcheck(wrong, (x,)))
    see("quiet", torch.autograd.gradcheck(wrong, (x,), raise_exception=False))


@program
def deep_graph(torch, draw):
    x = draw.tensor(2, grad=True)
    y = x
    for _ in range(20000):
        y = y * 1.0001
    y.sum().backward()
    see_grads(x=x)
    del y
    see("released", True)
