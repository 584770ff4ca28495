"""Modules of all kinds under fg.compile: captured whole, without a warning, with eager bits."""

import warnings

import foregrad as fg
import foregrad.nn.utils.parametrizations as ready
import foregrad.nn.utils.parametrize as parametrize
import foregrad.nn.utils.prune as prune
import pytest

nn = fg.nn


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight

    def forward(self, x):
        return self.second(self.first(x))


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)


class Collections(nn.Module):
    def __init__(self):
        super().__init__()
        self.named = nn.ParameterDict({"a": fg.ones(4), "b": fg.ones(4)})
        self.listed = nn.ParameterList([fg.ones(4)])

    def forward(self, x):
        return x * self.named["a"] + self.named["b"] + sum(p.sum() for p in self.listed)


def lazy():
    module = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d(), nn.ReLU())
    module(fg.ones(2, 4))
    return module


def hooked():
    module = nn.Linear(4, 3)
    module.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    module.register_forward_hook(lambda m, args, output: output + 1)
    return module


def older_weight_norm():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return nn.utils.weight_norm(nn.Linear(4, 3))


MODELS = {
    "tied weights": Tied, "a lazy module after its first call": lazy, "hooks": hooked,
    "parameters in collections": Collections, "SyncBatchNorm": lambda: nn.SyncBatchNorm(4),
    "dropout and batch norm": lambda: nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 2)),
    "batch norm without a momentum": lambda: nn.BatchNorm1d(4, momentum=None),
    "instance norm with statistics": lambda: nn.Sequential(
        nn.Unflatten(1, (2, 2)), nn.InstanceNorm1d(2, affine=True, track_running_stats=True)),
    "a parametrised weight": lambda: parametrize.register_parametrization(
        nn.Linear(4, 4), "weight", Symmetric()),
    "weight norm": lambda: ready.weight_norm(nn.Linear(4, 3)),
    "spectral norm": lambda: ready.spectral_norm(nn.Linear(4, 3)),
    "orthogonal": lambda: ready.orthogonal(nn.Linear(4, 4)),
    "orthogonal by reflections": lambda: ready.orthogonal(nn.Linear(4, 3)),
    "orthogonal by Cayley": lambda: ready.orthogonal(nn.Linear(4, 4), orthogonal_map="cayley"),
    "the older weight norm": older_weight_norm,
    "the older spectral norm": lambda: nn.utils.spectral_norm(nn.Linear(4, 3)),
    "pruning": lambda: prune.l1_unstructured(nn.Linear(4, 3), "weight", 0.5),
}


def same(a, b):
    return all((x is None and y is None) or x.equal(y) for x, y in zip(a, b, strict=True))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_a_captured_module_has_the_bits_of_the_eager_one(make):
    pair = []
    for _ in range(2):
        fg.manual_seed(0)
        pair.append(make())
    eager, other = pair
    other.load_state_dict(eager.state_dict())
    compiled, x = fg.compile(other, fullgraph=True), fg.randn(5, 4)
    for i in range(3):
        if i == 2:
            eager.eval(), other.eval()
        outputs = []
        for model in (eager, compiled):
            fg.manual_seed(i)
            outputs.append(model(x))
            outputs[-1].sum().backward()
        assert outputs[0].equal(outputs[1])
        assert same([p.grad for p in eager.parameters()], [p.grad for p in other.parameters()])
        assert same(eager.state_dict().values(), other.state_dict().values())
        eager.zero_grad(), other.zero_grad()


def test_a_capture_inside_of_cached_keeps_nothing():
    module = parametrize.register_parametrization(nn.Linear(4, 4), "weight", Symmetric())
    compiled, x = fg.compile(module, fullgraph=True), fg.randn(2, 4)
    with parametrize.cached():
        first = compiled(x)
        assert not parametrize._cache
        with fg.no_grad():
            module.parametrizations.weight.original.mul_(2)
        assert not compiled(x).equal(first)


def test_a_module_that_compiled_itself_is_copied_uncompiled():
    import copy
    module = nn.Linear(2, 2)
    module.compile(fullgraph=True)
    x = fg.ones(1, 2)
    assert module(x).equal(copy.deepcopy(module)(x)) and module._compiled_call_impl
    assert copy.deepcopy(module)._compiled_call_impl is None
