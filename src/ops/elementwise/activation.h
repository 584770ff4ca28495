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
inline constexpr ir::Inplace relu_{relu};
inline constexpr ir::Inplace threshold_{threshold};
inline constexpr ir::Inplace hardtanh_{hardtanh};
inline constexpr ir::Inplace leaky_relu_{leaky_relu};
inline constexpr ir::Inplace elu_{elu};
inline constexpr ir::Inplace silu_{silu};
inline constexpr ir::Inplace mish_{mish};

}  // namespace fg
