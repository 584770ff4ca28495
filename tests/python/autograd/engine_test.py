"""backward and grad: what they accept, what runs, what is freed, how gradients accumulate."""

import contextvars
import threading
import warnings

import foregrad as fg
import pytest
from foregrad.autograd import backward, grad
from foregrad.autograd.graph import get_gradient_edge


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


def test_backward_accumulates_into_leaves():
    x = ones()
    (x * 2).sum().backward()
    (x * 3).sum().backward()
    assert x.grad.tolist() == [5, 5, 5]


def test_backward_takes_several_tensors_and_gradients():
    x = ones()
    backward([x * 2, (x * 3).sum()], [fg.full((3,), 10.0), None])
    assert x.grad.tolist() == [23, 23, 23]
    backward((x * 1,), grad_tensors=(fg.ones(3),))
    assert x.grad.tolist() == [24, 24, 24]


def test_backward_of_chosen_inputs_leaves_others_alone():
    x, w = ones(), ones()
    y = x * w
    (y * 2).sum().backward(inputs=[x, y])
    assert x.grad.tolist() == [2, 2, 2] and w.grad is None
    assert y.grad.tolist() == [2, 2, 2]


def test_backward_takes_a_single_input_and_a_dictionary():
    x, w = ones(), ones()
    (x * w).sum().backward(inputs=x)
    backward((x * w).sum(), inputs={"w": w})
    assert x.grad.tolist() == [1, 1, 1] and w.grad.tolist() == [1, 1, 1]


def test_backward_refuses_empty_inputs():
    with pytest.raises(RuntimeError, match="empty"):
        ones().sum().backward(inputs=[])


def test_backward_of_what_requires_no_grad_is_refused():
    with pytest.raises(RuntimeError, match="does not require grad"):
        fg.ones(3).sum().backward()


def test_counts_of_tensors_and_gradients_must_agree():
    x = ones()
    with pytest.raises(RuntimeError, match="2.*1|1.*2"):
        backward([x.sum(), x.sum()], [fg.tensor(1.0)])


def test_grad_returns_a_tuple_and_touches_no_leaf():
    x, w = ones(), ones()
    result = grad((x * w * 2).sum(), [x, w])
    assert isinstance(result, tuple)
    assert [g.tolist() for g in result] == [[2, 2, 2], [2, 2, 2]]
    assert x.grad is None and w.grad is None


def test_grad_gives_a_dictionary_for_a_dictionary():
    x, w = ones(), ones()
    result = grad((x * w * 2).sum(), {"first": x, "second": w})
    assert list(result) == ["first", "second"]
    assert result["second"].tolist() == [2, 2, 2]


def test_an_unused_input_is_an_error_unless_allowed():
    x, w = ones(), ones()
    with pytest.raises(RuntimeError, match="allow_unused"):
        grad(x.sum(), [x, w])
    assert grad(x.sum(), [x, w], allow_unused=True)[1] is None
    assert grad(x.sum(), [x, w], materialize_grads=True)[1].tolist() == [0, 0, 0]


def test_materialize_grads_contradicts_allow_unused_false():
    x = ones()
    with pytest.raises(ValueError, match="allow_unused"):
        grad(x.sum(), x, allow_unused=False, materialize_grads=True)


def test_flags_gradients_and_inputs_are_checked():
    x = ones()
    for call in (grad, lambda y, x, **flags: fg.autograd.backward(y, **flags)):
        with pytest.raises(TypeError, match="retain_graph must be a bool, not int"):
            call(x.sum(), x, retain_graph=1)
    with pytest.raises(RuntimeError, match="got 1 tensors and 2 gradients"):
        grad(x.sum(), x, [fg.ones(()), fg.ones(())])
    with pytest.raises(RuntimeError, match="cannot be empty"):
        x.sum().backward(inputs=[])
    with pytest.raises(TypeError, match="not iterable"):
        fg.autograd.backward(3)
    assert fg.autograd.backward([]) is None
    assert grad([x.sum()], {"x": x})["x"].tolist() == [1, 1, 1]
    x.sum().backward(inputs={"x": x})
    assert x.grad.tolist() == [1, 1, 1]


def test_grad_refuses_inputs_without_grad():
    with pytest.raises(RuntimeError, match="require"):
        grad(ones().sum(), fg.ones(3))


def test_grads_of_a_batch_are_those_of_its_elements():
    x = ones()
    y = x * fg.tensor([1.0, 2.0, 3.0])
    (result,) = grad(y, x, fg.eye(3), is_grads_batched=True)
    assert result.tolist() == [[1, 0, 0], [0, 2, 0], [0, 0, 3]]


def test_only_scalars_have_an_implicit_gradient():
    x = ones()
    with pytest.raises(RuntimeError, match="scalar"):
        (x * 2).backward()
    (x * 2)[:1].backward()
    assert x.grad.tolist() == [2, 0, 0]


def test_a_gradient_of_a_wrong_shape_says_so():
    with pytest.raises(RuntimeError, match=r"(?s)0.*4.*0.*3|4.*3"):
        (ones() * 2).backward(fg.ones(4))


def test_only_nodes_on_a_path_to_the_inputs_run():
    ran = []
    x, w = ones(), ones()
    a, b = x.exp(), w.exp()
    a.grad_fn.register_prehook(lambda g: ran.append("a"))
    b.grad_fn.register_prehook(lambda g: ran.append("b"))
    grad((a * b).sum(), w)
    assert ran == ["b"]


def test_a_graph_is_freed_after_use():
    x = ones()
    y = (x * x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()
    with pytest.raises(RuntimeError, match="pass retain_graph to the first backward"):
        grad(y, x)


def test_a_retained_graph_runs_again():
    x = ones()
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 4, 4]


def test_create_graph_keeps_the_graph_and_can_be_differentiated():
    x = fg.tensor(3.0, requires_grad=True)
    y = x ** 4
    (first,) = grad(y, x, create_graph=True)
    (second,) = grad(first, x, create_graph=True)
    (third,) = grad(second, x)
    assert [t.item() for t in (first, second, third)] == [108, 108, 72]


def test_backward_with_create_graph_warns_about_the_cycle(run_program):
    # In a process of its own, because the warning comes once per process.
    run_program("""
        import warnings
        import foregrad as fg

        x = fg.ones(3, requires_grad=True)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            (x * x).sum().backward(create_graph=True)
        assert x.grad.requires_grad
        assert caught[0].category is UserWarning and "cycle" in str(caught[0].message)
    """)


def test_the_first_gradient_is_taken_over_and_not_copied():
    x = ones()
    pointers = []
    y = x.exp()
    y.grad_fn.register_hook(lambda i, o: pointers.append(i[0].data_ptr()))
    y.sum().backward()
    assert x.grad.data_ptr() == pointers[0]


def test_a_gradient_that_the_user_holds_is_not_taken_over():
    x = ones()
    given = fg.ones(3)
    x.view(3).backward(given)
    x.sum().backward()
    assert given.tolist() == [1, 1, 1]


def test_later_gradients_are_added_in_place():
    x = ones()
    x.sum().backward()
    first = x.grad
    x.sum().backward()
    assert x.grad is first and first.tolist() == [2, 2, 2]


def test_under_create_graph_gradients_are_added_out_of_place():
    x = ones()
    x.sum().backward()
    first = x.grad
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x * x).sum().backward(create_graph=True)
    assert x.grad is not first and first.tolist() == [1, 1, 1]
    x.grad = None


def test_a_gradient_takes_the_layout_of_its_tensor():
    x = fg.ones(3, 2).t().requires_grad_()
    (x * fg.ones(2, 3)).sum().backward()
    assert x.grad.stride() == x.stride()


def test_grad_can_be_set_and_is_checked():
    x = ones()
    given = fg.zeros(3)
    x.grad = given
    assert x.grad is given
    for wrong, message in ((fg.zeros(4), "must be equal"), (x, "its own gradient"),
                           (fg.zeros(3, dtype=fg.float64), "must be equal")):
        with pytest.raises(RuntimeError, match=message):
            x.grad = wrong
    with pytest.raises(TypeError, match="must be a Tensor or None, not str"):
        x.grad = "text"
    x.grad = None
    assert x.grad is None


def test_introspection_during_backward():
    seen = {}
    x = ones()
    y = x.exp()

    def hook(grads):
        seen["id"] = fg._C._current_graph_task_id()
        seen["node"] = fg._C._current_autograd_node()
        seen["keep"] = fg._C._get_current_graph_task_keep_graph()
        seen["will"] = fg._C._will_engine_execute_node(get_gradient_edge(x).node)

    y.grad_fn.register_prehook(hook)
    z = y.sum()
    z.backward(retain_graph=True)
    assert seen["id"] >= 0 and seen["will"] is True and seen["keep"] is True
    assert seen["node"] is y.grad_fn
    z.backward()
    assert seen["keep"] is False


def test_the_order_of_execution_is_known_before_it_runs():
    seen = []
    x = ones()
    z = x.exp().sum()
    z.register_hook(lambda g: seen.extend(fg._C._current_graph_task_execution_order()))
    z.backward()
    assert [node.name() for node in seen][:2] == ["SumBackward0", "ExpBackward0"]
    assert len(seen) == 3


def test_introspection_outside_of_backward():
    assert fg._C._current_graph_task_id() == -1
    assert fg._C._current_autograd_node() is None
    with pytest.raises(RuntimeError):
        fg._C._will_engine_execute_node(ones().exp().grad_fn)
    with pytest.raises(RuntimeError):
        fg._C._current_graph_task_execution_order()


def test_threads_may_run_backward_at_the_same_time():
    x = ones()
    failures = []

    def run():
        try:
            for _ in range(50):
                (x.exp() * 2).sum().backward()
        except Exception as error:  # shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert fg.allclose(x.grad, fg.full((3,), 200 * 2 * 2.718281828), rtol=1e-3)


def test_hooks_see_the_state_of_the_caller():
    seen = []
    x = ones()
    x.register_hook(lambda g: seen.append((threading.current_thread().name, fg.is_grad_enabled())))
    x.sum().backward()
    assert seen == [("MainThread", False)]
    x.exp().sum().backward(create_graph=False, retain_graph=True)
    assert len(seen) == 2


def test_context_variables_of_the_caller_are_seen_by_hooks():
    name, seen = contextvars.ContextVar("name", default="none"), []

    def work(value):
        x = ones()
        x.register_hook(lambda g: seen.append(name.get()))
        y = (x * 2).sum()
        name.set(value)
        y.backward()

    for value in ("one", "two"):
        thread = threading.Thread(target=contextvars.Context().run, args=(work, value))
        thread.start()
        thread.join()
    assert seen == ["one", "two"] and name.get() == "none"


def test_warnings_of_hooks_reach_the_caller():
    x = ones()
    x.register_hook(lambda g: warnings.warn("from a hook", UserWarning))
    with pytest.warns(UserWarning, match="from a hook"):
        x.sum().backward()
