// Convolutions for compiled graphs that keep images as oneDNN has them: in blocks of eight
// channels, [batch, channels / 8, spatial, 8], an ordinary contiguous tensor. The bits are those of
// the convolve kind.
#pragma once

#include "ops/convolution/convolve_kind.h"

namespace fg::ops {

struct BlockedConvParams {
  ConvParams conv;
  bool blocked;  // the result is in blocks; an operand is if it has one dimension more than w
  bool operator==(const BlockedConvParams&) const = default;
};

// The primitive for the same convolution on blocks, and which of its images may be in blocks: an
// operand that is none, the weight, is false. No primitive: this is no convolution.
struct BlockedForm {
  const ir::PrimitiveInfo* primitive = nullptr;
  bool first = false, second = false, result = false;
};
// What oneDNN does with a call of `convolution` on operands of these sizes.
BlockedForm blocked_form(const ir::PrimitiveInfo& convolution, const void* params,
                         std::span<const Dims> operands, const Dims& result, bool bias);

const ir::PrimitiveInfo& block_channels();    // (image): in blocks
const ir::PrimitiveInfo& unblock_channels();  // (blocks): plain again
Dims blocked_sizes(const Dims& plain);

}  // namespace fg::ops
