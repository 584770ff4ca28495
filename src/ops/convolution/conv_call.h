// Between the library and libforegrad-onednn.so, which is opened on the first convolution that it
// can serve: one single-threaded call of oneDNN. The other side knows nothing of the library but
// this header, and allocates no memory for data.
#pragma once

#include <cstddef>

#include "ops/convolution/im2col.h"

namespace fg::kernels {

enum class ConvDirection : int64_t { forward, input, weight };

// Some images and some channels of a convolution on f32.
struct ConvPiece {
  ConvDirection direction;
  int64_t bias;              // 1 if forward adds one
  ConvGeometry g;            // sizes of the piece
  int64_t x_image, y_image;  // elements from one image to the next, in x and in y
  int64_t w_channel;         // elements from one output channel to the next, in w

  bool operator==(const ConvPiece&) const = default;
};

// Some operands may come in blocks of channels, [batch, channels / block, spatial, block], which is
// how oneDNN has them: then they are not reordered.
// May be used by several threads at once. All memory that is given is aligned to 64 bytes, but for
// x, w, bias and y.
class ConvCall {
 public:
  virtual ~ConvCall() = default;

  size_t packed_bytes = 0;                          // of the weights in the layout of oneDNN
  size_t scratch_bytes = 0;                         // of each run
  bool x_has_blocks = false, y_has_blocks = false;  // may come in blocks

  virtual void pack(const float* w, void* packed) const = 0;
  virtual void unpack(void* packed, float* w) const = 0;

  struct Data {
    float* x;
    void* packed;  // weights; written by the direction that computes them
    const float* bias;
    float* y;
    void* scratch;
    bool x_in_blocks = false, y_in_blocks = false;
  };
  virtual void run(const Data& data) const = 0;
};

// nullptr if oneDNN has no direct convolution for the piece. The caller deletes it. The block is
// that of the level, 8 channels at v3 and 16 at v4, and the same in all calls.
using MakeConvCall = ConvCall* (*)(const ConvPiece*, int64_t block);
inline constexpr char kMakeConvCall[] = "foregrad_make_conv_call";

}  // namespace fg::kernels
