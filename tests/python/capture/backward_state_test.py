"""Numbers that a backward or a hook reads are those of the time when it runs, as in eager code."""

import functools

import pytest

import foregrad as fg


class Settings:
    scale = 2.0
    flag = True
    words = {"scale": 2.0}
    list = [2.0, 1.0]


settings = Settings()
factor = 2.0


@pytest.fixture(autouse=True)
def as_before():
    global settings, factor
    settings, factor = Settings(), 2.0
    settings.words, settings.list, settings.weight = {"scale": 2.0}, [2.0, 1.0], fg.ones(2)
    yield


class Scaled(fg.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        return grad * settings.scale if settings.flag else grad * 0


def by_function(x):
    return Scaled.apply(x)


def hooked(read):
    def function(x):
        y = x * 3
        y.register_hook(lambda grad: grad * read())
        return y
    return function


def set_global(value):
    global factor
    factor = value


def set_scale(value):
    settings.scale = value


def set_item(value):
    settings.list[1] = value


def set_entry(value):
    settings.words["scale"] = value


CASES = {
    "a custom function": (by_function, set_scale),
    "an attribute": (hooked(lambda: settings.scale), set_scale),
    "a global variable": (hooked(lambda: factor), set_global),
    "an item of a list": (hooked(lambda: settings.list[1]), set_item),
    "an entry of a dictionary": (hooked(lambda: settings.words["scale"]), set_entry),
}


def gradients(function, change, values):
    found = []
    for value in values:
        change(2.0)
        x = fg.ones(2, requires_grad=True)
        y = function(x)
        change(value)
        y.sum().backward()
        found.append(x.grad.tolist())
    return found


@pytest.mark.parametrize("case", CASES)
def test_a_number_that_was_changed_after_the_forward(case):
    function, change = CASES[case]
    compiled = fg.compile(function, fullgraph=True)
    values = [2.0, 5.0, 7.0, 5.0, 2.0, float("inf"), -0.0]
    assert gradients(compiled, change, values) == gradients(function, change, values)


def test_a_free_variable_that_was_changed_after_the_forward():
    scale = 2.0

    def change(value):
        nonlocal scale
        scale = value

    def function(x):
        y = x * 3
        y.register_hook(lambda grad: grad * scale)
        return y

    values = [2.0, 5.0, 7.0]
    compiled = fg.compile(function, fullgraph=True)
    assert gradients(compiled, change, values) == gradients(function, change, values)


def test_a_flag_decides_what_the_backward_does():
    compiled = fg.compile(by_function, fullgraph=True)
    x = fg.ones(2, requires_grad=True)
    y = compiled(x)
    settings.flag = False
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [0, 0]
    settings.flag = True
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_state_that_was_there_before_is_not_traced_again():
    compiled = fg.compile(hooked(lambda: settings.scale), fullgraph=True)
    gradients(compiled, set_scale, [5.0, 7.0])
    before = len(compiled.graphs())
    gradients(compiled, set_scale, [5.0, 7.0, 7.0, 5.0])
    assert len(compiled.graphs()) == before


def test_the_function_may_be_gone_when_the_backward_runs():
    x = fg.ones(2, requires_grad=True)
    y = fg.compile(by_function, fullgraph=True)(x)
    settings.scale = 11.0
    y.sum().backward()
    assert x.grad.tolist() == [11, 11]


def test_second_derivatives():
    def gradient_twice(function):
        x = fg.ones(2, requires_grad=True)
        y = function(x * x)
        settings.scale = 5.0
        first, = fg.autograd.grad(y.sum(), x, create_graph=True)
        settings.scale = 7.0
        second, = fg.autograd.grad((first * first).sum(), x)
        settings.scale = 2.0
        return first.tolist(), second.tolist()

    compiled = fg.compile(by_function, fullgraph=True)
    for _ in range(3):
        assert gradient_twice(compiled) == gradient_twice(by_function)


def test_a_number_that_the_forward_stores():
    def function(x):
        settings.scale = 5.0
        y = x * 1
        y.register_hook(lambda grad: grad * settings.scale)
        return y

    compiled = fg.compile(function, fullgraph=True)
    for _ in range(3):
        settings.scale = 2.0
        x = fg.ones(2, requires_grad=True)
        compiled(x).sum().backward()
        assert x.grad.tolist() == [5, 5]


def test_a_tensor_that_was_replaced_is_refused():
    def function(x):
        y = x * settings.weight
        y.register_hook(lambda grad: grad * settings.weight)
        return y

    compiled = fg.compile(function, fullgraph=True)
    for _ in range(3):
        settings.weight = fg.ones(2)
        x = fg.ones(2, requires_grad=True)
        y = compiled(x)
        y.sum().backward()
        assert x.grad.tolist() == [1, 1]
        y = compiled(x)
        settings.weight = fg.full((2,), 9.0)
        with pytest.raises(RuntimeError, match="a hook of the compiled .*function reads.*replaced"):
            y.sum().backward()


def test_a_list_that_has_grown_is_refused():
    compiled = fg.compile(hooked(lambda: settings.list[-1]), fullgraph=True)
    y = compiled(fg.ones(2, requires_grad=True))
    settings.list.append(4.0)
    with pytest.raises(RuntimeError, match="changed since the call: list is 3, not 2"):
        y.sum().backward()


def test_an_object_that_was_replaced_is_refused():
    global settings
    compiled = fg.compile(by_function, fullgraph=True)
    y = compiled(fg.ones(2, requires_grad=True))
    settings = Settings()
    with pytest.raises(RuntimeError, match="changed since the call.*settings is another object"):
        y.sum().backward()


def test_what_only_the_forward_reads_may_change():
    def function(x):
        y = x * settings.scale
        y.register_hook(lambda grad: grad * 3)
        return y

    compiled = fg.compile(function, fullgraph=True)
    x = fg.ones(2, requires_grad=True)
    y = compiled(x)
    settings.scale, settings.list = 9.0, []
    y.sum().backward()
    assert x.grad.tolist() == [6, 6]


def test_more_than_64_states_are_refused():
    compiled = fg.compile(hooked(lambda: settings.scale), fullgraph=True)
    values = [float(i) for i in range(1, 65)]
    assert gradients(compiled, set_scale, values) == [[3 * value] * 2 for value in values]
    with pytest.raises(RuntimeError, match="numbers or texts are in the 65th state"):
        gradients(compiled, set_scale, [65.0])


@functools.lru_cache(None)
def remembered(key):
    return key * 3.0


def helper():
    """Gets attributes."""


TABLE = {None: [2.0]}


def with_hook(hook):
    def function(x):
        y = x * 3
        y.register_hook(hook)
        return y

    return function


def gradients_after(function, change):
    """With a change between forward and backward."""
    x = fg.ones(2, requires_grad=True)
    y = function(x)
    change()
    y.sum().backward()
    return x.grad.tolist()


def test_a_hook_that_calls_what_lru_cache_remembers():
    remembered(2)
    function = with_hook(lambda grad: grad * remembered(2))
    assert gradients_after(fg.compile(function, fullgraph=True), lambda: None) == [18.0, 18.0]


def test_a_hook_that_reads_an_entry_whose_key_is_none():
    function = with_hook(lambda grad: grad * TABLE[None][0])
    for number in (5.0, 7.0):
        compiled = fg.compile(function, fullgraph=True)
        found = gradients_after(compiled, lambda: TABLE[None].__setitem__(0, number))
        assert found == [3 * number] * 2


def test_a_hook_that_asks_for_an_attribute_which_a_function_gets_later():
    function = with_hook(lambda grad: grad * 5 if hasattr(helper, "last") else grad)
    compiled = fg.compile(function, fullgraph=True)
    assert gradients_after(compiled, lambda: None) == [3.0, 3.0]
    with pytest.raises(RuntimeError, match="helper has other attributes; change it before"):
        gradients_after(compiled, lambda: setattr(helper, "last", 1))
    assert gradients_after(compiled, lambda: None) == [15.0, 15.0]
