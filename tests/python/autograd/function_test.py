"""Custom functions: how they are defined and called."""

import traceback

import foregrad as fg
import pytest
from foregrad.autograd import Function


class Double(Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Scale(Function):
    """scale(x, factor): an argument that is no tensor."""

    @staticmethod
    def forward(ctx, x, factor):
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


def ones():
    return fg.ones(3, requires_grad=True)


def test_apply_records_one_node_named_after_the_class():
    x = ones()
    y = Double.apply(x)
    assert y.grad_fn.name() == "DoubleBackward"
    assert type(y.grad_fn).__name__ == "DoubleBackward"
    assert y.grad_fn.next_functions[0][0].name().endswith("AccumulateGrad")
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_vjp_is_another_name_of_backward():
    class Named(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def vjp(ctx, grad):
            return grad * 3

    x = ones()
    Named.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_defining_backward_and_vjp_is_refused_when_backward_runs():
    class Both(Double):
        @staticmethod
        def vjp(ctx, grad):
            return grad

    y = Both.apply(ones())
    with pytest.raises(RuntimeError, match="both 'backward' and 'vjp'"):
        y.sum().backward()


def test_a_function_without_backward_is_not_implemented():
    class NoBackward(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

    y = NoBackward.apply(ones())
    with pytest.raises(NotImplementedError, match="backward or vjp"):
        y.sum().backward()


def test_a_function_without_forward_is_not_implemented():
    class NoForward(Function):
        @staticmethod
        def backward(ctx, grad):
            return grad

    with pytest.raises(NotImplementedError, match="forward"):
        NoForward.apply(ones())


def test_each_class_has_its_own_node_class_and_id():
    class One(Double):
        pass

    class Two(Double):
        pass

    first, second = One.apply(ones()).grad_fn, Two.apply(ones()).grad_fn
    assert type(first) is not type(second)
    assert type(first) is type(One.apply(ones()).grad_fn)
    ids = [c._backward_cls._autograd_function_id for c in (Double, One, Two)]
    assert len(set(ids)) == 3


def test_instantiating_warns_and_calling_an_instance_is_refused():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        instance = Double()
    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        instance(ones())


def test_forward_runs_with_grad_mode_off():
    seen = []

    class Look(Double):
        @staticmethod
        def forward(ctx, x):
            seen.append((fg.is_grad_enabled(), (x * 2).requires_grad))
            return x * 2

    Look.apply(ones())
    assert seen == [(False, False)]
    assert fg.is_grad_enabled()


def test_grad_mode_is_restored_when_forward_fails():
    class Fail(Double):
        @staticmethod
        def forward(ctx, x):
            raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        Fail.apply(ones())
    assert fg.is_grad_enabled()


def test_nothing_is_recorded_without_an_input_that_requires_grad():
    saved = []

    class Save(Double):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            saved.append(ctx)
            return x * 2

    y = Save.apply(fg.ones(3))
    assert not y.requires_grad and y.grad_fn is None
    assert saved[0].next_functions == ()
    with fg.no_grad():
        y = Save.apply(ones())
    assert not y.requires_grad and y.grad_fn is None
    assert saved[1].saved_tensors == ()


def test_any_object_may_be_an_argument_and_takes_no_gradient():
    class Take(Function):
        @staticmethod
        def forward(ctx, x, *rest):
            ctx.count = len(rest)
            return x * len(rest)

        @staticmethod
        def backward(ctx, grad):
            return (grad * ctx.count,) + (None,) * ctx.count

    x = ones()
    Take.apply(x, "text", None, [1], {"a": 1}, object()).sum().backward()
    assert x.grad.tolist() == [5, 5, 5]


def test_tensors_inside_containers_are_not_tracked():
    class Sum(Function):
        @staticmethod
        def forward(ctx, pair):
            return pair[0] + pair[1]

        @staticmethod
        def backward(ctx, grad):
            return None

    assert not Sum.apply([ones(), ones()]).requires_grad


def test_keyword_arguments_take_their_places():
    x = ones()
    Scale.apply(x, factor=4).sum().backward()
    assert x.grad.tolist() == [4, 4, 4]
    assert Scale.apply(factor=4, x=x).tolist() == [4, 4, 4]


@pytest.mark.parametrize("args, kwargs, named", [
    ((1,), {"unknown": 2}, "unknown"),
    ((1, 2), {"factor": 2}, "factor"),
    ((), {"factor": 2}, "x"),
    ((1, 2, 3), {"factor": 2}, "3|4|factor"),
])
def test_wrong_keyword_arguments_are_type_errors_naming_the_argument(args, kwargs, named):
    args = tuple(ones() if a == 1 else a for a in args)
    with pytest.raises(TypeError, match=named):
        Scale.apply(*args, **kwargs)


class WithContext(Function):
    seen = []

    @staticmethod
    def forward(x, factor=3):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        WithContext.seen = [inputs, output]
        ctx.factor = inputs[1]
        return "released"

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


def test_default_arguments_are_bound_with_setup_context():
    x = ones()
    WithContext.apply(x).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]
    assert WithContext.seen[0][1] == 3


def test_setup_context_gets_inputs_and_output():
    x = ones()
    y = WithContext.apply(x, 5)
    inputs, output = WithContext.seen
    assert inputs[0] is x and inputs[1] == 5
    assert output is y
    WithContext.seen = []
    y.sum().backward()
    assert x.grad.tolist() == [5, 5, 5]


def test_setup_context_understands_keywords():
    assert WithContext.apply(ones(), factor=7).tolist() == [7, 7, 7]
    with pytest.raises(TypeError, match="other"):
        WithContext.apply(ones(), other=7)


class Return(Function):
    """Returns whatever `make` makes of x."""

    @staticmethod
    def forward(ctx, x, make):
        return make(x)

    @staticmethod
    def backward(ctx, *grads):
        return sum(g for g in grads if g is not None), None


def test_a_single_output_is_not_wrapped_in_a_tuple():
    assert isinstance(Return.apply(ones(), lambda x: x * 1), fg.Tensor)
    one = Return.apply(ones(), lambda x: (x * 1,))
    assert isinstance(one, tuple) and len(one) == 1
    two = Return.apply(ones(), lambda x: (x * 1, x * 2))
    assert isinstance(two, tuple) and [t.output_nr for t in two] == [0, 1]


def test_outputs_that_are_no_tensors_pass_through():
    marker = object()
    y, text, nothing, same = Return.apply(ones(), lambda x: (x * 1, "text", None, marker))
    assert y.requires_grad
    assert (text, nothing) == ("text", None) and same is marker


def test_exceptions_of_backward_keep_type_and_traceback():
    class Special(Exception):
        pass

    class Fail(Double):
        @staticmethod
        def backward(ctx, grad):
            raise Special("from backward")

    y = Fail.apply(ones()).sum()
    with pytest.raises(Special, match="from backward") as caught:
        y.backward()
    frames = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert frames[-1] == "backward"


def test_a_failed_backward_leaves_the_engine_usable():
    class Fail(Double):
        @staticmethod
        def backward(ctx, grad):
            raise ValueError("no")

    x = ones()
    with pytest.raises(ValueError, match="no"):
        (Fail.apply(x) + x * 3).sum().backward()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3, 3]


def test_same_input_given_twice_gets_both_gradients():
    class Add(Function):
        @staticmethod
        def forward(ctx, a, b):
            return a + b

        @staticmethod
        def backward(ctx, grad):
            return grad, grad * 10

    x = ones()
    Add.apply(x, x).sum().backward()
    assert x.grad.tolist() == [11, 11, 11]
