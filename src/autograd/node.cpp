#include "autograd/node.h"

#include <algorithm>

#include "autograd/graph_task.h"
#include "base/fail.h"
#include "tensor/allocator.h"

namespace fg::autograd {

// Newest node first: the engine runs the node with the highest number of its thread.
Node::Node() : sequence_nr_(graph_counters.next_sequence_nr++) {}

void* Node::operator new(size_t bytes) { return small_allocate(bytes); }
void Node::operator delete(void* pointer) { small_deallocate(pointer); }

// Destroying a node releases its edges, which may release the next nodes, and so on: a chain of a
// million nodes would overflow the stack. The outermost destroy works the others off.
struct NodeReaper {
  static void add(Node* node) {
    node->next_dead_ = static_cast<Node*>(graph_counters.dead_nodes);
    graph_counters.dead_nodes = node;
  }
  static void work_off() {
    graph_counters.freeing_nodes = true;
    while (auto* node = static_cast<Node*>(graph_counters.dead_nodes)) {
      graph_counters.dead_nodes = node->next_dead_;
      if (!node->lost_last_reference()) continue;
      if (void* face = std::exchange(node->face, nullptr)) release_face(face);
      node->dispose();
    }
    graph_counters.freeing_nodes = false;
  }
};

void Node::destroy(Node* node) {
  NodeReaper::add(node);
  if (!graph_counters.freeing_nodes) NodeReaper::work_off();
}

WeakNode::WeakNode(const Ref<Node>& node) {
  if (!node) return;
  Locked locked(node->lock_);
  if (!node->weak_) {
    node->weak_ = Ref<Cell>::adopt(new Cell);
    node->weak_->node = node.get();
  }
  cell_ = node->weak_;
}

Ref<Node> WeakNode::lock() const {
  if (!cell_) return nullptr;
  Locked locked(cell_->lock);
  return Ref<Node>::share(cell_->node);
}

// The last reference is being dropped; a WeakNode may have found the node again in the meantime.
bool Node::lost_last_reference() {
  if (!weak_) return true;
  Locked locked(weak_->lock);
  if (!release()) return false;
  weak_->node = nullptr;
  return true;
}

bool Node::should_compute(size_t input) const {
  const Edge& edge = edges_[input];
  return edge.is_valid() && task_wants(edge);
}

std::map<std::string, std::any>& Node::metadata() { return ensure_hooks().metadata; }

NodeHooks& Node::ensure_hooks() {
  if (!hooks_) hooks_ = Ref<NodeHooks>::adopt(new NodeHooks);
  return *hooks_;
}

uint64_t next_hook_id() {
  static std::atomic<uint64_t> counter{1};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

NodeHooks::NodeHooks() : cell_(Ref<HookHandle::Cell>::adopt(new HookHandle::Cell)) {
  cell_->hooks = this;
}
NodeHooks::~NodeHooks() {
  Locked locked(cell_->lock);
  cell_->hooks = nullptr;
}

HookHandle Node::register_prehook(NodePreHook hook) {
  NodeHooks& hooks = ensure_hooks();
  return hooks.add(hooks.pre, 0, std::move(hook));
}

HookHandle Node::register_hook(NodePostHook hook) {
  NodeHooks& hooks = ensure_hooks();
  return hooks.add(hooks.post, 0, std::move(hook));
}

void Node::check_watched(uint32_t) const {
  if (unwatchable_) fail("{}: {}", name(), unwatchable_);
}

// The hook is handed back: what it holds must not be destroyed under the lock.
template <class F>
static F take(HookList<F>& list, uint64_t id) {
  F taken;
  std::erase_if(list.entries, [&](auto& entry) {
    bool found = entry.id == id;
    if (found) taken = std::move(entry.call);
    return found;
  });
  return taken;
}

void HookHandle::remove() const {
  if (!cell_) return;
  TensorHook tensor;
  NodePreHook pre;
  NodePostHook post;
  PostAccumulateHook post_accumulate;
  Locked locked(cell_->lock);
  if (!cell_->hooks) return;
  tensor = take(cell_->hooks->tensor, id_);
  pre = take(cell_->hooks->pre, id_);
  post = take(cell_->hooks->post, id_);
  post_accumulate = take(cell_->hooks->post_accumulate, id_);
}

}  // namespace fg::autograd
