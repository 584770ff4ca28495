// The flat list of stages.
#include "schedule/schedule.h"

#include <chrono>

#include "base/fail.h"
#include "base/log.h"
#include "base/trace.h"
#include "schedule/batch.h"
#include "schedule/block_images.h"

namespace fg::schedule {

namespace {

void make_places(Schedule& s) { s.places = find_places(s.graph); }
void make_groups(Schedule& s) { s.groups = fuse(s.graph, s.places); }
void make_batches(Schedule& s) { batch(s.graph, s.places, s.groups); }
void make_tiles(Schedule& s) { tile(s.graph, s.places, s.groups); }
void make_memory(Schedule& s) {
  s.memory = plan_memory(s.graph, s.places, s.groups);
  if (s.graph.consumable.empty()) return;
  s.consuming = plan_memory(s.graph, s.places, s.groups, true);
  if (s.consuming->bytes >= s.memory.bytes) s.consuming.reset();
}
void make_tile_memory(Schedule& s) {
  std::vector<size_t> ends = ends_of_steps(s.groups);
  for (size_t g = 0; g < s.groups.size(); g++) {
    if (s.groups[g].rows == 0) continue;
    auto members = std::span(s.groups).subspan(g, ends[g] - g + 1);
    s.tiles.push_back(plan_tile(s.graph, s.places, members, s.memory));
    g = ends[g];
  }
}

struct Stage {
  const char* name;
  void (*run)(Schedule& schedule);
};
constexpr Stage kStages[] = {{"block_images", [](Schedule& s) { block_images(s.graph); }},
                             {"find_places", make_places},
                             {"fuse", make_groups},
                             {"batch", make_batches},
                             {"tile", make_tiles},
                             {"plan_memory", make_memory},
                             {"plan_tiles", make_tile_memory},
                             {"find_overwritten", find_overwritten},
                             {"find_kept", find_kept}};

void check_constant_sizes(const ir::Graph& graph) {
  for (const ir::ValueInfo& info : graph.values) {
    for (const Dim& size : info.sizes) {
      if (!size.is_constant()) fail("native code for sizes that are symbols is not made yet");
    }
  }
}

}  // namespace

Schedule make_schedule(ir::Graph graph, const char* what) {
  using Clock = std::chrono::steady_clock;
  using logging::Topic;
  check_constant_sizes(graph);
  Schedule schedule;
  schedule.graph = std::move(graph);
  bool log = logging::enabled(Topic::graph);
  for (const Stage& stage : kStages) {
    auto start = Clock::now();
    {
      timing::Phase phase(stage.name);
      stage.run(schedule);
    }
    std::chrono::duration<double> seconds = Clock::now() - start;
    {
      timing::Span span("phase", "verify");
      verify(schedule, stage.name);
    }
    if (!log) continue;
    logging::write<"{}, schedule after {} ({:.3f} ms):\n{}">(Topic::graph, what, stage.name,
                                                             1e3 * seconds.count(), text(schedule));
  }
  return schedule;
}

}  // namespace fg::schedule
