// GraphTask: the state of one backward call, and the questions that code inside it may ask.
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
  bool asked = false;                         // `needed` was determined
  bool reached = false;                       // a function that ran leads here
  Tensors grads;                              // gradients gathered so far, one per forward output
  std::vector<std::pair<int, int>> captures;  // (output of the node, index of the result)
  // Flags by forward output: its gradient leads to nothing that was requested; null: none is such.
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

  // The state of a node, made at its first use; `fresh` becomes true then.
  NodeState& state(Node* node, bool* fresh = nullptr);
  NodeState* find(const Node* node) const;
  std::deque<NodeState>& states() { return states_; }
  void find_unwanted(Node* node);

 private:
  size_t place(const Node* node) const;
  void grow();

  // Open addressing by address: backward spends most of its time on one lookup per edge.
  std::vector<NodeState*> table_;
  std::deque<NodeState> states_;
};

// The innermost backward call of this thread; null outside of any.
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
