// The arena: one block of memory per call for all values that the caller does not get. The plan
// says which bytes of it each value has, and when. A value's bytes are free after its last reader;
// a loop that reads it element by element puts a result of the same layout there. Where a run may
// consume inputs, their memory is there for values in the same way.
#pragma once

#include "schedule/fuse.h"

namespace fg::schedule {

struct MemoryPlan {
  static constexpr int64_t kNotPlanned = -1;  // an input, a constant, or kept by the caller
  std::vector<int64_t> offsets;               // per value, in bytes: in the arena, or
  std::vector<ir::ValueId> inside;            // in the memory of this input; kNoValue: the arena
  std::vector<ir::ValueId> consumed;          // inputs that values are inside of
  std::vector<bool> stored;                   // per value: has memory, since something reads it
  std::vector<bool> local;  // per value: in the memory of the tiles that make and read it, not here
  int64_t bytes = 0;
};

// `consume`: the graph's consumable inputs are overwritten after their last read. Nothing but
// places differs between the two plans of a graph.
MemoryPlan plan_memory(const ir::Graph& graph, const std::vector<Place>& places,
                       const std::vector<Group>& groups, bool consume = false);

// Bytes from the first to the last element of a value.
int64_t span_bytes(const ir::ValueInfo& info);

}  // namespace fg::schedule
