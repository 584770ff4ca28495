// Convolutions over one, two or three spatial dimensions, and the transposed ones.
#pragma once

#include "ir/function.h"

namespace fg {

FG_FUNCTION ir::Function<
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] "
    "dilation, bool transposed, int[] output_padding, int groups) -> Tensor">
    convolution;
FG_FUNCTION ir::Function<
    "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0, int[] "
    "dilation=1, int groups=1) -> Tensor">
    conv1d;
FG_FUNCTION ir::Function<
    "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0, int[] "
    "dilation=1, int groups=1) -> Tensor">
    conv2d;
FG_FUNCTION ir::Function<
    "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] padding=0, int[] "
    "dilation=1, int groups=1) -> Tensor">
    conv3d;
FG_FUNCTION ir::Function<
    "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] "
    "padding=0, int[] output_padding=0, int groups=1, int[] dilation=1) -> Tensor">
    conv_transpose1d;
FG_FUNCTION ir::Function<
    "conv_transpose2d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] "
    "padding=0, int[] output_padding=0, int groups=1, int[] dilation=1) -> Tensor">
    conv_transpose2d;
FG_FUNCTION ir::Function<
    "conv_transpose3d(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, int[] "
    "padding=0, int[] output_padding=0, int groups=1, int[] dilation=1) -> Tensor">
    conv_transpose3d;
// Padding by name ('valid' or 'same'). Names of their own in C++, where a padding of 0 could be
// taken for a text.
FG_FUNCTION ir::Function<
    "conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, str "
    "padding='valid', int[] dilation=1, int groups=1) -> Tensor">
    conv1d_padding;
FG_FUNCTION ir::Function<
    "conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, str "
    "padding='valid', int[] dilation=1, int groups=1) -> Tensor">
    conv2d_padding;
FG_FUNCTION ir::Function<
    "conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[] stride=1, str "
    "padding='valid', int[] dilation=1, int groups=1) -> Tensor">
    conv3d_padding;

// Sequences of [times, n, channels], weights of [kernel, channels, outputs].
FG_FUNCTION ir::Function<"conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor">
    conv_tbc;

}  // namespace fg
