// GraphTask: the state of one backward call, and what code running inside it may ask.
#pragma once

#include <deque>
#include <queue>
#include <unordered_map>

#include "autograd/node.h"

namespace fg::autograd {

// The state of one node in one backward call.
struct NodeState {
  Node* node = nullptr;
  int dependencies = 0;
  bool needed = true;                         // on a path to a requested input
  Tensors grads;                              // gradients gathered so far, one per forward output
  std::vector<std::pair<int, int>> captures;  // (output of the node, index of the result)
};

class GraphTask {
 public:
  explicit GraphTask(bool keep_graph, bool create_graph);

  uint64_t id;
  bool keep_graph, create_graph;
  bool restricted = false;  // only nodes on a path to requested inputs run
  Tensors captured;
  Node* current_node = nullptr;

  NodeState& state(Node* node);
  NodeState* find(const Node* node);
  std::deque<NodeState>& states() { return states_; }

 private:
  std::unordered_map<const Node*, NodeState*> index_;
  std::deque<NodeState> states_;
};

// Inside a backward: the innermost task of this thread. Null outside.
GraphTask* current_task();
// Makes a task current for a scope; the engine uses it.
class CurrentTask {
 public:
  explicit CurrentTask(GraphTask* task);
  ~CurrentTask();
  CurrentTask(const CurrentTask&) = delete;
  CurrentTask& operator=(const CurrentTask&) = delete;

 private:
  GraphTask* outer_;
};

// Whether the running task wants gradients to reach `node`; true outside of a task.
bool task_wants(const Node* node);

// ---- introspection (all but the first are errors outside of backward)
int64_t current_graph_task_id();  // -1 outside
Ref<Node> current_graph_task_node();
bool will_engine_execute_node(const Ref<Node>& node);
std::vector<Ref<Node>> current_graph_task_execution_order();
bool current_graph_task_keep_graph();

}  // namespace fg::autograd
