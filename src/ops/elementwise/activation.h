// Activations of neural networks, each with the gradient function that its node calls.
#pragma once

#include "ir/function.h"

namespace fg {

inline constexpr ir::Function<"relu(Tensor self) -> Tensor"> relu;
inline constexpr ir::Function<"threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor">
    threshold;
inline constexpr ir::Function<
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor">
    threshold_backward;
inline constexpr ir::Function<
    "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor">
    hardtanh;
inline constexpr ir::Function<
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor">
    hardtanh_backward;
inline constexpr ir::Function<"relu6(Tensor self) -> Tensor"> relu6;
inline constexpr ir::Function<"leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor">
    leaky_relu;
inline constexpr ir::Function<
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope) -> Tensor">
    leaky_relu_backward;
inline constexpr ir::Function<
    "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor">
    elu;
inline constexpr ir::Function<
    "elu_backward(Tensor grad_output, Tensor self, Scalar alpha, Scalar scale, Scalar "
    "input_scale) -> Tensor">
    elu_backward;
inline constexpr ir::Function<"selu(Tensor self) -> Tensor"> selu;
inline constexpr ir::Function<"gelu(Tensor self, *, str approximate='none') -> Tensor"> gelu;
inline constexpr ir::Function<
    "gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor">
    gelu_backward;
inline constexpr ir::Function<"silu(Tensor self) -> Tensor"> silu;
inline constexpr ir::Function<"silu_backward(Tensor grad_output, Tensor self) -> Tensor">
    silu_backward;
inline constexpr ir::Function<"mish(Tensor self) -> Tensor"> mish;
inline constexpr ir::Function<"mish_backward(Tensor grad_output, Tensor self) -> Tensor">
    mish_backward;
inline constexpr ir::Function<"softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor">
    softplus;
inline constexpr ir::Function<
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor">
    softplus_backward;
inline constexpr ir::Function<"log_sigmoid(Tensor self) -> Tensor"> log_sigmoid;
inline constexpr ir::Function<"log_sigmoid_backward(Tensor grad_output, Tensor self) -> Tensor">
    log_sigmoid_backward;
inline constexpr ir::Function<"celu(Tensor self, Scalar alpha=1.0) -> Tensor"> celu;
inline constexpr ir::Function<"hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor"> hardshrink;
inline constexpr ir::Function<
    "hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor">
    hardshrink_backward;
inline constexpr ir::Function<"softshrink(Tensor self, Scalar lambd=0.5) -> Tensor"> softshrink;
inline constexpr ir::Function<"hardsigmoid(Tensor self) -> Tensor"> hardsigmoid;
inline constexpr ir::Function<"hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor">
    hardsigmoid_backward;
inline constexpr ir::Function<"hardswish(Tensor self) -> Tensor"> hardswish;
inline constexpr ir::Function<"hardswish_backward(Tensor grad_output, Tensor self) -> Tensor">
    hardswish_backward;
inline constexpr ir::Function<"softsign(Tensor self) -> Tensor"> softsign;
inline constexpr ir::Function<"tanhshrink(Tensor self) -> Tensor"> tanhshrink;
// The slope below zero is a number, or one per channel.
inline constexpr ir::Function<"prelu(Tensor self, Tensor weight) -> Tensor"> prelu;
inline constexpr ir::Function<"glu(Tensor self, int dim=-1) -> Tensor"> glu;
inline constexpr ir::Inplace relu_{relu};
inline constexpr ir::Inplace celu_{celu};
inline constexpr ir::Inplace selu_{selu};
inline constexpr ir::Inplace hardsigmoid_{hardsigmoid};
inline constexpr ir::Inplace hardswish_{hardswish};
inline constexpr ir::Inplace threshold_{threshold};
inline constexpr ir::Inplace hardtanh_{hardtanh};
inline constexpr ir::Inplace leaky_relu_{leaky_relu};
inline constexpr ir::Inplace elu_{elu};
inline constexpr ir::Inplace silu_{silu};
inline constexpr ir::Inplace mish_{mish};

}  // namespace fg
