// One block of memory per call for all values that nobody keeps: which bytes of it each value has,
// and when. A value's bytes are free again after the last step that reads it;
// a loop that reads it element by element puts a result of the same layout there.
#pragma once

#include "passes/fuse.h"

namespace fg::passes {

struct MemoryPlan {
  static constexpr int64_t kNotPlanned = -1;  // an input, a constant, or kept by the caller
  std::vector<int64_t> offsets;               // per value, in bytes
  std::vector<bool> stored;                   // per value: has memory, since something reads it
  int64_t bytes = 0;
};

MemoryPlan plan_memory(const ir::Graph& graph, const std::vector<Place>& places,
                       const std::vector<Group>& groups);

// What the elements of a value take.
int64_t span_bytes(const ir::ValueInfo& info);

}  // namespace fg::passes
