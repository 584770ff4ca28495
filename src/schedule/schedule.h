// A schedule: the steps in which a graph runs as native code, and the memory that they work in.
// `make_schedule` makes it by a flat list of stages, as run_passes (passes/passes.h) makes a graph:
// each is verified, timed, and printed with FOREGRAD_LOG=graph. Code is made of it in codegen/.
#pragma once

#include <optional>

#include "schedule/plan_memory.h"
#include "schedule/tile.h"

namespace fg::schedule {

struct Schedule {
  ir::Graph graph;            // after block_images
  std::vector<Place> places;  // per value
  std::vector<Group> groups;  // in the order in which they run
  MemoryPlan memory;
  std::optional<MemoryPlan> consuming;  // with values in the memory of inputs, where that is less
  std::vector<Tile> tiles;              // one per stretch of groups that run by the same tiles
  // Results that a loop puts where the old elements of an input are: (result, input).
  std::vector<std::pair<ir::ValueId, ir::ValueId>> overwritten;
  std::vector<ir::ValueId> kept;  // values in storages of their own, which the caller gets
};

// Sizes must be constants. `what` names the graph in the log.
Schedule make_schedule(ir::Graph graph, const char* what = "graph");

// Groups, places, memory and tiles as lines of text, as far as they are there.
std::string text(const Schedule& schedule);

// Fails with the name of the stage that made it wrong: an operation that no group runs, or before
// its inputs are there, or two values at the same time in the same bytes.
void verify(const Schedule& schedule, const char* stage);

// Stages that have no file of their own.
void find_overwritten(Schedule& schedule);
void find_kept(Schedule& schedule);

}  // namespace fg::schedule
