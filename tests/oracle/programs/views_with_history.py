"""Views and writes, second part: every kind of view, hooks, buffers, several writers."""
from observe import graph, program, raises, see, see_all, see_grads
from views_and_inplace import base, second_order

FAMILY = "views_and_inplace"


@program
def requires_grad_after_views(torch, draw):
    b = draw.tensor(4)
    v = b[0:2]
    b.requires_grad_()
    see_all(b=b, v=v)
    raises("write the old view", lambda: v.mul_(2))
    see_all(b=b, v=v)
    w = draw.tensor(4)
    u = w[0:2]
    raises("requires_grad_ of a view", lambda: u.requires_grad_())
    see_all(u=u, w=w)
    raises("write base", lambda: w.mul_(2))
    raises("write view", lambda: u.mul_(2))
    see_all(u=u, w=w)


@program
def detach_in_place(torch, draw):
    x, b = base(draw, 4)
    y = b * 2
    y.detach_()
    see("y", y)
    raises("view", lambda: b[0:2].detach_())
    see("b", b)


@program
def version_counts(torch, draw):
    b = draw.tensor(4)
    v, d, c = b[0:2], b.detach(), b.clone()
    b.add_(1)
    v.add_(1)
    d.add_(1)
    see("versions", (b._version, v._version, d._version, c._version, b.data._version))
    b[0] = 1
    b.copy_(c)
    b.zero_()
    see("versions", (b._version, v._version))


@program
def squeeze_unsqueeze_flatten(torch, draw):
    x, b = base(draw, 2, 1, 3)
    u = b.squeeze(1)
    v = b.unsqueeze(0).flatten(0, 2)
    u.mul_(2)
    v.add_(u.detach())
    see_all(u=u, v=v, b=b)
    second_order(torch, draw, u * v, x=x)


@program
def in_place_shape_changes(torch, draw):
    x, b = base(draw, 2, 1, 3)
    for name in ("squeeze_", "t_", "unsqueeze_", "transpose_"):
        see("has " + name, hasattr(b, name))
    raises("squeeze_", lambda: b.squeeze_(1))
    raises("t_", lambda: b.t_())
    raises("unsqueeze_", lambda: b.unsqueeze_(0))
    raises("transpose_", lambda: b.transpose_(0, 1))
    see("b", b)


@program
def where_views_and_masked(torch, draw):
    x, b = base(draw, 3, 3)
    v = b[1:]
    v.masked_fill_(v > 0, 0.25)
    see("b", b)
    v.clamp_(-1, 1)
    see("b", b)
    v.index_add_(0, torch.tensor([0, 0]), v.detach() * 2)
    see("b", b)
    second_order(torch, draw, b * b, x=x)


@program
def view_errors(torch, draw):
    x, b = base(draw, 2, 3)
    raises("view of transposed", lambda: b.t().view(6))
    raises("wrong size", lambda: b.view(4))
    raises("two unknown", lambda: b.view(-1, -1))
    raises("select out of range", lambda: b[2])
    raises("narrow", lambda: b.narrow(1, 2, 2))
    raises("transpose", lambda: b.transpose(0, 2))
    raises("expand", lambda: b.expand(3, 3))
    raises("as_strided", lambda: b.as_strided((3, 3), (3, 1)))


@program
def view_dtype(torch, draw):
    b = draw.tensor(4, dtype="float32")
    raises("as int32", lambda: b.view(torch.int32))
    raises("as float64", lambda: b.view(torch.float64))
    raises("as uint8", lambda: b.view(torch.uint8).shape)


@program
def no_grad_write_then_use(torch, draw):
    x, b = base(draw, 4)
    v = b[0:2]
    y = v.sin()
    with torch.no_grad():
        b.mul_(2)
    see_all(b=b, v=v)
    raises("sin kept v", lambda: y.sum().backward())
    (b * 3).sum().backward()
    see_grads(x=x)


@program
def each_view(torch, draw):
    x, b = base(draw, 2, 3, 4)
    for name, v in (("movedim", b.movedim(0, 2)), ("swapaxes", b.swapaxes(0, 1)),
                    ("narrow", b.narrow(2, 1, 2)), ("select", b.select(1, -1)),
                    ("unflatten", b.unflatten(2, (2, 2))), ("mT", b.mT),
                    ("view_as", b.view_as(b)), ("unfold", b.unfold(2, 2, 1)),
                    ("expand_as", b[:, :1].expand_as(b)), ("diagonal", b.diagonal(0, 1, 2)),
                    ("ravel", b.ravel()), ("slice", b[:, ::2, 1:4:2]), ("none", b[None, :, None])):
        see(name, v)
        second_order(torch, draw, v * v, x=x)


@program
def write_through_each_view(torch, draw):
    views = {"movedim": lambda b: b.movedim(0, 2), "narrow": lambda b: b.narrow(2, 1, 2),
             "select": lambda b: b.select(1, -1), "unflatten": lambda b: b.unflatten(2, (2, 2)),
             "mT": lambda b: b.mT, "view_as": lambda b: b.view_as(b), "ravel": lambda b: b.ravel(),
             "diagonal": lambda b: b.diagonal(0, 1, 2), "slice": lambda b: b[:, ::2, 1:4:2],
             "none": lambda b: b[None, :, None], "unfold": lambda b: b.unfold(2, 2, 2),
             "detach": lambda b: b.detach(), "view": lambda b: b.view(4, 6),
             "permute": lambda b: b.permute(2, 0, 1), "swap": lambda b: b.swapaxes(0, 1)}
    for name, make in views.items():
        x, b = base(draw, 2, 3, 4)
        v = make(b)
        w = make(b)
        v.mul_(2).add_(v.detach())
        see_all(**{name + " v": v, name + " w": w, name + " b": b})
        second_order(torch, draw, b * b, x=x)
        second_order(torch, draw, w * w, x=x)


@program
def hooks_and_in_place(torch, draw):
    x, b = base(draw, 3)
    seen = []
    b.register_hook(lambda g: seen.append(("before", g.tolist())))
    b.mul_(2)
    b.register_hook(lambda g: seen.append(("after", g.tolist())))
    b.sum().backward()
    see("order", seen)


@program
def retain_grad_and_in_place(torch, draw):
    x, b = base(draw, 3)
    b.retain_grad()
    b.mul_(2)
    b.sum().backward()
    see("grad", b.grad)
    y, c = base(draw, 3)
    v = c[0:2]
    v.retain_grad()
    c.mul_(3)
    (v * v).sum().backward()
    see("view's grad", v.grad)
    see_grads(y=y)


@program
def zero_sized_views(torch, draw):
    x, b = base(draw, 3, 2)
    v = b[3:]
    v.mul_(2)
    see_all(v=v, b=b)
    w = b[:, 0:0]
    w.add_(1)
    second_order(torch, draw, b * b, x=x)
    second_order(torch, draw, w.sum() + v.sum(), x=x)


@program
def swap_two_rows(torch, draw):
    x, b = base(draw, 3, 2)
    saved = b[0].clone()
    b[0] = b[1]
    b[1] = saved
    see("b", b)
    second_order(torch, draw, b * b, x=x)


@program
def accumulate_into_buffer(torch, draw):
    x = draw.tensor(5, grad=True)
    out = torch.zeros(5, dtype=torch.float64)
    for i in range(5):
        out[i] = x[: i + 1].prod()
    see("out", out)
    second_order(torch, draw, out, x=x)


@program
def running_sum_in_place(torch, draw):
    x = draw.tensor(4, 3, grad=True)
    total = torch.zeros(3, dtype=torch.float64)
    for row in x:
        total += row * row
        total *= 0.5
    see("total", total)
    see("graph", graph(total, 6))
    second_order(torch, draw, total, x=x)


@program
def view_of_detached_base(torch, draw):
    x, b = base(draw, 4)
    d = b.detach()
    v = d[0:2]
    y = draw.tensor(2, grad=True)
    raises("history into a view of detached", lambda: v.mul_(y))
    see_all(v=v, d=d, b=b)
    see("bases", (v._base is d, d._base is None))


@program
def two_writers_in_turn(torch, draw):
    x, b = base(draw, 4, 4)
    y = draw.tensor(4, grad=True)
    rows, columns = b[1], b[:, 2]
    rows.mul_(y)
    columns.add_(y.cos())
    rows.sub_(columns)
    columns.tanh_()
    see_all(rows=rows, columns=columns, b=b)
    second_order(torch, draw, b.sin(), x=x, y=y)
    second_order(torch, draw, rows * columns, x=x, y=y)
