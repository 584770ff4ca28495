#include "autograd/node.h"

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
      if (node->lost_last_reference()) delete node;
    }
    graph_counters.freeing_nodes = false;
  }
};

void Node::destroy(Node* node) {
  NodeReaper::add(node);
  if (!graph_counters.freeing_nodes) NodeReaper::work_off();
}

void WeakNode::point_to(Node* node) {
  if (!cell_) cell_ = std::make_shared<Cell>();
  node->weak_ = cell_;
  std::lock_guard lock(cell_->mutex);
  cell_->node = node;
}

WeakNode::WeakNode(const Ref<Node>& node) {
  if (!node) return;
  std::lock_guard lock(node->mutex_);
  if (!node->weak_) {
    node->weak_ = std::make_shared<Cell>();
    node->weak_->node = node.get();
  }
  cell_ = node->weak_;
}

Ref<Node> WeakNode::lock() const {
  if (!cell_) return nullptr;
  std::lock_guard lock(cell_->mutex);
  return Ref<Node>::share(cell_->node);
}

// The last reference is being dropped; a WeakNode may have found the node again in the meantime.
bool Node::lost_last_reference() {
  if (!weak_) return true;
  std::lock_guard lock(weak_->mutex);
  if (!release()) return false;
  weak_->node = nullptr;
  return true;
}

void Node::add_next_edge(Edge edge) {
  if (edge.node) topological_nr_ = std::max(topological_nr_, edge.node->topological_nr_ + 1);
  edges_.push_back(std::move(edge));
}

uint32_t Node::add_input_metadata(const Dims& sizes, DType dtype) {
  InputMetadata& metadata = metadata_.emplace_back();
  metadata.sizes = sizes;
  metadata.dtype = dtype;
  return static_cast<uint32_t>(metadata_.size() - 1);
}

bool Node::should_compute(size_t input) const {
  const Edge& edge = edges_[input];
  return edge.is_valid() && task_wants(edge.node.get());
}

std::map<std::string, std::any>& Node::metadata() {
  if (!user_metadata_) user_metadata_ = std::make_unique<std::map<std::string, std::any>>();
  return *user_metadata_;
}

const std::shared_ptr<NodeHooks>& Node::ensure_hooks() {
  if (!hooks_) hooks_ = std::make_shared<NodeHooks>();
  return hooks_;
}

uint64_t next_hook_id() {
  static std::atomic<uint64_t> counter{1};
  return counter.fetch_add(1, std::memory_order_relaxed);
}

template <class F>
static HookHandle add(const std::shared_ptr<NodeHooks>& hooks, HookList<F>& list, int index,
                      F hook) {
  uint64_t id = next_hook_id();
  list.entries.push_back({id, index, std::make_shared<F>(std::move(hook))});
  return {hooks, id};
}

HookHandle Node::register_prehook(NodePreHook hook) {
  ensure_hooks();
  return add(hooks_, hooks_->pre, 0, std::move(hook));
}

HookHandle Node::register_hook(NodePostHook hook) {
  ensure_hooks();
  return add(hooks_, hooks_->post, 0, std::move(hook));
}

HookHandle Node::add_tensor_hook(int output, TensorHook hook) {
  ensure_hooks();
  return add(hooks_, hooks_->tensor, output, std::move(hook));
}

HookHandle Node::add_post_accumulate_hook(PostAccumulateHook hook) {
  ensure_hooks();
  return add(hooks_, hooks_->post_accumulate, 0, std::move(hook));
}

template <class F>
static void remove_from(HookList<F>& list, uint64_t id) {
  std::erase_if(list.entries, [&](auto& entry) { return entry.id == id; });
}

void HookHandle::remove() const {
  auto alive = hooks.lock();
  if (!alive) return;
  remove_from(alive->tensor, id);
  remove_from(alive->pre, id);
  remove_from(alive->post, id);
  remove_from(alive->post_accumulate, id);
}

}  // namespace fg::autograd
