#include "codegen/listing.h"

#include <algorithm>

namespace fg::codegen {

void Listing::add_loop(const std::string& kernel, const Loop& loop) {
  auto found = std::find_if(kernels.begin(), kernels.end(),
                            [&](const Kernel& known) { return known.name == kernel; });
  Step& step = current().back();
  step.kernel = static_cast<int>(found - kernels.begin());
  step.sizes = loop.kernel.sizes;
  step.operands = loop.operands;
  if (found == kernels.end()) kernels.push_back({kernel, loop.kernel});
}

void Listing::open_tile(std::string name, std::span<const schedule::Group> members,
                        const schedule::Tile& tile) {
  Step& step = steps.emplace_back();
  step.name = std::move(name);
  for (const schedule::Group& group : members) {
    step.operations.insert(step.operations.end(), group.operations.begin(), group.operations.end());
  }
  step.rows = tile.rows;
  step.height = tile.height;
  step.tile_bytes = tile.bytes;
  in_tile_ = true;
}

void Listing::join_step(const schedule::Group& group) {
  std::vector<uint32_t>& known = steps.back().operations;
  known.insert(known.end(), group.operations.begin(), group.operations.end());
  steps.back().parts++;
}

}  // namespace fg::codegen
