// Who may see the memory of a value. Values never change, so any two equal ones may be one, as long
// as the caller, who may write to what it gets, finds no two outputs in one memory that had
// memories of their own.
#pragma once

#include "ir/graph.h"

namespace fg::passes {

// Doing it twice, or in another order, can be noticed: it talks to other processes.
bool has_effect(const ir::Operation& operation);
// Dropping it can be noticed: it has an effect, or it refuses some values.
bool must_run(const ir::Operation& operation);

struct Memory {
  explicit Memory(const ir::Graph& graph);
  // Whether the caller sees the memory of a value, under whatever geometry.
  bool is_shown(ir::ValueId value) const { return shown[root[value]]; }
  // Whether some output is that value.
  bool is_output(ir::ValueId value) const { return output[value]; }
  // Whether it has memory that its operation made and nobody else shows.
  bool is_fresh(ir::ValueId value) const { return made[value] && !shown[value]; }

  std::vector<ir::ValueId> root;  // the value whose memory it is
  std::vector<bool> shown;        // of roots
  std::vector<bool> output, made;
};

}  // namespace fg::passes
