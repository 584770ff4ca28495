#include "autograd/engine.h"

#include <algorithm>
#include <thread>
#include <unordered_set>

#include "autograd/active_hooks.h"
#include "autograd/graph_task.h"
#include "autograd/hooks.h"
#include "autograd/sum_to.h"
#include "base/carried.h"
#include "base/fail.h"
#include "base/interrupt.h"
#include "base/recorder.h"
#include "ops/elementwise/arithmetic.h"

namespace fg::autograd {

namespace {

// Re-entrant calls deeper than this go on in a thread of their own, with a fresh stack.
constexpr int kMaxDepthPerThread = 60;
thread_local int depth = 0;

struct NewerFirst {
  bool operator()(const NodeState* a, const NodeState* b) const {
    return a->node->sequence_nr() < b->node->sequence_nr();
  }
};
using ReadyQueue = std::priority_queue<NodeState*, std::vector<NodeState*>, NewerFirst>;

// Counts for every reachable node how many gradients it must wait for.
void count_dependencies(GraphTask& task, const std::vector<Edge>& roots, uint64_t min_topological) {
  std::vector<Node*> stack;
  auto visit = [&](Node* node) -> NodeState& {
    bool fresh;
    NodeState& state = task.state(node, &fresh);
    if (fresh) stack.push_back(node);
    return state;
  };
  for (const Edge& root : roots) visit(root.node.get());
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    if (node->topological_nr() < min_topological) continue;
    for (const Edge& edge : node->next_edges()) {
      if (edge.is_valid()) visit(edge.node.get()).dependencies++;
    }
  }
}

void mark_targets(GraphTask& task, const std::vector<Edge>& targets, bool accumulate) {
  task.restricted = true;
  for (NodeState& state : task.states()) state.needed = false;
  for (size_t i = 0; i < targets.size(); i++) {
    NodeState& state = task.state(targets[i].node.get());
    if (accumulate)
      state.needed = true;
    else
      state.captures.emplace_back(static_cast<int>(targets[i].input_nr), static_cast<int>(i));
  }
}

// Marks the nodes on a path to a target, children before parents, without recursion.
void mark_needed(GraphTask& task, const std::vector<Edge>& roots, uint64_t min_topological) {
  struct Frame {
    NodeState* state;
    size_t next;
  };
  std::vector<Frame> stack;
  auto push = [&](Node* node) {
    if (node->topological_nr() < min_topological) return;
    NodeState& state = task.state(node);
    if (!std::exchange(state.asked, true)) stack.push_back({&state, 0});
  };
  CurrentTask current(&task);  // nodes are asked what they lead to
  for (const Edge& root : roots) {
    push(root.node.get());
    while (!stack.empty()) {
      Frame& frame = stack.back();
      NodeState& state = *frame.state;
      Node* node = state.node;
      if (frame.next < node->next_edges().size()) {
        const Edge& edge = node->next_edge(frame.next++);
        if (edge.is_valid()) push(edge.node.get());
        continue;
      }
      stack.pop_back();
      for (const Edge& edge : node->next_edges()) {
        if (edge.is_valid() && task_wants(edge)) state.needed = true;
      }
      if (node->num_outputs() > 1) task.find_unwanted(node);
    }
  }
}

// Counts dependencies again, from the roots along the nodes that run: a node that is wanted only
// for some of its outputs need not wait for nodes that lead to the others, since those do not run.
void count_again(GraphTask& task, const std::vector<Edge>& roots) {
  if (!task.leaves_out_some) return;
  std::vector<Node*> stack;
  std::unordered_set<Node*> seen;
  auto visit = [&](NodeState& state) {
    if (state.needed && seen.insert(state.node).second) stack.push_back(state.node);
  };
  for (NodeState& state : task.states()) state.dependencies = 0;
  for (const Edge& root : roots) visit(task.state(root.node.get()));
  while (!stack.empty()) {
    Node* node = stack.back();
    stack.pop_back();
    for (const Edge& edge : node->next_edges()) {
      NodeState* next = edge.is_valid() ? task.find(edge.node.get()) : nullptr;
      if (!next) continue;
      next->dependencies++;
      visit(*next);
    }
  }
}

// A gradient must have the shape and dtype of what it is the gradient of.
Tensor fit(const Node& producer, size_t index, Tensor grad, const InputMetadata& metadata) {
  if (!(grad.sizes() == metadata.sizes)) {
    if (!can_broadcast(metadata.sizes, grad.sizes())) {
      fail(
          "{} returned an invalid gradient at index {}: got sizes {} but expected sizes that "
          "reduce "
          "to {}",
          producer.name(), index, text(grad.sizes()), text(metadata.sizes));
    }
    grad = sum_to_size(grad, metadata.sizes);
  }
  if (grad.dtype() != metadata.dtype) grad = grad.to(metadata.dtype);
  return grad;
}

void add_gradient(NodeState& state, uint32_t slot, Tensor grad) {
  if (state.grads.empty())
    state.grads.resize(std::max<size_t>(state.node->num_outputs(), slot + 1));
  Tensor& sum = state.grads[slot];
  sum = sum.defined() ? add(sum, grad) : std::move(grad);
}

class Run {
 public:
  Run(GraphTask& task, ReadyQueue& ready) : task_(task), ready_(ready) {}

  void evaluate(NodeState& state) {
    // The node may be freed by its own hooks or by releasing the graph: hold it.
    Ref<Node> node = Ref<Node>::share(state.node);
    if (!state.reached) return distribute(*node, {}, false);
    task_.current_node = node.get();
    Tensors grads = std::move(state.grads);
    grads.resize(std::max(grads.size(), node->num_outputs()));
    for (uint32_t i = 0; state.unwanted && i < grads.size(); i++) {
      if (state.leaves_out(i)) grads[i].reset();
    }
    call_tensor_hooks(*node, grads);
    for (auto [output, result] : state.captures) task_.captured[result] = grads[output];
    if (task_.restricted && !state.needed) return;
    Tensors outputs = call_node(*node, std::move(grads));
    if (!task_.keep_graph) node->release_variables();
    distribute(*node, std::move(outputs), node->is_one_function());
  }

 private:
  Tensors call_node(Node& node, Tensors grads) {
    std::string name = timing::is_recording() ? node.name() : std::string();
    timing::Operation operation("node", name);
    call_pre_hooks(node, grads);
    if (!node.hooks() || node.hooks()->post.entries.empty()) return node.apply(std::move(grads));
    Tensors kept = grads;
    Tensors outputs = node.apply(std::move(grads));
    call_post_hooks(node, outputs, kept);
    return outputs;
  }

  // `ran`: where there is no gradient, a function ran and had none.
  void distribute(const Node& node, Tensors outputs, bool ran) {
    size_t edges = node.next_edges().size();
    if (outputs.size() > edges) {
      for (size_t i = edges; i < outputs.size(); i++) {
        if (outputs[i].defined()) {
          fail("{} returned {} gradients but has {} inputs; return one per input", node.name(),
               outputs.size(), edges);
        }
      }
    }
    for (size_t i = 0; i < std::min(edges, outputs.size()); i++) {
      const Edge& edge = node.next_edge(i);
      if (!edge.is_valid()) continue;
      pass_on(node, i, edge, std::move(outputs[i]), ran);
    }
    for (size_t i = outputs.size(); i < edges; i++) {
      if (node.next_edge(i).is_valid()) pass_on(node, i, node.next_edge(i), {}, ran);
    }
  }

  void pass_on(const Node& node, size_t index, const Edge& edge, Tensor grad, bool ran) {
    NodeState* next = task_.find(edge.node.get());
    if (!next) return;
    next->reached |= ran || grad.defined();
    bool wanted = !task_.restricted || next->needed || !next->captures.empty();
    if (wanted && grad.defined()) {
      const InputMetadata& metadata = edge.node->input_metadata(edge.input_nr);
      add_gradient(*next, edge.input_nr, fit(node, index, std::move(grad), metadata));
    }
    if (--next->dependencies == 0 && wanted) ready_.push(next);
  }

  GraphTask& task_;
  ReadyQueue& ready_;
};

void run_task(GraphTask& task, const std::vector<Edge>& roots) {
  CurrentTask current(&task);
  AutoGradMode mode(task.create_graph);
  ReadyQueue ready;
  Run run(task, ready);
  for (const Edge& root : roots) {
    NodeState& state = task.state(root.node.get());
    bool wanted = !task.restricted || state.needed || !state.captures.empty();
    state.reached = true;
    // A root that another root leads to waits for those gradients.
    if (wanted && state.dependencies == 0) {
      ready.push(&state);
      state.dependencies = -1;
    }
  }
  // Modes and hooks that a node's code enters and does not leave end with that node.
  const Modes entered = modes;
  KeptHooks hooks;
  while (!ready.empty()) {
    NodeState* state = ready.top();
    ready.pop();
    poll_interrupt();
    run.evaluate(*state);
    modes = entered;
    hooks.put_back();
  }
}

void run_at_depth(GraphTask& task, const std::vector<Edge>& roots) {
  depth++;
  try {
    if (depth % kMaxDepthPerThread != 0) {
      run_task(task, roots);
    } else {
      std::exception_ptr error;
      Modes outer = modes;
      const ActiveHooks& hooks = active_hooks();
      int level = depth;
      CarriedWork carry = carried();
      auto work = [&] {
        modes = outer;
        take_active_hooks(hooks);
        depth = level;
        try {
          run_task(task, roots);
        } catch (...) {
          error = std::current_exception();
        }
      };
      std::thread([&] {
        try {
          carry(work);
        } catch (...) {
          error = std::current_exception();
        }
      }).join();
      if (error) std::rethrow_exception(error);
    }
  } catch (...) {
    depth--;
    throw;
  }
  depth--;
}

}  // namespace

Tensors run_backward(const std::vector<Edge>& roots, const Tensors& grads,
                     const std::vector<Edge>& targets, const EngineOptions& options) {
  GraphTask task(options.keep_graph, options.create_graph);
  uint64_t min_topological = targets.empty() ? 0 : UINT64_MAX;
  for (const Edge& target : targets) {
    min_topological = std::min(min_topological, target.node->topological_nr());
  }
  count_dependencies(task, roots, min_topological);
  if (!targets.empty()) {
    mark_targets(task, targets, options.accumulate);
    mark_needed(task, roots, min_topological);
    count_again(task, roots);
    if (!options.accumulate) task.captured.resize(targets.size());
  }
  {
    AutoGradMode mode(options.create_graph);
    for (size_t i = 0; i < roots.size(); i++) {
      add_gradient(task.state(roots[i].node.get()), roots[i].input_nr, grads[i]);
    }
  }
  run_at_depth(task, roots);
  return std::move(task.captured);
}

}  // namespace fg::autograd
