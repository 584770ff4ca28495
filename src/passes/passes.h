// Passes over graphs: each takes a graph and leaves one that computes the same bits from the same
// inputs in the same order, with outputs that share memory only where they did before. All of them
// take time linear in the number of operations.
#pragma once

#include "ir/graph.h"

namespace fg::passes {

// Takes the shorter of two ways to the same bits: copies that cannot be told from the original,
// views of views, views that show everything, writes that are overwritten, conversions to a wider
// dtype and back. Never x + 0, x * 0 or another order of additions.
void simplify(ir::Graph& graph);
// Computes values of up to 1024 elements that depend on constants alone.
void fold_constants(ir::Graph& graph);
// Merges operations that compute the same from the same values.
void common_subexpressions(ir::Graph& graph);
// Drops operations that no output needs, and numbers the values anew: inputs first, then as made.
void dead_code(ir::Graph& graph);
// Moves operations of the forward to just before the backward first reads them, so that
// rematerialised values occupy memory no longer than needed.
void recompute_late(ir::Graph& graph);
// Rematerialises cheap values where that lowers the peak of memory: values that the forward of a
// training step made for its backward, in one graph.
void compute_again(ir::Graph& graph);

struct PassTiming {
  const char* name;
  double seconds;
  size_t operations_before, operations_after;
};
// All of the above, verified after each. `what` names the graph in the log (FOREGRAD_LOG=graph).
std::vector<PassTiming> run_passes(ir::Graph& graph, const char* what);

}  // namespace fg::passes
