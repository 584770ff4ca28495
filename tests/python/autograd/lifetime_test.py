"""Who keeps whom alive: identity, attributes, cycles, deep graphs, threads, shutdown."""

import gc
import threading
import weakref

import foregrad as fg
import pytest
from foregrad.autograd import Function
from foregrad.autograd.graph import get_gradient_edge, saved_tensors_hooks


def ones(*sizes):
    return fg.ones(*(sizes or (3,)), requires_grad=True)


class Mine(fg.Tensor):
    pass


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        return grad * 2 * ctx.saved_tensors[0]


class Probe:
    """Something that can be watched."""


@pytest.fixture
def without_gc():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def variable(y):
    """The leaf at the end of the first edges of a graph."""
    node = y.grad_fn
    while node.next_functions:
        node = node.next_functions[0][0]
    return node.variable


def test_a_leaf_kept_only_by_a_graph_comes_back_as_the_same_object():
    x = ones()
    x.note = "kept"
    number = id(x)
    y = x.exp()
    del x
    gc.collect()
    back = variable(y)
    assert id(back) == number and back.note == "kept"
    assert back is variable(y)


def test_a_subclass_kept_only_by_a_graph_comes_back_as_such():
    x = Mine(fg.ones(3)).requires_grad_()
    x.note = [1]
    y = x.exp()
    number = id(x)
    del x
    gc.collect()
    back = variable(y)
    assert type(back) is Mine and id(back) == number and back.note == [1]


def test_saved_tensors_kept_only_by_a_graph_keep_their_attributes():
    x = ones()
    w = fg.full((3,), 2.0)
    w.note = "weight"
    y = x * w
    del w
    gc.collect()
    assert y.grad_fn._saved_other.note == "weight"


def test_a_gradient_keeps_its_attributes():
    x = ones()
    x.sum().backward()
    x.grad.note = "gradient"
    gc.collect()
    assert x.grad.note == "gradient" and x.grad is x.grad


def test_a_base_kept_only_by_a_view_comes_back():
    base = fg.zeros(4)
    base.note = "base"
    view = base[:2]
    number = id(base)
    del base
    gc.collect()
    assert id(view._base) == number and view._base.note == "base"


def test_tensors_are_freed_at_once_without_the_collector(without_gc):
    x = ones()
    y = x.exp()
    alive = [weakref.ref(x), weakref.ref(y), weakref.ref(y.grad_fn)]
    del x, y
    assert [a() for a in alive] == [None] * 3


def test_weakrefs_survive_while_a_graph_keeps_the_tensor(without_gc):
    x = ones()
    x.note = 1
    alive = weakref.ref(x)
    y = x.exp()
    del x
    assert alive() is variable(y)
    del y
    assert alive() is None


def test_callbacks_of_weakrefs_are_called_once(without_gc):
    calls = []
    x = ones()
    x.note = 1
    alive = weakref.ref(x, calls.append)
    y = x.exp()
    del x
    assert calls == []
    del y
    assert calls == [alive]


def test_a_graph_is_freed_at_once_after_backward(without_gc):
    x = ones()
    held = fg.ones(3)
    held.note = Probe()
    alive = weakref.ref(held.note)
    y = (x * held).sum()
    del held
    assert alive() is not None
    y.backward()
    assert alive() is None


def collected(*things):
    """Whether the collector frees the things once nobody outside holds them."""
    gc.collect()
    return [thing() is None for thing in things] == [True] * len(things)


def test_a_cycle_through_an_attribute_of_a_tensor_is_collected():
    x, probe = ones(), Probe()
    x.me = [x, probe]
    alive = weakref.ref(x), weakref.ref(probe)
    del x, probe
    assert collected(*alive)


def test_a_cycle_through_a_result_is_collected():
    x, probe = ones(), Probe()
    x.result = x.exp().sum()
    x.probe = probe
    alive = weakref.ref(x), weakref.ref(probe)
    del x, probe
    assert collected(*alive)


def test_a_cycle_through_an_attribute_of_a_node_is_collected():
    y, probe = ones().exp(), Probe()
    y.grad_fn.me = (y, probe)
    alive = weakref.ref(y), weakref.ref(probe)
    del y, probe
    assert collected(*alive)


def test_a_cycle_through_metadata_of_a_node_is_collected():
    y, probe = ones().exp(), Probe()
    y.grad_fn.metadata["me"] = (y, probe)
    alive = weakref.ref(y), weakref.ref(probe)
    del y, probe
    assert collected(*alive)


def test_a_cycle_through_ctx_is_collected():
    probe = Probe()

    class Keep(Square):
        @staticmethod
        def forward(ctx, x):
            ctx.probe = probe
            y = Square.forward(ctx, x)
            ctx.output = [y]
            return y

    y = Keep.apply(ones())
    y.grad_fn.result = y
    alive = weakref.ref(y), weakref.ref(probe)
    del y, probe, Keep
    assert collected(*alive)


@pytest.mark.parametrize("register", [
    lambda y: y.register_hook, lambda y: y.grad_fn.register_hook,
    lambda y: y.grad_fn.register_prehook, lambda y: variable(y).register_hook,
    lambda y: variable(y).register_post_accumulate_grad_hook,
    lambda y: get_gradient_edge(variable(y)).node.register_prehook,
], ids=["tensor", "node", "node_pre", "leaf", "post_accumulate", "accumulator"])
def test_a_cycle_through_the_closure_of_a_hook_is_collected(register):
    y, probe = ones().exp().sum(), Probe()

    def hook(*gradients):
        return (y, probe) and None

    register(y)(hook)
    alive = weakref.ref(y), weakref.ref(probe), weakref.ref(hook)
    del y, probe, hook
    assert collected(*alive)


def test_a_cycle_through_a_hook_of_a_saved_value_is_collected():
    y, probe = ones().exp(), Probe()
    y.grad_fn._raw_saved_result.register_hooks(lambda t: (t, y), lambda p: (probe, p[0])[1])
    alive = weakref.ref(y), weakref.ref(probe)
    del y, probe
    assert collected(*alive)


def test_a_cycle_through_a_packed_value_is_collected():
    x, probe = ones(), Probe()
    with saved_tensors_hooks(lambda t: [t, x, probe], lambda p: p[0]):
        x.result = x.exp()
    alive = weakref.ref(probe)  # not of x: what C++ uses and has weak references is never cleared
    del x, probe
    assert collected(alive)


def test_a_gradient_with_a_graph_is_freed_once_the_user_drops_it():
    x, probe = ones(), Probe()
    x.probe = probe
    (first,) = fg.autograd.grad((x ** 3).sum(), x, create_graph=True)
    x.grad = first
    x.grad = None
    alive = weakref.ref(x), weakref.ref(probe), weakref.ref(first)
    del x, probe, first
    assert collected(*alive)


@pytest.mark.parametrize("cycle", [
    "x.result = x.exp().sum()", "y = x.exp(); y.grad_fn.me = x; x.y = y", "x.me = x",
    "y = x.exp(); y.register_hook(lambda grad: (x, y)); x.y = y",
])
def test_cycles_are_collected_in_a_process_that_does_nothing_else(cycle, run_program):
    run_program(f"""
        import gc, weakref
        import foregrad as fg

        class Probe:
            pass

        def make():
            x = fg.ones(3, requires_grad=True)
            x.probe = Probe()
            {cycle}
            return weakref.ref(x.probe)

        alive = make()
        gc.collect()
        assert alive() is None
    """)


def test_cycles_that_are_still_used_are_not_collected():
    x = ones()
    x.me = x
    y = x.exp().sum()
    y.grad_fn.note = "here"
    alive = weakref.ref(x)
    del x
    gc.collect()
    assert alive() is not None and alive().me is alive()
    y.backward()
    assert alive().grad is not None and y.grad_fn.note == "here"


def test_an_object_resurrected_by_a_finaliser_is_whole():
    kept = []

    class Back(fg.Tensor):
        def __del__(self):
            kept.append(self)

    x = Back(fg.ones(3))
    x.note = 1
    del x
    gc.collect()
    assert kept[0].tolist() == [1, 1, 1] and kept[0].note == 1
    kept.clear()


def test_deep_graphs_are_freed_without_overflow():
    x = ones()
    y = x
    for _ in range(100_000):
        y = y * 1
    del y
    y = x
    for _ in range(3000):
        y = Square.apply(y) * 0 + 1
        y.grad_fn.mark = "shown"
    del y
    gc.collect()


def test_deep_graphs_run_without_overflow():
    x = ones()
    y = x
    for _ in range(50_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 1]


def test_tensors_dropped_on_other_threads_are_freed():
    alive = []

    def work(tensors):
        for tensor in tensors:
            tensor.exp().sum().backward()
        tensors.clear()

    for _ in range(4):
        tensors = [ones() for _ in range(50)]
        for tensor in tensors:
            tensor.note = Probe()
            alive.append(weakref.ref(tensor.note))
        thread = threading.Thread(target=work, args=(tensors,))
        del tensor, tensors
        thread.start()
        thread.join()
    del thread
    assert collected(*alive)


def test_the_collector_may_run_while_other_threads_work():
    failures, end = [], threading.Event()

    def work():
        x = ones()
        try:
            while not end.is_set():
                y = Square.apply(x)
                y.grad_fn.cycle = y
                y.sum().backward()
        except Exception as error:  # shown by the assertion below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(30):
        gc.collect()
    end.set()
    for thread in threads:
        thread.join()
    assert failures == []
