"""nn.functional: losses, distances, activations, rows of tables and norms."""
import math
import warnings

import pytest

import foregrad as fg
from derivative_checks import check, numbers
from foregrad.nn import functional as F


def signs(*sizes):
    return fg.where(numbers(*sizes).detach() > 0, 1.0, -1.0).double()


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_of_margins_have_gradients(reduction):
    how = dict(reduction=reduction)
    a, b, c = numbers(3, 4), numbers(3, 4, low=-3, high=2), numbers(3, 4, low=0, high=3)
    y, rows, shares = signs(3, 4), signs(3), c.detach() / 3
    check(lambda a, b: F.margin_ranking_loss(a, b, y, 0.3, **how), a, b)
    check(lambda a: F.hinge_embedding_loss(a, y, 0.3, **how), a)
    check(lambda a, b: F.cosine_embedding_loss(a, b, rows, 0.1, **how), a, b)
    check(lambda a, b, c: F.triplet_margin_loss(a, b, c, 2.0, swap=True, **how), a, b, c)
    check(lambda a: F.soft_margin_loss(a, y, **how), a)
    check(lambda a: F.multi_margin_loss(a, fg.tensor([0, 3, 1]), p=2, **how), a)
    labels = fg.tensor([[0, 3, -1, 1], [1, 2, 0, -1], [-1, 0, 0, 0]])
    check(lambda a: F.multilabel_margin_loss(a, labels, **how), a)
    check(lambda a: F.multilabel_soft_margin_loss(a, shares, **how), a)


def test_likelihoods_have_gradients():
    x, y, v = numbers(3, 2), numbers(3, 2, low=1.5, high=4), numbers(3, 2, low=0.5, high=2)
    check(lambda x, y: F.poisson_nll_loss(x, y, full=True), x, y)
    check(lambda x, y, v: F.gaussian_nll_loss(x, y, v, full=True), x, y, v)
    w = numbers(5, 2)
    check(lambda x, w: F.linear_cross_entropy(x, w, fg.tensor([0, 4, 2])), x, w)


def test_losses_have_the_values_of_pytorch():
    x = fg.tensor([0.1, 0.2, 0.4, 0.8])
    assert math.isclose(F.multilabel_margin_loss(x, fg.tensor([3, 0, -1, 1])).item(), 0.85,
                        rel_tol=1e-6)
    assert math.isclose(F.gaussian_nll_loss(fg.ones(3, 2), fg.ones(3, 2), 2.0).item(),
                        math.log(2) / 2, rel_tol=1e-6)
    full = F.poisson_nll_loss(fg.ones(3), fg.tensor([0.0, 1, 5]), full=True, reduction="none")
    assert fg.allclose(full, fg.tensor([2.7183, 1.7183, 2.4891]), atol=1e-4)


def test_ctc_loss_counts_all_paths():
    log_probs = fg.full((3, 1, 3), math.log(1 / 3), dtype=fg.float64)
    loss = F.ctc_loss(log_probs, fg.tensor([[1, 2]]), [3], [2], reduction="none")
    # 112, 122, 012, 102, 120: five of 27 paths spell the two labels.
    assert math.isclose(loss.item(), -math.log(5 / 27))
    never = F.ctc_loss(log_probs, fg.tensor([[1, 1]]), [2], [2], reduction="none")
    assert never.item() == math.inf
    assert F.ctc_loss(log_probs, fg.tensor([[1, 1]]), [2], [2], zero_infinity=True).item() == 0


def test_ctc_loss_has_the_gradient_of_scores():
    scores, lengths = numbers(5, 2, 4), (fg.tensor([5, 4]), fg.tensor([2, 1]))
    targets = fg.tensor([1, 3, 2])

    def loss(x):
        return F.ctc_loss(F.log_softmax(x, -1), targets, *lengths)

    assert fg.autograd.gradcheck(loss, (scores,))
    assert fg.equal(fg.compile(loss, fullgraph=True)(scores), loss(scores))


def test_distances_have_gradients():
    a, b = numbers(4, 3), numbers(4, 3, low=0, high=2)
    check(lambda a, b: F.cosine_similarity(a, b), a, b)
    check(lambda a, b: F.pairwise_distance(a, b, 3.0), a, b)
    for p in (1.0, 1.5, 2.0, 3.0):
        check(lambda a: F.pdist(a, p), a)
    equal_rows = fg.ones(2, 3, requires_grad=True)
    F.pdist(equal_rows).sum().backward()
    assert equal_rows.grad.count_nonzero() == 0


@pytest.mark.parametrize("call, error, words", [
    (lambda x: F.multi_margin_loss(x, fg.tensor([0, 1]), p=3), ValueError, "p is 3"),
    (lambda x: F.multi_margin_loss(x, fg.tensor([0, 9])), RuntimeError, "out of bounds"),
    (lambda x: F.multilabel_margin_loss(x, fg.tensor([[0, 9, 1], [0, 1, 2]])), RuntimeError,
     "target 9"),
    (lambda x: F.margin_ranking_loss(x, x, x, reduction="max"), ValueError, "reduction"),
    (lambda x: F.triplet_margin_loss(x, x, x, margin=0.0), ValueError, "margin"),
    (lambda x: F.cosine_embedding_loss(x, x, x), RuntimeError, "one number per pair"),
    (lambda x: F.gaussian_nll_loss(x, x, -x), ValueError, "negative"),
    (lambda x: F.pdist(x[0]), RuntimeError, "matrix"),
    (lambda x: F.ctc_loss(x, x, x, x), RuntimeError, "integers"),
    (lambda x: F.glu(x), RuntimeError, "odd size 3"),
    (lambda x: F.prelu(x, fg.ones(2)), RuntimeError, "3 channels"),
    (lambda x: F.softshrink(x, -1.0), RuntimeError, "negative"),
    (lambda x: F.celu(x, 0.0), RuntimeError, "alpha is 0"),
    (lambda x: F.instance_norm(x.view(2, 3, 1)), ValueError, "spatial element"),
    (lambda x: F.embedding_bag(fg.tensor([0]), x), ValueError, "offsets"),
    (lambda x: F.embedding_bag(fg.tensor([0]), x, fg.tensor([1])), RuntimeError, "expected 0"),
])
def test_misuse_is_named(call, error, words):
    with pytest.raises(error, match=words):
        call(fg.ones(2, 3))


@pytest.mark.parametrize("name", ["hardshrink", "softshrink", "hardsigmoid", "hardswish", "celu",
                                  "softsign", "tanhshrink", "rrelu", "glu", "selu"])
def test_activations_have_gradients(name):
    check(getattr(F, name), numbers(3, 4, low=-4, high=4))


def test_slopes_of_prelu_have_gradients():
    check(F.prelu, numbers(2, 3, 2), numbers(3))


@pytest.mark.parametrize("name", ["celu_", "elu_", "selu_", "leaky_relu_", "hardtanh_", "relu_",
                                  "rrelu_"])
def test_in_place_forms_write_and_have_gradients(name):
    x = fg.tensor([-1.0, 0.5], requires_grad=True)
    y = x * 2
    assert getattr(F, name)(y) is y
    y.sum().backward()
    plain = x.detach().clone().requires_grad_()
    getattr(F, name[:-1])(plain * 2).sum().backward()
    assert fg.equal(x.grad, plain.grad)


def test_random_activations_keep_their_distribution():
    fg.manual_seed(2)
    kept = F.alpha_dropout(fg.randn(40000), 0.3, True)
    assert abs(kept.mean()) < 0.05 and abs(kept.std() - 1) < 0.05
    slopes = -F.rrelu(-fg.ones(1000), 0.1, 0.5, training=True)
    assert slopes.min() >= 0.1 and slopes.max() < 0.5 and abs(slopes.mean() - 0.3) < 0.02
    chosen = F.gumbel_softmax(fg.zeros(3000, 3), hard=True)
    assert fg.equal(chosen.sum(-1), fg.ones(3000)) and abs(chosen[:, 0].mean() - 1 / 3) < 0.05


@pytest.mark.parametrize("mode, wanted", [("sum", [[3.0, 5, 7], [0, 0, 0], [18, 21, 24]]),
                                          ("mean", [[1.5, 2.5, 3.5], [0, 0, 0], [6, 7, 8]]),
                                          ("max", [[3.0, 4, 5], [0, 0, 0], [9, 10, 11]])])
def test_embedding_bag_combines_the_rows_of_bags(mode, wanted):
    table = fg.arange(12.0, dtype=fg.float64).view(4, 3).requires_grad_()
    indices, offsets = fg.tensor([0, 1, 2, 3, 1]), fg.tensor([0, 2, 2])
    assert F.embedding_bag(indices, table, offsets, mode=mode).tolist() == wanted
    check(lambda t: F.embedding_bag(indices, t, offsets, mode=mode, padding_idx=1), table)
    ends = fg.tensor([0, 2, 2, 5])
    whole = F.embedding_bag(indices, table, ends, mode=mode, include_last_offset=True)
    assert whole.tolist() == wanted


def test_max_norm_scales_the_rows_that_are_read():
    table = fg.tensor([[3.0, 4], [0.3, 0.4], [6, 8]])
    rows = F.embedding(fg.tensor([0, 1, 0]), table, max_norm=1.0)
    assert fg.allclose(rows.norm(dim=1), fg.tensor([1.0, 0.5, 1.0]))
    assert table[2].tolist() == [6, 8] and fg.allclose(table[0], fg.tensor([0.6, 0.8]))


def test_instance_norm_keeps_running_statistics():
    x, mean, var = fg.randn(4, 2, 50), fg.zeros(2), fg.ones(2)
    F.instance_norm(x, mean, var, momentum=1.0)
    assert fg.allclose(mean, x.mean((0, 2)), atol=1e-5)
    assert fg.allclose(var, x.var(2).mean(0), atol=1e-5)
    y = F.instance_norm(x, mean, var, use_input_stats=False)
    assert fg.allclose(y, (x - mean[:, None]) / (var[:, None] + 1e-5).sqrt(), atol=1e-5)


def test_norms_and_forms_have_gradients():
    check(lambda x: F.local_response_norm(x, 3, 0.5), numbers(2, 4, 3))
    check(lambda x: F.instance_norm(x), numbers(2, 2, 4))
    check(F.bilinear, numbers(2, 3), numbers(2, 4), numbers(5, 3, 4), numbers(5))
    check(F.conv_tbc, numbers(4, 2, 3), numbers(2, 3, 2), numbers(2))


def test_old_flags_of_losses_warn_and_work():
    x, y = fg.randn(3), fg.ones(3)
    with pytest.warns(UserWarning, match="reduction='sum'"):
        loss = F.soft_margin_loss(x, y, size_average=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert fg.equal(loss, F.soft_margin_loss(x, y, reduction="sum"))
