// Where the elements of a graph's values are. A view has no memory: its elements are some of those
// of the value at the end of its chain of views.
#pragma once

#include "ir/graph.h"

namespace fg::schedule {

struct Place {
  ir::ValueId root = ir::kNoValue;  // itself, if it has memory of its own
  int64_t offset = 0;               // in elements, from the root's first element
};

// One place per value. A view that counts from the storage of an input, whose offset is known only
// when it comes, is a root too. Sizes must be constants.
std::vector<Place> find_places(const ir::Graph& graph);

// An elementwise operation makes element i of element i of the input, where that was computed.
bool reads_element(const ir::Graph& graph, const std::vector<Place>& places,
                   const ir::Operation& operation, ir::ValueId input);

}  // namespace fg::schedule
