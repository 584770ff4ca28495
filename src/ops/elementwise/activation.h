// Activations of neural networks, each with the gradient function that its node calls.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<"relu(Tensor self) -> Tensor"> relu;
FG_FUNCTION ir::Function<"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor">
    threshold;
FG_FUNCTION
ir::Function<"threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor">
    threshold_backward;
FG_FUNCTION ir::Function<"hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor">
    hardtanh;
FG_FUNCTION ir::Function<
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor">
    hardtanh_backward;
FG_FUNCTION ir::Function<"relu6(Tensor self) -> Tensor"> relu6;
FG_FUNCTION ir::Function<"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor">
    leaky_relu;
FG_FUNCTION ir::Function<
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope) -> Tensor">
    leaky_relu_backward;
FG_FUNCTION
ir::Function<"elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor">
    elu;
FG_FUNCTION ir::Function<
    "elu_backward(Tensor grad_output, Tensor self, Scalar alpha, Scalar scale, Scalar "
    "input_scale) -> Tensor">
    elu_backward;
FG_FUNCTION ir::Function<"selu(Tensor self) -> Tensor"> selu;
FG_FUNCTION ir::Function<"gelu(Tensor self, *, str approximate='none') -> Tensor"> gelu;
FG_FUNCTION ir::Function<
    "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor">
    gelu_backward;
FG_FUNCTION ir::Function<"silu(Tensor self) -> Tensor"> silu;
FG_FUNCTION ir::Function<"silu_backward(Tensor grad_output, Tensor self) -> Tensor"> silu_backward;
FG_FUNCTION ir::Function<"mish(Tensor self) -> Tensor"> mish;
FG_FUNCTION ir::Function<"mish_backward(Tensor grad_output, Tensor self) -> Tensor"> mish_backward;
FG_FUNCTION ir::Function<"softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor">
    softplus;
FG_FUNCTION ir::Function<
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor">
    softplus_backward;
FG_FUNCTION ir::Function<"log_sigmoid(Tensor self) -> Tensor"> log_sigmoid;
FG_FUNCTION ir::Function<"log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor">
    log_sigmoid_backward;
FG_FUNCTION ir::Function<"celu(Tensor self, Scalar alpha=1.0) -> Tensor"> celu;
FG_FUNCTION ir::Function<"hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor"> hardshrink;
FG_FUNCTION
ir::Function<"hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor">
    hardshrink_backward;
FG_FUNCTION ir::Function<"softshrink(Tensor self, Scalar lambd=0.5) -> Tensor"> softshrink;
FG_FUNCTION ir::Function<"hardsigmoid(Tensor self) -> Tensor"> hardsigmoid;
FG_FUNCTION ir::Function<"hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor">
    hardsigmoid_backward;
FG_FUNCTION ir::Function<"hardswish(Tensor self) -> Tensor"> hardswish;
FG_FUNCTION ir::Function<"hardswish_backward(Tensor grad_output, Tensor self) -> Tensor">
    hardswish_backward;
FG_FUNCTION ir::Function<"softsign(Tensor self) -> Tensor"> softsign;
FG_FUNCTION ir::Function<"tanhshrink(Tensor self) -> Tensor"> tanhshrink;
// The slope below zero is a number, or one per channel.
FG_FUNCTION ir::Function<"prelu(Tensor self, Tensor weight) -> Tensor"> prelu;
FG_FUNCTION ir::Function<"glu(Tensor self, int dim=-1) -> Tensor"> glu;
FG_FUNCTION ir::InplaceOf<decltype(relu)> relu_;
FG_FUNCTION ir::InplaceOf<decltype(celu)> celu_;
FG_FUNCTION ir::InplaceOf<decltype(selu)> selu_;
FG_FUNCTION ir::InplaceOf<decltype(hardsigmoid)> hardsigmoid_;
FG_FUNCTION ir::InplaceOf<decltype(hardswish)> hardswish_;
FG_FUNCTION ir::InplaceOf<decltype(threshold)> threshold_;
FG_FUNCTION ir::InplaceOf<decltype(hardtanh)> hardtanh_;
FG_FUNCTION ir::InplaceOf<decltype(leaky_relu)> leaky_relu_;
FG_FUNCTION ir::InplaceOf<decltype(elu)> elu_;
FG_FUNCTION ir::InplaceOf<decltype(silu)> silu_;
FG_FUNCTION ir::InplaceOf<decltype(mish)> mish_;

}  // namespace fg
