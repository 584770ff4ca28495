"""A layer and the batch normalisation behind it as one layer, for inference."""

from __future__ import annotations

import copy

from foregrad import _C
from foregrad.nn.parameter import Parameter

TYPE_CHECKING = False  # read by make_stubs.py
if TYPE_CHECKING:
    from foregrad import Tensor
    from foregrad.nn.modules.batchnorm import _BatchNorm
    from foregrad.nn.modules.conv import _ConvNd
    from foregrad.nn.modules.linear import Linear

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval",
           "fuse_linear_bn_weights"]

_f = _C._functions


def _check(layer, bn):
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    if bn.running_mean is None or bn.running_var is None:
        raise AssertionError("bn.running_mean and bn.running_var must not be None")


def fuse_conv_bn_eval(conv: _ConvNd, bn: _BatchNorm, transpose: bool = False) -> _ConvNd:
    """A convolution that gives what bn(conv(x)) gives; both are in eval mode."""
    _check(conv, bn)
    made = copy.deepcopy(conv)
    made.weight, made.bias = fuse_conv_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias,
        transpose)
    return made


def fuse_conv_bn_weights(conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor,
                         bn_eps: float, bn_w: Tensor | None, bn_b: Tensor | None,
                         transpose: bool = False) -> tuple[Parameter, Parameter]:
    """The weight and the bias of the fused convolution."""
    shape = [1] * conv_w.dim()
    shape[1 if transpose else 0] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_eval(linear: Linear, bn: _BatchNorm) -> Linear:
    """A Linear that gives what bn(linear(x)) gives; both are in eval mode."""
    _check(linear, bn)
    if bn.num_features not in (linear.out_features, 1):
        raise AssertionError("To fuse, linear.out_features == bn.num_features or "
                             f"bn.num_features == 1, got linear.out_features="
                             f"{linear.out_features} and bn.num_features={bn.num_features}")
    made = copy.deepcopy(linear)
    made.weight, made.bias = fuse_linear_bn_weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias)
    return made


def fuse_linear_bn_weights(linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor,
                           bn_rv: Tensor, bn_eps: float, bn_w: Tensor | None,
                           bn_b: Tensor | None) -> tuple[Parameter, Parameter]:
    """The weight and the bias of the fused Linear."""
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, (-1, 1))


def _fused(weight, bias, mean, var, eps, scale, shift, shape):
    factor = (var + eps).rsqrt()
    if scale is not None:
        factor = factor * scale
    moved = (factor * -mean) if bias is None else (bias - mean) * factor
    if shift is not None:
        moved = moved + shift
    made = (weight * factor.reshape(shape)).detach(), moved.detach()
    trained = weight.requires_grad, bias is not None and bias.requires_grad
    return tuple(Parameter(one.to(weight.dtype), on) for one, on in zip(made, trained))
