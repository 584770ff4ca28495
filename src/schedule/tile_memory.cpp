// The memory of one tile.
#include <algorithm>
#include <map>

#include "schedule/free_parts.h"
#include "schedule/tile.h"

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// From the member that makes a value to the last one that reads it.
struct Life {
  size_t first, last;
};

std::map<ValueId, Life> find_lives(const ir::Graph& graph, const std::vector<Place>& places,
                                   std::span<const Group> members, const MemoryPlan& memory) {
  std::map<ValueId, Life> lives;
  for (size_t m = 0; m < members.size(); m++) {
    for (uint32_t index : members[m].operations) {
      const Operation& operation = graph.operations[index];
      for (ValueId input : operation.inputs) {
        auto found = input == kNoValue ? lives.end() : lives.find(places[input].root);
        if (found != lives.end()) found->second.last = m;
      }
      for (int k = 0; k < operation.outputs(); k++) {
        ValueId value = operation.output + static_cast<ValueId>(k);
        if (memory.stored[value]) lives.emplace(value, Life{m, m});
      }
    }
  }
  return lives;
}

}  // namespace

Tile plan_tile(const ir::Graph& graph, const std::vector<Place>& places,
               std::span<const Group> members, const MemoryPlan& memory) {
  Tile tile;
  tile.rows = members[0].rows;
  std::map<ValueId, Life> lives = find_lives(graph, places, members, memory);
  auto row_bytes = [&](ValueId value) { return span_bytes(graph.values[value]) / tile.rows; };
  int64_t most = 1;
  for (size_t m = 0; m < members.size(); m++) {
    int64_t bytes = 0;
    for (auto [value, life] : lives) {
      if (life.first <= m && m <= life.last) bytes += row_bytes(value);
    }
    most = std::max(most, bytes);
  }
  tile.height = std::clamp<int64_t>(tile_limits.tile_bytes / most, 1, tile.rows);
  FreeParts parts;
  std::map<ValueId, MemoryRange> taken;
  for (size_t m = 0; m < members.size(); m++) {
    for (auto [value, life] : lives) {
      if (life.first != m || !memory.local[value]) continue;
      taken[value] = parts.take(std::max<int64_t>(tile.height * row_bytes(value), 1));
      tile.locals.push_back({value, taken[value].offset, row_bytes(value)});
    }
    for (auto [value, life] : lives) {
      if (life.last == m && memory.local[value]) parts.give_back(taken[value]);
    }
  }
  tile.bytes = parts.end();
  return tile;
}

}  // namespace fg::schedule
