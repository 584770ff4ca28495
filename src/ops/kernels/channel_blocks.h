// Images in blocks of eight channels, [batch, channels / 8, spatial, 8], as oneDNN has them.
#pragma once

#include "tensor/tensor.h"

namespace fg::kernels {

// What `plain` [batch, channels, spatial] has to be in blocks: sizes, and strides in `plain`.
Dims block_sizes(const Dims& plain);
Dims block_strides(const Dims& plain);

// Both are contiguous and have the same dtype.
void to_channel_blocks(const Tensor& plain, const Tensor& blocks);
void from_channel_blocks(const Tensor& blocks, const Tensor& plain);

}  // namespace fg::kernels
