"""Inputs that share memory: captured where none of them is written, else eager, with the reason."""

import warnings

import foregrad as fg
import pytest
from capture_compare import alike, leaf, nonleaf, observe, plain, versions_of

LAYOUTS = {
    "overlapping": lambda base: [base[:4], base[2:]],
    "apart": lambda base: [base[:3], base[3:]],
    "touching": lambda base: [base[:4], base[3:]],
    "interleaved": lambda base: [base[::2], base[1::2]],
    "equal": lambda base: [base[:], base[:]],
    "one inside the other": lambda base: [base, base[1:4]],
    "rows and columns": lambda base: [base.view(2, 3)[0], base.view(2, 3)[:, 1:]],
    "transposed": lambda base: [base.view(2, 3), base.view(2, 3).t()],
    "three": lambda base: [base[:3], base[2:5], base[1:]],
}


def refused(function, make, why="writes to a tensor that shares memory with another input"):
    """The call is not captured, says why, and does what eager code does, twice."""
    with pytest.raises(RuntimeError, match=why):
        observe(fg.compile(function, fullgraph=True), make)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = alike(function, make, fullgraph=False)
    assert why in compiled.compiled.refused and versions_of(compiled) == 0


def captured(function, make):
    """One version serves all calls, and does what eager code does."""
    assert versions_of(alike(function, make)) == 1


def parts_of(layout, make_base):
    """Arguments that are parts of one base, and the base itself last, to be looked at."""

    def make():
        made = make_base()
        base, leaves = made if isinstance(made, tuple) else (made, [])
        parts = LAYOUTS[layout](base)
        return [*parts, *([] if parts[0] is base else [base])], leaves

    return make


def of_first_two(body):
    """A function of the first two arguments: the base comes too, so that a write to it shows."""
    return lambda x, y, *others: body(x, y)


def each_layout(function):
    return pytest.mark.parametrize("layout", list(LAYOUTS))(function)


def write_first(x, y):
    x.add_(1)
    return y * 2


def write_second(x, y):
    y.mul_(3)
    return x + 1


def write_both(x, y):
    x.add_(1)
    y.mul_(2)
    x.sub_(3)
    return x.sum() + y.sum()


def write_between_reads(x, y):
    before = y * 1
    x.add_(1)
    return before, y * 1


def write_through_a_view(x, y):
    x.reshape(-1)[0:1].fill_(7.0)
    return y.clone()


WRITES = [write_first, write_second, write_both, write_between_reads, write_through_a_view]


@each_layout
@pytest.mark.parametrize("body", WRITES)
def test_a_call_that_writes_shared_memory_runs_eagerly(layout, body):
    refused(of_first_two(body), parts_of(layout, lambda: plain(6)))


@each_layout
def test_none_is_written(layout):
    def body(x, y):
        return x.sum() * y, x.exp()

    captured(of_first_two(body), parts_of(layout, lambda: plain(6)))


@pytest.mark.parametrize("body", [write_second, lambda x, y: (y.mul_(2), x, y)[1:]])
def test_an_input_that_shares_with_none_is_written_beside_some_that_share(body):
    def make():
        base = plain(6)
        return [base[:3], plain(3), base], []

    captured(of_first_two(body), make)


@each_layout
@pytest.mark.parametrize("body", WRITES)
def test_a_refused_call_has_changed_nothing(layout, body):
    arguments, _ = parts_of(layout, lambda: plain(6))()
    with pytest.raises(RuntimeError, match="shares memory"):
        fg.compile(of_first_two(body), fullgraph=True)(*arguments)
    fresh, _ = parts_of(layout, lambda: plain(6))()
    assert [a.tolist() for a in arguments] == [a.tolist() for a in fresh]
    assert {a._version for a in arguments} == {0}


@each_layout
def test_a_call_that_shares_follows_one_that_does_not(layout):
    """The version of unshared inputs does not serve shared ones."""
    for order, versions in (0, 1), (1, 0):
        shared, turn = parts_of(layout, lambda: plain(6)), iter(range(100))

        def make():
            arguments, leaves = shared()
            if next(turn) // 2 % 2 == order:
                arguments = [a.clone() for a in arguments]
            return arguments, leaves

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compiled = alike(of_first_two(write_first), make, calls=4, fullgraph=False)
        # The first call that shares ends it: later ones run eagerly, whatever they are given.
        assert versions_of(compiled) == versions
        assert "shares memory" in compiled.compiled.refused


@each_layout
@pytest.mark.parametrize("write, expect", [(False, captured), (True, refused)])
def test_other_arguments_stand_between_inputs_that_share_memory(layout, write, expect):
    def body(name, x, factor, y, flag, *others):
        if write:
            x.add_(1)
        return x.sum() * factor + y if flag and name == "add" else y

    def make():
        (x, y, *others), leaves = parts_of(layout, lambda: plain(6))()
        return ["add", x, 3, y, True, *others], leaves

    expect(body, make)


def transpose_first(x, y):
    x.t_()
    return y * 2


def transpose_and_write(x, y):
    x.transpose_(0, 1)
    x.add_(1)
    return y * 1


def squeeze_written(x, y):
    y.add_(1)
    x.unsqueeze_(0)
    return x * 2


@pytest.mark.parametrize("body", [transpose_first, transpose_and_write, squeeze_written])
@pytest.mark.parametrize("parts", [
    lambda base: [base.view(2, 3), base[2:5]], lambda base: [base.view(2, 3), base.view(3, 2)],
    lambda base: [base[:4].view(2, 2), base[4:]]])
def test_a_shared_input_gets_another_shape(body, parts):
    def make():
        base = plain(6)
        return [*parts(base), base], []

    refused(of_first_two(body), make)


@each_layout
@pytest.mark.parametrize("body", [
    lambda x, y: (x.mul_(2), y)[1], lambda x, y: (y.mul_(2), x, y)[1:],
    lambda x, y: (x.add_(1), y[1:])[1], lambda x, y: (x.add_(1), x[1:], y)])
def test_a_shared_input_is_written_and_returned(layout, body):
    refused(of_first_two(body), parts_of(layout, lambda: plain(6)))


@each_layout
@pytest.mark.parametrize("body", [lambda x, y: (x, y), lambda x, y: (y[1:], x * 2)])
def test_a_shared_input_is_returned(layout, body):
    captured(of_first_two(body), parts_of(layout, lambda: plain(6)))


HISTORIES = {
    "views of one with a history": lambda: (lambda t, s: (t, [s]))(*nonleaf(6)),
    "detached": lambda: (lambda t, s: (t.detach(), [s]))(*nonleaf(6)),
}


@each_layout
@pytest.mark.parametrize("history", list(HISTORIES))
@pytest.mark.parametrize("body", [
    lambda x, y: (x.mul_(2), (x.sum() * y).sum())[1], write_first, write_both])
def test_shared_inputs_with_histories_are_written(layout, history, body):
    refused(of_first_two(body), parts_of(layout, HISTORIES[history]))


@each_layout
@pytest.mark.parametrize("history", list(HISTORIES))
def test_shared_inputs_with_histories(layout, history):
    captured(of_first_two(lambda x, y: x.sum() * y), parts_of(layout, HISTORIES[history]))


@pytest.mark.parametrize("body, expect", [
    (write_second, refused), (lambda x, y: x * y, captured), (write_between_reads, refused)])
def test_one_has_a_history_and_the_other_none(body, expect):
    def make():
        tensor, source = nonleaf(4)
        return [tensor, tensor.detach()[1:4].reshape(3).expand(3)[:1]], [source]

    expect(body, make)


@pytest.mark.parametrize("body, expect", [(lambda x, y: x * y, captured), (write_second, refused)])
def test_a_leaf_and_a_part_of_it(body, expect):
    def make():
        x = leaf(4)
        return [x, x.detach()[1:2]], [x]

    expect(body, make)


def test_views_as_other_dtypes():
    def make():
        base = fg.arange(4, dtype=fg.int32)
        return [base, base.view(fg.float32)], []

    refused(lambda x, y: (x.add_(1), y * 1)[1], make)
    captured(lambda x, y: (x + 1, y * 1), make)


def switch_on(x):
    x.requires_grad_()
    return x * 2


def switch_on_late(x):
    y = x * 2
    x.requires_grad_()
    return y, x * 3


def switch_off(x):
    y = x * 2
    x.requires_grad_(False)
    return y, x * 3


# A switch that changes nothing is captured, a true one is refused.
@pytest.mark.parametrize("body, make, changes", [
    (switch_on, plain, True), (switch_on, leaf, False), (switch_on_late, plain, True),
    (switch_on_late, leaf, False), (switch_off, plain, False), (switch_off, leaf, True)])
def test_requires_grad_of_an_input_is_switched(body, make, changes):
    def gradient(function):
        x = make(3)
        results = function(x)
        results = results if isinstance(results, tuple) else (results,)
        seen = [x.requires_grad, [r.requires_grad for r in results]]
        for result in results:
            if result.requires_grad:
                result.sum().backward(retain_graph=True)
                seen.append(None if x.grad is None else x.grad.tolist())
        return seen

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        compiled = fg.compile(body)
        for _ in range(2):
            assert gradient(compiled) == gradient(body)
    assert versions_of(compiled) == (0 if changes else 1)
    if changes:
        assert "changes requires_grad of an input" in compiled.compiled.refused
        with pytest.raises(RuntimeError, match="changes requires_grad of an input"):
            fg.compile(body, fullgraph=True)(make(3))


def test_what_is_refused_is_said_once():
    compiled = fg.compile(write_first)
    base = plain(6)
    with pytest.warns(UserWarning, match="shares memory"):
        compiled(base[:4], base[2:])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled(base[:4], base[2:])
    assert observe(write_first, lambda: [plain(3), plain(3)])
