#include "autograd/graph_task.h"

#include <algorithm>

#include "base/fail.h"

namespace fg::autograd {

static thread_local GraphTask* innermost = nullptr;

GraphTask::GraphTask(bool keep, bool create) : keep_graph(keep), create_graph(create) {
  static std::atomic<uint64_t> counter{0};
  id = counter.fetch_add(1, std::memory_order_relaxed);
}

size_t GraphTask::place(const Node* node) const {
  uint64_t hash = reinterpret_cast<uintptr_t>(node) * 0x9E3779B97F4A7C15u;
  size_t at = hash >> 32 & (table_.size() - 1);
  while (table_[at] && table_[at]->node != node) at = (at + 1) & (table_.size() - 1);
  return at;
}

void GraphTask::grow() {
  std::vector<NodeState*> bigger(std::max<size_t>(64, 2 * table_.size()));
  table_.swap(bigger);
  for (NodeState& state : states_) table_[place(state.node)] = &state;
}

NodeState& GraphTask::state(Node* node, bool* fresh) {
  if (2 * states_.size() >= table_.size()) grow();
  NodeState*& slot = table_[place(node)];
  if (fresh) *fresh = !slot;
  if (!slot) {
    slot = &states_.emplace_back();
    slot->node = node;
  }
  return *slot;
}

NodeState* GraphTask::find(const Node* node) const {
  return table_.empty() ? nullptr : table_[place(node)];
}

GraphTask* current_task() { return innermost; }

CurrentTask::CurrentTask(GraphTask* task) : outer_(std::exchange(innermost, task)) {}
CurrentTask::~CurrentTask() { innermost = outer_; }

bool task_wants(const Edge& edge) {
  if (!innermost || !innermost->restricted) return true;
  NodeState* state = innermost->find(edge.node.get());
  if (!state || state->leaves_out(edge.input_nr)) return false;
  return state->needed || !state->captures.empty();
}

// A node that stands for several functions leads to targets from some of its outputs only.
void GraphTask::find_unwanted(Node* node) {
  NodeState* state = find(node);
  for (uint32_t i = 0; state && i < node->num_outputs(); i++) {
    if (node->leads_to_wanted(i)) continue;
    auto is_this = [&](auto& capture) { return capture.first == static_cast<int>(i); };
    if (std::any_of(state->captures.begin(), state->captures.end(), is_this)) continue;
    if (!state->unwanted) {
      state->unwanted = std::make_unique<std::vector<bool>>(node->num_outputs());
    }
    (*state->unwanted)[i] = leaves_out_some = true;
  }
}

static GraphTask& task_or_fail(const char* who) {
  if (!innermost)
    fail("{}: called outside of backward; call it from a hook or a gradient rule", who);
  return *innermost;
}

int64_t current_graph_task_id() { return innermost ? static_cast<int64_t>(innermost->id) : -1; }

Ref<Node> current_graph_task_node() {
  return Ref<Node>::share(task_or_fail("current_graph_task_node").current_node);
}

bool will_engine_execute_node(const Ref<Node>& node) {
  GraphTask& task = task_or_fail("will_engine_execute_node");
  NodeState* state = task.find(node.get());
  if (!task.restricted) return state != nullptr;
  return state && (state->needed || !state->captures.empty());
}

std::vector<Ref<Node>> current_graph_task_execution_order() {
  GraphTask& task = task_or_fail("current_graph_task_execution_order");
  std::map<Node*, int> waiting_for;  // how many nodes run before this one
  for (NodeState& state : task.states()) {
    if (task.restricted && !state.needed) continue;
    waiting_for.try_emplace(state.node, 0);
    for (const Edge& edge : state.node->next_edges()) {
      NodeState* next = edge.is_valid() ? task.find(edge.node.get()) : nullptr;
      if (next && (!task.restricted || next->needed)) waiting_for[next->node]++;
    }
  }
  auto later = [](Node* a, Node* b) { return a->sequence_nr() < b->sequence_nr(); };
  std::priority_queue<Node*, std::vector<Node*>, decltype(later)> ready(later);
  for (auto [node, count] : waiting_for) {
    if (count == 0) ready.push(node);
  }
  std::vector<Ref<Node>> order;
  while (!ready.empty()) {
    Node* node = ready.top();
    ready.pop();
    order.push_back(Ref<Node>::share(node));
    for (const Edge& edge : node->next_edges()) {
      auto next = waiting_for.find(edge.node.get());
      if (next != waiting_for.end() && --next->second == 0) ready.push(next->first);
    }
  }
  return order;
}

bool current_graph_task_keep_graph() {
  return task_or_fail("current_graph_task_keep_graph").keep_graph;
}

}  // namespace fg::autograd
