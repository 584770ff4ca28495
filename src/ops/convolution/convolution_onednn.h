// Convolutions on f32 through oneDNN, where it has a direct one. What is served follows from the
// sizes and the level; so do the pieces that threads take, and with them the bits.
#pragma once

#include "ops/convolution/conv_call.h"

namespace fg::kernels {

// Which of x and y are, or may be, in blocks of channels: [batch, channels / 8, spatial, 8].
struct ConvBlocks {
  bool x = false, y = false;
};
// Those that oneDNN has so; none if the convolution is not served.
ConvBlocks onednn_blocks(ConvDirection direction, const ConvGeometry& g, bool bias);

// Computes x, w or y, whichever the direction says, from the other two. false if it is not served,
// and then nothing was written. bias may be null; there is none for weights.
bool convolve_onednn(ConvDirection direction, const ConvGeometry& g, float* x, float* w,
                     const float* bias, float* y, ConvBlocks blocks = {});

}  // namespace fg::kernels
