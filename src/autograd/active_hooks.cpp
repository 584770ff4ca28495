#include "autograd/active_hooks.h"

#include "base/fail.h"

namespace fg::autograd {

// The hooks of a thread, and how often they changed.
struct ThreadHooks : ActiveHooks {
  uint64_t changes = 0;

  static ThreadHooks& here() {
    static thread_local ThreadHooks hooks;
    return hooks;
  }
  void changed() {
    changes++;
    graph_counters.saved_tensor_hooks = static_cast<int>(saved_tensors.size());
    graph_counters.node_creation_hooks = static_cast<int>(node_creation.size());
  }
};

const ActiveHooks& active_hooks() { return ThreadHooks::here(); }

void take_active_hooks(const ActiveHooks& hooks) {
  ThreadHooks& here = ThreadHooks::here();
  ActiveHooks before = std::exchange(static_cast<ActiveHooks&>(here), hooks);
  here.changed();  // `before` ends last: what it holds may be a program's
}

KeptHooks::KeptHooks()
    : changes_now_(&ThreadHooks::here().changes), changes_(*changes_now_), hooks_(active_hooks()) {}

void KeptHooks::take() {
  take_active_hooks(hooks_);
  changes_ = *changes_now_;
}

// ---- saved tensors

void push_saved_tensors_hooks(PackHook pack, UnpackHook unpack) {
  ThreadHooks& here = ThreadHooks::here();
  if (here.saved_tensors_disabled) fail("{}", *here.saved_tensors_disabled);
  here.saved_tensors.push_back({std::move(pack), std::move(unpack)});
  here.changed();
}

void pop_saved_tensors_hooks() {
  ThreadHooks& here = ThreadHooks::here();
  if (here.saved_tensors.empty()) return;
  ActiveHooks::Pair last = std::move(here.saved_tensors.back());
  here.saved_tensors.pop_back();
  here.changed();
}

std::optional<std::string> disable_saved_tensors_hooks(std::optional<std::string> reason) {
  ThreadHooks& here = ThreadHooks::here();
  if (reason && !here.saved_tensors.empty()) fail("{}", *reason);
  here.changed();
  return std::exchange(here.saved_tensors_disabled, std::move(reason));
}

SavedTensorsHooks::SavedTensorsHooks(PackHook pack, UnpackHook unpack) {
  push_saved_tensors_hooks(std::move(pack), std::move(unpack));
}
SavedTensorsHooks::~SavedTensorsHooks() { pop_saved_tensors_hooks(); }

DisableSavedTensorsHooks::DisableSavedTensorsHooks(std::string message)
    : outer_(disable_saved_tensors_hooks(std::move(message))) {}
DisableSavedTensorsHooks::~DisableSavedTensorsHooks() {
  ThreadHooks::here().saved_tensors_disabled = outer_;
  ThreadHooks::here().changed();
}

// ---- new nodes

void push_node_creation_hook(NodeCreationCallback hook) {
  ThreadHooks& here = ThreadHooks::here();
  here.node_creation.push_back(std::move(hook));
  here.changed();
}

void pop_node_creation_hook() {
  ThreadHooks& here = ThreadHooks::here();
  if (here.node_creation.empty()) return;
  NodeCreationCallback last = std::move(here.node_creation.back());
  here.node_creation.pop_back();
  here.changed();
}

NodeCreationHook::NodeCreationHook(NodeCreationCallback hook) {
  push_node_creation_hook(std::move(hook));
}
NodeCreationHook::~NodeCreationHook() { pop_node_creation_hook(); }

void call_node_creation_hooks(const Ref<Node>& node) {
  static thread_local bool calling = false;
  if (calling) {
    fail(
        "a node creation hook made a node itself ({}); a hook may look at its node and register "
        "hooks on it, but must compute under no_grad",
        node->name());
  }
  struct Calling {
    Calling() { calling = true; }
    ~Calling() { calling = false; }
  } scope;
  auto hooks = active_hooks().node_creation;  // a copy: a hook may enter and leave contexts
  for (const NodeCreationCallback& hook : hooks) hook(node);
}

}  // namespace fg::autograd
