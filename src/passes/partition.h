// The choice of values that a forward keeps for its backward. The backward rematerialises all
// others that it needs.
#pragma once

#include "ir/run.h"

namespace fg::passes {

// A function and its gradient in one list of operations: the first `forward_end` of them may run in
// the forward.
struct JointGraph {
  const ir::Graph& graph;
  size_t forward_end;
  std::vector<ir::ValueId> inputs;     // of both: kept as they are
  std::vector<ir::ValueId> results;    // of the forward
  std::vector<ir::ValueId> gradients;  // of the backward; kNoValue where there is none
  // Inputs whose memory results show, or code of the user reaches: they may be written to.
  std::vector<ir::ValueId> shown{};
};

struct Saved {
  ir::ValueId value;
  std::string why;
};
// Saves everything that the backward reads; views are cut out again, constants made again.
std::vector<Saved> partition_default(const JointGraph& joint);

}  // namespace fg::passes
