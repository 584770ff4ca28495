"""Parametrisations: registration, assignment, removal, copies; orthogonal, weight, spectral."""

import copy
import pickle

import foregrad as fg
import foregrad.nn.utils.parametrizations as ready
import foregrad.nn.utils.parametrize as parametrize
import pytest

nn = fg.nn


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).transpose(-1, -2)

    def right_inverse(self, a):
        return a.triu()


class Doubled(nn.Module):
    def forward(self, x):
        return x * 2


class Parts(nn.Module):
    def forward(self, a, b):
        return a + b

    def right_inverse(self, x):
        return x / 4, x * 3 / 4


def symmetric(size=3):
    return parametrize.register_parametrization(nn.Linear(size, size), "weight", Symmetric())


def test_a_parametrised_weight_is_computed_from_the_original():
    module = symmetric()
    original = module.parametrizations.weight.original
    assert module.weight.equal(Symmetric()(original)) and type(original) is nn.Parameter
    assert list(module.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert isinstance(module, nn.Linear) and type(module).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(module) is nn.Linear
    assert parametrize.is_parametrized(module, "weight") and parametrize.is_parametrized(module)
    assert not parametrize.is_parametrized(module, "bias")
    module(fg.ones(2, 3)).sum().backward()
    assert original.grad is not None and original.grad.tril(-1).abs().sum() == 0
    assert repr(module) == """ParametrizedLinear(
  in_features=3, out_features=3, bias=True
  (parametrizations): ModuleDict(
    (weight): ParametrizationList(
      (0): Symmetric()
    )
  )
)"""


def test_an_assigned_value_goes_through_the_inverse():
    module = symmetric(2)
    module.weight = fg.tensor([[1.0, 2.0], [2.0, 3.0]])
    assert module.weight.tolist() == [[1.0, 2.0], [2.0, 3.0]]
    assert module.parametrizations.weight.original.tolist() == [[1.0, 2.0], [0.0, 3.0]]
    parametrize.register_parametrization(module, "weight", Doubled())
    assert module.weight.tolist() == [[2.0, 4.0], [4.0, 6.0]]
    with pytest.raises(RuntimeError, match="Doubled does not implement right_inverse"):
        module.weight = fg.ones(2, 2)


def test_a_tensor_may_be_computed_from_several():
    module = nn.Linear(2, 2)
    bias = module.bias.detach().clone()
    parametrize.register_parametrization(module, "bias", Parts())
    assert [n for n, _ in module.named_parameters()] == [
        "weight", "parametrizations.bias.original0", "parametrizations.bias.original1"]
    assert module.bias.allclose(bias)
    with pytest.raises(ValueError, match="Cannot leave unparametrized"):
        parametrize.remove_parametrizations(module, "bias", leave_parametrized=False)
    parametrize.remove_parametrizations(module, "bias")
    assert type(module) is nn.Linear and type(module.bias) is nn.Parameter
    assert module.bias.allclose(bias)


@pytest.mark.parametrize("leave, expected", [(True, [[1.0, 2.0], [2.0, 3.0]]),
                                             (False, [[1.0, 2.0], [0.0, 3.0]])])
def test_removal_leaves_the_value_or_the_original(leave, expected):
    module = symmetric(2)
    module.weight = fg.tensor([[1.0, 2.0], [2.0, 3.0]])
    original = module.parametrizations.weight.original
    parametrize.remove_parametrizations(module, "weight", leave_parametrized=leave)
    assert module.weight is original and module.weight.tolist() == expected
    assert type(module) is nn.Linear and not hasattr(module, "parametrizations")


def test_wrong_parametrisations_are_refused():
    class Row(nn.Module):
        def forward(self, x):
            return x[0]

    class Wide(nn.Module):
        def forward(self, x):
            return x.double()

    class Number(nn.Module):
        def forward(self, x):
            return 3

    for wrong, words in ((Row(), "may not change the shape"), (Wide(), "may not change the dtype"),
                         (Number(), "must return a tensor, got int")):
        with pytest.raises(ValueError, match=words):
            parametrize.register_parametrization(nn.Linear(2, 2), "weight", wrong)
    row = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Row(), unsafe=True)
    assert row.weight.shape == (2,)
    with pytest.raises(ValueError, match="does not have a parameter, a buffer"):
        parametrize.register_parametrization(nn.Linear(2, 2), "nothing", Doubled())
    with pytest.raises(ValueError, match="does not have a parametrization on weight"):
        parametrize.remove_parametrizations(nn.Linear(2, 2), "weight")


def test_values_are_computed_once_while_cached():
    calls = []

    class Counted(nn.Module):
        def forward(self, x):
            calls.append(1)
            return x * 1

    module = parametrize.register_parametrization(nn.Linear(2, 2), "weight", Counted())
    calls.clear()
    with parametrize.cached():
        first = module.weight
        assert module.weight is first and len(calls) == 1
        with parametrize.cached():
            module.weight
    assert module.weight is not first and len(calls) == 2


def test_copies_and_pickles_are_parametrised_apart():
    module = symmetric()
    for made in (copy.deepcopy(module), pickle.loads(pickle.dumps(module))):
        assert made.weight.equal(module.weight) and type(made).__name__ == "ParametrizedLinear"
        with fg.no_grad():
            made.parametrizations.weight.original.add_(1)
        assert not made.weight.equal(module.weight)
        parametrize.remove_parametrizations(made, "weight")
        assert type(made) is nn.Linear and parametrize.is_parametrized(module)


def test_parametrisations_are_given_to_another_module():
    module, other = symmetric(), nn.Linear(3, 3)
    parametrize.transfer_parametrizations_and_params(module, other)
    assert other.weight.equal(module.weight)
    assert other.parametrizations.weight.original is module.parametrizations.weight.original


def eye_of(weight):
    wide = weight.shape[0] < weight.shape[1]
    return weight @ weight.t() if wide else weight.t() @ weight


@pytest.mark.parametrize("trivial", [True, False])
@pytest.mark.parametrize("kind", ["matrix_exp", "cayley", "householder"])
@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 3)])
def test_orthogonal_weights_stay_orthogonal_in_training(sizes, kind, trivial):
    module = ready.orthogonal(nn.Linear(*sizes), orthogonal_map=kind, use_trivialization=trivial)
    optimizer = fg.optim.SGD([module.parametrizations.weight.original], lr=0.1)
    size = min(sizes)
    for _ in range(3):
        assert eye_of(module.weight).allclose(fg.eye(size), atol=1e-4)
        optimizer.zero_grad()
        (module(fg.ones(2, sizes[0])) ** 2).sum().backward()
        optimizer.step()


def test_an_orthogonal_weight_keeps_an_orthogonal_value():
    module, value = nn.Linear(3, 3), nn.init.orthogonal_(fg.empty(3, 3))
    with fg.no_grad():
        module.weight.copy_(value)
    ready.orthogonal(module)
    assert module.weight.allclose(value, atol=1e-6)
    module.weight = fg.eye(3)
    assert module.weight.allclose(fg.eye(3), atol=1e-6)
    with pytest.raises(ValueError, match="orthogonal_map has to be one of"):
        ready.orthogonal(nn.Linear(2, 2), orthogonal_map="some")
    with pytest.raises(ValueError, match="Expected a matrix or batch of matrices"):
        ready.orthogonal(nn.Linear(2, 2), "bias")
    with pytest.raises(NotImplementedError, match="It is not possible to assign"):
        ready.orthogonal(nn.Linear(2, 2), use_trivialization=False).weight = fg.eye(2)


def test_weight_norm_learns_lengths_and_reads_older_states():
    module = nn.Linear(3, 4)
    weight = module.weight.detach().clone()
    ready.weight_norm(module)
    assert module.weight.allclose(weight)
    assert module.parametrizations.weight.original0.shape == (4, 1)
    with pytest.warns(FutureWarning, match="parametrizations.weight_norm"):
        older = nn.utils.weight_norm(nn.Linear(3, 4))
    assert list(older.state_dict()) == ["bias", "weight_g", "weight_v"]
    module.load_state_dict(older.state_dict())
    x = fg.randn(2, 3)
    assert module(x).allclose(older(x))
    older(x).sum().backward()
    assert older.weight_g.grad is not None
    before = older(x)
    nn.utils.remove_weight_norm(older)
    assert older(x).allclose(before) and list(older.state_dict()) == ["bias", "weight"]
    with pytest.raises(ValueError, match="weight_norm of 'weight' not found"):
        nn.utils.remove_weight_norm(older)


@pytest.mark.parametrize("apply", [ready.spectral_norm, nn.utils.spectral_norm])
def test_spectral_norm_divides_by_the_largest_singular_value(apply):
    module = nn.Linear(4, 4)
    with fg.no_grad():
        module.weight.copy_(fg.diag(fg.tensor([3.0, 1.0, 0.5, 0.1])))
    apply(module)
    for _ in range(30):
        module(fg.ones(1, 4))
    module.eval()
    module(fg.ones(1, 4))
    assert module.weight.diagonal().allclose(fg.tensor([1.0, 1 / 3, 0.5 / 3, 0.1 / 3]), atol=1e-4)


def test_spectral_norm_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="n_power_iterations to be positive"):
        ready.spectral_norm(nn.Linear(2, 2), n_power_iterations=0)
    with pytest.raises(IndexError, match="Dimension out of range"):
        ready.spectral_norm(nn.Linear(2, 2), dim=3)
    module = nn.utils.spectral_norm(nn.Linear(2, 2))
    assert list(module.state_dict()) == ["bias", "weight_orig", "weight_u", "weight_v"]
    with pytest.raises(RuntimeError, match="Cannot register two spectral_norm hooks"):
        nn.utils.spectral_norm(module)
    nn.utils.remove_spectral_norm(module)
    assert list(module.state_dict()) == ["bias", "weight"]
