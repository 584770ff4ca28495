"""Pruning, by element and by channel, again and again, over several parameters, and its end."""

import foregrad as fg
import foregrad.nn.utils.prune as prune
import pytest

nn = fg.nn


def linear(inputs=4, outputs=3):
    module = nn.Linear(inputs, outputs)
    with fg.no_grad():
        module.weight.copy_(fg.arange(1.0, inputs * outputs + 1).reshape(outputs, inputs))
    return module


def test_the_smallest_elements_are_pruned_and_stay_so_in_training():
    module = prune.l1_unstructured(linear(), "weight", 0.25)
    assert module.weight_mask.tolist() == [[0, 0, 0, 1], [1] * 4, [1] * 4]
    assert list(module.state_dict()) == ["bias", "weight_orig", "weight_mask"]
    assert prune.is_pruned(nn.Sequential(module)) and not prune.is_pruned(linear())
    module(fg.ones(1, 4)).sum().backward()
    assert module.weight_orig.grad[0].tolist() == [0, 0, 0, 1]
    fg.optim.SGD(module.parameters(), lr=0.1).step()
    module(fg.ones(1, 4))
    assert module.weight[0, :3].tolist() == [0, 0, 0]


def test_pruning_again_looks_at_that_which_is_left():
    module = prune.l1_unstructured(linear(), "weight", 3)
    prune.ln_structured(module, "weight", 1, n=2, dim=0)
    assert module.weight_mask.tolist() == [[0] * 4, [1] * 4, [1] * 4]
    prune.l1_unstructured(module, "weight", 0.5)
    assert module.weight_mask.tolist() == [[0] * 4, [0] * 4, [1] * 4]
    (container,) = module._forward_pre_hooks.values()
    assert [type(each).__name__ for each in container] == ["L1Unstructured", "LnStructured",
                                                           "L1Unstructured"]


def test_removal_leaves_the_pruned_weight():
    module = prune.custom_from_mask(linear(2, 2), "weight", fg.tensor([[1, 0], [0, 1]]))
    prune.remove(module, "weight")
    assert module.weight.tolist() == [[1, 0], [0, 4]] and type(module.weight) is nn.Parameter
    assert list(module.state_dict()) == ["bias", "weight"] and not prune.is_pruned(module)
    with pytest.raises(ValueError, match="has to be pruned before pruning can be removed"):
        prune.remove(module, "weight")


def test_parameters_are_compared_with_each_other():
    first, second = linear(2, 2), linear(2, 2)
    with fg.no_grad():
        second.weight.mul_(10)
    places = [(first, "weight"), (second, "weight")]
    prune.global_unstructured(places, prune.L1Unstructured, amount=4)
    assert first.weight_mask.sum() == 0 and second.weight_mask.sum() == 4
    with pytest.raises(TypeError, match='Only "unstructured" PRUNING_TYPE supported'):
        prune.global_unstructured(places, prune.LnStructured, amount=1, n=2)


@pytest.mark.parametrize("apply, left", [
    (lambda m: prune.random_unstructured(m, "weight", 5), 7),
    (lambda m: prune.random_structured(m, "weight", 2, dim=1), 6),
    (lambda m: prune.random_structured(m, "weight", 1, dim=0), 8),
    (lambda m: prune.identity(m, "weight"), 12), (
        lambda m: prune.random_unstructured(m, "weight", 0), 12),
    (lambda m: prune.l1_unstructured(m, "weight", 1.0), 0)])
def test_as_many_elements_are_left_as_asked(apply, left):
    assert apply(linear()).weight_mask.sum() == left


def test_importance_decides_instead_of_the_values():
    scores = -fg.arange(1.0, 13.0).reshape(3, 4).abs()
    module = prune.l1_unstructured(linear(), "weight", 3, importance_scores=1 / scores)
    assert module.weight_mask[2].tolist() == [1, 0, 0, 0]


@pytest.mark.parametrize("amount, kind, words", [
    (-1, ValueError, "should either be a float"), (1.5, ValueError, "should either be a float"),
    ("x", TypeError, "Must be int or float"), (100, ValueError, "should be smaller than")])
def test_wrong_amounts_are_refused_and_leave_the_module_as_it_was(amount, kind, words):
    module = linear()
    with pytest.raises(kind, match=words):
        prune.l1_unstructured(module, "weight", amount)
    assert sorted(module.state_dict()) == ["bias", "weight"]
    assert module(fg.ones(1, 4)).shape == (1, 3)


def test_wrong_dimensions_are_refused():
    with pytest.raises(ValueError, match="multidimensional tensors"):
        prune.ln_structured(linear(), "bias", 1, 2, 0)
    with pytest.raises(IndexError, match="Invalid index 5"):
        prune.ln_structured(linear(), "weight", 1, 2, 5)
    with pytest.raises(AttributeError, match="nothing"):
        prune.l1_unstructured(linear(), "nothing", 1)
