"""Stores of a function into attributes, dictionaries and lists are made by captured code too."""

import types
import warnings

import foregrad as fg
import pytest
from capture_compare import versions_of
from foregrad.compiler import counters

nn = fg.nn


class Attention(nn.Module):
    """Keeps its weights, as public transformers do."""

    def __init__(self):
        super().__init__()
        self.query, self.key = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        p = (self.query(x) @ self.key(x).transpose(-1, -2)).softmax(-1)
        self.attn, self.shape = p, tuple(x.shape)
        return p @ x


def test_a_module_keeps_its_attention_weights():
    model, x = Attention(), fg.arange(12.0).reshape(1, 3, 4).sin()
    compiled, before = fg.compile(model, fullgraph=True), counters.eager
    for i in range(5):
        expected = model(x * i)
        kept = model.attn
        model.attn = None
        assert compiled(x * i).equal(expected)
        assert model.attn.equal(kept) and model.attn is not kept and model.shape == (1, 3, 4)
        assert model.attn.requires_grad
    assert len(compiled._compiled.compiled.versions) <= 3 and counters.eager == before
    grads = []
    for run in (model, compiled):
        model.zero_grad()
        run(x)
        model.attn.pow(2).sum().backward()
        grads.append(model.query.weight.grad.tolist())
    assert grads[0] == grads[1]


class States(nn.Module):
    def __init__(self):
        super().__init__()
        self.states, self.sizes, self.last = [], [], {}

    def forward(self, x):
        for _ in range(2):
            x = x * 2
            self.states.append(x)
        self.sizes.extend([x.shape[0], "end"])
        self.last["x"] = x
        return x


def test_a_list_that_a_function_grows_is_no_reason_for_a_new_version():
    eager, other = States(), States()
    compiled = fg.compile(other, fullgraph=True)
    for i in range(12):
        assert compiled(fg.ones(2) * i).equal(eager(fg.ones(2) * i))
    assert len(other.states) == 24 and other.sizes == eager.sizes == [2, "end"] * 12
    assert all(a.equal(b) for a, b in zip(eager.states, other.states))
    assert other.last["x"].equal(eager.last["x"]) and other.last["x"] is other.states[-1]
    assert len(compiled._compiled.compiled.versions) <= 3


def test_a_list_that_is_read_too_is_compared():
    items = []

    def f(x):
        items.append(x)
        return x * len(items)

    compiled = fg.compile(f, fullgraph=True)
    for i in range(1, 4):
        assert compiled(fg.ones(1)).item() == i and len(items) == i


def test_results_that_are_stored_too_are_the_same_tensors():
    holder = types.SimpleNamespace(items=[1, 2])

    def f(x):
        y = x * 2
        holder.one = holder.two = y
        holder.items[1] = y
        holder.view = y[0]
        holder.input = x
        return y

    compiled = fg.compile(f, fullgraph=True)
    for _ in range(3):
        x = fg.ones(2)
        y = compiled(x)
        assert holder.one is y and holder.two is y and holder.items[1] is y and holder.input is x
        y.add_(1)
        assert holder.view.item() == 3 and holder.items[0] == 1


def test_a_state_that_goes_from_call_to_call():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", fg.zeros(2))
            self.hidden = None

        def forward(self, x):
            self.hidden = x if self.hidden is None else fg.tanh(self.hidden + x)
            self.mean = self.mean * 0.5 + x.detach()
            return self.hidden

    eager, other = Recurrent(), Recurrent()
    compiled = fg.compile(other, fullgraph=True)
    for run, model in ((eager, eager), (compiled, other)):
        model.x = fg.ones(2, requires_grad=True)
        for _ in range(5):
            result = run(model.x)
        result.sum().backward()
    assert eager.hidden.equal(other.hidden) and eager.mean.equal(other.mean)
    assert eager.x.grad.equal(other.x.grad) and "mean" in other.state_dict()
    assert len(compiled._compiled.compiled.versions) <= 4


def test_containers_of_tensors_are_stored_and_shared_ones_are_refused():
    holder = types.SimpleNamespace()

    def f(x):
        holder.parts = {"a": (x * 2, [x * 3]), "n": 1}
        return x

    compiled = fg.compile(f, fullgraph=True)
    for i in range(3):
        compiled(fg.ones(1) * i)
        assert holder.parts["a"][0].item() == 2 * i and holder.parts["a"][1][0].item() == 3 * i

    def shared(x):
        made = [x * 2]
        holder.made = made
        return made

    with pytest.raises(RuntimeError, match="keeps a tensor"):
        fg.compile(shared, fullgraph=True)(fg.ones(1))
    with pytest.warns(UserWarning, match="keeps a tensor"):
        assert fg.compile(shared)(fg.ones(1)) is holder.made


def test_a_failed_capture_stores_nothing():
    holder = types.SimpleNamespace(items=[])

    def f(x):
        holder.items.append(x)
        holder.last = x
        return x * x.sum().item()

    with pytest.raises(RuntimeError):
        fg.compile(f, fullgraph=True)(fg.ones(1))
    assert holder.items == [] and not hasattr(holder, "last")


def test_the_first_call_and_later_ones_store_numbers():
    holder = types.SimpleNamespace(seen=0)

    def f(x):
        holder.seen = 5
        return x * 2

    compiled = fg.compile(f, fullgraph=True)
    for _ in range(3):
        compiled(fg.ones(1))
        assert holder.seen == 5
        holder.seen = 0
    assert versions_of(compiled) == 1


LAST, COUNT = None, 0


def test_variables_are_stored_too():
    free = None

    def f(x):
        nonlocal free
        global LAST
        free, LAST = x * 2, x * 3
        return x

    compiled = fg.compile(f, fullgraph=True)
    for i in range(4):
        compiled(fg.ones(1) * i)
        assert free.item() == 2 * i and LAST.item() == 3 * i
    assert versions_of(compiled) <= 2


def test_counters_count_every_call_once():
    global COUNT
    count = COUNT = 0

    def f(x):
        nonlocal count
        global COUNT
        count, COUNT = count + 1, COUNT + 1
        return x * (x.sum().item() if count > 2 else 2)

    compiled, captured, eager = fg.compile(f), counters.captured, counters.eager
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(1, 13):
            compiled(fg.ones(1))
            assert (count, COUNT) == (i, i)
    assert counters.captured - captured == versions_of(compiled) == 2
    assert counters.eager - eager == 10
