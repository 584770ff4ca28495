// Which operations run together as one loop. Elementwise operations over equal sizes join when one
// reads what the other makes, or when they read the same; everything else runs by itself. Views are
// no step: whoever reads one reads the memory behind it.
#pragma once

#include "passes/places.h"

namespace fg::passes {

// A loop reads and writes at most so many values.
inline constexpr size_t kMostLoopOperands = 72;

struct Group {
  std::vector<uint32_t> operations;  // of the graph, in an order in which they can run
  bool loop = false;                 // otherwise one operation
};

// In the order in which they run. Constants and views that have a place are in none of them.
std::vector<Group> fuse(const ir::Graph& graph, const std::vector<Place>& places);

}  // namespace fg::passes
