"""Functions take the kinds of arguments that PyTorch takes, and raise its errors for others."""

import foregrad as fg
import numpy as np
import pytest
from foregrad.nn import functional as F

X, I, M = fg.ones(2, 3), fg.arange(6).view(2, 3) + 1, fg.ones(2, 3) > 0

# A number stands for the second operand of these, never for the first.
BEHIND = ["eq", "ne", "lt", "le", "gt", "ge", "fmod", "rsub", "clamp_min", "clamp_max", "clamp",
          "greater", "less_equal", "not_equal"]
# For either, while the other one is a tensor.
EITHER = ["bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_left_shift", "bitwise_right_shift",
          "xlogy", "pow", "remainder"]
# For both.
BOTH = ["add", "sub", "mul", "div", "floor_divide", "true_divide", "multiply"]
# For none.
NEITHER = ["maximum", "minimum", "atan2", "logical_and", "logical_or", "fmax", "hypot", "equal",
           "dot", "matmul", "isclose"]
NUMBERS = [1, 2, np.int64(1)]


@pytest.mark.parametrize("name", BEHIND)
def test_a_number_is_the_second_operand(name):
    function = getattr(fg, name)
    for number in (*NUMBERS, 1.5):
        assert function(X, number).shape == (2, 3)
        for first in (number, None, [1], "a"):
            with pytest.raises(TypeError, match=function.__name__):
                function(first, X)
    with pytest.raises(TypeError):
        function(1, 2)


@pytest.mark.parametrize("name", EITHER)
def test_a_number_is_one_of_the_operands(name):
    function = getattr(fg, name)
    for number in NUMBERS:
        assert function(I, number).shape == function(number, I).shape == (2, 3)
        with pytest.raises(TypeError, match=name):
            function(number, number)


@pytest.mark.parametrize("name", BOTH)
def test_numbers_are_both_operands(name):
    function = getattr(fg, name)
    assert function(X, 2).shape == function(2, X).shape == (2, 3)
    assert function(4, 2).shape == () and function(4, 2.5).dtype is fg.float32


@pytest.mark.parametrize("name", NEITHER)
def test_a_number_is_no_operand(name):
    function = getattr(fg, name)
    for call in (lambda: function(X, 1), lambda: function(1, X), lambda: function(X, [1])):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("call", [
    lambda: fg.masked_fill(1, M, 2), lambda: fg.masked_fill(X, True, 2),
    lambda: X.masked_fill(1, 2),
    lambda: fg.where(True, X, X), lambda: fg.where(1, 2, 3), lambda: X.where(True, X),
    lambda: fg.index_fill(X, 0, 1, 2), lambda: fg.index_fill(1, 0, fg.tensor([0]), 2),
    lambda: fg.fill(1, 2), lambda: fg.fill_(1, 2), lambda: fg.clamp_(1, 0, 2),
    lambda: fg.xlogy_(2.0, X), lambda: fg.clamp_min_(1, X), lambda: fg.sin(1), lambda: fg.sum(1),
    lambda: fg.relu(None), lambda: fg.cat(X), lambda: fg.cat([X, 1]), lambda: fg.stack([X, None]),
    lambda: F.conv2d(X, X, stride=None), lambda: F.conv2d(X, X, padding=None),
    lambda: F.avg_pool2d(X, 2, padding=None), lambda: F.max_pool2d(X, 2, dilation=None),
    lambda: fg.movedim(X, 0, [1]), lambda: fg.movedim(X, [0], 1), lambda: ~X,
    lambda: fg.einsum(5, X), lambda: fg.max(X, 0, out=X), lambda: fg.max(X, 0, out=(X,)),
])
def test_what_is_no_tensor_is_a_type_error(call):
    with pytest.raises(TypeError):
        call()


def test_numbers_choose_and_fill():
    assert fg.where(M, 1, 2).dtype is fg.int64 and fg.where(M, 1.5, X).shape == (2, 3)
    assert fg.masked_fill(X, M, 2).sum() == 12 and X.index_fill(0, fg.tensor([0]), 2).sum() == 9
    assert F.avg_pool2d(fg.ones(1, 1, 4, 4), 2, None).shape == (1, 1, 2, 2)
    assert X.amax(dim=None).item() == 1


def test_an_integer_in_a_tensor_is_an_integer():
    one = fg.tensor([1])
    assert fg.ones(one, fg.tensor(2)).shape == (1, 2) and fg.eye(one).shape == (1, 1)
    assert X.sum(one).shape == (2,) and X.narrow(1, 0, one).shape == (2, 1)
    for wrong in (fg.tensor([1.0]), fg.tensor([1, 1]), fg.tensor(1.0)):
        with pytest.raises(TypeError):
            X.sum(wrong)


@pytest.mark.parametrize("kind, call", [
    (RuntimeError, lambda: fg.linspace(fg.tensor([1.0]), 2, 3)),
    (RuntimeError, lambda: fg.linspace(0, fg.ones(2), 3)),
    (RuntimeError, lambda: fg.logspace(fg.tensor([1.0]), 2, 3)),
    (TypeError, lambda: fg.linspace("a", 2, 3)), (RuntimeError, lambda: fg.linspace(0, 1, -1)),
    (RuntimeError, lambda: fg.arange(0, 5, 0)), (RuntimeError, lambda: fg.arange(0.0, 5.0, 0.0)),
    (ValueError, lambda: fg.arange(0.0, 5.0, 0.3, dtype=fg.int64)),
    (RuntimeError, lambda: fg.narrow(X, 1, fg.tensor([0]), 1)),
    (RuntimeError, lambda: X.narrow(1, fg.tensor(0.0), 1)),
    (IndexError, lambda: X.narrow(1, 9, 1)), (RuntimeError, lambda: X.narrow(1, 2, 5)),
    (ValueError, lambda: F.adaptive_avg_pool2d(fg.ones(3, 3), (1, 1))),
    (ValueError, lambda: F.adaptive_max_pool2d(fg.ones(3), (1, None))),
    (ValueError, lambda: fg.nn.AdaptiveAvgPool2d((1, 1))(fg.ones(3, 3))),
    (IndexError, lambda: X.index_copy(0, fg.tensor([0]), fg.ones(2, 3))),
    (IndexError, lambda: X.index_fill(0, fg.tensor([0.5]), 1)),
    (RuntimeError, lambda: X.index_fill(0, fg.tensor([[0]]), 1)),
    (IndexError, lambda: fg.ones(3).put_(fg.tensor([0]), fg.ones(2))),
    (RuntimeError, lambda: fg.take_along_dim(X, fg.tensor([-1]))),
    (ValueError, lambda: fg.einsum("ij->i", ())),
    (RuntimeError, lambda: F.cross_entropy(X, X, ignore_index=1)),
])
def test_kinds_of_errors(kind, call):
    with pytest.raises(kind) as raised:
        call()
    assert type(raised.value) is kind


@pytest.mark.parametrize("call", [
    lambda out: fg.multinomial(fg.ones(3), 2, out=out), lambda out: fg.argmax(X, 0, out=out),
    lambda out: fg.argmin(X, 0, out=out), lambda out: fg.nonzero(X, out=out),
    lambda out: fg.max(X, 0, out=(fg.ones(3), out)), lambda out: fg.argsort(X, out=out),
    lambda out: fg.topk(X, 1, out=(fg.ones(2, 1), out)),
    lambda out: fg.sort(X, 0, False, out=(fg.ones(2, 3), out)),
])
def test_positions_are_written_to_int64_only(call):
    for dtype in (fg.float32, fg.int32, fg.bool):
        with pytest.raises((RuntimeError, TypeError)):
            call(fg.zeros(0, dtype=dtype))


def test_results_that_are_no_positions_may_be_converted():
    assert fg.arange(3, out=fg.zeros(0)).dtype is fg.float32
    assert fg.eq(X, X, out=fg.zeros(2, 3)).sum() == 6
    assert fg.max(X, 0, out=(fg.zeros(0), fg.zeros(0, dtype=fg.int64)))[1].tolist() == [0, 0, 0]


SMALL = fg.tensor([100, 0, 100, 100], dtype=fg.int8)
HALF = fg.ones(4, dtype=fg.float16)
MASK = fg.tensor([True, False, True, False])


def assigned(x, value):
    y = x.clone()
    y[0] = value
    return y


WRITES = [lambda x, v: fg.where(MASK, x, v), lambda x, v: fg.where(MASK, v, x), assigned,
          lambda x, v: fg.addcmul(x, x, x, value=v)]
LIMITS = [lambda x, v: x.clamp(max=v), lambda x, v: x.clamp(min=v), lambda x, v: fg.clamp_max(x, v),
          lambda x, v: x.clone().clamp_(max=v), lambda x, v: x.masked_fill(MASK, v),
          lambda x, v: x.index_fill(0, fg.tensor([0]), v), lambda x, v: fg.full_like(x, v),
          lambda x, v: F.pad(x, (1, 1), value=v), lambda x, v: F.hardtanh(x, -1, v),
          lambda x, v: fg.threshold(x, 0, v), lambda x, v: fg.add(x, x, alpha=v),
          lambda x, v: x.clone().fill_(v)]


@pytest.mark.parametrize("call", WRITES + LIMITS)
def test_a_number_that_the_integers_cannot_hold_is_refused(call):
    for x, number in ((SMALL, 300), (SMALL, -300), (SMALL, 2**40), (fg.ones(4).int(), 2**40)):
        if call is LIMITS[8] and number < 0:
            continue  # hardtanh refuses limits in the wrong order
        with pytest.raises(RuntimeError, match="does not fit into"):
            call(x, number)
    assert call(SMALL, 50).dtype is fg.int8 and call(fg.ones(4), 300).dtype is fg.float32


@pytest.mark.parametrize("call", LIMITS)
def test_a_number_that_the_floats_cannot_hold_is_refused(call):
    with pytest.raises(RuntimeError, match="does not fit into"):
        call(HALF, 1e10)
    assert call(HALF, 2).dtype is fg.float16


@pytest.mark.parametrize("call", WRITES)
def test_a_number_that_the_floats_cannot_hold_is_infinite(call):
    assert call(HALF, 1e10).max().item() == float("inf")


def test_coins_are_fair_unless_told_otherwise():
    assert 0.4 < fg.zeros(10000).bernoulli_().mean().item() < 0.6
    assert fg.zeros(100).bernoulli_(1.0).sum() == 100
    assert fg.zeros(3).bernoulli_(fg.tensor([0.0, 1.0, 0.0])).tolist() == [0, 1, 0]
