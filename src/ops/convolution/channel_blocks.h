// Images in blocks of channels, [batch, channels / block, spatial, block], as oneDNN has them.
#pragma once

#include "base/level.h"
#include "tensor/tensor.h"

namespace fg::kernels {

// The number of channels in a block: as many as a register of the level has lanes.
inline int64_t channel_block() { return level() == Level::v4 ? 16 : 8; }

// Sizes of `plain` [batch, channels, spatial] in blocks, and the strides of those in `plain`.
Dims block_sizes(const Dims& plain);
Dims block_strides(const Dims& plain);

// Both are contiguous and have the same dtype.
void to_channel_blocks(const Tensor& plain, const Tensor& blocks);
void from_channel_blocks(const Tensor& blocks, const Tensor& plain);

}  // namespace fg::kernels
