// Normalisations: layer, group, batch, root mean square.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05) -> Tensor">
    layer_norm;
FG_FUNCTION ir::Function<
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1e-05) -> Tensor">
    group_norm;
FG_FUNCTION ir::Function<
    "batch_norm(Tensor input, Tensor? running_mean, Tensor? running_var, Tensor? weight=None, "
    "Tensor? bias=None, bool training=False, float momentum=0.1, float eps=1e-05) -> Tensor">
    batch_norm;
FG_FUNCTION ir::Function<
    "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) "
    "-> Tensor">
    rms_norm;

// Each channel of each sample by itself; running statistics are means over the samples.
FG_FUNCTION ir::Function<
    "instance_norm(Tensor input, Tensor? running_mean=None, Tensor? running_var=None, Tensor? "
    "weight=None, Tensor? bias=None, bool use_input_stats=True, float momentum=0.1, float "
    "eps=1e-05) -> Tensor">
    instance_norm;
// Divided by (k + alpha * mean of squares over `size` channels around)^beta.
FG_FUNCTION ir::Function<
    "local_response_norm(Tensor input, int size, float alpha=0.0001, float beta=0.75, float k=1.0) "
    "-> Tensor">
    local_response_norm;

// The same with the values that their gradients need: mean and 1 / sqrt(variance + eps) per group.
FG_FUNCTION ir::Function<
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, "
    "float eps) -> (Tensor, Tensor, Tensor)">
    native_layer_norm;
FG_FUNCTION ir::Function<
    "native_group_norm(Tensor input, Tensor? weight, Tensor? bias, int group, float eps) "
    "-> (Tensor, Tensor, Tensor)">
    native_group_norm;
FG_FUNCTION ir::Function<
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, "
    "Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)">
    native_batch_norm;

// With xhat = (input - mean) * rstd over dim: the gradient of input when the gradient of xhat is
// grad * weight, and grad * xhat. Mean and rstd are taken for functions of input.
FG_FUNCTION ir::Function<
    "normalize_backward(Tensor grad, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, "
    "int[] dim, float eps) -> (Tensor, Tensor)">
    normalize_backward;

}  // namespace fg
