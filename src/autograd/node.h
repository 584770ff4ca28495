// Node: one recorded call. It knows where gradients go next (edges), what its forward outputs
// looked like, and the hooks that run around it. Deep graphs are freed by a work list, not by
// recursion.
#pragma once

#include <any>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/small_vector.h"
#include "base/spin_lock.h"
#include "tensor/tensor.h"

namespace fg::autograd {

class Node;

// Finds a node without keeping it alive.
class WeakNode {
 public:
  WeakNode() = default;
  explicit WeakNode(const Ref<Node>& node);
  Ref<Node> lock() const;  // null when the node is gone

  struct Cell {
    SpinLock mutex;
    Node* node = nullptr;
  };
  // A place that several nodes take one after the other, as the accumulators of one leaf do.
  void point_to(Node* node);

 private:
  std::shared_ptr<Cell> cell_;
};

struct Edge {
  Ref<Node> node;
  uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(node); }
};

// What a gradient that reaches a node must look like: one per forward output.
struct InputMetadata {
  Dims sizes;
  DType dtype = DType::f32;
};

using TensorHook = std::function<Tensor(const Tensor& grad)>;
using NodePreHook = std::function<Tensors(const Tensors& grad_outputs)>;
using NodePostHook =
    std::function<Tensors(const Tensors& grad_inputs, const Tensors& grad_outputs)>;
using PostAccumulateHook = std::function<void(const Tensor& parameter)>;

// Hooks by registration order; a hook may remove itself or others while it runs.
template <class F>
struct HookList {
  struct Entry {
    uint64_t id;
    int index;  // which output of the node; unused by node hooks
    std::shared_ptr<F> call;
  };
  std::vector<Entry> entries;
};

struct NodeHooks {
  HookList<TensorHook> tensor;
  std::map<int, std::function<void(const Tensor&)>> retain_grad;  // by output
  HookList<NodePreHook> pre;
  HookList<NodePostHook> post;
  HookList<PostAccumulateHook> post_accumulate;
};

// Removes a hook; does nothing when it is gone already. Copies refer to the same hook.
struct HookHandle {
  std::weak_ptr<NodeHooks> hooks;
  uint64_t id = 0;
  void remove() const;
};

class Node : public Counted {
 public:
  Node();
  virtual ~Node() = default;
  static void destroy(Node* node);
  static void* operator new(size_t bytes);
  static void operator delete(void* pointer);

  virtual std::string name() const = 0;
  // Gradients of the forward outputs in, gradients of the forward inputs out; undefined = none.
  virtual Tensors apply(Tensors&& grads) = 0;
  // Frees what was saved for backward; using the node again is an error afterwards.
  virtual void release_variables() {}

  const SmallVector<Edge, 2>& next_edges() const { return edges_; }
  const Edge& next_edge(size_t i) const { return edges_[i]; }
  // Whether the running backward (or, outside of one, any) wants the gradient of an input.
  bool should_compute(size_t input) const;
  void add_next_edge(Edge edge);
  void replace_next_edge(size_t i, Edge edge) { edges_[i] = std::move(edge); }

  size_t num_outputs() const { return metadata_.size(); }
  const InputMetadata& input_metadata(size_t i) const { return metadata_[i]; }
  uint32_t add_input_metadata(const Dims& sizes, DType dtype);

  uint64_t sequence_nr() const { return sequence_nr_; }
  void set_sequence_nr(uint64_t number) { sequence_nr_ = number; }
  uint64_t topological_nr() const { return topological_nr_; }
  std::map<std::string, std::any>& metadata();

  HookHandle register_prehook(NodePreHook hook);
  HookHandle register_hook(NodePostHook hook);
  HookHandle add_tensor_hook(int output, TensorHook hook);
  HookHandle add_post_accumulate_hook(PostAccumulateHook hook);
  // A leaf owns the hooks of its accumulators, which come and go.
  void share_hooks(std::shared_ptr<NodeHooks> hooks) { hooks_ = std::move(hooks); }
  NodeHooks* hooks() const { return hooks_.get(); }
  virtual const std::shared_ptr<NodeHooks>& ensure_hooks();

 protected:
  std::mutex mutex_;

 private:
  friend struct NodeReaper;
  friend class WeakNode;
  bool lost_last_reference();

  uint64_t sequence_nr_, topological_nr_ = 0;
  SmallVector<Edge, 2> edges_;
  SmallVector<InputMetadata, 1> metadata_;
  std::shared_ptr<NodeHooks> hooks_;
  std::unique_ptr<std::map<std::string, std::any>> user_metadata_;
  std::shared_ptr<WeakNode::Cell> weak_;
  Node* next_dead_ = nullptr;
};

// A tensor's place in the graph, or any node's output: accepted wherever a tensor is, as input or
// output of backward() and grad(). Keeps the graph alive.
struct GradientEdge {
  Ref<Node> node;
  uint32_t output_nr = 0;
};
GradientEdge get_gradient_edge(const Tensor& tensor);

uint64_t next_hook_id();

}  // namespace fg::autograd
