// Horizontal fusion: small loops that do the same to different values, such as the updates of an
// optimiser, run as one step. For dozens of small parameters, starting a loop costs more than it.
#pragma once

#include "schedule/fuse.h"

namespace fg::schedule {

// Moves such loops side by side, as late as the first reader allows, and marks them `beside`.
void batch(const ir::Graph& graph, const std::vector<Place>& places, std::vector<Group>& groups);

// Per group the last one that runs at the same time, or by the same tiles.
std::vector<size_t> ends_of_steps(const std::vector<Group>& groups);

}  // namespace fg::schedule
