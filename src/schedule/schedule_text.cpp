// The text of a schedule, for the log and for tests:
//
//   graph(%0: float32[8] argument 0) { ... }
//   loop add mul: %1 %2
//   loop reduced by sum: %3 | sum
//   tiles of 4 of 32 rows
//     mm: %4
//   arena of 1024 bytes: %2 at 0, %4 at 512
//   kept: %5
#include <fmt/format.h>

#include "schedule/batch.h"
#include "schedule/schedule.h"

namespace fg::schedule {

using ir::Operation;
using ir::ValueId;

static std::string group_text(const Schedule& schedule, const Group& group) {
  std::string names, values;
  for (uint32_t index : group.operations) {
    const Operation& operation = schedule.graph.operations[index];
    names += " " + operation.primitive->name;
    for (int k = 0; k < operation.outputs(); k++) {
      values += fmt::format(" %{}", operation.output + static_cast<ValueId>(k));
    }
  }
  std::string out = group.loop ? "loop" : "call";
  if (group.reductions > 0) out += fmt::format(" with {} reductions", group.reductions);
  if (group.beside) out += " beside";
  return out + names + ":" + values + "\n";
}

static std::string groups_text(const Schedule& schedule) {
  std::string out;
  size_t tile = 0;
  for (size_t g = 0; g < schedule.groups.size(); g++) {
    const Group& group = schedule.groups[g];
    bool in_tile = group.rows > 0;
    if (in_tile && !group.tiled) {
      out += fmt::format("tiles of {} rows", group.rows);
      if (tile < schedule.tiles.size()) {
        const Tile& memory = schedule.tiles[tile++];
        out += fmt::format(", {} at a time, {} bytes", memory.height, memory.bytes);
      }
      out += "\n";
    }
    out += (in_tile ? "  " : "") + group_text(schedule, group);
  }
  return out;
}

static std::string arena_text(const char* title, const MemoryPlan& plan) {
  std::string out = fmt::format("{} of {} bytes:", title, plan.bytes);
  for (ValueId value = 0; value < plan.offsets.size(); value++) {
    if (plan.offsets[value] == MemoryPlan::kNotPlanned) continue;
    out += fmt::format(" %{} at {}", value, plan.offsets[value]);
    if (plan.inside[value] != ir::kNoValue) out += fmt::format(" of %{}", plan.inside[value]);
  }
  return out + "\n";
}

std::string text(const Schedule& schedule) {
  std::string out = schedule.graph.text() + groups_text(schedule);
  if (!schedule.memory.offsets.empty()) out += arena_text("arena", schedule.memory);
  if (schedule.consuming) out += arena_text("arena where inputs are consumed", *schedule.consuming);
  for (auto [result, input] : schedule.overwritten) {
    out += fmt::format("%{} overwrites %{}\n", result, input);
  }
  if (schedule.kept.empty()) return out;
  out += "kept:";
  for (ValueId value : schedule.kept) out += fmt::format(" %{}", value);
  return out + "\n";
}

}  // namespace fg::schedule
