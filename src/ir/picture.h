// Graphs for people: pictures and tables.
#pragma once

#include "ir/graph.h"

namespace fg::ir {

// In Graphviz's language. Operations of the forward are blue, those of the backward orange; what
// the forward keeps for the backward is green.
std::string dot(const Graph& graph);
// Drawn by Graphviz's `dot`; an error where that is not installed.
std::string svg(const Graph& graph);
// A table: one line per value with dtype, sizes, strides, what makes it and the user's line.
std::string listing(const Graph& graph);

}  // namespace fg::ir
