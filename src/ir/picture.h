// Graphs for people: pictures and tables.
#pragma once

#include "ir/graph.h"

namespace fg::ir {

// In Graphviz's language. Operations of the forward are blue, those of the backward orange; what
// the forward keeps for the backward is green.
std::string dot(const Graph& graph);
// Drawn by Graphviz's `dot`; an error where that is not installed, or takes longer than `seconds`,
// unless they are 0. A few hundred operations may take it minutes.
std::string svg(const Graph& graph, double seconds = 0);
// A table: one line per value with dtype, sizes, strides, what makes it and the user's line.
std::string listing(const Graph& graph);

}  // namespace fg::ir
