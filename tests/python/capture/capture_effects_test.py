"""Changes that a captured function makes, and changes of what it reads, of every kind."""

import queue
import types
import warnings

import foregrad as fg
import numpy as np
import pytest
from capture_custom import Counts, Given
from foregrad.autograd.graph import saved_tensors_hooks
from foregrad.compiler import aot_function, min_cut_rematerialization_partition, nop


class Slots:
    __slots__ = ("flag", "extra")

    def __init__(self):
        self.flag = False


class Plain:
    def __init__(self):
        self.flag, self.items, self.pairs, self.members = False, [1.0, 2.0], {"a": 1.0}, {1}


class OnClass:
    flag = False


class Text(str):
    pass


ONES = fg.ones(2)


def alike(function, make, calls=4, change=None):
    """The results and states of eager and of compiled calls, the state made anew before each."""

    def observe(call):
        seen = []
        state = make()
        for i in range(calls):
            if change is None:
                state = make()
            elif i:
                change(state, i)
            result = call(state, ONES)
            seen.append((result.tolist(), look(state)))
        return seen

    expected = observe(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert observe(fg.compile(function)) == expected


def look(state):
    names = getattr(state, "__slots__", None) or [n for n in vars(state) if not n.startswith("__")]
    found = {name: getattr(state, name, None) for name in names}
    return {name: value.tolist() if isinstance(value, fg.Tensor) else str(value)
            for name, value in found.items()}


def make_class():
    OnClass.flag = False
    return OnClass


SLOTS, PLAIN, CLASS = Slots, Plain, make_class


def set_flag(state, x):
    state.flag = True
    return x * 2


def pop_item(state, x):
    return x * state.items.pop()


def pop_pair(state, x):
    return x * state.pairs.pop("a")


def delete(state, x):
    del state.flag
    return x * 2


def add_member(state, x):
    state.members.add(5)
    return x * 2


def move_to_the_end(state, x):
    state.pairs["b"] = 2.0
    del state.pairs["a"]
    state.pairs["a"] = 3.0
    return x * 2


def keep_an_object(state, x):
    state.flag = Plain()
    state.flag = type(state.flag).__name__
    return x * 2


def count_then_branch(state, x):
    state.flag += 1
    return x * 2 if float(x.sum()) > 0 else x


@pytest.mark.parametrize("function, make", [
    (set_flag, SLOTS), (set_flag, PLAIN), (set_flag, CLASS), (pop_item, PLAIN), (pop_pair, PLAIN),
    (delete, PLAIN), (delete, SLOTS), (add_member, PLAIN), (move_to_the_end, PLAIN),
    (keep_an_object, PLAIN), (count_then_branch, SLOTS), (count_then_branch, PLAIN),
    (count_then_branch, CLASS)])
def test_an_effect_is_repeated_by_every_call_or_the_function_runs_eagerly(function, make):
    alike(function, make)


def has_flag(state, x):
    return x * 2 if hasattr(state, "later") else x


def tries_flag(state, x):
    try:
        return x * state.later
    except AttributeError:
        return x


def set_later(state, i):
    state.later = float(i)


@pytest.mark.parametrize("function", [has_flag, tries_flag])
@pytest.mark.parametrize("make", [Plain, make_class])
def test_an_attribute_that_comes_later_is_seen(function, make):
    if hasattr(OnClass, "later"):
        del OnClass.later
    if make is make_class:
        alike(function, make, change=lambda state, i: None)
    else:
        alike(function, make, change=set_later)


class Base:
    scale = 2.0

    def factor(self):
        return 2.0


class Derived(Base):
    pass


def test_an_attribute_that_a_class_gets_later_hides_the_inherited_one():
    made = Derived()

    def function(x):
        return x * made.scale * made.factor() * getattr(made, "other", 1.0)

    compiled = fg.compile(function, fullgraph=True)
    assert compiled(ONES).tolist() == [4, 4]
    try:
        Derived.scale = 3.0
        assert compiled(ONES).tolist() == [6, 6]
        Derived.factor = lambda self: 5.0
        assert compiled(ONES).tolist() == [15, 15]
        Derived.other = 7.0
        assert compiled(ONES).tolist() == [105, 105]
    finally:
        del Derived.scale, Derived.factor
        if "other" in vars(Derived):
            del Derived.other
    assert compiled(ONES).tolist() == [4, 4]


def test_an_attribute_that_a_module_gets_later_is_seen():
    module = types.ModuleType("settings_of_a_test")

    def function(x):
        return x * getattr(module, "flag", 1.0)

    compiled = fg.compile(function, fullgraph=True)
    assert compiled(ONES).tolist() == [1, 1]
    module.flag = 3.0
    assert compiled(ONES).tolist() == [3, 3]


def test_both_zeros_of_numpy_are_told_apart():
    state = Plain()

    def function(x):
        return x / fg.tensor(float(state.flag))

    compiled = fg.compile(function)
    for zero in (0.0, -0.0, 0.0):
        state.flag = np.float64(zero)
        assert compiled(ONES).tolist() == function(ONES).tolist()


def test_a_global_variable_that_comes_later_is_seen():
    def function(x):
        try:
            return x * comes_later  # noqa: F821
        except NameError:
            return x

    compiled = fg.compile(function, fullgraph=True)
    globals().pop("comes_later", None)
    assert compiled(ONES).tolist() == [1, 1]
    globals()["comes_later"] = 3.0
    assert compiled(ONES).tolist() == [3, 3]
    del globals()["comes_later"]
    assert compiled(ONES).tolist() == [1, 1]


def test_a_global_variable_that_hides_a_builtin_is_seen():
    def function(x):
        return x * len([1, 2])

    compiled = fg.compile(function, fullgraph=True)
    assert compiled(ONES).tolist() == [2, 2]
    globals()["len"] = lambda items: 7
    try:
        assert compiled(ONES).tolist() == [7, 7]
    finally:
        del globals()["len"]
    assert compiled(ONES).tolist() == [2, 2]


def test_attributes_of_functions_and_tensors_are_read():
    def helper(x):
        return x * helper.scale

    weight = fg.ones(2)
    helper.scale, weight.scale = 2.0, 3.0

    def function(x):
        return helper(x) * weight * weight.scale

    compiled = fg.compile(function)
    for _ in range(3):
        assert compiled(ONES).tolist() == [6, 6]
    helper.scale = 5.0
    assert compiled(ONES).tolist() == [15, 15]
    weight.scale = 7.0
    assert compiled(ONES).tolist() == [35, 35]


def test_attributes_of_functions_and_tensors_are_stored():
    weight = fg.ones(2)

    def function(x):
        function.calls += 1
        function.last = x * 3
        weight.last = x * weight
        return x * 2

    function.calls = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = fg.compile(function)
        for i in range(1, 5):
            assert compiled(ONES * i).tolist() == [2 * i, 2 * i]
            assert function.calls == i
            assert function.last.tolist() == [3 * i, 3 * i]
            assert weight.last.tolist() == [i, i]


@pytest.mark.parametrize("read", [
    lambda w: w.grad is None, lambda w: w._version == 0, lambda w: w.retains_grad])
def test_properties_of_tensors_from_outside_that_nothing_compares_are_refused(read):
    weight = fg.ones(2, requires_grad=True)

    def function(x):
        return x * weight * (2 if read(weight) else 3)

    with pytest.raises(RuntimeError, match="of a tensor from outside"):
        fg.compile(function, fullgraph=True)(ONES)


def steps(function, state, reset):
    seen = []
    for _ in range(4):
        reset()
        x = fg.ones(2, requires_grad=True)
        function(x).sum().backward()
        seen.append((x.grad.tolist(), look(state)))
    return seen


def test_an_effect_of_a_hook_that_is_the_same_each_time_is_kept():
    state = Plain()

    def reset():
        state.flag = 0

    def function(x):
        y = x * 2
        y.register_hook(lambda grad: setattr(state, "flag", 5))
        return y

    expected = steps(function, state, reset)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert steps(fg.compile(function), state, reset) == expected


def test_a_list_that_forward_and_hook_append_to_has_their_order():
    state = Plain()

    def function(x):
        y = x * 2
        state.items.append("f")
        y.register_hook(lambda grad: state.items.append("h"))
        return y

    def run(call):
        state.items = []
        return steps(call, state, lambda: None)

    expected = run(function)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(fg.compile(function)) == expected


def test_an_object_that_the_function_makes_is_a_new_one_at_every_call():
    def function(x):
        return x * 2, Plain()

    with pytest.raises(RuntimeError, match="returns a Plain that it makes"):
        fg.compile(function, fullgraph=True)(ONES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = fg.compile(function)
        (_, first), (_, second) = compiled(ONES), compiled(ONES)
    assert first is not second


def test_an_object_that_was_there_is_returned_as_it_is():
    state = Plain()
    compiled = fg.compile(lambda x: (x * 2, state), fullgraph=True)
    for _ in range(3):
        assert compiled(ONES)[1] is state


def test_numbers_and_texts_of_other_types_are_compared_with_their_attributes():
    state = Plain()
    state.flag = Text("a")
    state.flag.scale = 2.0

    def function(x):
        return x * state.flag.scale

    compiled = fg.compile(function, fullgraph=True)
    assert compiled(ONES).tolist() == [2, 2]
    state.flag.scale = 3.0
    assert compiled(ONES).tolist() == [3, 3]
    state.flag = Text("a")
    state.flag.scale = 4.0
    assert compiled(ONES).tolist() == [4, 4]


def test_items_of_tuples_are_compared_with_their_types():
    state = Plain()

    def function(x):
        return x + fg.tensor(state.items)

    compiled = fg.compile(function, fullgraph=True)
    x = fg.ones(2, dtype=fg.bool)
    for items in ((1,), (True,), (1.0,), (1,)):
        state.items = items
        assert compiled(x).dtype == function(x).dtype


def test_a_queue_is_read_once_per_call():
    items = queue.Queue()
    compiled = fg.compile(lambda x: x * items.get(timeout=20))
    with pytest.warns(UserWarning, match="a Queue, which gives something else at every call"):
        for number in (2.0, 3.0, 4.0):
            items.put(number)
            assert compiled(ONES).tolist() == [number, number]
    assert items.empty()


def test_a_method_called_eval_does_not_read_everything():
    net, state = fg.nn.Dropout(0.5), Plain()

    def function(x):
        net.eval()
        return net(x) * state.flag

    state.flag = 2.0
    compiled = fg.compile(function, fullgraph=True)
    for step in range(12):
        OnClass.step = state.step = step
        assert compiled(ONES).tolist() == [2, 2]
    assert len(compiled.compiled.versions) <= 2


def test_a_hook_that_writes_to_a_part_of_an_expanded_input_runs_eagerly():
    def function(x):
        row = x[1:]
        y = x * 2
        y.register_hook(lambda grad: (row.detach().add_(1), None)[1])
        return y

    base = fg.zeros(3)
    with pytest.warns(UserWarning, match="elements share memory"):
        function = fg.compile(function)
        function(base.expand(2, 3).requires_grad_()).sum().backward()
    assert base.tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(RuntimeError, match="writes to an input whose elements share memory"):
        fg.compile(function.__wrapped__, fullgraph=True)(base.expand(2, 3).requires_grad_())


def test_a_result_that_a_hook_reads_is_not_to_be_written():
    def function(x):
        y = x * 2
        y.register_hook(lambda grad: grad * y.sum())
        return y

    x = fg.ones(2, requires_grad=True)
    y = fg.compile(function, fullgraph=True)(x)
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [8.0, 8.0]
    y.detach().mul_(2)
    with pytest.raises(RuntimeError, match="a tensor that a backward or a hook of the compiled "
                                           "function may read, as it was after the call; clone"):
        y.sum().backward()


def test_what_a_backward_writes_is_no_source_of_recomputation():
    def run(function):
        x = fg.ones(3, requires_grad=True) * 2
        y = function(x)
        grads = [fg.autograd.grad(y, x, retain_graph=True)[0].tolist() for _ in range(2)]
        return grads, x.tolist()

    def function(x):
        return Counts.apply(x, x).max()

    cut = aot_function(function, nop, partition_fn=min_cut_rematerialization_partition)
    assert run(cut) == run(function)


def test_a_backward_that_writes_runs_only_for_inputs_that_it_leads_to():
    def function(x, other):
        return Given.apply(x), other * 3

    def retained(function):
        x, other = fg.ones(1, requires_grad=True), fg.ones(1, requires_grad=True)
        y, z = function(x, other)
        y.retain_grad()
        given = fg.ones(1)
        fg.autograd.grad([y, z], [other], [given, fg.ones(1)])
        return y.grad, given.tolist()

    assert retained(fg.compile(function, fullgraph=True)) == retained(function)


def test_a_hook_on_what_leads_to_no_input_runs():
    def function(x):
        with fg.no_grad():
            row, = x.unbind(0)
        y = row * 2
        y.register_hook(lambda grad: (grad.mul_(2), None)[1])
        return y

    with pytest.raises(RuntimeError, match="leads to no input of the function"):
        fg.compile(function, fullgraph=True)(fg.ones(1, 3, requires_grad=True))
    given = fg.ones(3)
    with pytest.warns(UserWarning, match="leads to no input"):
        fg.compile(function)(fg.ones(1, 3, requires_grad=True)).backward(given)
    assert given.tolist() == [2.0, 2.0, 2.0]


def test_a_result_that_a_hook_reads_where_saved_tensor_hooks_pack_it():
    def function(x):
        y = x.exp()
        y.register_hook(lambda grad: grad * y.sum())
        return y

    def gradient(function):
        x = fg.zeros(2, requires_grad=True)
        with saved_tensors_hooks(lambda tensor: tensor.detach().clone(), lambda tensor: tensor):
            y = function(x)
        y.detach().fill_(5)
        y.sum().backward()
        return x.grad.tolist()

    with pytest.warns(UserWarning, match="saved-tensor hooks may make two"):
        assert gradient(fg.compile(function)) == gradient(function) == [10.0, 10.0]


def test_a_written_input_that_a_backward_writes_again_where_saved_tensor_hooks_pack_it():
    class WritesBoth(fg.autograd.Function):
        @staticmethod
        def forward(ctx, x, b):
            b.detach().add_(2)
            ctx.b = b
            return x * b.sum()

        @staticmethod
        def backward(ctx, grad):
            ctx.b.detach().mul_(0.5)
            return grad * ctx.b.sum(), None

    def function(x):
        return WritesBoth.apply(x[0], x[None]), fg.nn.functional.gelu(x[0])

    def gradients(function):
        x = fg.ones(2, 3, requires_grad=True)
        with saved_tensors_hooks(lambda tensor: tensor.detach().clone(), lambda tensor: tensor):
            results = [result.sum() for result in function(x)]
        found = [fg.autograd.grad(roots, [x], retain_graph=True)[0].tolist()
                 for roots in (results[:1], results, results)]
        return found, x.tolist()

    with pytest.warns(UserWarning, match="saved-tensor hooks may make two"):
        assert gradients(fg.compile(function)) == gradients(function)
