"""Lazy modules: sizes come with the first input, and until then every use is refused."""

import copy
import pickle

import foregrad as fg
import pytest

nn = fg.nn

CASES = [
    (lambda: nn.LazyLinear(3), (2, 5), "LazyLinear(in_features=0, out_features=3, bias=True)",
     "Linear(in_features=5, out_features=3, bias=True)"),
    (lambda: nn.LazyConv1d(3, 2), (2, 4, 6), "LazyConv1d(0, 3, kernel_size=(2,), stride=(1,))",
     "Conv1d(4, 3, kernel_size=(2,), stride=(1,))"),
    (lambda: nn.LazyConv2d(4, 3, groups=2, bias=False), (2, 6, 6, 6),
     "LazyConv2d(0, 4, kernel_size=(3, 3), stride=(1, 1), groups=2, bias=False)",
     "Conv2d(6, 4, kernel_size=(3, 3), stride=(1, 1), groups=2, bias=False)"),
    (lambda: nn.LazyConvTranspose2d(3, 2), (4, 5, 5),
     "LazyConvTranspose2d(0, 3, kernel_size=(2, 2), stride=(1, 1))",
     "ConvTranspose2d(4, 3, kernel_size=(2, 2), stride=(1, 1))"),
    (lambda: nn.LazyBatchNorm2d(), (2, 3, 4, 4),
     "LazyBatchNorm2d(0, eps=1e-05, momentum=0.1, affine=True, bias=True, "
     "track_running_stats=True)",
     "BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)"),
]


@pytest.mark.parametrize("make, sizes, before, after", CASES, ids=[case[3][:12] for case in CASES])
def test_a_first_call_gives_sizes_and_the_ordinary_class(make, sizes, before, after):
    module = make()
    assert repr(module) == before
    assert [repr(p) for p in module.parameters()][:1] == ["<UninitializedParameter>"]
    module(fg.randn(*sizes))
    assert repr(module) == after and type(module).__name__ == after.partition("(")[0]
    assert all(type(p) is nn.Parameter and p.requires_grad for p in module.parameters())
    assert not module._forward_pre_hooks and not module._load_state_dict_pre_hooks
    module(fg.randn(*sizes)).sum().backward()
    assert all(p.grad is not None for p in module.parameters())


USES = {
    "adding": lambda p: p + 1, "comparing": lambda p: p == 1, "counting": lambda p: p.numel(),
    "indexing": lambda p: p[0], "a method": lambda p: p.sin(), "a view": lambda p: p.view(-1),
    "length": len,
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_tensor_without_sizes_refuses_to_be_used(use):
    for tensor in (nn.UninitializedParameter(), nn.UninitializedBuffer()):
        with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter"):
            use(tensor)


def test_a_tensor_without_sizes_says_what_to_do_and_converts():
    parameter = nn.UninitializedParameter(dtype=fg.float64)
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter"):
        parameter.shape
    with pytest.raises(RuntimeError, match="Can't share memory on an uninitialized"):
        parameter.share_memory_()
    assert parameter.dtype is fg.float64 and parameter.requires_grad
    parameter.materialize((2, 3))
    assert type(parameter) is nn.Parameter and parameter.shape == (2, 3)
    assert parameter.dtype is fg.float64
    assert nn.LazyLinear(2).double()(fg.ones(1, 3, dtype=fg.float64)).dtype is fg.float64


def test_states_are_loaded_into_lazy_modules_and_not_out_of_them():
    lazy, whole = nn.Sequential(nn.LazyLinear(2), nn.LazyBatchNorm1d()), nn.Sequential(
        nn.Linear(3, 2), nn.BatchNorm1d(2))
    assert repr(lazy.state_dict()["0.weight"]) == "<UninitializedParameter>"
    assert repr(lazy.load_state_dict(whole.state_dict())) == "<All keys matched successfully>"
    x = fg.randn(4, 3)
    assert lazy(x).equal(whole(x)) and repr(lazy) == repr(whole)
    with pytest.raises(RuntimeError, match="Can't access the shape"):
        nn.Linear(3, 2).load_state_dict(nn.LazyLinear(2).state_dict())
    lazy = nn.LazyLinear(2)
    lazy.load_state_dict(nn.Linear(3, 2).state_dict())
    with pytest.raises(AssertionError, match="inferred from input: 4 is not equal"):
        lazy(fg.ones(1, 4))


def test_copies_and_pickles_of_lazy_modules_are_lazy():
    original = nn.Sequential(nn.LazyLinear(2), nn.LazyBatchNorm1d())
    for made in (copy.deepcopy(original), pickle.loads(pickle.dumps(original))):
        made(fg.ones(2, 3))
        assert repr(made[0]) == "Linear(in_features=3, out_features=2, bias=True)"
        assert made[0].weight.shape == (2, 3)
    assert repr(original[0]).startswith("LazyLinear")


def test_wrong_first_inputs_are_refused():
    with pytest.raises(RuntimeError, match=r"Expected 3D \(unbatched\) or 4D \(batched\) input to "
                                           "LazyConv2d"):
        nn.LazyConv2d(2, 3)(fg.ones(1, 1))
    with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
        nn.LazyConv2d(4, 3, groups=2)(fg.ones(1, 3, 4, 4))


class Scale(nn.modules.lazy.LazyModuleMixin, nn.Module):
    """A lazy module of a user, that stays of its class."""

    def __init__(self, forgets=False):
        super().__init__()
        self.scale, self.forgets = nn.UninitializedParameter(), forgets

    def initialize_parameters(self, x):
        if not self.forgets and self.has_uninitialized_params():
            self.scale.materialize(x.shape[-1:])
            nn.init.ones_(self.scale)

    def forward(self, x):
        return x * self.scale


def test_modules_of_users_may_be_lazy():
    module = Scale()
    assert module(fg.ones(2, 3)).tolist() == [[1.0] * 3] * 2 and type(module) is Scale
    assert not module.has_uninitialized_params()
    with pytest.raises(RuntimeError, match="module Scale has not been fully initialized"):
        Scale(forgets=True)(fg.ones(1))

    class Without(nn.modules.lazy.LazyModuleMixin, nn.Module):
        pass

    with pytest.raises(NotImplementedError, match="define it in the class"):
        Without()(fg.ones(1))


def test_an_optimiser_that_was_made_before_trains_the_materialised_parameters():
    module = nn.LazyLinear(1)
    optimizer = fg.optim.SGD(module.parameters(), lr=0.1)
    before = module(fg.ones(2, 3)).detach().clone()
    module(fg.ones(2, 3)).sum().backward()
    optimizer.step()
    assert not module(fg.ones(2, 3)).equal(before)
