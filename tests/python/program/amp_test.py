"""Mixed precision: contexts that change nothing are taken, others are refused; scaled losses."""

import pickle

import foregrad as fg
import pytest


def trained(scaler, grads):
    """A parameter after one step for each gradient, by a scaler."""
    parameter = fg.nn.Parameter(fg.zeros(1))
    optimizer = fg.optim.SGD([parameter], lr=1.0)
    for grad in grads:
        optimizer.zero_grad()
        scaler.scale((parameter * grad).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
    return parameter


def test_a_context_that_would_change_results_is_refused():
    for dtype in (None, fg.bfloat16, fg.float16):
        with pytest.raises(NotImplementedError, match="on the cpu is not here yet"):
            with fg.autocast("cpu", dtype=dtype):
                pass
        with pytest.raises(NotImplementedError, match="enabled=False"):
            fg.autocast("cpu", dtype=dtype)(lambda x: x)
    with pytest.raises(NotImplementedError):
        fg.set_autocast_enabled("cpu", True)


def test_a_context_that_changes_nothing_is_taken():
    x = fg.ones(2, 2)
    with fg.autocast("cpu", enabled=False), fg.amp.autocast("cuda", fg.float16, enabled=False):
        assert (x @ x).dtype is fg.float32
    with pytest.warns(UserWarning, match="CUDA is not available"):
        with fg.autocast("cuda"):
            assert (x @ x).dtype is fg.float32
    with pytest.warns(UserWarning, match="target dtype is not supported"):
        with fg.autocast("cpu", dtype=fg.float32):
            pass

    @fg.autocast("cpu", enabled=False)
    def function(x):
        return x @ x

    assert function(x).dtype is fg.float32
    assert fg.compile(function, fullgraph=True)(x).equal(x @ x)


def test_wrong_contexts_are_refused():
    with pytest.raises(RuntimeError, match="'foo' does not exist"):
        fg.autocast("foo")
    with pytest.raises(ValueError, match="of type `str`"):
        fg.autocast(fg.device("cpu"))
    with pytest.raises(TypeError):
        fg.autocast()
    with pytest.raises(TypeError, match="dtype"):
        fg.autocast("cpu", dtype="bfloat16")


def test_questions_about_autocast_have_answers():
    assert not fg.is_autocast_enabled() and not fg.is_autocast_enabled("cpu")
    assert fg.get_autocast_dtype("cpu") is fg.bfloat16
    assert fg.get_autocast_dtype("cuda") is fg.float16
    with pytest.warns(DeprecationWarning):
        assert fg.get_autocast_gpu_dtype() is fg.float16
    with pytest.warns(FutureWarning, match="amp.autocast"):
        assert fg.cuda.amp.autocast(enabled=False)


def test_custom_functions_are_decorated_for_autocast():
    class Twice(fg.autograd.Function):
        @staticmethod
        @fg.amp.custom_fwd(device_type="cuda")
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @fg.amp.custom_bwd(device_type="cuda")
        def backward(ctx, grad):
            return grad * 2

    x = fg.ones(1, requires_grad=True)
    Twice.apply(x).backward()
    assert x.grad.item() == 2


def test_a_scaler_without_its_gpu_does_nothing():
    with pytest.warns(UserWarning, match="CUDA is not available"):
        scaler = fg.amp.GradScaler("cuda")
    assert not scaler.is_enabled() and scaler.get_scale() == 1.0 and scaler.state_dict() == {}
    assert trained(scaler, [1.0, 2.0]).item() == -3.0
    with pytest.warns(FutureWarning):
        assert not fg.cuda.amp.GradScaler(enabled=False).is_enabled()


def test_a_scaler_multiplies_and_divides():
    scaler = fg.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
    assert trained(scaler, [1.0, 2.0]).item() == -3.0
    assert scaler.get_scale() == 16.0
    x = fg.ones(2)
    assert scaler.scale([x, (x,)])[1][0].tolist() == [16.0, 16.0]
    with pytest.raises(ValueError, match="Tensor or an iterable"):
        scaler.scale(3)


def test_a_step_with_an_infinite_gradient_is_left_out():
    scaler = fg.amp.GradScaler("cpu", init_scale=8.0, growth_interval=1)
    assert trained(scaler, [1.0, float("inf"), 1.0]).item() == -2.0
    assert scaler.get_scale() == 16.0


def test_gradients_are_clipped_after_they_were_unscaled():
    scaler = fg.amp.GradScaler("cpu", init_scale=64.0)
    parameter = fg.nn.Parameter(fg.zeros(1))
    optimizer = fg.optim.SGD([parameter], lr=1.0)
    scaler.scale((parameter * 3).sum()).backward()
    scaler.unscale_(optimizer)
    assert parameter.grad.item() == 3.0
    fg.nn.utils.clip_grad_norm_([parameter], 1.0)
    with pytest.raises(RuntimeError, match="already been called"):
        scaler.unscale_(optimizer)
    scaler.step(optimizer)
    with pytest.raises(RuntimeError, match="already been called since"):
        scaler.step(optimizer)
    scaler.update()
    assert abs(parameter.item() + 1.0) < 1e-5


def test_the_state_of_a_scaler_travels():
    scaler = fg.amp.GradScaler("cpu", init_scale=4.0, growth_interval=3)
    trained(scaler, [1.0])
    other = fg.amp.GradScaler("cpu")
    other.load_state_dict(scaler.state_dict())
    assert other.state_dict() == scaler.state_dict() == {
        "scale": 4.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 3,
        "_growth_tracker": 1}
    assert pickle.loads(pickle.dumps(scaler)).get_scale() == 4.0
    with pytest.raises(RuntimeError, match="is empty"):
        other.load_state_dict({})


@pytest.mark.parametrize("call, kind, message", [
    (lambda: fg.amp.GradScaler("cpu", growth_factor=0.5), AssertionError, "growth factor"),
    (lambda: fg.amp.GradScaler("cpu", backoff_factor=2), AssertionError, "backoff factor"),
    (lambda: fg.amp.GradScaler("cpu").update(), AssertionError, "_scale is None"),
    (lambda: fg.amp.GradScaler("cpu").step(None), AssertionError, "_scale is None"),
    (lambda: fg.amp.GradScaler("foo"), RuntimeError, "does not exist"),
])
def test_wrong_uses_of_a_scaler_are_refused(call, kind, message):
    with pytest.raises(kind, match=message):
        call()
