// A plan: values that a forward keeps, and values that its backward computes again, with reasons.
#pragma once

#include "passes/partition.h"

namespace fg::passes {

struct Recomputed {
  ir::ValueId value;
  std::string why;
};

struct Plan {
  std::vector<Saved> saved;
  std::vector<Recomputed> recomputed;
};

int64_t bytes_of(const ir::ValueInfo& info);  // symbols count as in the traced example

// Values of the forward that the backward computes again from the saved ones. An input that it
// needs and that is not saved is an error.
std::vector<Recomputed> recomputed_with(const JointGraph& joint, const std::vector<Saved>& saved);

// partition_default as a plan: only views and constants are made again.
Plan plan_default(const JointGraph& joint);

// Saves the values that cost the fewest bytes, as a minimum cut decides: cheap ones are computed
// again from them. Inputs cost nothing. A value that the caller can see, and so may write to, is
// saved only where partition_default saves it: an eager program would not notice the write
// otherwise.
Plan plan_min_cut(const JointGraph& joint);
std::vector<Saved> partition_min_cut(const JointGraph& joint);

// Bytes that are kept beyond the inputs, which are there anyway.
int64_t saved_bytes(const JointGraph& joint, const std::vector<Saved>& saved);

// One line per value: "save %3 float32[2, 3]: read by mul".
std::string text(const Plan& plan, const ir::Graph& graph);

}  // namespace fg::passes
