"""fg.compile(module) is a Module, as PyTorch's OptimizedModule is one."""

import copy
import pickle
import warnings

import foregrad as fg
import pytest

nn = fg.nn


class Scaled(nn.Module):
    """Has what compiled modules are asked for: a parameter, a buffer, an attribute."""

    def __init__(self):
        super().__init__()
        self.linear, self.scale = nn.Linear(2, 2), 2
        self.register_buffer("offset", fg.ones(2))

    def forward(self, x):
        return self.linear(x) * self.scale + self.offset


def sequence():
    return nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Dropout(0.5))


def test_it_is_a_module_that_returns_itself():
    model = sequence()
    compiled = fg.compile(model, fullgraph=True)
    assert isinstance(compiled, nn.Module) and len(compiled) == 3 and compiled
    assert type(compiled).__name__ == "OptimizedModule" and compiled._orig_mod is model
    assert compiled.eval() is compiled and not compiled.training and not model.training
    assert compiled.train() is compiled and compiled.training and model[2].training
    assert compiled.to(fg.float64) is compiled and model[0].weight.dtype is fg.float64
    assert compiled.float() is compiled and compiled.requires_grad_(False) is compiled
    seen = []
    assert compiled.apply(lambda module: seen.append(type(module).__name__)) is compiled
    assert seen == ["Linear", "ReLU", "Dropout", "Sequential", "OptimizedModule"]
    assert repr(compiled).startswith("OptimizedModule(\n  (_orig_mod): Sequential(\n    (0): Lin")
    with pytest.raises(TypeError, match=r"Linear does not support len\(\)"):
        len(fg.compile(nn.Linear(2, 2)))
    assert fg.compile(nn.Linear(2, 2))


def test_names_begin_with_those_of_pytorch():
    compiled = fg.compile(Scaled())
    names = ["_orig_mod.linear.weight", "_orig_mod.linear.bias", "_orig_mod.offset"]
    assert sorted(compiled.state_dict()) == sorted(names)
    assert [name for name, _ in compiled.named_parameters()] == names[:2]
    assert [name for name, _ in compiled.named_modules()] == ["", "_orig_mod", "_orig_mod.linear"]
    other = fg.compile(Scaled())
    other.load_state_dict(compiled.state_dict())
    assert other.linear.weight.equal(compiled.linear.weight)
    with pytest.raises(RuntimeError, match="_orig_mod.linear.weight"):
        compiled.load_state_dict(Scaled().state_dict())


def test_a_parent_trains_what_it_holds():
    class Parent(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = fg.compile(Scaled(), fullgraph=True)
            self.listed = nn.ModuleList([fg.compile(nn.Linear(2, 2), fullgraph=True)])

        def forward(self, x):
            return self.listed[0](self.inner(x))

    parent = Parent()
    assert [name for name, _ in parent.named_parameters()] == [
        "inner._orig_mod.linear.weight", "inner._orig_mod.linear.bias",
        "listed.0._orig_mod.weight", "listed.0._orig_mod.bias"]
    optimizer = fg.optim.SGD(parent.parameters(), lr=0.1)
    before = [parameter.clone() for parameter in parent.parameters()]
    parent(fg.ones(1, 2)).sum().backward()
    optimizer.step()
    assert not any(a.equal(b) for a, b in zip(before, parent.parameters()))
    whole = nn.Sequential(parent, fg.compile(nn.Tanh()))
    assert fg.compile(whole, fullgraph=True)(fg.ones(1, 2)).equal(whole(fg.ones(1, 2)))


def test_attributes_are_those_of_the_module():
    model = Scaled()
    compiled = fg.compile(model, fullgraph=True)
    x = fg.ones(1, 2)
    assert compiled.scale == 2 and compiled.linear is model.linear and "scale" in dir(compiled)
    compiled.scale = 3
    assert model.scale == 3 and compiled(x).equal(model(x))
    compiled.extra = nn.Parameter(fg.ones(1))
    assert "extra" in dict(model.named_parameters())
    del compiled.extra
    assert not hasattr(model, "extra")
    with pytest.raises(AttributeError, match="'Scaled' object has no attribute 'missing'"):
        compiled.missing
    compiled.training = False
    assert not model.training and "training" not in vars(compiled)
    compiled.zero_grad()


def test_hooks_run_around_the_captured_code_and_inside():
    model = Scaled()
    compiled, x = fg.compile(model, fullgraph=True), fg.ones(1, 2)
    plain, seen = compiled(x), []
    outer = compiled.register_forward_hook(lambda m, args, out: seen.append(m) or out * 0)
    assert compiled(x).abs().sum() == 0 and seen == [compiled] and model(x).equal(plain)
    outer.remove()
    inner = model.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    assert compiled(x).equal(model(x)) and not compiled(x).equal(plain)
    inner.remove()
    assert compiled(x).equal(plain)
    around = fg.compile(lambda x: compiled(x) + 1, fullgraph=True)
    assert around(x).equal(plain + 1)
    compiled.register_forward_hook(lambda m, args, out: out * 2)
    assert around(x).equal(plain * 2 + 1)


@pytest.mark.parametrize("again", [copy.deepcopy, copy.copy,
                                   lambda module: pickle.loads(pickle.dumps(module))],
                         ids=["deepcopy", "copy", "pickle"])
def test_copies_are_compiled_modules_of_their_own(again):
    compiled, x = fg.compile(sequence().eval(), fullgraph=True), fg.ones(1, 2)
    first = compiled(x)
    other = again(compiled)
    assert type(other) is type(compiled) and other(x).equal(first) and not other.training
    if again is not copy.copy:
        assert other._orig_mod is not compiled._orig_mod
        with fg.no_grad():
            other[0].weight.zero_() if hasattr(type(other), "__getitem__") else (
                other._orig_mod[0].weight.zero_())
        assert compiled(x).equal(first)
    assert len(other._compiled.compiled.versions) >= 1, "it was captured"


def test_a_module_compiles_itself_in_place():
    model, x = Scaled(), fg.ones(1, 2)
    expected, names = model(x), list(model.state_dict())
    assert model.compile(fullgraph=True) is None
    before = fg.compiler.counters.calls
    assert model(x).equal(expected) and fg.compiler.counters.calls == before + 1
    assert list(model.state_dict()) == names and type(model) is Scaled
    model.register_forward_hook(lambda m, args, out: out * 2)
    assert model(x).equal(expected * 2)
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(Scaled()))):
        assert other._compiled_call_impl is None
    model.scale = 0
    assert model(x).equal(model.offset.expand(1, 2) * 2)


def test_objects_with_forward_that_are_no_modules():
    class Layer:
        training = True

        def forward(self, x):
            return x * 2

        __call__ = forward

    compiled = fg.compile(Layer(), fullgraph=True)
    assert not isinstance(compiled, nn.Module) and compiled(fg.ones(1)).item() == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert copy.deepcopy(compiled)(fg.ones(1)).item() == 2
