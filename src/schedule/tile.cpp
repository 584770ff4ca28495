#include "schedule/tile.h"

#include <algorithm>
#include <queue>
#include <set>

#include "base/fail.h"
#include "schedule/rows.h"

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

TileLimits tile_limits{
    .least_bytes = 1 << 21, .tile_bytes = 1 << 17, .row_bytes = 1 << 19, .least_rows = 16};

namespace {

constexpr size_t kMostMembers = 16;
constexpr size_t kNone = ~size_t{0};

class Tiler {
 public:
  Tiler(const ir::Graph& graph, const std::vector<Place>& places, std::vector<Group>& groups)
      : graph_(graph),
        places_(places),
        groups_(groups),
        maker_(graph.values.size(), kNone),
        makers_(groups.size()),
        tile_(groups.size(), kNone) {}

  void run() {
    find_last_reads();
    for (size_t g = 0; g < groups_.size(); g++) add(g);
    if (tiles_.empty()) return;
    find_local();
    for (Open& tile : tiles_) {
      if (!is_worth_it(tile)) dissolve(tile);
    }
    bool any = std::any_of(tiles_.begin(), tiles_.end(),
                           [](const Open& tile) { return !tile.groups.empty(); });
    if (any) reorder();
  }

 private:
  struct Open {
    std::vector<size_t> groups;  // in their order
    std::vector<int64_t> rows;   // cuts that all of them allow, the finest first
    size_t at;                   // it runs in the place of this group
    bool read = false;           // by a group that is not in it: it cannot run later
  };

  void find_last_reads() {
    last_read_.assign(graph_.values.size(), 0);
    for (size_t g = 0; g < groups_.size(); g++) {
      each_read(g, [&](ValueId input, size_t) { last_read_[places_[input].root] = g; });
    }
    for (ValueId output : graph_.outputs) {
      if (output != kNoValue) last_read_[places_[output].root] = kNone;
    }
  }

  template <class Body>
  void each_read(size_t g, const Body& body) const {
    for (uint32_t index : groups_[g].operations) {
      for (ValueId input : graph_.operations[index].inputs) {
        if (input != kNoValue) body(input, maker_[places_[input].root]);
      }
    }
  }

  void add(size_t g) {
    std::vector<size_t>& makers = makers_[g];
    each_read(g, [&](ValueId, size_t maker) {
      if (maker != kNone) makers.push_back(maker);
    });
    std::sort(makers.begin(), makers.end());
    makers.erase(std::unique(makers.begin(), makers.end()), makers.end());
    for (uint32_t index : groups_[g].operations) {
      const Operation& operation = graph_.operations[index];
      for (int k = 0; k < operation.outputs(); k++) {
        maker_[operation.output + static_cast<ValueId>(k)] = g;
      }
    }
    join(g);
    for (size_t maker : makers) {
      if (tile_[maker] != kNone && tile_[maker] != tile_[g]) tiles_[tile_[maker]].read = true;
    }
  }

  void join(size_t g) {
    bool at_once = groups_[g].beside || (g + 1 < groups_.size() && groups_[g + 1].beside);
    std::set<size_t> near;  // tiles that it reads
    for (size_t maker : makers_[g]) {
      if (tile_[maker] != kNone) near.insert(tile_[maker]);
    }
    if (at_once || (near.empty() && largest_result(g) < tile_limits.least_bytes)) return;
    std::vector<int64_t> rows = row_counts(graph_, groups_[g]);
    std::erase_if(rows, [](int64_t count) { return count < tile_limits.least_rows; });
    if (rows.empty()) return;
    if (!join_later(g, rows, near) && !join_earlier(g, rows, near)) open({{g}, rows, g});
  }
  void open(Open tile) {
    for (size_t member : tile.groups) tile_[member] = tiles_.size();
    tiles_.push_back(std::move(tile));
  }

  // Bytes of the block: of what the groups read or make and `counts` says yes to.
  template <class Counts>
  int64_t bytes_of(const std::set<ValueId>& values, const Counts& counts) const {
    int64_t bytes = 0;
    for (ValueId value : values) {
      bool in_block = maker_[value] != kNone && last_read_[value] != kNone;
      if (in_block && counts(value)) bytes += span_bytes(graph_.values[value]);
    }
    return bytes;
  }
  std::set<ValueId> reads_of(std::span<const size_t> groups) const {
    std::set<ValueId> roots;
    for (size_t g : groups) {
      each_read(g, [&](ValueId input, size_t) { roots.insert(places_[input].root); });
    }
    return roots;
  }
  std::set<ValueId> results_of(size_t g) const {
    std::set<ValueId> values;
    for (uint32_t index : groups_[g].operations) {
      const Operation& operation = graph_.operations[index];
      for (int k = 0; k < operation.outputs(); k++) {
        values.insert(operation.output + static_cast<ValueId>(k));
      }
    }
    return values;
  }
  // If a tile runs later, what it alone still reads is there for longer, what it makes for the
  // group comes later: no more memory is in use between.
  bool may_wait(size_t t, size_t g) const {
    const Open& tile = tiles_[t];
    int64_t longer = bytes_of(reads_of(tile.groups), [&](ValueId root) {
      return tile_[maker_[root]] != t && last_read_[root] < g;
    });
    int64_t later = bytes_of(reads_of({&g, 1}), [&](ValueId root) {
      return maker_[root] != g && tile_[maker_[root]] == t;
    });
    return tile.at + 1 == g || longer <= later;
  }
  // The same for a group that runs earlier: its results are there for longer.
  bool may_hurry(size_t t, size_t g) const {
    int64_t longer = bytes_of(results_of(g), [&](ValueId value) { return last_read_[value] > g; });
    int64_t sooner = bytes_of(reads_of({&g, 1}), [&](ValueId root) {
      return tile_[maker_[root]] == t && last_read_[root] == g;
    });
    return longer <= sooner;
  }

  // Joins the group with near tiles that no other group reads yet: they run when the group does.
  bool join_later(size_t g, const std::vector<int64_t>& rows, const std::set<size_t>& near) {
    Open joined{{g}, rows, g};
    for (size_t t : near) {
      if (tiles_[t].read || joined.groups.size() + tiles_[t].groups.size() > kMostMembers) continue;
      std::vector<int64_t> common = common_rows(g, joined.rows, t);
      if (common.empty() || !may_wait(t, g)) continue;
      joined.rows = std::move(common);
      joined.groups.insert(joined.groups.end(), tiles_[t].groups.begin(), tiles_[t].groups.end());
      tiles_[t].groups.clear();
    }
    if (joined.groups.size() == 1) return false;
    std::sort(joined.groups.begin(), joined.groups.end());
    open(std::move(joined));
    return true;
  }
  // The group can run when a tile does that makes the last of what it reads.
  bool join_earlier(size_t g, const std::vector<int64_t>& rows, const std::set<size_t>& near) {
    for (size_t t : near) {
      bool last = std::all_of(makers_[g].begin(), makers_[g].end(), [&](size_t maker) {
        return tile_[maker] == t || place_of(maker) < tiles_[t].at;
      });
      if (!last || tiles_[t].groups.size() >= kMostMembers) continue;
      std::vector<int64_t> common = common_rows(g, rows, t);
      if (common.empty() || !may_hurry(t, g)) continue;
      tiles_[t].rows = std::move(common);
      tiles_[t].groups.push_back(g);
      tile_[g] = t;
      return true;
    }
    return false;
  }
  size_t place_of(size_t g) const { return tile_[g] == kNone ? g : tiles_[tile_[g]].at; }

  // Cuts that a tile allows too, and which leave whatever the group reads of it in one row.
  std::vector<int64_t> common_rows(size_t g, std::vector<int64_t> rows, size_t t) const {
    const std::vector<int64_t>& others = tiles_[t].rows;
    std::erase_if(rows, [&](int64_t count) {
      if (std::find(others.begin(), others.end(), count) == others.end()) return true;
      bool apart = true;
      each_read(g, [&](ValueId input, size_t maker) {
        if (maker == g || maker == kNone || tile_[maker] != t) return;
        apart = apart && reads_own_rows(graph_, places_, groups_[g], input, count);
      });
      return !apart;
    });
    return rows;
  }

  int64_t largest_result(size_t g) const {
    int64_t most = 0;
    for (ValueId value : results_of(g)) most = std::max(most, span_bytes(graph_.values[value]));
    return most;
  }

  // Finds values that one group of a tile makes for others of it alone.
  void find_local() {
    local_.assign(graph_.values.size(), false);
    for (bool outside : {false, true}) {
      for (size_t g = 0; g < groups_.size(); g++) {
        each_read(g, [&](ValueId input, size_t maker) {
          if (maker == kNone || maker == g) return;
          bool together = tile_[maker] != kNone && tile_[maker] == tile_[g];
          if (together != outside) local_[places_[input].root] = together;
        });
      }
    }
    for (ValueId output : graph_.outputs) {
      if (output != kNoValue) local_[places_[output].root] = false;
    }
  }
  // Whether enough bytes stay in the tile: others go to memory too, and gain little from a cache.
  bool is_worth_it(const Open& tile) const {
    if (tile.groups.size() < 2) return false;
    int64_t bytes = 0;
    for (size_t g : tile.groups) {
      bytes += bytes_of(results_of(g), [&](ValueId value) { return local_[value]; });
    }
    return bytes >= tile_limits.least_bytes && bytes / tile.rows[0] <= tile_limits.row_bytes;
  }
  void dissolve(Open& tile) {
    for (size_t g : tile.groups) tile_[g] = kNone;
    tile.groups.clear();
  }

  // The node of a group: all groups that run together are one, named by the first.
  size_t node_of(size_t g) const {
    if (tile_[g] != kNone) return tiles_[tile_[g]].groups[0];
    while (groups_[g].beside) g--;
    return g;
  }

  // Every node when what it reads is there; of several the one that came first.
  void reorder() {
    std::vector<std::vector<size_t>> members(groups_.size()), readers(groups_.size());
    std::vector<size_t> waits_for(groups_.size());
    for (size_t g = 0; g < groups_.size(); g++) {
      size_t node = node_of(g);
      members[node].push_back(g);
      for (size_t maker : makers_[g]) {
        if (node_of(maker) == node) continue;
        readers[node_of(maker)].push_back(node);
        waits_for[node]++;
      }
    }
    using Ready = std::pair<size_t, size_t>;  // its place and itself
    std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
    for (size_t node = 0; node < groups_.size(); node++) {
      if (!members[node].empty() && waits_for[node] == 0) ready.emplace(place_of(node), node);
    }
    std::vector<Group> ordered;
    ordered.reserve(groups_.size());
    while (!ready.empty()) {
      size_t node = ready.top().second;
      ready.pop();
      move_to(ordered, members[node]);
      for (size_t reader : readers[node]) {
        if (--waits_for[reader] == 0) ready.emplace(place_of(reader), reader);
      }
    }
    if (ordered.size() != groups_.size()) fail(ErrorKind::internal, "tiles wait for each other");
    groups_ = std::move(ordered);
  }
  void move_to(std::vector<Group>& ordered, const std::vector<size_t>& members) {
    for (size_t g : members) {
      Group& group = ordered.emplace_back(std::move(groups_[g]));
      if (tile_[g] == kNone) continue;
      group.rows = tiles_[tile_[g]].rows[0];
      group.tiled = g != members[0];
    }
  }

  const ir::Graph& graph_;
  const std::vector<Place>& places_;
  std::vector<Group>& groups_;
  std::vector<size_t> maker_;                // per value with memory: its group
  std::vector<std::vector<size_t>> makers_;  // per group: of what it reads
  std::vector<size_t> tile_;                 // per group, of `tiles_`
  std::vector<size_t> last_read_;            // per value with memory: by a group; kNone: kept
  std::vector<bool> local_;                  // per value
  std::vector<Open> tiles_;
};

}  // namespace

void tile(const ir::Graph& graph, const std::vector<Place>& places, std::vector<Group>& groups) {
  bool large = std::any_of(graph.values.begin(), graph.values.end(), [](const auto& info) {
    return span_bytes(info) >= tile_limits.least_bytes;
  });
  if (large) Tiler(graph, places, groups).run();
}

}  // namespace fg::schedule
