"""Results of captured functions: which tensors they are and what they share memory with."""

import warnings

import foregrad as fg
import pytest
from capture_compare import alike, elements, leaf, nonleaf, plain, versions_of
from capture_custom import Dirty, Same, Turn


def with_source(*shape):
    tensor, source = nonleaf(*shape)
    return [tensor], [source]


def kinds(*shape):
    return [lambda: [leaf(*shape)], lambda: [plain(*shape)], lambda: with_source(*shape)]


@pytest.mark.parametrize("make", kinds(2, 3))
def test_every_class_of_results(make):
    def f(x):
        y, z = x * 2, x + 1
        return (y, x, x.t(), z[0], z[1], y.detach(), y.view(-1), None, 3, [z, z.unsqueeze(0)])

    alike(f, make)


@pytest.mark.parametrize("make", kinds(2, 3))
def test_views_of_inputs(make):
    for view in (lambda x: x.t(), lambda x: x[0], lambda x: x[:, 1:], lambda x: x.view(-1),
                 lambda x: x.expand(4, 2, 3), lambda x: x.unbind(0)[1], lambda x: x.diagonal(),
                 lambda x: x.t()[1:].unsqueeze(0), lambda x: x.detach(), lambda x: x.detach()[0],
                 lambda x: x.as_strided((2,), (1,)), lambda x: x.unfold(1, 2, 1)):
        alike(view, make)


@pytest.mark.parametrize("make", kinds(2, 3))
def test_an_input_returned_is_the_very_same_object(make):
    compiled = alike(lambda x: (x, [x, x]), make)
    made = make()
    x = made[0] if isinstance(made, list) else made[0][0]
    one, (two, three) = compiled(x)
    assert one is x and two is x and three is x


def test_writing_to_a_view_of_an_input_reaches_the_input_and_its_history():
    def outcome(function):
        source = leaf(2, 3)
        x = source * 1
        function(x).mul_(3)
        return x.tolist(), fg.autograd.grad(x.sum(), source)[0].tolist()

    def f(x):
        return x.t()[0]

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


@pytest.mark.parametrize("make", kinds(2, 3))
def test_several_views_of_one_intermediate_share_it(make):
    def f(x):
        y = x.sin()
        return y[0], y.t(), y.view(-1)[1:]

    alike(f, make)


@pytest.mark.parametrize("make", kinds(2, 3))
def test_an_intermediate_and_its_views(make):
    def f(x):
        y = x.sin()
        return y, y[0], y.detach()

    compiled = alike(f, make)
    made = make()
    y, part, _ = compiled(*(made if isinstance(made, list) else made[0]))
    assert part._base is y


def test_writing_to_one_view_reaches_the_gradient_of_the_other():
    def outcome(function):
        x = leaf(2, 3)
        one, two = function(x)
        one.mul_(3)
        return two.tolist(), fg.autograd.grad(two.sum(), x)[0].tolist()

    def f(x):
        y = x.sin()
        return y[0], y.t()

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


@pytest.mark.parametrize("make", kinds(2, 3))
def test_one_view_of_an_intermediate(make):
    for f in (lambda x: x.sin()[0], lambda x: x.sin().t(), lambda x: x.sin().view(-1),
              lambda x: (x * 2).expand(2, 2, 3), lambda x: (x * 2).detach()[0],
              lambda x: x.sin().split(1)[1]):
        alike(f, make)


@pytest.mark.parametrize("make", kinds(2, 3))
def test_a_result_and_its_detached_twin_share_memory(make):
    def f(x):
        y = x * 2
        return y, y.detach()

    alike(f, make)


def test_a_view_made_under_no_grad_gets_no_gradient():
    def f(x):
        with fg.no_grad():
            y = x[0]
        return y.unsqueeze(0)

    alike(f, lambda: [leaf(2, 3)])


def test_a_view_made_under_no_grad_returned_as_it_is():
    def f(x):
        with fg.no_grad():
            return x[0], (x * 2).t()

    alike(f, lambda: [leaf(2, 3)])
    alike(f, lambda: with_source(2, 3))


def test_duplicates_that_are_not_written():
    def f(x, y, z):
        return x * y + z, x

    def twice():
        x, z = leaf(3), leaf(3)
        return [x, x, z]

    compiled = alike(f, twice)
    x, y, z = leaf(3), leaf(3, start=2.0), leaf(3)
    assert compiled(x, y, z)[0].tolist() == f(x, y, z)[0].tolist()
    assert compiled(x, y, x)[0].tolist() == f(x, y, x)[0].tolist()
    assert compiled(y, y, y)[0].tolist() == f(y, y, y)[0].tolist()


def test_duplicates_of_which_one_is_written():
    def f(x, y):
        x.add_(1)
        return y * 2, y

    def twice():
        x = plain(3)
        return [x, x]

    compiled = alike(f, twice)
    x, y = plain(3), plain(3)
    doubled, same = compiled(x, y)
    assert same is y and doubled.tolist() == (y * 2).tolist()
    assert versions_of(compiled) == 2


def test_the_same_tensor_as_argument_and_in_a_closure():
    held = plain(3)

    def f(x):
        return x * held, held

    compiled = fg.compile(f, fullgraph=True)
    found, same = compiled(held)
    assert same is held and found.tolist() == (held * held).tolist()
    x = plain(3, start=2.0)
    found, same = compiled(x)
    assert same is held and found.tolist() == (x * held).tolist()


def test_the_same_result_twice_is_one_object():
    compiled = alike(lambda x: (lambda y: (y, y))(x * 2), lambda: [leaf(3)])
    one, two = compiled(leaf(3))
    assert one is two


@pytest.mark.parametrize("function", [Same, Turn])
def test_views_made_by_custom_functions_keep_their_backward(function):
    alike(lambda x: function.apply(x * 2), lambda: [leaf(2, 3)])
    alike(lambda x: function.apply(x), lambda: [leaf(2, 3)])


def test_custom_functions_that_write_to_intermediates():
    alike(lambda x: Dirty.apply(x * 3).sin(), lambda: [leaf(2, 3)])


def test_custom_functions_that_write_to_inputs():
    alike(lambda x: Dirty.apply(x).sin(), lambda: with_source(2, 3))


def test_hooks_on_intermediates_change_gradients():
    def f(x):
        y = x * 2
        y.register_hook(lambda g: g * 10)
        return y.sin()

    alike(f, lambda: [leaf(3)])


def test_hooks_on_views_that_are_returned():
    def f(x):
        y = (x * 2).view(-1)
        y.register_hook(lambda g: g * 10)
        return y

    alike(f, lambda: [leaf(2, 3)])


def test_retain_grad_on_results():
    def f(x):
        y = x * 2
        y.retain_grad()
        return y

    def outcome(function):
        y = function(leaf(3))
        (y * y).sum().backward()
        return y.retains_grad, y.grad.tolist()

    assert outcome(fg.compile(f, fullgraph=True)) == outcome(f)


def test_leaves_made_inside_of_the_function_are_refused_as_results():
    def f(x):
        return fg.ones(3, requires_grad=True), x * 2

    with pytest.raises(RuntimeError, match="requires grad"):
        fg.compile(f, fullgraph=True)(leaf(3))
    with pytest.warns(UserWarning, match="runs eagerly"):
        alike(f, lambda: [leaf(3)], fullgraph=False)


def runs_eagerly(function, outcome, why):
    """Refused with the reason; without fullgraph eager, with the warning."""
    with pytest.raises(RuntimeError, match=why):
        outcome(fg.compile(function, fullgraph=True))
    with pytest.warns(UserWarning, match=f"runs eagerly: .*{why}"):
        assert outcome(fg.compile(function)) == outcome(function)


def test_results_computed_from_leaves_made_inside_of_the_function():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alike(lambda x: fg.ones(3, requires_grad=True).topk(1, 0)[0], lambda: [plain(3)],
              fullgraph=False)


def test_hooks_on_results_that_overlap():
    def f(x):
        y = x.unfold(-1, 2, 1)
        y.register_hook(lambda g: g * 2)
        return y

    alike(f, lambda: [leaf(2, 3)])


def test_hooks_on_inputs_that_were_written():
    def f(x):
        x.cumsum_(0)
        x.register_hook(lambda g: g + 1)
        return x * 2

    def outcome(function):
        source = leaf(5, 3)
        base = source * 1.0
        function(base[1:-1])
        return fg.autograd.grad(base.sum(), source)[0].tolist()

    runs_eagerly(f, outcome, "registers a hook on an input")


def test_shapes_of_intermediates_changed_in_place():
    def f(x):
        y = x.unsqueeze(-2)
        y.transpose_(0, -1)
        return y.transpose(0, 1)

    alike(f, lambda: [plain(3, 3)])


def test_a_view_that_reaches_elements_that_the_input_does_not_have():
    def f(x):
        x.as_strided((2,), (1,)).zero_()

    def outcome(function):
        base = plain(3, 6)
        function(base[:, ::2])
        return elements(base).tolist()

    runs_eagerly(f, outcome, "as_strided of a tensor that has holes")


def test_a_detached_alias_with_a_history_of_its_own():
    def f(x):
        y = x.detach()
        y.sub_(x.sin())
        return y

    def outcome(function):
        result = function(leaf(3))
        return result.requires_grad, result.tolist()

    runs_eagerly(f, outcome, "shares memory with an input that is written, and has another history")


# ---- the order of sums, as docs/usage/capture.md has it


def gradient_of_many(function, use):
    """The gradient of 1000 positive elements, for tangents that are positive, too."""
    fg.manual_seed(0)
    leaf, *tangents = (fg.rand(1000, dtype=fg.float64) + 0.5 for _ in range(3))
    leaf.requires_grad_()
    roots = use(function(leaf), leaf)
    return fg.autograd.grad(roots, leaf, tangents[:len(roots)])[0]


def with_input(result, x):
    return [result + x]


def both(results, x):
    return results


def turned(x):
    return x.view(10, 100).view(-1)


@pytest.mark.parametrize("function, use", [
    (lambda x: x.sin(), with_input),  # h(x) + x
    (lambda x: (x, x / x), lambda results, x: results[1:]),
    (lambda x: (x, x.sin()), both),
    (lambda x: (turned(x), x.sin()), both)],
    ids=["input outside", "inside alone", "input returned", "view returned"])
def test_two_terms_of_a_gradient_have_the_bits_of_eager(function, use):
    expected = gradient_of_many(function, use)
    for backend in ("native", "interpreter"):
        compiled = fg.compile(function, fullgraph=True, backend=backend)
        assert gradient_of_many(compiled, use).equal(expected)


@pytest.mark.parametrize("function, use", [
    (lambda x: x * x, with_input), (lambda x: (x, x * x), both), (lambda x: (x, x / x), both),
    (lambda x: (turned(x), x * x), both)],
    ids=["input outside", "input returned", "quotient", "view returned"])
def test_three_terms_of_a_gradient_differ_from_eager_in_the_last_bits_at_most(function, use):
    expected = gradient_of_many(function, use)
    for backend in ("native", "interpreter"):
        compiled = fg.compile(function, fullgraph=True, backend=backend)
        found = gradient_of_many(compiled, use)
        assert ((found - expected).abs() <= 1e-15 * expected.abs()).all()


def test_a_result_that_keeps_its_gradient_and_changes_its_shape():
    """The gradient that it keeps has the shape from before."""
    def run(compiled, change):
        def f(x):
            y = x[:, [1, 0]]
            y.retain_grad()
            change(y)
            return y

        y = (fg.compile(f) if compiled else f)(leaf(1, 3))
        y.sum().backward()
        return y.grad.shape

    with pytest.warns(UserWarning, match="keeps the gradient it had before"):
        for change in (lambda t: t.transpose_(0, -1), lambda t: t.unsqueeze_(0)):
            assert run(True, change) == run(False, change) == (1, 2)


def gradient_inside(y):
    fg.autograd.grad((y ** 3).sum(), y)


def backward_inside(y):
    (y ** 3).sum().backward(retain_graph=True, inputs=[y])


def assigned(y):
    y.grad = y.detach() * 3


@pytest.mark.parametrize("give", (gradient_inside, backward_inside, assigned))
@pytest.mark.parametrize("result", (lambda y: y, lambda y: y.view(-1), lambda y: y * 2))
def test_a_result_that_gets_its_gradient_inside(give, result):
    """Later gradients are added to that one, which captured code does not keep."""
    def f(x):
        y = x[:, [1, 0]]
        y.retain_grad()
        give(y)
        return y, result(y)

    def run(function):
        x = leaf(2, 3)
        y, other = function(x)
        other.sum().backward()
        return y.grad.tolist(), x.grad.tolist()

    with pytest.raises(RuntimeError, match=r"got a \.grad inside"):
        fg.compile(f, fullgraph=True)(leaf(2, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert run(fg.compile(f)) == run(f)
