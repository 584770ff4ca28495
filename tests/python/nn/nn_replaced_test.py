"""Modules with other tensors, and layers fused with the normalisation behind them."""

import foregrad as fg
import foregrad.nn.utils.parametrizations as ready
import foregrad.nn.utils.stateless as stateless
import pytest

nn = fg.nn


def call(module, tensors, *args, **more):
    with pytest.warns(FutureWarning, match="func.functional_call"):
        return stateless.functional_call(module, tensors, *args, **more)


def test_a_module_is_called_with_other_tensors_and_keeps_its_own():
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    tensors = {"0.weight": fg.ones(2, 2, requires_grad=True), "1.running_mean": fg.zeros(2)}
    call(module, tensors, fg.randn(4, 2)).pow(2).sum().backward()
    assert tensors["0.weight"].grad is not None and module[0].weight.grad is None
    assert tensors["1.running_mean"].abs().sum() > 0
    assert module.state_dict()["1.running_mean"].equal(before["1.running_mean"])
    with pytest.raises(ValueError):
        call(module, tensors, fg.randn(1, 2))  # one value per channel
    assert module[0].weight.equal(before["0.weight"]), "also after an error"


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Parameter(fg.ones(2))
        self.second = self.first
        self.register_buffer("count", fg.zeros(1))

    def forward(self, x):
        self.count = self.count + 1
        return x + self.first + self.second


def test_tied_tensors_are_replaced_together_and_buffers_come_back():
    module, tensors = Tied(), {"first": fg.zeros(2), "count": fg.zeros(1)}
    assert call(module, tensors, fg.ones(2)).tolist() == [1, 1]
    assert tensors["count"].item() == 1 and module.count.item() == 0
    assert call(module, {"first": fg.zeros(2)}, fg.ones(2), tie_weights=False).tolist() == [2, 2]
    with pytest.raises(ValueError, match=r"multiple values for keys \['first', 'second'\]"):
        call(module, {"first": fg.zeros(2), "second": fg.ones(2)}, fg.ones(2))
    with pytest.raises(RuntimeError, match=r"Missing key\(s\): 'count'"):
        call(module, {"first": fg.zeros(2)}, fg.ones(2), strict=True)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'more'"):
        call(module, {"more": fg.zeros(2)}, fg.ones(2), strict=True)
    with pytest.raises(TypeError, match="3 is not an instance of foregrad.Tensor"):
        call(module, {"first": 3}, fg.ones(2))


def test_a_parametrised_tensor_may_be_replaced():
    module = ready.weight_norm(nn.Linear(2, 2, bias=False))
    weight = module.weight.detach().clone()
    assert call(module, {"weight": fg.eye(2)}, fg.ones(1, 2)).tolist() == [[1, 1]]
    assert module.weight.equal(weight)


def settled(bn):
    for value in (bn.weight, bn.bias, bn.running_mean, bn.running_var):
        if value is not None:
            nn.init.uniform_(value, 0.5, 1.5)
    return bn.eval()


@pytest.mark.parametrize("layer, sizes, transposed", [
    (nn.Conv2d(3, 4, 3), (2, 3, 5, 5), False),
    (nn.Conv2d(3, 4, 3, bias=False), (2, 3, 5, 5), False),
    (nn.ConvTranspose2d(3, 4, 2), (2, 3, 4, 4), True)])
def test_a_convolution_takes_the_normalisation_in(layer, sizes, transposed):
    bn, x = settled(nn.BatchNorm2d(4)), fg.randn(*sizes)
    fused = nn.utils.fuse_conv_bn_eval(layer.eval(), bn, transposed)
    assert fused(x).allclose(bn(layer(x)), atol=1e-5) and type(fused.bias) is nn.Parameter
    with pytest.raises(AssertionError, match="Fusion only for eval!"):
        nn.utils.fuse_conv_bn_eval(nn.Conv2d(1, 1, 1), bn)


def test_a_linear_layer_takes_the_normalisation_in():
    linear, bn, x = nn.Linear(3, 4).eval(), settled(nn.BatchNorm1d(4)), fg.randn(5, 3)
    assert nn.utils.fuse_linear_bn_eval(linear, bn)(x).allclose(bn(linear(x)), atol=1e-5)
    with pytest.raises(AssertionError, match="linear.out_features == bn.num_features"):
        nn.utils.fuse_linear_bn_eval(linear, nn.BatchNorm1d(2).eval())
    with pytest.raises(AssertionError, match="must not be None"):
        nn.utils.fuse_linear_bn_eval(
            linear, nn.BatchNorm1d(4, track_running_stats=False).eval())
