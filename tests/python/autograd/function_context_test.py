"""The context of custom functions: what it saves and what it marks."""

import gc
import weakref

import foregrad as fg
import pytest
from foregrad.autograd import Function


def ones():
    return fg.ones(3, requires_grad=True)


def function(forward, backward=lambda ctx, *grads: grads[0], **attributes):
    """A Function class from two functions."""
    attributes |= {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (Function,), attributes)


def saving(*what):
    """A Function that saves what is given, or what a callable makes of its input and output."""

    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(*(w(x, y) if callable(w) else w for w in what))
        return y

    return function(forward)


def the_input(x, y):
    return x


def the_output(x, y):
    return y


def test_saved_tensors_are_the_very_objects():
    x = ones()
    y = saving(the_input, None)
    y = y.apply(x)
    saved = y.grad_fn.saved_tensors
    assert isinstance(saved, tuple)
    assert saved[0] is x and saved[1] is None


def test_saving_nothing_gives_an_empty_tuple():
    assert saving().apply(ones()).grad_fn.saved_tensors == ()
    assert function(lambda ctx, x: x * 2).apply(ones()).grad_fn.saved_tensors == ()


def test_saving_twice_keeps_the_last():
    def forward(ctx, x):
        ctx.save_for_backward(x, x)
        ctx.save_for_backward(x)
        return x * 2

    assert len(function(forward).apply(ones()).grad_fn.saved_tensors) == 1


@pytest.mark.parametrize("wrong, named", [(3, "int"), ("text", "str"), ([1], "list")])
def test_saving_what_is_no_tensor_is_a_type_error(wrong, named):
    with pytest.raises(TypeError, match=named):
        saving(the_input, wrong).apply(ones())
    saving(the_input, wrong).apply(fg.ones(3))


def test_saved_outputs_carry_the_node_of_the_call():
    y = saving(the_output).apply(ones())
    node = y.grad_fn
    (saved,) = node.saved_tensors
    assert saved.grad_fn is node
    assert saved.requires_grad and saved.data_ptr() == y.data_ptr()


def test_a_saved_output_makes_no_cycle():
    gc.disable()
    try:
        y = saving(the_output).apply(ones())
        alive = weakref.ref(y)
        del y
        assert alive() is None
    finally:
        gc.enable()


def returning_its_input(save):
    class Same(Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            if save:
                ctx.save_for_backward(inputs[0])

        @staticmethod
        def backward(ctx, grad):
            return grad

    return Same


def test_saving_an_input_returned_as_it_is_is_refused_with_setup_context():
    with pytest.raises(RuntimeError, match="view"):
        returning_its_input(save=True).apply(ones())
    returning_its_input(save=False).apply(ones())


def test_saving_an_input_returned_as_it_is_is_allowed_without_setup_context():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x

    x = ones()
    function(forward).apply(x).sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_saved_tensors_after_they_were_freed_is_the_second_backward_error():
    y = saving(the_input).apply(ones())
    node = y.grad_fn
    y.sum().backward()
    with pytest.raises(RuntimeError, match="second time"):
        node.saved_tensors
    with pytest.raises(RuntimeError, match="second time"):
        node._raw_saved_tensors


def test_second_backward_through_what_reads_saved_tensors_is_refused():
    def backward(ctx, grad):
        return grad * ctx.saved_tensors[0]

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    y = function(forward, backward).apply(ones()).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


def test_retained_graphs_keep_saved_tensors():
    y = saving(the_input).apply(ones())
    y.sum().backward(retain_graph=True)
    assert len(y.grad_fn.saved_tensors) == 1


def test_saved_tensors_may_be_cleared_on_first_access():
    seen = []

    def backward(ctx, grad):
        seen.append(len(ctx.saved_tensors))
        with pytest.raises(RuntimeError):
            ctx.saved_tensors
        return grad

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    made = function(forward, backward, clear_saved_tensors_on_access=True)
    made.apply(ones()).sum().backward()
    assert seen == [1]


def test_the_flag_that_clears_saved_tensors_must_be_a_bool():
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    made = function(forward, lambda ctx, g: ctx.saved_tensors[0], clear_saved_tensors_on_access=1)
    with pytest.raises(TypeError, match="must be a bool, not int"):
        made.apply(ones()).sum().backward()


def boxed(backward, **attributes):
    return function(lambda ctx, x: (x * 2, x * 3), backward, boxed_grads_call=True, **attributes)


def test_boxed_gradients_arrive_in_one_list():
    seen = []

    def backward(ctx, grads):
        seen.append((type(grads), len(grads), grads[1].tolist()))
        first = grads.pop(0)
        return first

    x = ones()
    boxed(backward).apply(x)[0].sum().backward()
    assert seen == [(list, 2, [0, 0, 0])]
    assert x.grad.tolist() == [1, 1, 1]


def test_the_boxed_list_holds_the_only_reference():
    freed = []

    def backward(ctx, grads):
        watched = weakref.ref(grads[0])
        result = grads[0] * 2
        grads.clear()
        freed.append(watched() is None)
        return result

    boxed(backward).apply(ones())[0].exp().sum().backward()
    assert freed == [True]


def test_calling_a_boxed_node_boxes_too():
    seen = []

    def backward(ctx, grads):
        seen.append(grads)
        return grads[0]

    node = boxed(backward).apply(ones())[0].grad_fn
    node.apply(fg.ones(3), fg.ones(3))
    assert type(seen[0]) is list and len(seen[0]) == 2


def test_the_flag_that_boxes_must_be_a_bool():
    made = function(lambda ctx, x: x * 2, boxed_grads_call="yes")
    with pytest.raises(TypeError, match="must be a bool, not str"):
        made.apply(ones()).sum().backward()


def test_saved_tensors_may_be_released_early_unless_the_graph_is_kept():
    seen = []

    def backward(ctx, grad):
        ctx.saved_tensors
        ctx.maybe_clear_saved_tensors()
        try:
            seen.append(len(ctx.saved_tensors))
        except RuntimeError:
            seen.append("freed")
        return grad

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    y = function(forward, backward).apply(ones()).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert seen == [1, "freed"]


def test_saved_variables_works_and_warns():
    node = saving(the_input).apply(ones()).grad_fn
    with pytest.warns(DeprecationWarning, match="saved_tensors"):
        assert len(node.saved_variables) == 1


def test_needs_input_grad_says_what_required_grad_at_the_call():
    seen = []

    def forward(ctx, *inputs):
        seen.append(ctx.needs_input_grad)
        return inputs[0] * 2

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad, None, None

    made = function(forward, backward)
    made.apply(ones(), fg.ones(3), "text").sum().backward()
    assert seen == [(True, False, False)] * 2


def test_needs_input_grad_does_not_depend_on_the_inputs_of_a_backward():
    seen = []

    def backward(ctx, grad):
        seen.append(ctx.needs_input_grad)
        return grad, grad

    a, b = ones(), ones()
    function(lambda ctx, a, b: a * b, backward).apply(a, b).sum().backward(inputs=[a])
    assert seen == [(True, True)] and b.grad is None


def test_needs_input_grad_can_be_set():
    node = function(lambda ctx, x: x * 2).apply(ones()).grad_fn
    node.needs_input_grad = (False,)
    assert node.needs_input_grad == (False,)
    node.needs_input_grad = None
    assert node.needs_input_grad is None


def test_any_attribute_may_be_stored_on_the_context_and_is_not_version_checked():
    def forward(ctx, x):
        ctx.kept = x * 1
        ctx.text = "text"
        return x * 2

    def backward(ctx, grad):
        assert ctx.text == "text"
        return grad * ctx.kept

    x = ones()
    y = function(forward, backward).apply(x)
    y.grad_fn.kept.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


def test_tensors_on_the_context_are_not_seen_by_saved_tensor_hooks():
    packed = []

    def forward(ctx, x):
        ctx.kept = x
        return x * 2

    with fg.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        function(forward).apply(ones())
    assert packed == []
