#include "autograd/active_hooks.h"

#include "base/fail.h"

namespace fg::autograd {

ActiveHooks& active_hooks() {
  static thread_local ActiveHooks hooks;
  return hooks;
}

static void count_active_hooks() {
  const ActiveHooks& hooks = active_hooks();
  graph_counters.saved_tensor_hooks = static_cast<int>(hooks.saved_tensors.size());
  graph_counters.node_creation_hooks = static_cast<int>(hooks.node_creation.size());
}

void take_active_hooks(const ActiveHooks& hooks) {
  active_hooks() = hooks;
  count_active_hooks();
}

// ---- saved tensors

SavedTensorsHooks::SavedTensorsHooks(PackHook pack, UnpackHook unpack) {
  ActiveHooks& hooks = active_hooks();
  if (hooks.saved_tensors_disabled) fail("{}", *hooks.saved_tensors_disabled);
  hooks.saved_tensors.push_back({std::move(pack), std::move(unpack)});
  count_active_hooks();
}

SavedTensorsHooks::~SavedTensorsHooks() {
  if (active_hooks().saved_tensors.empty()) return;
  active_hooks().saved_tensors.pop_back();
  count_active_hooks();
}

DisableSavedTensorsHooks::DisableSavedTensorsHooks(std::string message)
    : outer_(active_hooks().saved_tensors_disabled) {
  if (!active_hooks().saved_tensors.empty()) fail("{}", message);
  active_hooks().saved_tensors_disabled = std::move(message);
}

DisableSavedTensorsHooks::~DisableSavedTensorsHooks() {
  active_hooks().saved_tensors_disabled = outer_;
}

// ---- new nodes

NodeCreationHook::NodeCreationHook(NodeCreationCallback hook) {
  active_hooks().node_creation.push_back(std::move(hook));
  count_active_hooks();
}

NodeCreationHook::~NodeCreationHook() {
  active_hooks().node_creation.pop_back();
  count_active_hooks();
}

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
