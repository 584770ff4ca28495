"""Grad modes: as context managers and as decorators of functions, generators and coroutines."""

import threading

import foregrad as fg
import pytest


@pytest.fixture(autouse=True)
def modes_are_restored():
    yield
    restored = fg.is_grad_enabled() and not fg.is_inference_mode_enabled()
    fg.set_grad_enabled(True)
    assert restored


def ones():
    return fg.ones(3, requires_grad=True)


def test_no_grad_records_nothing():
    x = ones()
    with fg.no_grad():
        assert not fg.is_grad_enabled()
        y = x * 2
        assert not y.requires_grad and y.grad_fn is None
        assert fg.ones(3, requires_grad=True).requires_grad
    assert (x * 2).requires_grad


def test_modes_nest_and_end_after_exceptions():
    with pytest.raises(KeyError):
        with fg.no_grad():
            with fg.enable_grad():
                assert (ones() * 2).requires_grad
                raise KeyError
    assert fg.is_grad_enabled()


def test_one_context_object_may_be_entered_again():
    context = fg.no_grad()
    with context:
        with context:
            assert not fg.is_grad_enabled()
        assert not fg.is_grad_enabled()
    assert fg.is_grad_enabled()


def test_set_grad_enabled_works_as_a_function_and_as_a_context():
    fg.set_grad_enabled(False)
    assert not fg.is_grad_enabled()
    fg.set_grad_enabled(True)
    with fg.set_grad_enabled(False):
        assert not fg.is_grad_enabled()
    assert fg.is_grad_enabled()


@pytest.mark.parametrize("make", [
    lambda: fg.no_grad(), lambda: fg.no_grad, lambda: fg.set_grad_enabled(False),
    lambda: fg.inference_mode(), lambda: fg.inference_mode,
])
def test_modes_decorate_functions(make):
    @make()
    def call(a, *, b=1):
        """What it does."""
        return fg.is_grad_enabled(), a, b

    assert fg.is_grad_enabled()
    assert call(1, b=2) == (False, 1, 2)
    assert call.__name__ == "call" and call.__doc__ == "What it does."
    assert fg.is_grad_enabled()


def test_a_decorated_function_may_call_itself():
    @fg.no_grad()
    def down(n):
        return fg.is_grad_enabled() or (n > 0 and down(n - 1))

    assert down(5) is False


def test_modes_decorate_generators_and_hold_only_while_they_run():
    @fg.no_grad()
    def generate():
        received = yield fg.is_grad_enabled()
        yield fg.is_grad_enabled(), received
        return "end"

    steps = generate()
    assert next(steps) is False
    assert fg.is_grad_enabled()
    assert steps.send("sent") == (False, "sent")
    with pytest.raises(StopIteration) as stop:
        next(steps)
    assert stop.value.value == "end"


def test_decorated_generators_get_exceptions_and_are_closed_in_the_mode():
    seen = []

    @fg.no_grad()
    def generate():
        try:
            yield 1
        except KeyError:
            seen.append(fg.is_grad_enabled())
            yield 2
        finally:
            seen.append(fg.is_grad_enabled())

    steps = generate()
    next(steps)
    assert steps.throw(KeyError()) == 2
    steps.close()
    assert seen == [False, False]


def test_modes_belong_to_their_thread():
    seen = []
    with fg.no_grad():
        thread = threading.Thread(target=lambda: seen.append(fg.is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_backward_runs_without_grad_mode_and_restores_it():
    seen = []
    x = ones()
    x.register_hook(lambda g: seen.append(fg.is_grad_enabled()))
    with fg.no_grad():
        pass
    (x * 2).sum().backward()
    fg.autograd.grad((x * x).sum(), x, create_graph=True)
    assert seen == [False, True]
    assert fg.is_grad_enabled()


def test_inference_mode_makes_inference_tensors():
    x = ones()
    with fg.inference_mode():
        assert fg.is_inference_mode_enabled() and not fg.is_grad_enabled()
        y = x * 2
    assert y.is_inference() and fg.is_inference(y) and not y.requires_grad
    assert not x.is_inference()
    with pytest.raises(RuntimeError, match="(?i)inference"):
        y._version
    with pytest.raises(RuntimeError, match="(?i)inference"):
        y.requires_grad_()
    assert not y.clone().is_inference()


def test_inference_mode_can_be_switched_off_inside():
    with fg.inference_mode():
        with fg.inference_mode(False):
            assert not fg.is_inference_mode_enabled()
            assert not fg.ones(3).is_inference()
        assert fg.is_inference_mode_enabled()


def test_enable_grad_inside_inference_mode_records_nothing():
    x = ones()
    with fg.inference_mode(), fg.enable_grad():
        assert not (x * 2).requires_grad


def test_grad_modes_are_in_autograd_too():
    for name in ("no_grad", "enable_grad", "set_grad_enabled", "inference_mode"):
        assert getattr(fg.autograd, name) is getattr(fg, name)
