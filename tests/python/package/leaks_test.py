"""Nothing is left behind: calls repeated many times keep objects, references and memory level."""

import foregrad as fg
import pytest
from foregrad.autograd import Function
from foregrad.autograd.graph import get_gradient_edge, saved_tensors_hooks


class Square(Function):
    @staticmethod
    def forward(ctx, x, note):
        ctx.save_for_backward(x, None)
        ctx.note = note
        return x * x, note

    @staticmethod
    def backward(ctx, grad, nothing):
        return grad * 2 * ctx.saved_tensors[0], None


note = object()


def hook(*gradients):
    return None


def train():
    x = fg.ones(100, requires_grad=True)
    (x.exp() * 2 + x[1:].sum()).sum().backward()


def apply_function():
    x = fg.ones(100, requires_grad=True)
    y, same = Square.apply(x, note)
    y.sum().backward()


def apply_with_keywords():
    Square.apply(x=fg.ones(100, requires_grad=True), note=note)


def register_hooks():
    x = fg.ones(100, requires_grad=True)
    y = x.exp()
    handle = y.register_hook(hook)
    y.grad_fn.register_hook(hook)
    y.grad_fn.register_prehook(hook)
    x.register_post_accumulate_grad_hook(hook)
    get_gradient_edge(x).node.register_prehook(hook)
    y.sum().backward()
    handle.remove()


def pack():
    x = fg.ones(100, requires_grad=True)
    with saved_tensors_hooks(lambda t: (t, note), lambda p: p[0]):
        y = x.exp()
    y.sum().backward()


def fail():
    x = fg.ones(100, requires_grad=True)
    for call in (lambda: x + "text", lambda: x.add(1, unknown=2), lambda: x[200], lambda: x.view(7),
                 lambda: x.backward(), lambda: fg.tensor([[1], [1, 2]]), lambda: Square.apply(x),
                 lambda: fg.zeros(3, device="cuda"), lambda: x.numpy(), lambda: x["text"]):
        with pytest.raises(Exception):
            call()


def fail_in_backward():
    x = fg.ones(100, requires_grad=True)
    x.register_hook(lambda grad: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        x.sum().backward()


def convert():
    import numpy as np

    array = np.ones(1000)
    x = fg.from_numpy(array)
    np.asarray(x)
    x.numpy().sum()
    fg.from_dlpack(np.from_dlpack(x))
    fg.tensor(array).tolist()
    fg.tensor([[1.0, 2.0], [3.0, 4.0]])


def index():
    x = fg.ones(4, 5)
    x[1, ..., None], x[[0, 1]], x[x > 0], x[:, fg.tensor([0, 1])]
    x[0] = note is None
    x[fg.tensor([0, 1])] = fg.zeros(5)
    for row in x:
        row.sum().item()


def look():
    x = fg.ones(3, requires_grad=True)
    y = x.exp()
    repr(y), str(y.grad_fn), y.grad_fn.metadata, y.grad_fn.next_functions, y.shape, y.stride()
    y.grad_fn._saved_result, y.grad_fn._raw_saved_result.unpack(), y.grad_fn._input_metadata
    hash(y), y.dtype, y.device, x.grad, y._base, y.data, fg.Size([1, 2])


def make_cycles():
    x = fg.ones(10, requires_grad=True)
    x.me = x
    y = Square.apply(x, note)[0]
    y.grad_fn.result = y
    y.register_hook(lambda grad: y)


def differentiate_twice():
    x = fg.ones(10, requires_grad=True)
    (first,) = fg.autograd.grad((x ** 3).sum(), x, create_graph=True)
    fg.autograd.grad(first.sum(), x)


def copy_and_pickle():
    import copy
    import pickle

    x = fg.ones(10, requires_grad=True)
    x.note = [1]
    copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x))


@pytest.mark.parametrize("call", [
    train, apply_function, apply_with_keywords, register_hooks, pack, fail, fail_in_backward,
    convert, index, look, make_cycles, differentiate_twice, copy_and_pickle,
])
def test_a_repeated_call_leaves_nothing_behind(call, stays_level):
    stays_level(call, None, note, hook, Square, fg.Tensor, fg.float32, True, (), 0)


def test_storage_of_big_tensors_is_given_back(stays_level):
    def call():
        x = fg.ones(1_000_000, requires_grad=True)
        (x * 2).sum().backward()

    stays_level(call, times=40, memory=32 << 20)
