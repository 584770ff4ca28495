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
        """Doubles a number."""
        return fg.is_grad_enabled(), a, b

    assert fg.is_grad_enabled()
    assert call(1, b=2) == (False, 1, 2)
    assert call.__name__ == "call" and call.__doc__ == "Doubles a number."
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


MODES = {"no_grad()": fg.no_grad(), "no_grad": fg.no_grad, "inference_mode()": fg.inference_mode(),
         "inference_mode": fg.inference_mode, "no inference": fg.inference_mode(False),
         "enable_grad": fg.enable_grad}


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_a_mode_as_decorator_of_a_class_holds_while_the_class_is_called(mode):
    class Model:
        def __init__(self):
            self.made_with = fg.is_grad_enabled()

        def call(self):
            return fg.is_grad_enabled()

    with pytest.warns(FutureWarning, match="decorating a class is deprecated"):
        make = mode(Model)
    with fg.no_grad():
        model = make()
        assert isinstance(model, Model) and not model.call()
        assert model.made_with == (mode in (fg.enable_grad, MODES["no inference"]))
    assert model.call()


def test_set_grad_enabled_decorates_a_class_and_shows_its_mode():
    with pytest.warns(FutureWarning, match="decorating a class is deprecated"):
        make = fg.set_grad_enabled(False)(lambda: None) and fg.set_grad_enabled(False)(dict)
    assert make(a=1) == {"a": 1} and fg.is_grad_enabled()
    with fg.set_grad_enabled(False) as _:
        pass
    assert repr(fg.set_grad_enabled(True)).endswith("set_grad_enabled(mode=True)")


@pytest.mark.parametrize("mode", MODES.values(), ids=MODES)
def test_coroutines_run_outside_of_the_mode_that_decorates_their_function(mode):
    async def ask():
        return fg.is_grad_enabled()

    with pytest.raises(StopIteration) as stop:  # the mode holds while the coroutine is made
        mode(ask)().send(None)
    assert stop.value.value is True


def _inference(**arguments):
    with fg.inference_mode():
        return fg.ones(3, **arguments)


VIEWS = {"view": lambda t: t.view(3, 1), "slice": lambda t: t[:2],
         "unbind": lambda t: t.unbind(0)[0], "expand": lambda t: t.expand(2, 3),
         "reshape": lambda t: t.reshape(1, 3)}


@pytest.mark.parametrize("requires_grad", [False, True])
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_views_of_inference_tensors_are_inference_tensors_without_history(view, requires_grad):
    part = view(_inference(requires_grad=requires_grad))
    assert part.is_inference() and not part._is_view() and part._base is None
    assert not part.requires_grad and part.is_leaf
    with pytest.raises(RuntimeError, match="inference tensor outside inference mode"):
        part.mul_(2)


@pytest.mark.parametrize("call", [lambda t: t * t, lambda t: t.exp(), lambda t: t.sum(),
                                  lambda t: t[:2] * t[1:], lambda t: fg.cat([t, t])])
def test_calls_of_inference_tensors_alone_are_not_recorded(call):
    result = call(_inference(requires_grad=True))
    assert not result.requires_grad and result.is_leaf and not result.is_inference()


def test_calls_that_mix_inference_and_normal_tensors_are_recorded():
    i, x = _inference(requires_grad=True), ones()
    assert (i + x).requires_grad and (i * 2).requires_grad and i.clone().requires_grad
    assert fg.autograd.grad((i * 2 + x).sum(), i)[0].tolist() == [2, 2, 2]
    assert fg.autograd.grad(i.clone().sum(), i)[0].tolist() == [1, 1, 1]
    for call in (lambda: i * x, lambda: x * _inference(), lambda: x.div(_inference())):
        with pytest.raises(RuntimeError, match="inference tensors cannot be saved for backward"):
            call()


@pytest.mark.parametrize("write", [
    lambda i, n: i.add_(n), lambda i, n: i.copy_(n), lambda i, n: i.zero_(),
    lambda i, n: i.__setitem__(0, 1.0), lambda i, n: fg.add(n, n, out=i), lambda i, n: fg.relu_(i),
    lambda i, n: i[:2].add_(1), lambda i, n: i.unsqueeze_(0), lambda i, n: i.requires_grad_(),
])
def test_inference_tensors_are_not_changed_outside_of_inference_mode(write):
    for n in (fg.ones(3), _inference()):
        i = _inference()
        with pytest.raises(RuntimeError, match="inference"):
            write(i, n)
        assert i.tolist() == [1, 1, 1] and not i.requires_grad
    with fg.inference_mode():
        write(i, fg.ones(3))
    normal = fg.ones(3)
    with fg.inference_mode():
        normal.add_(1)
    assert normal.add_(_inference())._version == 2
