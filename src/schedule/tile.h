// Groups that work on the same rows run together by tiles: a thread takes a few rows, runs all
// groups on them, one after the other, and goes on to the next. A value that one group makes for
// another stays in the cache; if no other group reads it, it has no memory but that of a tile.
#pragma once

#include <span>

#include "schedule/plan_memory.h"

namespace fg::schedule {

struct TileLimits {
  int64_t least_bytes;  // of a value, and of all that groups make for each other alone: less stays
                        // in a cache anyway
  int64_t tile_bytes;   // bytes that a tile makes, at least one row
  int64_t row_bytes;    // longer rows are not worth it
  int64_t least_rows;   // fewer would not be enough for all threads
};
// Tests set others, so that even tiny work runs by tiles.
extern TileLimits tile_limits;

// Moves such groups side by side, and marks them `tiled` with their `rows`.
void tile(const ir::Graph& graph, const std::vector<Place>& places, std::vector<Group>& groups);

// The memory of one tile, of which every thread has its own.
struct Tile {
  struct Local {
    ir::ValueId value;
    int64_t offset, row_bytes;
  };
  int64_t rows = 0, height = 0;  // in all, in one tile: the last may have fewer
  int64_t bytes = 0;
  std::vector<Local> locals{};
};
Tile plan_tile(const ir::Graph& graph, const std::vector<Place>& places,
               std::span<const Group> members, const MemoryPlan& memory);

}  // namespace fg::schedule
