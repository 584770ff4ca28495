// Images between convolutions stay as oneDNN has them: in blocks of eight channels, which are
// ordinary values with one dimension more, [batch, channels / 8, spatial, 8]. Elementwise
// operations work on those as on plain images, and reductions that keep the channels combine the
// same elements in the same order. Operations that need a plain image get one by unblock_channels.
#pragma once

#include "ir/graph.h"
#include "ops/convolution/convolve_blocked.h"

namespace fg::schedule {

// The part that an operation can take.
struct BlockedRole {
  enum class Kind : uint8_t {
    none,         // it reads and makes plain images
    elementwise,  // its images are all plain or all in blocks
    reduction,    // it takes either
    convolution   // some of its images may be in blocks: `form`
  };
  Kind kind = Kind::none;
  ops::BlockedForm form{};

  // Whether operand i can come in blocks.
  bool takes(size_t i) const {
    if (kind == Kind::convolution) return i == 0 ? form.first : i == 1 && form.second;
    return kind != Kind::none;
  }
  bool makes() const {
    return kind == Kind::elementwise || (kind == Kind::convolution && form.result);
  }
};

// Images that are worth keeping in blocks. Sizes must be constants.
struct BlockedImages {
  std::vector<BlockedRole> roles;  // per operation
  std::vector<bool> blocked;       // per value: in blocks wherever its readers take it so
  bool any = false;
};
BlockedImages find_blocked_images(const ir::Graph& graph);

// Rewrites the graph with those images in blocks. Sizes must be constants.
void block_images(ir::Graph& graph);

// A value with strides of 0 in all spatial dimensions and no gap between channels, or one element.
bool is_per_channel(const ir::ValueInfo& info, const Dims& image);

}  // namespace fg::schedule
