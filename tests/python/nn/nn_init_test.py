"""nn.init: orthogonal and sparse matrices, old names, modules that are not drawn."""

import math

import foregrad as fg
import pytest

init = fg.nn.init


@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (4, 4), (2, 3, 2), (1, 7), (40, 33)])
def test_rows_or_columns_are_orthonormal(sizes):
    flat = init.orthogonal_(fg.empty(sizes), gain=2.0).reshape(sizes[0], -1).double()
    small = flat if flat.shape[0] <= flat.shape[1] else flat.t()
    assert (small @ small.t()).allclose(4 * fg.eye(small.shape[0], dtype=fg.float64), atol=1e-5)


def test_orthogonal_values_are_spread_evenly_and_follow_the_seed():
    def drawn():
        fg.manual_seed(3)
        return init.orthogonal_(fg.empty(30, 30))

    first = drawn()
    assert first.equal(drawn())
    assert abs(first.mean().item()) < 0.02 and abs(first.std().item() * math.sqrt(30) - 1) < 0.05
    generator = fg.Generator().manual_seed(1)
    again = fg.Generator().manual_seed(1)
    assert init.orthogonal_(fg.empty(3, 3), generator=generator).equal(
        init.orthogonal_(fg.empty(3, 3), generator=again))


def test_a_part_of_every_column_is_zero():
    values = init.sparse_(fg.empty(10, 6), 0.35, std=2.0)
    assert [(values[:, i] == 0).sum().item() for i in range(6)] == [4] * 6
    assert values.abs().max() > 0.5


@pytest.mark.parametrize("name", ["uniform", "normal", "eye", "xavier_uniform", "xavier_normal",
                                  "kaiming_uniform", "kaiming_normal", "orthogonal"])
def test_old_names_warn_and_fill(name):
    tensor = fg.zeros(3, 3)
    with pytest.warns(FutureWarning, match=f"`nn.init.{name}` is now deprecated in favor of "
                                           f"`nn.init.{name}_`"):
        assert getattr(init, name)(tensor) is tensor
    assert tensor.abs().sum() > 0


def test_old_names_of_functions_with_arguments():
    with pytest.warns(FutureWarning):
        assert init.constant(fg.zeros(2), 3).tolist() == [3, 3]
    with pytest.warns(FutureWarning):
        assert init.dirac(fg.zeros(1, 1, 3)).tolist() == [[[0, 1, 0]]]
    with pytest.warns(FutureWarning):
        assert (init.sparse(fg.zeros(4, 2), 0.5) == 0).sum() == 4


@pytest.mark.parametrize("call, words", [
    (lambda: init.orthogonal_(fg.zeros(3)), "2 or more dimensions"),
    (lambda: init.sparse_(fg.zeros(3), 0.1), "2 dimensions"),
    (lambda: init.eye_(fg.zeros(3)), "2 dimensions"),
    (lambda: init.dirac_(fg.zeros(2, 2)), "3, 4, or 5 dimensions")])
def test_wrong_sizes_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_a_module_is_made_without_drawing():
    fg.manual_seed(0)
    state = fg.get_rng_state()
    module = fg.nn.utils.skip_init(fg.nn.Linear, 5, 3)
    assert module.weight.shape == (3, 5) and module.weight.requires_grad
    assert fg.get_rng_state().equal(state)
    with pytest.raises(RuntimeError, match="Module must support a 'device' arg"):
        fg.nn.utils.skip_init(fg.nn.ReLU)
