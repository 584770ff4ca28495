// Sharing of memory between values. Values never change, so any two equal ones may be one. Only the
// caller writes, to the outputs that it gets: two outputs that had memories of their own must not
// come to share one.
#pragma once

#include "ir/graph.h"

namespace fg::passes {

// Whether a second run, or another order, can be noticed: it talks to other processes.
bool has_effect(const ir::Operation& operation);
// Whether dropping it can be noticed: it has an effect, or it refuses some values.
bool must_run(const ir::Operation& operation);

struct Memory {
  explicit Memory(const ir::Graph& graph);
  // Whether the caller sees the memory of a value, under whatever geometry.
  bool is_shown(ir::ValueId value) const { return shown[root[value]]; }
  // Whether some output is that value.
  bool is_output(ir::ValueId value) const { return output[value]; }
  // Whether its operation made its memory, and no output shows it.
  bool is_fresh(ir::ValueId value) const { return made[value] && !shown[value]; }

  std::vector<ir::ValueId> root;  // the value whose memory it is
  std::vector<bool> shown;        // of roots
  std::vector<bool> output, made;
};

}  // namespace fg::passes
