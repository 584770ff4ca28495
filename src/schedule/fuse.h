// Fusion of operations into loops. Elementwise operations over equal sizes join when one reads what
// the other makes, or when they read the same; reductions of their results join them where the
// blocks of the canonical order fall on loops. Everything else runs by itself. Views are no step:
// operations that read a view read the memory behind it.
#pragma once

#include <span>

#include "schedule/nest.h"
#include "schedule/places.h"

namespace fg::schedule {

// A loop reads and writes at most so many values.
inline constexpr size_t kMostLoopOperands = 72;

struct Group {
  std::vector<uint32_t> operations;  // of the graph, in an order in which they can run
  bool loop = false;                 // otherwise one operation
  size_t reductions = 0;  // the last ones: of what the others make, over the same dimensions
  bool beside = false;    // runs at the same time as the one before; see batch.h
  bool tiled = false;     // runs tile by tile together with the one before; see tile.h
  int64_t rows = 0;       // of a tiled group: rows into which its work is cut

  std::span<const uint32_t> elementwise() const {
    return {operations.data(), operations.size() - reductions};
  }
  std::span<const uint32_t> reducing() const { return std::span(operations).last(reductions); }
};

// The strides of the values that a group reads, then of those that it makes.
std::vector<std::vector<int64_t>> operand_strides(const ir::Graph& graph, const Group& group);
// The dimensions that a reduction combines.
std::vector<bool> reduced_dimensions(const ir::Graph& graph, const ir::Operation& reduction);

// Groups in the order in which they run. Constants, and views that have a place, are in none.
std::vector<Group> fuse(const ir::Graph& graph, const std::vector<Place>& places);

}  // namespace fg::schedule
