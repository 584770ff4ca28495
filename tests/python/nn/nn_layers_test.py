"""Layers, containers and ways to begin: what they compute and what they refuse."""

import math
from collections import OrderedDict

import foregrad as fg
import pytest

nn, F = fg.nn, fg.nn.functional


def test_layers_begin_within_pytorchs_bounds():
    fg.manual_seed(0)
    for layer, fan in ((nn.Linear(400, 60), 400), (nn.Conv2d(16, 32, 3), 144),
                       (nn.Conv1d(16, 32, 5, groups=2), 40)):
        bound = 1 / math.sqrt(fan)
        assert 0.97 * bound < layer.weight.abs().max().item() <= bound
        assert abs(layer.weight.std().item() - bound / math.sqrt(3)) < 0.05 * bound
        assert layer.bias.abs().max().item() <= bound
    table = nn.Embedding(500, 20, padding_idx=3)
    assert abs(table.weight.std().item() - 1) < 0.05 and table.weight[3].abs().sum() == 0


def test_ways_to_begin():
    fg.manual_seed(1)
    tensor = nn.init.trunc_normal_(fg.empty(20000, dtype=fg.float64), 1.0, 2.0, 0.0, 2.0)
    assert 0 <= tensor.min() and tensor.max() <= 2 and abs(tensor.mean().item() - 1) < 0.02
    # The part between 0 and 2 of a normal distribution with this spread is nearly uniform.
    assert abs(tensor.std().item() - 0.5678) < 0.02
    assert nn.init.eye_(fg.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]
    conv = nn.Conv1d(2, 2, 3, padding=1, bias=False)
    nn.init.dirac_(conv.weight)
    x = fg.randn(1, 2, 5)
    assert conv(x).equal(x)
    assert nn.init.calculate_gain("leaky_relu", 0.5) == math.sqrt(2 / 1.25)


def test_batch_norm_keeps_and_uses_statistics():
    x = fg.randn(8, 3, 4, 4) * 2 + 1
    norm = nn.BatchNorm2d(3)
    norm(x)
    assert norm.running_mean.allclose(x.mean((0, 2, 3)) * 0.1)
    assert norm.running_var.allclose(x.var((0, 2, 3)) * 0.1 + 0.9)
    assert norm.num_batches_tracked.item() == 1
    norm.eval()
    before = norm.running_mean.clone()
    assert norm(x).allclose(F.batch_norm(x, before, norm.running_var, norm.weight, norm.bias))
    assert norm.running_mean.equal(before)
    average = nn.BatchNorm2d(3, momentum=None)
    average(x), average(x * 3)
    assert average.running_mean.allclose(x.mean((0, 2, 3)) * 2, rtol=1e-4, atol=1e-5)
    with pytest.raises(ValueError, match="Expected more than 1 value per channel"):
        norm.train()(fg.ones(1, 3, 1, 1))


def test_dropout_works_in_training_only():
    drop, x = nn.Dropout(0.5), fg.ones(1000)
    assert 300 < (drop(x) == 0).sum() < 700
    assert drop.eval()(x).equal(x)


def test_convolutions_take_padding_by_name():
    x = fg.randn(2, 3, 7, 7)
    assert nn.Conv2d(3, 4, 3, padding="same", dilation=2)(x).shape == (2, 4, 7, 7)
    assert nn.Conv2d(3, 4, 3, padding="valid")(x).shape == (2, 4, 5, 5)
    with pytest.raises(ValueError, match="padding_mode must be one of"):
        nn.Conv2d(3, 4, 3, padding_mode="some")


def test_sequences():
    model = nn.Sequential(OrderedDict(a=nn.Linear(2, 3), b=nn.Tanh()))
    assert model.a is model[0] is model[-2] and len(model) == 2
    model.append(nn.Linear(3, 1)).insert(0, nn.ReLU())
    assert [type(m).__name__ for m in model[1:3]] == ["Linear", "Tanh"]
    x = fg.randn(4, 2)
    assert model(x).equal(model[3](model[2](model[1](F.relu(x)))))
    del model[0]
    assert list(model._modules) == ["0", "1", "2"]
    assert len(model * 2) == 6 and len(model + model) == 6


def test_lists_print_equal_modules_once():
    blocks = nn.ModuleList(nn.Linear(2, 2) for _ in range(3))
    assert repr(blocks) == ("ModuleList(\n  (0-2): 3 x Linear(in_features=2, out_features=2, "
                            "bias=True)\n)")
    assert [name for name, _ in blocks.named_parameters()][2] == "1.weight"


def test_losses_have_the_values_of_their_functions():
    x, y = fg.randn(4, 3, requires_grad=True), fg.tensor([0, 2, 1, 1])
    weight = fg.tensor([1.0, 2.0, 3.0])
    loss = nn.CrossEntropyLoss(weight, label_smoothing=0.1)(x, y)
    assert loss.equal(F.cross_entropy(x, y, weight, label_smoothing=0.1))
    assert list(nn.CrossEntropyLoss(weight).state_dict()) == ["weight"]
    assert nn.MSELoss(reduction="none")(x, x).shape == (4, 3)


@pytest.mark.parametrize("loss", [F.mse_loss, F.l1_loss, F.smooth_l1_loss, F.huber_loss,
                                  nn.MSELoss(), nn.L1Loss(), nn.SmoothL1Loss(), nn.HuberLoss()])
def test_targets_of_other_sizes_broadcast_with_a_warning(loss):
    x, y = fg.rand(4, 1), fg.rand(4)
    with pytest.warns(UserWarning, match=r"target size \(.*\[4\]\)\) that is different to"):
        value = loss(x, y)
    assert value.item() == pytest.approx(loss(x.expand(4, 4), y.expand(4, 4)).item())
    with pytest.warns(UserWarning), pytest.raises(RuntimeError, match="do not broadcast"):
        loss(fg.rand(4, 3), fg.rand(2, 3))


@pytest.mark.parametrize("loss", [F.binary_cross_entropy, F.binary_cross_entropy_with_logits,
                                  nn.BCELoss(), nn.BCEWithLogitsLoss()])
def test_binary_targets_of_other_sizes_are_refused(loss):
    for sizes in ((4,), (1, 4, 1), (1,), ()):
        with pytest.raises(ValueError, match="size"):
            loss(fg.rand(4, 1), fg.rand(sizes))


def test_clipping():
    a, b = nn.Parameter(fg.zeros(2)), nn.Parameter(fg.zeros(1))
    a.grad, b.grad = fg.tensor([3.0, 0.0]), fg.tensor([4.0])
    assert nn.utils.clip_grad_norm_([a, b], 2.5).item() == 5
    assert a.grad.tolist() + b.grad.tolist() == pytest.approx([1.5, 0, 2], rel=1e-5)
    nn.utils.clip_grad_value_([a, b], 1)
    assert a.grad.tolist() + b.grad.tolist() == [1, 0, 1]
    assert nn.utils.clip_grad_norm_([nn.Parameter(fg.ones(1))], 1.0).item() == 0
    a.grad = fg.tensor([math.inf, 0])
    with pytest.raises(RuntimeError, match="The total norm of order 2.0 for gradients"):
        nn.utils.clip_grad_norm_([a, b], 1, error_if_nonfinite=True)


def test_parameters_as_one_vector():
    layer = nn.Linear(2, 1)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    nn.utils.vector_to_parameters(vector.detach() * 0 + 2, layer.parameters())
    assert layer.weight.tolist() == [[2, 2]] and layer.bias.tolist() == [2]


def test_attention_is_that_of_its_parts_and_compiles():
    fg.manual_seed(0)
    layer, x = nn.MultiheadAttention(8, 2, batch_first=True), fg.randn(3, 5, 8)
    mask = fg.ones(5, 5).triu(1).bool()
    out, weights = layer(x, x, x, attn_mask=mask)
    q, k, v = (part.view(3, 5, 2, 4).transpose(1, 2)
               for part in F.linear(x, layer.in_proj_weight, layer.in_proj_bias).chunk(3, -1))
    mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    assert out.allclose(layer.out_proj(mixed.transpose(1, 2).reshape(3, 5, 8)), atol=1e-6)
    assert weights.shape == (3, 5, 5) and (weights.triu(1) == 0).all()
    assert layer(x, x, x, attn_mask=mask, need_weights=False)[0].allclose(out, atol=1e-6)
    compiled = fg.compile(layer, fullgraph=True)
    assert compiled(x, x, x, attn_mask=mask)[0].equal(out)
    with pytest.raises(RuntimeError, match="Need attn_mask if specifying the is_causal hint"):
        layer(x, x, x, is_causal=True)


def test_instance_norm_normalises_each_sample():
    x = fg.randn(2, 3, 4, 4) * 3 + 2
    out = nn.InstanceNorm2d(3)(x)
    assert out.mean((2, 3)).abs().max() < 1e-5
    assert nn.InstanceNorm2d(3)(x[0]).allclose(out[0], atol=1e-6)
    with pytest.raises(ValueError, match="more than 1 spatial element"):
        nn.InstanceNorm2d(3)(fg.ones(2, 3, 1, 1))


def test_instance_norm_with_running_statistics():
    x, module = fg.randn(2, 3, 4, 4) * 3 + 2, nn.InstanceNorm2d(3, track_running_stats=True)
    assert module(x).allclose(nn.InstanceNorm2d(3)(x), atol=1e-6)
    assert module.running_mean.allclose(0.1 * x.mean((0, 2, 3)), atol=1e-6)
    assert module.running_var.allclose(0.9 + 0.1 * x.var((2, 3)).mean(0), atol=1e-5)
    module.eval()
    expected = (x - module.running_mean.view(3, 1, 1)) / (
        module.running_var.view(3, 1, 1) + 1e-5).sqrt()
    assert module(x).allclose(expected, atol=1e-5) and module(x[0]).allclose(expected[0], atol=1e-5)
    assert repr(module.state_dict()["num_batches_tracked"]) == "tensor(0)"


def test_weighted_losses_are_means_as_in_pytorch():
    x, y, weight = fg.tensor([1.0, 3.0]), fg.zeros(2), fg.tensor([1.0, 3.0])
    assert F.mse_loss(x, y, weight=weight).item() == 28 / 4
    assert F.l1_loss(x, y, weight=weight).item() == 10 / 4
    assert F.huber_loss(x, y, weight=weight).item() == (0.5 + 3 * 2.5) / 2
    assert F.l1_loss(x, y, size_average=False, weight=weight).item() == 10
    with pytest.raises(ValueError, match="same size"):
        F.mse_loss(x, y, weight=fg.ones(1))
    with pytest.raises(ValueError, match="reduction"):
        F.huber_loss(x, y, reduction="max", weight=weight)
