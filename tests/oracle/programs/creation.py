"""Making tensors: from data, from shapes, like others; dtypes, defaults and errors."""
import numpy as np

from observe import program, raises, register, see, see_all


@program
def tensor_from_numbers(torch, draw):
    for data in (1, 1.5, True, [1, 2], [1, 2.5], [True, False], [True, 2], [], [[]], [[1], [2]],
                 (1, 2), [(1, 2), [3, 4]], 10**10, -1, [1.0, float("nan")], [[], []]):
        raises(str(data), lambda: torch.tensor(data))


@program
def tensor_errors(torch, draw):
    for data in ([[1], [1, 2]], [1, [2]], "a", None, ["a"], [None], {1: 2}, 10**30, [10**20], 1j):
        raises(str(data), lambda: torch.tensor(data))
    raises("no data", lambda: torch.tensor())
    raises("dtype", lambda: torch.tensor(1, dtype="float32"))
    raises("unknown", lambda: torch.tensor(1, other=1))


@program
def tensor_dtypes(torch, draw):
    for name in ("float64", "float32", "float16", "bfloat16", "int64", "int32", "int16", "int8",
                 "uint8", "bool"):
        raises(name, lambda: torch.tensor([0, 1, 2.7], dtype=getattr(torch, name)))
        raises(name + " negative", lambda: torch.tensor([-1.0], dtype=getattr(torch, name)))
        raises(name + " negative int", lambda: torch.tensor([-1], dtype=getattr(torch, name)))
        raises(name + " large", lambda: torch.tensor([300], dtype=getattr(torch, name)))


@program
def tensor_of_tensors(torch, draw):
    x = draw.tensor(2, grad=True)
    raises("copy", lambda: torch.tensor(x))
    raises("elements", lambda: torch.tensor([x[0], x[1]]))
    raises("tensors", lambda: torch.tensor([x, x]))
    raises("zero-dim", lambda: torch.tensor([torch.tensor(1), torch.tensor(2)]))
    raises("mixed", lambda: torch.tensor([torch.tensor(1), 2.5]))
    raises("as_tensor same", lambda: torch.as_tensor(x) is x)
    raises("as_tensor dtype", lambda: torch.as_tensor(x, dtype=torch.float32))
    raises("as_tensor list", lambda: torch.as_tensor([1, 2]))
    raises("asarray", lambda: torch.asarray([1, 2.0]))


@program
def from_numpy(torch, draw):
    a = np.arange(6, dtype=np.float64).reshape(2, 3)
    t = torch.from_numpy(a)
    see("t", t)
    a[0, 0] = 7
    see("shared", t)
    see("transposed", torch.from_numpy(a.T))
    raises("tensor copies", lambda: torch.tensor(a))
    raises("as_tensor shares", lambda: torch.as_tensor(a))
    raises("negative strides", lambda: torch.from_numpy(a[::-1]))
    raises("strings", lambda: torch.from_numpy(np.array(["a"])))
    raises("list", lambda: torch.from_numpy([1]))
    for dtype in ("float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
        raises(dtype, lambda: torch.from_numpy(np.zeros(2, dtype)))
    raises("scalar", lambda: torch.tensor(np.float32(1.5)))
    raises("int scalar", lambda: torch.tensor(np.int32(3)))
    raises("list of scalars", lambda: torch.tensor([np.float64(1), np.float64(2)]))
    raises("list of arrays", lambda: torch.tensor([a[0], a[1]]))


@program
def arange(torch, draw):
    for args in ((5,), (1, 5), (1, 6, 2), (5.0,), (0, 1, 0.25), (5, 0, -2), (0,), (2.5,), (-3, 3)):
        raises(str(args), lambda: torch.arange(*args))
    raises("wrong sign", lambda: torch.arange(0, 5, -1))
    raises("zero step", lambda: torch.arange(0, 5, 0))
    raises("named", lambda: torch.arange(start=1, end=4, step=2))
    raises("dtype", lambda: torch.arange(3, dtype=torch.float16))
    raises("requires_grad", lambda: torch.arange(3, requires_grad=True))
    raises("float requires_grad", lambda: torch.arange(3.0, requires_grad=True))
    raises("tensor", lambda: torch.arange(torch.tensor(3)))


@program
def linspace_and_logspace(torch, draw):
    for args in ((0, 1, 5), (0, 1, 1), (0, 1, 0), (5, -5, 4), (1.0, 2.0, 3)):
        raises("linspace" + str(args), lambda: torch.linspace(*args))
        raises("logspace" + str(args), lambda: torch.logspace(*args))
    raises("negative", lambda: torch.linspace(0, 1, -1))
    raises("int", lambda: torch.linspace(0, 10, 4, dtype=torch.int64))
    raises("steps", lambda: torch.linspace(0, 1))


@program
def eye_and_diag(torch, draw):
    for args in ((3,), (2, 3), (3, 2), (0,)):
        raises(str(args), lambda: torch.eye(*args))
    raises("negative", lambda: torch.eye(-1))
    raises("dtype", lambda: torch.eye(2, dtype=torch.bool))
    see("diag", torch.diag(draw.tensor(3, grad=True)))


def filled(name, extra=()):
    """zeros, ones, full and the like."""
    def run(torch, draw):
        function = getattr(torch, name)
        for label, size in (("tuple", (2, 3)), ("list", [2]), ("empty", ()), ("zero", (0, 2))):
            show = (lambda t: t) if name != "empty" else (lambda t: t.shape)
            raises(label, lambda: show(function(size, *extra)))
        raises("numbers", lambda: function(2, 3).shape)
        raises("none", lambda: function().shape)
        raises("negative", lambda: function((-1,), *extra))
        raises("float", lambda: function((1.5,), *extra))
        raises("string", lambda: function("a", *extra))
        raises("dtype", lambda: function((2,), *extra, dtype=torch.int32).dtype)
        raises("requires_grad", lambda: function((2,), *extra, requires_grad=True).requires_grad)
        raises("int requires_grad", lambda: function((2,), *extra, dtype=torch.int64,
                                                     requires_grad=True))
        raises("device", lambda: function((2,), *extra, device="cpu").device)
        raises("unknown device", lambda: function((2,), *extra, device="nowhere"))
        raises("layout", lambda: function((2,), *extra, layout=torch.strided).shape)
        raises("size", lambda: function(size=(2,)).shape)
        raises("Size", lambda: function(torch.Size([2, 1]), *extra).shape)
        raises("unknown", lambda: function((2,), *extra, other=1))

    return run


for function_name, arguments in (("zeros", ()), ("ones", ()), ("empty", ()), ("full", (2.5,)),
                                 ("rand", ()), ("randn", ())):
    if function_name not in ("rand", "randn"):
        register(__name__, function_name, filled(function_name, arguments))


def like(name, extra=()):
    def run(torch, draw):
        function = getattr(torch, name)
        show = (lambda t: t) if name.startswith(("zeros", "ones", "full")) else (
            lambda t: (t.shape, t.stride(), t.dtype, t.requires_grad))
        x = draw.tensor(2, 3, grad=True)
        for label, t in (("plain", x), ("transposed", x.t()), ("expanded", x[:1].expand(4, 3)),
                         ("stepped", x[:, ::2]), ("int", draw.tensor(2, dtype="int64")),
                         ("zero-dim", x.sum()), ("bool", draw.tensor(2, dtype="bool"))):
            raises(label, lambda: show(function(t, *extra)))
        raises("dtype", lambda: show(function(x, *extra, dtype=torch.float32)))
        raises("requires_grad", lambda: function(x, *extra, requires_grad=True).requires_grad)
        raises("memory_format", lambda: show(function(x.t(), *extra,
                                                      memory_format=torch.contiguous_format)))
        raises("list", lambda: function([1, 2], *extra))

    return run


for function_name, arguments in (("zeros_like", ()), ("ones_like", ()), ("empty_like", ()),
                                 ("full_like", (3,)), ("rand_like", ()), ("randn_like", ())):
    register(__name__, function_name, like(function_name, arguments))


@program
def full_dtypes(torch, draw):
    for value in (1, 1.5, True, float("inf")):
        raises(str(value), lambda: torch.full((2,), value))
    raises("like int", lambda: torch.full_like(torch.tensor([1]), 1.5))
    raises("tensor value", lambda: torch.full((2,), torch.tensor(2.0)))


@program
def new_methods(torch, draw):
    x = draw.tensor(2, dtype="float16")
    raises("new_tensor", lambda: x.new_tensor([1, 2]))
    raises("new_zeros", lambda: x.new_zeros(2, 3))
    raises("new_zeros tuple", lambda: x.new_zeros((2, 3)))
    raises("new_ones dtype", lambda: x.new_ones(2, dtype=torch.int64))
    raises("new_full", lambda: x.new_full((2,), 3))
    raises("new_empty", lambda: x.new_empty(0))
    raises("new", lambda: x.new([1, 2]))


@program
def default_dtype(torch, draw):
    torch.set_default_dtype(torch.float64)
    see_all(float=torch.tensor(1.5), zeros=torch.zeros(1), arange=torch.arange(2.0), int=torch.ones(
        1, dtype=torch.int64) / 2)
    see("default", torch.get_default_dtype())
    raises("int", lambda: torch.set_default_dtype(torch.int64))
    raises("string", lambda: torch.set_default_dtype("float32"))
    torch.set_default_dtype(torch.float32)


@program
def old_constructors(torch, draw):
    raises("Tensor of list", lambda: torch.Tensor([1, 2]))
    raises("Tensor of sizes", lambda: torch.Tensor(2, 3).shape)
    raises("Tensor of nothing", lambda: torch.Tensor())
    raises("FloatTensor", lambda: torch.FloatTensor([1]))
    raises("scalar_tensor", lambda: torch.scalar_tensor(2))


@program
def grids(torch, draw):
    a, b = torch.arange(3), torch.arange(2)
    raises("meshgrid", lambda: torch.meshgrid(a, b, indexing="ij"))
    raises("meshgrid xy", lambda: torch.meshgrid(a, b, indexing="xy"))
    raises("cartesian_prod", lambda: torch.cartesian_prod(a, b))
    raises("combinations", lambda: torch.combinations(a))
    raises("tril_indices", lambda: torch.tril_indices(3, 3))
    raises("triu", lambda: torch.triu(torch.ones(3, 3), 1))
    raises("complex", lambda: torch.complex(torch.ones(1), torch.ones(1)).dtype)


@program
def clone_and_detach(torch, draw):
    x = draw.tensor(2, 3, grad=True)
    for label, t in (("clone", x.clone()), ("t", x.t().clone()), ("expanded", x[:1].expand(
            2, 3).clone()), ("detach", x.detach()), ("contiguous", x.t().contiguous())):
        see(label, t)
    raises("memory format", lambda: x.t().clone(memory_format=torch.contiguous_format))


@program
def empty_strided(torch, draw):
    raises("strides", lambda: torch.empty_strided((2, 3), (1, 2)).stride())
    raises("as_strided", lambda: draw.tensor(6).as_strided((2, 2), (1, 2)))
    raises("count", lambda: torch.empty_strided((2, 3), (1,)))


@program
def generators(torch, draw):
    g = torch.Generator()
    see("seed", g.manual_seed(3) is g)
    see("initial", g.initial_seed())
    a = torch.randn(3, generator=g)
    g.manual_seed(3)
    see("repeats", torch.equal(a, torch.randn(3, generator=g)))
    torch.manual_seed(5)
    b = torch.rand(4)
    torch.manual_seed(5)
    see("global repeats", torch.equal(b, torch.rand(4)))
    see("perm", sorted(torch.randperm(5).tolist()))
    see("randint", torch.randint(0, 2, (3,)).dtype)
    raises("empty range", lambda: torch.randint(3, 3, (2,)))
    state = torch.get_rng_state()
    c = torch.rand(2)
    torch.set_rng_state(state)
    see("state", torch.equal(c, torch.rand(2)))


@program
def same_random_numbers(torch, draw):
    torch.manual_seed(11)
    raises("rand", lambda: torch.rand(3))
    raises("randn", lambda: torch.randn(3))
    raises("randperm", lambda: torch.randperm(5))
    raises("randint", lambda: torch.randint(0, 100, (3,)))
