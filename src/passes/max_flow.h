// Minimum cuts of networks, by the LEMON library.
#pragma once

#include <cstdint>
#include <vector>

namespace fg::passes {

struct Arc {
  int from, to;
  int64_t capacity;
};

// Splits the nodes 0 to count - 1 so that the arcs from the side of `source` to the other have the
// least capacity in sum; of several such splits it takes the one nearest to `sink`. Returns per
// node whether it is on the side of `source`.
std::vector<bool> minimum_cut(int count, const std::vector<Arc>& arcs, int source, int sink);

}  // namespace fg::passes
