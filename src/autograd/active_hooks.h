// The hooks that are active on a thread for everything it records: hooks of saved tensors and of
// new nodes. A thread that the engine starts gets those of the thread that it works for.
#pragma once

#include "autograd/saved_value.h"

namespace fg::autograd {

using NodeCreationCallback = Callback<void(const Ref<Node>& node)>;

// RAII: while alive, the hook is called with every node that this thread adds to the graph, once,
// when the node is complete: its values are saved, and it is the node that tensors refer to (the
// CopySlices of a base that was written through a view). All active hooks are called, outermost
// first. A hook must not add nodes itself; its exceptions leave the recorded call.
class NodeCreationHook {
 public:
  explicit NodeCreationHook(NodeCreationCallback hook);
  ~NodeCreationHook();
  NodeCreationHook(const NodeCreationHook&) = delete;
  NodeCreationHook& operator=(const NodeCreationHook&) = delete;
};

struct ActiveHooks {
  struct Pair {
    PackHook pack;
    UnpackHook unpack;
  };
  std::vector<Pair> saved_tensors;
  std::optional<std::string> saved_tensors_disabled;  // the reason
  std::vector<NodeCreationCallback> node_creation;
};
const ActiveHooks& active_hooks();  // of this thread
// Replaces the hooks of this thread.
void take_active_hooks(const ActiveHooks& hooks);

// Push and pop, as the RAII classes do it, for languages that enter and leave contexts by calls. A
// pop without a push does nothing.
void push_saved_tensors_hooks(PackHook pack, UnpackHook unpack);
void pop_saved_tensors_hooks();
// Returns the reason from before; without a reason, hooks are possible again.
std::optional<std::string> disable_saved_tensors_hooks(std::optional<std::string> reason);
void push_node_creation_hook(NodeCreationCallback hook);
void pop_node_creation_hook();

// Restores the hooks that this thread had at its construction. The engine does so after every
// node: hooks that a backward enters without leaving them, or leaves too often, end with it.
class KeptHooks {
 public:
  KeptHooks();
  ~KeptHooks() { put_back(); }
  KeptHooks(const KeptHooks&) = delete;
  KeptHooks& operator=(const KeptHooks&) = delete;
  void put_back() {
    if (*changes_now_ != changes_) [[unlikely]]
      take();
  }

 private:
  void take();

  const uint64_t* changes_now_;  // of this thread
  uint64_t changes_;
  ActiveHooks hooks_;
};

void call_node_creation_hooks(const Ref<Node>& node);

// Shows a node that was added to the graph to the hooks; `node` is called only if there are any.
template <class F>
void node_created(const F& node) {
  if (graph_counters.node_creation_hooks > 0) [[unlikely]]
    call_node_creation_hooks(node());
}

}  // namespace fg::autograd
