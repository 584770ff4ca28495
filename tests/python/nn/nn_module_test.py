"""foregrad.nn.Module: what it holds, saves and loads, with PyTorch's names and words."""

import copy
import gc
import pickle
import warnings
import weakref

import foregrad as fg
import pytest

nn = fg.nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.scale = nn.Parameter(fg.ones(4))
        self.register_buffer("offset", fg.zeros(4))
        self.register_buffer("scratch", fg.zeros(1), persistent=False)
        self.last = nn.Sequential(nn.ReLU(), nn.Linear(4, 2, bias=False))

    def forward(self, x):
        return self.last(self.first(x) * self.scale + self.offset)


def test_names_are_in_the_order_of_pytorch():
    net = Net()
    assert [name for name, _ in net.named_parameters()] == [
        "scale", "first.weight", "first.bias", "last.1.weight"]
    assert list(net.state_dict()) == ["scale", "offset", "first.weight", "first.bias",
                                      "last.1.weight"]
    assert [name for name, _ in net.named_buffers()] == ["offset", "scratch"]
    assert [name for name, _ in net.named_modules()] == ["", "first", "last", "last.0", "last.1"]
    assert [name for name, _ in net.named_children()] == ["first", "last"]


def test_printing():
    assert repr(Net()) == """Net(
  (first): Linear(in_features=3, out_features=4, bias=True)
  (last): Sequential(
    (0): ReLU()
    (1): Linear(in_features=4, out_features=2, bias=False)
  )
)"""


def test_attributes_go_where_they_belong():
    module = nn.Module()
    module.p, module.b = nn.Parameter(fg.ones(1)), nn.Buffer(fg.ones(1), persistent=False)
    module.m, module.t = nn.ReLU(), fg.ones(1)
    assert (list(module._parameters), list(module._buffers), list(module._modules)) == (
        ["p"], ["b"], ["m"])
    assert "t" in module.__dict__ and list(module.state_dict()) == ["p"]
    module.p = None
    assert module.p is None and list(module.parameters()) == []
    del module.m
    with pytest.raises(AttributeError, match="'Module' object has no attribute 'm'"):
        module.m
    with pytest.raises(TypeError, match="cannot assign 'foregrad.FloatTensor' as parameter 'p'"):
        module.p = fg.ones(1)


def test_a_state_is_loaded_and_what_does_not_fit_is_said():
    net, other = Net(), Net()
    assert repr(other.load_state_dict(net.state_dict())) == "<All keys matched successfully>"
    x = fg.randn(5, 3)
    assert other(x).equal(net(x)) and other.first.weight is not net.first.weight
    state = net.state_dict()
    state["first.weight"] = fg.ones(1, 1)
    state["more"] = state.pop("scale")
    with pytest.raises(RuntimeError) as error:
        other.load_state_dict(state)
    assert str(error.value) == (
        "Error(s) in loading state_dict for Net:\n\t"
        'Missing key(s) in state_dict: "scale". \n\t'
        'Unexpected key(s) in state_dict: "more". \n\t'
        "size mismatch for first.weight: copying a param with shape foregrad.Size([1, 1]) from "
        "checkpoint, the shape in current model is foregrad.Size([4, 3]).")
    del state["first.weight"]
    keys = other.load_state_dict(state, strict=False)
    assert keys.missing_keys == ["scale", "first.weight"] and keys.unexpected_keys == ["more"]


def test_conversion_keeps_the_parameters_themselves():
    net = Net()
    net(fg.ones(1, 3)).sum().backward()
    weight, steps = net.first.weight, fg.optim.SGD(net.parameters(), lr=0.1)
    net.double()
    assert net.first.weight is weight and weight.dtype is fg.float64
    assert weight.grad.dtype is fg.float64 and net.offset.dtype is fg.float64
    net.zero_grad()
    net(fg.ones(1, 3).double()).sum().backward()
    before = weight.detach().clone()
    steps.step()
    assert not weight.equal(before) and weight.requires_grad


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))],
                         ids=["deepcopy", "pickle"])
def test_copies_are_equal_and_their_own(again):
    net = Net()
    net.tied = net.scale
    other = again(net)
    x = fg.randn(2, 3)
    assert other(x).equal(net(x)) and other.tied is other.scale
    with fg.no_grad():
        other.scale.zero_()
    assert net.scale.sum() == 4 and type(other.scale) is nn.Parameter


def test_hooks_of_calls():
    module, seen = nn.ReLU(), []
    module.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    handle = module.register_forward_hook(lambda m, args, out: seen.append(args[0].item()) or -out)
    assert module(fg.ones(())).item() == -2 and seen == [2]
    handle.remove()
    assert module(fg.ones(())).item() == 2 and seen == [2]
    assert "_forward_hooks" not in nn.ReLU().__dict__


def test_backward_hooks_see_and_change_gradients():
    module, seen = nn.Linear(2, 1, bias=False), []
    nn.init.ones_(module.weight)
    module.register_full_backward_pre_hook(lambda m, grads: (grads[0] * 5,))
    module.register_full_backward_hook(
        lambda m, given, out: seen.append((given[0].tolist(), out[0].tolist())) or (given[0] * 2,))
    x = fg.ones(2, requires_grad=True)
    module(x).sum().backward()
    assert seen == [([5, 5], [5])] and x.grad.tolist() == [10, 10]
    assert module.weight.grad.tolist() == [[5, 5]]


def test_modules_leave_nothing_behind(stays_level):
    x = fg.ones(2, 3, requires_grad=True)

    def use():
        net = Net()
        net.first.register_full_backward_hook(lambda m, i, o: None)
        net(x).sum().backward()
        net.load_state_dict(net.state_dict())

    stays_level(use)


@pytest.mark.parametrize("register", ["register_full_backward_hook",
                                      "register_full_backward_pre_hook"])
def test_a_module_with_a_backward_hook_is_freed_after_gradients_with_a_graph(register):
    x = fg.ones(2, 3, requires_grad=True)

    def use():
        net = Net()
        getattr(net.first, register)(lambda module, *grads: grads[0])
        grads = fg.autograd.grad(net(x).square().sum(), [x, *net.parameters()], create_graph=True)
        assert all(grad.requires_grad for grad in grads)
        return [weakref.ref(t) for t in (net, net.first, net.scale, net.first.weight, *grads)]

    left = use()
    gc.collect()
    assert [ref() for ref in left] == [None] * len(left)


def test_a_module_that_was_not_made_yet_takes_no_parameters():
    class Early(nn.Module):
        def __init__(self):
            self.weight = nn.Parameter(fg.ones(1))

    with pytest.raises(AttributeError, match="before Module.__init__\\(\\) call"):
        Early()
    with pytest.raises(NotImplementedError, match='missing the required "forward"'):
        nn.Module()(1)


class _Calls(fg.nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


@pytest.mark.parametrize("function, more, missing", [
    (lambda x: x * 2, (), "several functions"),  # the leaf is no input with a node
    (lambda x: (x * 2, x * 3), (), "different functions made the outputs"),
    (lambda x: [x * 2], (), "returns no Tensor or tuple of Tensors"),
    (lambda x: {"out": x * 2}, (), "returns no Tensor or tuple of Tensors"),
    (lambda x, n: x * n, (2,), "an argument of the module is no Tensor"),
])
def test_a_backward_hook_of_the_old_form_warns_that_it_misses_gradients(function, more, missing):
    module, seen = _Calls(function), []
    module.register_backward_hook(lambda module, inputs, outputs: seen.append(module))
    with pytest.warns(FutureWarning, match=missing):
        out = module(fg.ones(2, requires_grad=True), *more)
    while not isinstance(out, fg.Tensor):
        out = out["out"] if isinstance(out, dict) else out[0]
    out.sum().backward()
    assert seen == [module]


def test_a_backward_hook_of_the_old_form_that_misses_nothing_does_not_warn():
    module = _Calls(lambda x, y: x * y)
    module.register_backward_hook(lambda module, inputs, outputs: None)
    x = fg.ones(2, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        module(x * 2, x * 3).sum().backward()
        module(fg.ones(2), fg.ones(2))
