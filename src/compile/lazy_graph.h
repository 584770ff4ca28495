// A graph for people: at hand, or a packed text that the first get() reads.
#pragma once

#include <functional>
#include <memory>
#include <mutex>

#include "base/trace.h"
#include "compile/stored_text.h"
#include "ir/graph.h"

namespace fg::compiler {

class LazyGraph {
 public:
  LazyGraph() = default;
  LazyGraph(ir::Graph graph) : state_(std::make_shared<State>()) {  // NOLINT: it is one
    std::call_once(state_->once, [] {});
    state_->graph = std::move(graph);
  }
  // `packed`: as pack_text() gave it; the marks `overwrites` and `consumable` are not in the text.
  // `rename` puts lines and names of this program in the place of those of the one that wrote it.
  using Rename = std::function<void(ir::Graph&)>;
  LazyGraph(std::string packed, bool overwrites, std::vector<ir::ValueId> consumable, Rename rename)
      : state_(std::make_shared<State>()) {
    state_->packed = std::move(packed);
    state_->rename = std::move(rename);
    state_->overwrites = overwrites;
    state_->consumable = std::move(consumable);
  }

  const ir::Graph& get() const {
    std::call_once(state_->once, [&] {
      timing::Phase phase("read graph");
      state_->graph = ir::parse_graph(unpack_text(state_->packed));
      state_->rename(state_->graph);
      state_->graph.overwrites = state_->overwrites;
      state_->graph.consumable = std::move(state_->consumable);
    });
    return state_->graph;
  }

 private:
  struct State {
    std::once_flag once;
    std::string packed;
    Rename rename;
    bool overwrites = false;
    std::vector<ir::ValueId> consumable;
    ir::Graph graph;
  };
  std::shared_ptr<State> state_;
};

}  // namespace fg::compiler
