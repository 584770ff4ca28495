"""Views, views of views, writes through them, and gradients through all of it."""
from observe import graph, outcome, program, raises, see, see_all, see_grads


def base(draw, *shape):
    """A leaf and a copy of it that may be written to."""
    leaf = draw.tensor(*shape, grad=True)
    return leaf, leaf.clone()


def second_order(torch, draw, output, **leaves):
    """First gradients with history, and the gradients of those, or how that fails."""
    failure = outcome(lambda: differentiate_twice(torch, draw, output, leaves))
    see("second order", failure)


def differentiate_twice(torch, draw, output, leaves):
    names, inputs = list(leaves), list(leaves.values())
    first = torch.autograd.grad(output, inputs, draw.weights_like(output), create_graph=True,
                                allow_unused=True)
    for name, g in zip(names, first):
        see("d " + name, g)
    kept = [g for g in first if g is not None and g.requires_grad]
    if not kept:
        return
    total = sum((g * draw.weights_like(g)).sum() for g in kept)
    second = torch.autograd.grad(total, inputs, allow_unused=True)
    for name, g in zip(names, second):
        see("dd " + name, g)


@program
def write_through_view(torch, draw):
    x, b = base(draw, 4, 3)
    v = b[1]
    v.mul_(2)
    see_all(b=b, v=v)
    (b * b).sum().backward()
    see_grads(x=x)


@program
def write_to_base_then_use_view(torch, draw):
    x, b = base(draw, 4, 3)
    v = b[1:3]
    b.mul_(3)
    see_all(b=b, v=v)
    (v * v).sum().backward()
    see_grads(x=x)


@program
def two_views_overlap(torch, draw):
    x, b = base(draw, 6)
    u, v = b[0:4], b[2:6]
    u.mul_(2)
    v.add_(u)
    u.sin_()
    see_all(u=u, v=v, b=b)
    (u * v).sum().backward(retain_graph=True)
    see_grads(x=x)
    b.prod().backward()
    see_grads(x=x)


@program
def view_of_view_of_view(torch, draw):
    x, b = base(draw, 2, 3, 4)
    u = b.transpose(0, 2)
    v = u[1:3]
    w = v.unsqueeze(0)[0, :, 1]
    w.exp_()
    see_all(u=u, v=v, w=w, b=b)
    see("bases", (w._base is b, v._base is b, u._base is b))
    second_order(torch, draw, b * u.permute(2, 1, 0), x=x)


@program
def write_with_history_into_view(torch, draw):
    x, b = base(draw, 3, 3)
    y = draw.tensor(3, grad=True)
    b[1].copy_(y * y)
    see("b", b)
    second_order(torch, draw, b * b * b, x=x, y=y)


@program
def write_history_into_plain_base(torch, draw):
    b = draw.tensor(3, 3)
    y = draw.tensor(3, grad=True)
    v = b[:, 1]
    see_all(before=v)
    v.add_(y)
    see_all(b=b, v=v)
    second_order(torch, draw, b * b, y=y)


@program
def view_made_before_base_gets_history(torch, draw):
    b = draw.tensor(4)
    y = draw.tensor(4, grad=True)
    v = b[1:3]
    b.mul_(y)
    see_all(b=b, v=v)
    second_order(torch, draw, v * v, y=y)


@program
def leaf_write_refused(torch, draw):
    x = draw.tensor(3, grad=True)
    raises("leaf", lambda: x.mul_(2))
    raises("view of leaf", lambda: x[0:2].mul_(2))
    raises("setitem", lambda: x.__setitem__(0, 1.0))
    raises("zero_", lambda: x.zero_())
    with torch.no_grad():
        x.mul_(2)
        x[0] = 5
    see("x", x)


@program
def view_of_leaf_in_no_grad(torch, draw):
    x = draw.tensor(3, grad=True)
    with torch.no_grad():
        v = x[0:2]
    see("v", v)
    raises("write with grad", lambda: v.mul_(2))
    with torch.no_grad():
        v.mul_(2)
    see_all(v=v, x=x)


@program
def view_in_no_grad_of_non_leaf(torch, draw):
    x, b = base(draw, 4)
    with torch.no_grad():
        v = b[0:2]
    see("v", v)
    raises("write", lambda: v.mul_(2))
    see_all(v=v, b=b)
    b.add_(1)
    see_all(v=v, b=b)


@program
def unbind_outputs(torch, draw):
    x, b = base(draw, 3, 2)
    p, q, r = b.unbind(0)
    see("p", p)
    raises("write", lambda: q.mul_(2))
    see_all(q=q, b=b)
    b.mul_(2)
    raises("use after base write", lambda: r * 1)
    see("p again", outcome(lambda: p))


@program
def chunk_and_split(torch, draw):
    x, b = base(draw, 6, 2)
    for name, parts in (("chunk", b.chunk(3)), ("split", b.split([1, 2, 3])),
                        ("split_with_sizes", torch.split_with_sizes(b, [2, 4]))):
        for part in parts:
            see(name, part)
        raises("write " + name, lambda: parts[0].mul_(2))
    plain = draw.tensor(6)
    part = plain.split(2)[1]
    part.zero_()
    see_all(plain=plain, part=part)


@program
def unbind_in_no_grad_then_write(torch, draw):
    x, b = base(draw, 3, 2)
    with torch.no_grad():
        p, q, r = b.unbind(0)
    raises("write", lambda: q.mul_(2))
    with torch.no_grad():
        raises("write in no_grad", lambda: q.mul_(2))
    see_all(b=b, q=q)


@program
def iterate_and_write(torch, draw):
    x, b = base(draw, 3, 2)
    for i, row in enumerate(b):
        raises("write row", lambda: row.mul_(i + 1))
    plain = draw.tensor(3, 2)
    for i, row in enumerate(plain):
        row.mul_(i + 1)
    see("plain", plain)


@program
def detach_shares_memory(torch, draw):
    x, b = base(draw, 4)
    d = b.detach()
    see_all(d=d)
    y = b * b
    d.zero_()
    see_all(b=b, d=d)
    raises("backward", lambda: y.sum().backward())


@program
def data_shares_memory_not_version(torch, draw):
    x, b = base(draw, 4)
    y = b * b
    b.data.mul_(2)
    see_all(b=b)
    y.sum().backward()
    see_grads(x=x)


@program
def saved_tensor_changed(torch, draw):
    x, b = base(draw, 4)
    v = b[0:2]
    y = v.exp()
    z = v * 3
    b.add_(1)
    raises("exp keeps its result", lambda: y.sum().backward())
    raises("mul by a number keeps nothing", lambda: z.sum().backward())
    w = v * v
    b.add_(1)
    raises("mul keeps inputs", lambda: w.sum().backward())
    see_grads(x=x)


@program
def saved_result_changed(torch, draw):
    x, b = base(draw, 4)
    y = b.exp()
    y.mul_(2)
    raises("exp", lambda: y.sum().backward())
    s = b.sigmoid()
    s[0] = 1
    raises("sigmoid", lambda: s.sum().backward())


@program
def view_of_saved_changed_elsewhere(torch, draw):
    x, b = base(draw, 4)
    u, v = b[0:2], b[2:4]
    y = u * u
    v.mul_(2)
    raises("the version is shared", lambda: y.sum().backward())


@program
def diagonal_write(torch, draw):
    x, b = base(draw, 3, 3)
    d = b.diagonal()
    d.mul_(torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64))
    see_all(d=d, b=b)
    second_order(torch, draw, b * b.T, x=x)


@program
def as_strided_overlap(torch, draw):
    x, b = base(draw, 6)
    v = b.as_strided((3, 2), (1, 2), 1)
    see("v", v)
    second_order(torch, draw, v * v, x=x)
    raises("write", lambda: v.mul_(2))


@program
def as_strided_write(torch, draw):
    x, b = base(draw, 8)
    v = b.as_strided((2, 2), (4, 2), 1)
    v.mul_(3)
    see_all(b=b, v=v)
    second_order(torch, draw, b * b, x=x)
    second_order(torch, draw, v * v, x=x)


@program
def expand_write_refused(torch, draw):
    x, b = base(draw, 1, 3)
    v = b.expand(4, 3)
    see("v", v)
    raises("write", lambda: v.mul_(2))
    raises("copy", lambda: v.copy_(draw.tensor(4, 3)))
    b.mul_(2)
    see("v after", v)
    second_order(torch, draw, v * v, x=x)


@program
def reshape_may_copy(torch, draw):
    x, b = base(draw, 2, 3)
    r, c = b.reshape(6), b.t().reshape(6)
    see_all(r=r, c=c)
    r.mul_(2)
    see_all(b=b, c=c)
    second_order(torch, draw, b * b, x=x)


@program
def contiguous_is_self_or_copy(torch, draw):
    x, b = base(draw, 2, 3)
    see("same", b.contiguous() is b)
    t = b.t().contiguous()
    t.mul_(2)
    see_all(b=b, t=t)
    second_order(torch, draw, t * b.t(), x=x)


@program
def setitem_forms(torch, draw):
    x, b = base(draw, 4, 3)
    y = draw.tensor(3, grad=True)
    b[0] = y
    b[1, 2] = y[0] * 2
    b[..., 0] = 7
    b[2:4, 1:3] = y[1]
    see("b", b)
    see("graph", graph(b))
    second_order(torch, draw, b * b, x=x, y=y)


@program
def setitem_mask_and_index(torch, draw):
    x, b = base(draw, 4, 3)
    y = draw.tensor(2, 3, grad=True)
    b[torch.tensor([0, 3])] = y
    b[b > 1] = 0.5
    see("b", b)
    b[[1, 2], [0, 2]] = y[:, 0] * 3
    see("b", b)
    second_order(torch, draw, b * b, x=x, y=y)


@program
def write_self_into_self(torch, draw):
    x, b = base(draw, 4)
    raises("overlap", lambda: b[0:3].copy_(b[1:4]))
    b[0:2] = b[2:4]
    see("b", b)
    b.mul_(b)
    see("b", b)
    raises("second order", lambda: second_order(torch, draw, b, x=x))


@program
def add_inplace_of_itself(torch, draw):
    x, b = base(draw, 2, 2)
    b += b
    b -= b.t() * 2
    b *= b.detach()
    see("b", b)
    second_order(torch, draw, b * b, x=x)


@program
def inplace_chain_graph(torch, draw):
    x, b = base(draw, 4)
    v = b[1:3]
    v.mul_(2)
    v.add_(1)
    see("graph of v", graph(v))
    see("graph of b", graph(b))
    b.sin_()
    see("graph of b", graph(b))
    see("graph of v", graph(v))


@program
def inplace_dtype_and_shape_errors(torch, draw):
    b = draw.tensor(3, dtype="int64")
    raises("true division", lambda: b.div_(2))
    raises("float into int", lambda: b.add_(1.5))
    raises("float tensor into int", lambda: b.add_(draw.tensor(3)))
    raises("broadcast the output", lambda: draw.tensor(3).add_(draw.tensor(2, 3)))
    raises("wrong size", lambda: draw.tensor(3).copy_(draw.tensor(4)))
    f = draw.tensor(3, dtype="float32")
    f.add_(draw.tensor(3))
    see("float32 keeps its dtype", f)


@program
def copy_converts(torch, draw):
    x, b = base(draw, 3)
    f = torch.zeros(2, 3)
    f.copy_(b)
    see("f", f)
    second_order(torch, draw, f * f, x=x)
    i = torch.zeros(3, dtype=torch.int64)
    raises("into int", lambda: i.copy_(b))
    see("i", i)
