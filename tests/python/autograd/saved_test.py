"""Saved tensors: versions, and hooks that pack and unpack them."""

import functools
import math
import threading

import foregrad as fg
import pytest
from foregrad.autograd import Function
from foregrad.autograd.graph import disable_saved_tensors_hooks, saved_tensors_hooks


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def same(value):
    return value


def test_a_changed_value_names_type_shape_operation_and_versions():
    x = ones(2, 3)
    y = x.exp()
    z = y.sin()
    y.add_(1).add_(1)
    with pytest.raises(RuntimeError) as caught:
        z.sum().backward()
    message = str(caught.value)
    for part in ("inplace operation", "2, 3", "output 0", "version 2", "version 0"):
        assert part in message


def test_leaves_are_kept_as_they_are_and_outputs_make_no_cycle():
    x = ones()
    assert (x * x).grad_fn._saved_self is x
    y = x.exp()
    assert y.grad_fn._saved_result is not y
    assert y.grad_fn._saved_result.data_ptr() == y.data_ptr()


def test_cutting_the_history_of_a_saved_tensor_is_an_error():
    x = ones()
    y = x * 2
    z = y * y
    y.detach_()
    with pytest.raises(RuntimeError, match="detach"):
        z.sum().backward()


def test_an_output_changed_through_a_view_keeps_its_node():
    x = ones(4)
    base = x * 1
    view = base[:2]
    view.exp_()
    base.sum().backward()
    assert fg.allclose(x.grad, fg.tensor([2.7182818, 2.7182818, 1.0, 1.0]))


def test_inference_tensors_cannot_be_saved():
    with fg.inference_mode():
        a = fg.ones(3)
    with pytest.raises(RuntimeError, match="(?i)inference"):
        ones() * a
    assert not (fg.ones(3) * a).requires_grad


def test_hooks_pack_and_unpack_what_is_saved():
    log = []

    def pack(value):
        log.append(("pack", value.tolist(), fg.is_grad_enabled()))
        return value * 1, "note"

    def unpack(packed):
        log.append(("unpack", packed[1]))
        return packed[0] * 3

    x = ones()
    with saved_tensors_hooks(pack, unpack):
        y = x.exp() * 2
    assert [entry[0] for entry in log] == ["pack"] and log[0][2] is False
    y.sum().backward()
    assert log[-1] == ("unpack", "note")
    assert fg.allclose(x.grad, fg.full((3,), 6 * 2.7182818))


def test_wrapped_numbers_do_not_go_through_hooks():
    packed = []
    with saved_tensors_hooks(lambda t: packed.append(t) or t, same):
        ones() * 3
    assert packed == []


def test_packing_must_not_change_its_input():
    with pytest.raises(RuntimeError, match="(?i)in-?place|modif"):
        with saved_tensors_hooks(lambda t: t.detach().add_(1), same):
            ones().exp()


def test_with_hooks_versions_are_not_checked():
    x = ones()
    packed = []

    def pack(tensor):
        packed.append(tensor.clone())
        return packed[-1]

    with saved_tensors_hooks(pack, same):
        y = x.exp()
        z = y.sin()
    y.add_(100)
    assert y._version == 1 and {t._version for t in packed} == {0}
    z.sum().backward()  # cos(e) * e: of the values as they were packed
    assert x.grad.tolist() == pytest.approx([math.cos(math.e) * math.e] * 3)


@pytest.mark.parametrize("wrong", [None, 3, "text", [1]])
def test_unpacking_must_give_a_tensor(wrong):
    with saved_tensors_hooks(same, lambda packed: wrong):
        y = ones().exp()
    with pytest.raises(TypeError, match="Tensor|tensor"):
        y.sum().backward()


def test_what_is_unpacked_gets_its_history_back():
    x = ones()
    with saved_tensors_hooks(lambda t: t.detach().clone(), same):
        y = x ** 3
        z = x.exp()
    (first,) = fg.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = fg.autograd.grad(first.sum(), x)
    assert second.tolist() == [6, 6, 6]
    assert z.grad_fn._saved_result.grad_fn is z.grad_fn


def test_unpacking_happens_once_per_access():
    calls = []
    with saved_tensors_hooks(same, lambda packed: calls.append(1) or packed):
        y = ones().exp()
    y.grad_fn._saved_result
    y.grad_fn._saved_result
    y.sum().backward()
    assert len(calls) == 3


def test_the_innermost_hooks_win():
    log = []
    x = ones()
    with saved_tensors_hooks(lambda t: log.append("outer") or t, same):
        with saved_tensors_hooks(lambda t: log.append("inner") or t, same):
            a = x.exp()
        b = x.exp()
    c = x.exp()
    assert log == ["inner", "outer"]
    (a + b + c).sum().backward()


def test_hooks_belong_to_their_thread():
    log = []
    x = ones()
    with saved_tensors_hooks(lambda t: log.append(1) or t, same):
        thread = threading.Thread(target=lambda: x.exp())
        thread.start()
        thread.join()
    assert log == []


def test_hooks_end_when_the_block_fails():
    log = []
    with pytest.raises(KeyError):
        with saved_tensors_hooks(lambda t: log.append(1) or t, same):
            raise KeyError
    ones().exp()
    assert log == []


def test_exceptions_of_hooks_keep_their_type():
    class Special(Exception):
        pass

    def fail(value):
        raise Special("no")

    with pytest.raises(Special), saved_tensors_hooks(fail, same):
        ones().exp()
    with saved_tensors_hooks(same, fail):
        y = ones().exp()
    with pytest.raises(Special):
        y.sum().backward()


def test_hooks_pushed_inside_a_backward_end_with_their_block():
    x = ones()
    y = x.exp()

    log = []

    def hook(grad):
        with saved_tensors_hooks(lambda t: log.append(1) or t, same), fg.enable_grad():
            ones().exp()
        ones().exp()
        return grad * 2

    y.register_hook(hook)
    y.sum().backward()
    assert log == [1] and x.grad.tolist() == pytest.approx([2 * math.e] * 3)


def test_hooks_that_a_backward_leaves_pushed_end_with_it():
    log, y = [], ones().exp()
    y.register_hook(lambda grad: saved_tensors_hooks(
        lambda t: log.append("leaked") or t, same).__enter__())
    y.sum().backward()
    ones().exp()
    assert log == []


def test_a_backward_that_pops_too_often_takes_no_hooks_away():
    log, x = [], ones()
    y = x.exp()
    y.register_hook(lambda grad: saved_tensors_hooks(same, same).__exit__())
    with saved_tensors_hooks(lambda t: log.append("packed") or t, same):
        y.sum().backward()
        ones().exp()
    assert log == ["packed"] and x.grad.tolist() == pytest.approx([math.e] * 3)


def test_hooks_see_the_saves_of_custom_functions():
    log = []

    class Square(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x * 1, None)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            x, intermediate, nothing = ctx.saved_tensors
            assert nothing is None
            return grad * (x + intermediate)

    x = ones()
    with saved_tensors_hooks(lambda t: log.append("pack") or t.tolist(),
                             lambda values: log.append("unpack") or fg.tensor(values)):
        y = Square.apply(x)
    y.sum().backward()
    assert log == ["pack", "pack", "unpack", "unpack"]
    assert x.grad.tolist() == [2, 2, 2]


def test_saved_tensors_can_go_to_disk(tmp_path):
    import numpy as np

    names = []

    def pack(value):
        names.append(str(tmp_path / f"{len(names)}.npy"))
        np.save(names[-1], value.detach().numpy())
        return names[-1]

    x = ones()
    with saved_tensors_hooks(pack, lambda name: fg.from_numpy(np.load(name))):
        y = (x.exp() * x).sum()
    y.backward()
    assert len(names) == 3
    assert fg.allclose(x.grad, fg.full((3,), 2 * 2.7182818))


def test_disabled_hooks_raise_with_the_message():
    with disable_saved_tensors_hooks("not in here"):
        with pytest.raises(RuntimeError, match="not in here"):
            with saved_tensors_hooks(same, same):
                pass
        with disable_saved_tensors_hooks("inner"):
            with pytest.raises(RuntimeError, match="inner"):
                with saved_tensors_hooks(same, same):
                    pass
        with pytest.raises(RuntimeError, match="not in here"):
            with saved_tensors_hooks(same, same):
                pass
    with saved_tensors_hooks(same, same):
        ones().exp()


def test_disabling_while_hooks_are_active_is_refused():
    with saved_tensors_hooks(same, same):
        with pytest.raises(RuntimeError):
            with disable_saved_tensors_hooks("message"):
                pass


def test_disabling_works_as_a_decorator():
    @disable_saved_tensors_hooks("decorated")
    def call():
        with saved_tensors_hooks(same, same):
            pass

    with pytest.raises(RuntimeError, match="decorated"):
        call()


@pytest.mark.parametrize("hooks", [(3, same), (same, None)])
def test_hooks_must_be_callable(hooks):
    with pytest.raises(TypeError):
        with saved_tensors_hooks(*hooks):
            ones().exp().sum().backward()


def test_saved_indices_have_no_gradient_with_hooks_either():
    x = fg.tensor([1.0, 3.0, 2.0], requires_grad=True)
    with saved_tensors_hooks(lambda t: t.clone(), same):
        largest, _ = x.max(0)
    (grad,) = fg.autograd.grad(largest, x, create_graph=True)
    assert not grad.requires_grad


@pytest.mark.parametrize("subject", [same, functools.partial(fg.compile, fullgraph=True)],
                         ids=["eager", "compiled"])
def test_a_view_of_a_leaf_made_in_no_grad_requires_grad_with_hooks_too(subject):
    x = fg.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    scale = fg.tensor(2.0, requires_grad=True)

    def scaled(x, scale):
        with fg.no_grad():
            part = x[:, 1:]
        return part * scale

    with saved_tensors_hooks(lambda t: t.detach().clone(), same):
        y = subject(scaled)(x, scale)
    grad, = fg.autograd.grad(y.sum(), [scale], create_graph=True)
    assert grad.requires_grad
    assert fg.autograd.grad(grad, [x], allow_unused=True) == (None,)
