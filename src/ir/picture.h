// Graphs for people: pictures and tables.
#pragma once

#include "ir/graph.h"

namespace fg::ir {

// The graph in Graphviz's language. Operations of the forward are blue, those of the backward
// orange, values that the forward saves for the backward green.
std::string dot(const Graph& graph);
// The picture by Graphviz's `dot`; an error where that is not installed, or takes longer than
// `seconds` (0: no limit). A few hundred operations may take it minutes.
std::string svg(const Graph& graph, double seconds = 0);
// A table: one line per value with dtype, sizes, strides, the operation that makes it and the line.
std::string listing(const Graph& graph);

}  // namespace fg::ir
