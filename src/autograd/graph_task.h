// GraphTask: the state of one backward call, and what code running inside it may ask.
#pragma once

#include <deque>
#include <memory>
#include <queue>

#include "autograd/introspection.h"

namespace fg::autograd {

// The state of one node in one backward call.
struct NodeState {
  Node* node = nullptr;
  int dependencies = 0;
  bool needed = true;                         // on a path to a requested input
  bool asked = false;                         // whether it is
  bool reached = false;                       // a function that ran leads here
  Tensors grads;                              // gradients gathered so far, one per forward output
  std::vector<std::pair<int, int>> captures;  // (output of the node, index of the result)
  // By forward output: its gradient leads to nothing that was requested; none: each leads there.
  std::unique_ptr<std::vector<bool>> unwanted;

  bool leaves_out(uint32_t output) const { return unwanted && (*unwanted)[output]; }
};

class GraphTask {
 public:
  explicit GraphTask(bool keep_graph, bool create_graph);

  uint64_t id;
  bool keep_graph, create_graph;
  bool restricted = false;  // only nodes on a path to requested inputs run
  bool leaves_out_some = false;
  Tensors captured;
  Node* current_node = nullptr;

  // The state of a node, made when it is first asked for; `fresh` tells.
  NodeState& state(Node* node, bool* fresh = nullptr);
  NodeState* find(const Node* node) const;
  std::deque<NodeState>& states() { return states_; }
  void find_unwanted(Node* node);

 private:
  size_t place(const Node* node) const;
  void grow();

  // Open addressing by address: a lookup per edge is what backward spends its time on.
  std::vector<NodeState*> table_;
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

// Whether the running task wants a gradient to go along an edge; true outside of a task.
bool task_wants(const Edge& edge);

}  // namespace fg::autograd
