// Convolutions on f32 through oneDNN, where it has a direct one. Sizes and level decide whether it
// serves a call and which pieces threads take, and with them the bits.
#pragma once

#include "ops/convolution/conv_call.h"

namespace fg::kernels {

// Flags of x and y: it is, or may be, in blocks of channels (channel_blocks.h).
struct ConvBlocks {
  bool x = false, y = false;
};
// The operands that oneDNN takes in blocks; none if the convolution is not served.
ConvBlocks onednn_blocks(ConvDirection direction, const ConvGeometry& g, bool bias);

// Computes x, w or y, as the direction says, from the other two. false if it is not served, and
// then nothing was written. bias may be null; there is none for weights.
bool convolve_onednn(ConvDirection direction, const ConvGeometry& g, float* x, float* w,
                     const float* bias, float* y, ConvBlocks blocks = {});

}  // namespace fg::kernels
