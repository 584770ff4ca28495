"""backward and grad, second part: hooks of tensors and nodes, and the order of everything."""
from autograd_api import pair
from observe import counted, program, raises, see, see_grads

FAMILY = "autograd_api"


@program
def tensor_hooks(torch, draw):
    x, y = pair(draw)
    order, hook = counted()
    z = x * y
    x.register_hook(hook("x1"))
    x.register_hook(hook("x2", lambda g: g * 2))
    x.register_hook(hook("x3", lambda g: order.append(g.tolist())))
    h = z.register_hook(hook("z1", lambda g: g + 1))
    z.sum().backward(retain_graph=True)
    see("order", order)
    see_grads(x=x, y=y)
    h.remove()
    h.remove()
    z.sum().backward()
    see("order", order)
    see_grads(x=x, y=y)


@program
def hook_errors(torch, draw):
    x, y = pair(draw)
    raises("no grad", lambda: draw.tensor(2).register_hook(print))
    x.register_hook(lambda g: g[:2])
    raises("wrong shape", lambda: (x * 1).sum().backward())
    y.register_hook(lambda g: 1 / 0)
    raises("raises", lambda: (y * 1).sum().backward())
    z = draw.tensor(3, grad=True)
    z.register_hook(lambda g: 3)
    raises("not a tensor", lambda: (z * 1).sum().backward())
    w = draw.tensor(3, grad=True)
    w.register_hook(lambda g: g.float())
    raises("other dtype", lambda: (w * 1).sum().backward())
    raises("not callable", lambda: draw.tensor(2, grad=True).register_hook(None))


@program
def hook_changes_in_place(torch, draw):
    x, y = pair(draw)
    z = x * 3

    def change(g):
        g.mul_(2)

    z.register_hook(change)
    (z * y).sum().backward()
    see_grads(x=x, y=y)


@program
def post_accumulate_hooks(torch, draw):
    x, y = pair(draw)
    order, hook = counted()
    x.register_post_accumulate_grad_hook(hook("x post", lambda p: order.append(p.grad.tolist())))
    x.register_hook(hook("x"))
    y.register_post_accumulate_grad_hook(hook("y post", lambda p: setattr(p, "grad", None)))
    (x * y + x).sum().backward()
    see("order", order)
    see_grads(x=x, y=y)
    raises("non-leaf", lambda: (x * 2).register_post_accumulate_grad_hook(print))
    raises("no grad", lambda: draw.tensor(2).register_post_accumulate_grad_hook(print))
    torch.autograd.grad((x * y).sum(), x)
    see("grad() does not call it", order)


@program
def hook_order_of_everything(torch, draw):
    x, y = pair(draw)
    order, hook = counted()
    z = x * y
    z.grad_fn.register_prehook(hook("node pre"))
    z.grad_fn.register_hook(hook("node post"))
    z.register_hook(hook("tensor"))
    z.retain_grad()
    x.register_hook(hook("leaf"))
    x.register_post_accumulate_grad_hook(hook("leaf post"))
    y.register_hook(hook("other leaf"))
    z.sum().backward()
    see("order", order)
    see("z.grad", z.grad)


@program
def retain_grad_sees_hooks(torch, draw):
    x, y = pair(draw)
    z = x * y
    z.retain_grad()
    z.register_hook(lambda g: g * 10)
    z.sum().backward()
    see("z.grad", z.grad)
    w = draw.tensor(3, grad=True)
    v = w * 2
    v.register_hook(lambda g: g * 10)
    v.retain_grad()
    g, = torch.autograd.grad(v.sum(), v)
    see("grad()", g)
    see("v.grad", v.grad)


@program
def node_hooks_change_gradients(torch, draw):
    x, y = pair(draw)
    z = x * y
    z.grad_fn.register_prehook(lambda grads: tuple(g * 2 for g in grads))
    handle = z.grad_fn.register_hook(lambda ins, outs: tuple(g + 1 for g in ins))
    z.sum().backward(retain_graph=True)
    see_grads(x=x, y=y)
    handle.remove()
    z.sum().backward(retain_graph=True)
    see_grads(x=x, y=y)
    z.grad_fn.register_hook(lambda ins, outs: ins[:1])
    raises("wrong count", lambda: z.sum().backward())


@program
def unused_parts_are_not_run(torch, draw):
    x, y = pair(draw)
    order, hook = counted()
    a, b = x.sin(), y.cos()
    a.grad_fn.register_hook(hook("a"))
    b.grad_fn.register_hook(hook("b"))
    torch.autograd.grad((a * b).sum(), x)
    see("order", order)


@program
def order_of_nodes(torch, draw):
    x, y = pair(draw)
    order, hook = counted()
    tensors = {"a": x * 1, "b": y * 2}
    tensors["c"] = tensors["a"] + tensors["b"]
    tensors["d"] = tensors["a"] * tensors["c"]
    tensors["e"] = tensors["b"] - tensors["d"]
    for name, t in tensors.items():
        t.grad_fn.register_hook(hook(name))
    tensors["e"].sum().backward()
    see("order", order)


@program
def backward_in_hook(torch, draw):
    x, y = pair(draw)
    order, hook = counted()
    z = x * y
    z.register_hook(hook("z", lambda g: (y * y).sum().backward()))
    z.sum().backward()
    see("order", order)
    see_grads(x=x, y=y)
