"""Floats of captured functions are inputs: another value makes no new version."""

import math

import foregrad as fg
import pytest
from capture_compare import leaf, versions_of
from foregrad.compiler._numbers import TracedFloat

RATE = 0.5
RATES = [0.5 / (i + 1) for i in range(20)]
DTYPES = [fg.float32, fg.float64, fg.float16, fg.bfloat16]


def bits(result):
    results = result if isinstance(result, (tuple, list)) else [result]
    return [(str(r.dtype), tuple(r.shape), r.stride(), str(r.tolist())) for r in results]


def values(dtype=fg.float32, count=11):
    return fg.tensor([0.37 * i - 1.3 for i in range(count)], dtype=dtype)


def one_version(function, make, floats=RATES, versions=1):
    """Eager and captured give the same bits for every float, of as many versions."""
    compiled = fg.compile(function, fullgraph=True)
    for k in floats:
        assert bits(compiled(*make(), k)) == bits(function(*make(), k)), k
    assert versions_of(compiled) == versions
    return compiled


def test_sgd_with_momentum_is_one_version():
    @fg.no_grad()
    def step(p, grad, buffer, rate, momentum, dampening, decay):
        grad = grad.add(p, alpha=decay)
        buffer.mul_(momentum).add_(grad, alpha=1 - dampening)
        p.add_(buffer, alpha=-rate)

    compiled = fg.compile(step, fullgraph=True)
    ours, theirs = ([values().requires_grad_(), values() * 0.3, values() * 0] for _ in range(2))
    for i, rate in enumerate(RATES):
        step(*theirs, rate, 0.9 + i / 1000, i / 30, 0.01 * i)
        compiled(*ours, rate, 0.9 + i / 1000, i / 30, 0.01 * i)
        assert bits(ours) == bits(theirs)
    assert versions_of(compiled) == 1


@pytest.mark.parametrize("decoupled", [False, True])
@pytest.mark.parametrize("dtype", [fg.float32, fg.float64])
def test_adam_is_one_version(decoupled, dtype):
    @fg.no_grad()
    def step(p, grad, mean, square, rate, beta1, beta2, eps, decay, count):
        if decoupled:
            p.mul_(1 - rate * decay)
        else:
            grad = grad.add(p, alpha=decay)
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        first, second = 1 - beta1 ** count, 1 - beta2 ** count
        below = (square.sqrt() / second ** 0.5).add_(eps)
        p.addcdiv_(mean, below, value=-rate / first)

    compiled = fg.compile(step, fullgraph=True)
    ours, theirs = ([values(dtype).requires_grad_(), values(dtype) * 0.3, values(dtype) * 0,
                     values(dtype) * 0] for _ in range(2))
    for i, rate in enumerate(RATES):
        floats = (rate, 0.9 - i / 100, 0.999 - i / 1000, 1e-8 * i, 0.01 * i, 1.0 + i)
        step(*theirs, *floats)
        compiled(*ours, *floats)
        assert bits(ours) == bits(theirs)
    assert versions_of(compiled) == 1


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [
    lambda x, k: x.add(x * 0.7, alpha=k), lambda x, k: x.sub(x * 0.7, alpha=k),
    lambda x, k: fg.rsub(x, k, alpha=2), lambda x, k: fg.rsub(x, x * 2, alpha=k),
    lambda x, k: x.addcmul(x, x + 3, value=k), lambda x, k: x.addcdiv(x, x + 3, value=k),
    lambda x, k: x.clamp(min=k), lambda x, k: x.clamp(k - 1, k), lambda x, k: x.clamp_max(k),
    lambda x, k: x.clamp_min(-k), lambda x, k: x.lerp(x * 2, k), lambda x, k: fg.where(x > 0, x, k),
    lambda x, k: fg.full_like(x, k), lambda x, k: fg.full((2, 3), k),
    lambda x, k: x.new_full((2,), k),
    lambda x, k: x.clone().fill_(k), lambda x, k: x.masked_fill(x > 0, k), lambda x, k: x > k,
    lambda x, k: fg.nn.functional.leaky_relu(x, k), lambda x, k: fg.nn.functional.elu(x, k),
    lambda x, k: fg.nn.functional.threshold(x, k, -k), lambda x, k: k / x, lambda x, k: k - x,
    lambda x, k: x / k, lambda x, k: x % k, lambda x, k: x // k, lambda x, k: x.fmod(k),
    lambda x, k: x.index_fill(0, fg.tensor([1, 3]), k),
    lambda x, k: x.index_add(0, fg.tensor([1, 3]), x[:2], alpha=k),
    lambda x, k: x * (k * 2 + 1) - abs(-k) / 3, lambda x, k: x * k ** 3 + 2 ** k],
    ids=range(31))
def test_where_a_number_is_wanted(function, dtype):
    one_version(function, lambda: [values(dtype)])


@pytest.mark.parametrize("dtype", [fg.float32, fg.float64])
def test_powers_and_assignments(dtype):
    def assign(x, k):
        x[2:4] = k
        x[x > 0] = -k
        return x

    one_version(assign, lambda: [values(dtype)])
    floats = [2.0, 3.0, 0.5, -0.5, -1.0, 0.0, 1.0, 2.0000000001, 2.5, -3.25, math.inf, math.nan]
    one_version(lambda x, k: x ** k, lambda: [values(dtype)], floats)
    one_version(lambda x, k: k ** x, lambda: [values(dtype)], floats)
    one_version(lambda x, k: x ** k, lambda: [fg.arange(5)], floats)


@pytest.mark.parametrize("function", [
    lambda x, k: x.add(x * x, alpha=k), lambda x, k: x.sub(x * x, alpha=k), lambda x, k: k - x,
    lambda x, k: x.addcmul(x, x + 3, value=k), lambda x, k: x.addcdiv(x, x + 3, value=k),
    lambda x, k: x.clamp(-k, k), lambda x, k: x.lerp(x * x, k), lambda x, k: k / x,
    lambda x, k: fg.nn.functional.leaky_relu(x, k), lambda x, k: fg.nn.functional.elu(x, k),
    lambda x, k: fg.where(x > 0, x * x, k) * k], ids=range(11))
def test_gradients_follow_the_float(function):
    compiled = fg.compile(function, fullgraph=True)

    def gradients(f, k):
        x = values(fg.float64).requires_grad_()
        first, = fg.autograd.grad(f(x, k).sin().sum(), x, create_graph=True)
        second = fg.autograd.grad(first.sum(), x)[0] if first.requires_grad else first
        # Sums of several gradients are taken in another order.
        return bits(first.detach()), [round(value, 12) for value in second.tolist()]

    for k in RATES:
        assert gradients(compiled, k) == gradients(function, k)
    assert versions_of(compiled) == 1


def test_the_gradient_of_a_power_asks_for_the_exponent():
    compiled = fg.compile(lambda x, k: x ** k, fullgraph=True)
    for k in (2.0, 3.0, 0.5, 1.0, 0.0):
        for x in leaf(3), leaf(3):
            compiled(x, k).sum().backward()
            expected = leaf(3)
            (expected ** k).sum().backward()
            assert x.grad.tolist() == expected.grad.tolist()
    assert versions_of(compiled) == 5


def test_only_the_float_that_is_asked_for_is_a_constant():
    def f(x, a, b, c):
        return x * a if b > 0 else x.add(x, alpha=c)

    compiled = fg.compile(f, fullgraph=True)
    for a in RATES:
        for b in (1.0, -1.0):
            assert bits(compiled(values(), a, b, -a)) == bits(f(values(), a, b, -a))
    assert versions_of(compiled) == 2


def test_a_value_that_is_asked_for_and_forgotten_is_a_constant():
    def f(x, k):
        try:
            return x * (2 if k > 1 else 3)
        except RuntimeError:
            return x

    compiled = fg.compile(f, fullgraph=True)
    for k in (0.5, 2.0, 0.5):
        assert bits(compiled(values(), k)) == bits(f(values(), k))


def test_what_python_refuses_of_floats_is_refused():
    compiled = fg.compile(lambda x, k: x * (1 / k), fullgraph=True)
    assert bits(compiled(values(), 2.0)) == bits(values() * 0.5)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        compiled(values(), 0.0)
    power = fg.compile(lambda x, k: x * k ** 0.5, fullgraph=True)
    power(values(), 2.0)
    with pytest.raises(RuntimeError, match="complex"):
        power(values(), -2.0)


def test_a_number_that_does_not_fit_is_refused_when_it_comes():
    compiled = fg.compile(lambda x, k: fg.full_like(x, k), fullgraph=True)
    assert bits(compiled(values(), 1e30)) == bits(fg.full_like(values(), 1e30))
    with pytest.raises(RuntimeError, match="does not fit"):
        compiled(values(), 1e39)
    assert versions_of(compiled) == 1


def test_the_graph_shows_numbers_as_operands_and_its_text_reads_back():
    compiled = fg.compile(lambda x, k: x.add(x, alpha=k), fullgraph=True)
    x = values()
    compiled(x, 0.5)
    version, = compiled.compiled.versions
    graph = version.graph(False)
    assert "add_scaled(%0, %0, %1; alpha=$0)" in graph.code
    again = fg._C.Graph(graph.code)
    assert again.code == graph.code
    number = fg._C.number_tensor(0.25)
    assert again(x, number)[0].tolist() == x.add(x, alpha=0.25).tolist()


# ---- floats that the function reads by itself: inputs once they have changed

class Optimizer:
    def __init__(self):
        self.rate, self.groups = 0.5, [{"momentum": 0.9}]

    @fg.no_grad()
    def step(self, p, grad, buffer):
        buffer.mul_(self.groups[0]["momentum"]).add_(grad)
        return p.add_(buffer, alpha=-self.rate)


def test_floats_of_attributes_are_inputs_once_they_changed():
    optimizer = Optimizer()
    compiled = fg.compile(optimizer.step, fullgraph=True)
    ours, theirs = ([values(), values() * 0.3, values() * 0] for _ in range(2))
    for i, rate in enumerate(RATES):
        optimizer.rate, optimizer.groups[0]["momentum"] = rate, 0.9 - i / 100
        assert bits(compiled(*ours)) == bits(optimizer.step(*theirs))
        assert type(optimizer.rate) is float
    assert versions_of(compiled) <= 3


def test_floats_of_globals_and_closures_are_inputs_once_they_changed(monkeypatch):
    scale = 1.0

    def f(x):
        return x.add(x, alpha=RATE) * scale

    compiled = fg.compile(f, fullgraph=True)
    for i, rate in enumerate(RATES):
        monkeypatch.setitem(globals(), "RATE", rate)
        scale = 1.0 + i // 3
        assert bits(compiled(values())) == bits(f(values()))
    assert versions_of(compiled) <= 3


def test_a_float_attribute_that_the_function_decides_by_or_changes():
    holder = Optimizer()

    def decides(x):
        return x * holder.rate if holder.rate > 0.25 else x

    def changes(x):
        holder.rate = holder.rate * 0.5
        return x * holder.rate

    compiled = fg.compile(decides, fullgraph=True)
    for rate in RATES[:6]:
        holder.rate = rate
        assert bits(compiled(values())) == bits(decides(values()))
    holder.rate, found, compiled = 0.5, [], fg.compile(changes)
    for _ in range(3):
        found.append(bits(compiled(values())))
        assert type(holder.rate) is float


def test_what_another_thread_sees_while_a_function_is_captured_is_the_float():
    k = TracedFloat(fg._C.number_tensor(0.25), 0.25)
    x = values()
    for found, expected in ((x * k, x * 0.25), (k - x, 0.25 - x), (k / x, 0.25 / x),
                            (x.add(x, alpha=k), x.add(x, alpha=0.25)), (x ** k, x ** 0.25)):
        assert bits(found) == bits(expected)
    assert k * 2 == 0.5 and 1 - k == 0.75 and -k == -0.25 and k < 1 and k == k
    assert float(k) == 0.25 and round(k, 1) == round(0.25, 1) and hash(k) == hash(0.25)
    assert f"{k} {k!r} {k:.1f}" == "0.25 0.25 0.2"
    assert math.sqrt(k) == 0.5 and isinstance(k, float) and k.is_integer() is False and 2 ** k
