// Node: one recorded call, with the edges along which gradients flow next, sizes and dtypes of its
// forward outputs, and the hooks that run around it. Deep graphs are freed by a work list, not by
// recursion.
#pragma once

#include <any>
#include <map>

#include "base/callback.h"
#include "base/lock.h"
#include "base/small_vector.h"
#include "tensor/tensor.h"

namespace fg::autograd {

class Node;
class SavedValue;

// Finds a node without keeping it alive.
class WeakNode {
 public:
  WeakNode() = default;
  explicit WeakNode(const Ref<Node>& node);
  Ref<Node> lock() const;  // null when the node is gone

  struct Cell : Counted {
    SpinLock lock;
    Node* node = nullptr;
    static void destroy(Cell* cell) { delete cell; }
  };

 private:
  Ref<Cell> cell_;
};

struct Edge {
  Ref<Node> node;
  uint32_t input_nr = 0;
  bool is_valid() const { return static_cast<bool>(node); }
};

// Sizes and dtype that a gradient must have to enter a node: one per forward output.
struct InputMetadata {
  InputMetadata(const Dims& sizes, DType dtype) : sizes(sizes), dtype(dtype) {}
  Dims sizes;
  DType dtype;
};

using TensorHook = Hook<Tensor(const Tensor& grad)>;
using NodePreHook = Hook<Tensors(const Tensors& grad_outputs)>;
using NodePostHook = Hook<Tensors(const Tensors& grad_inputs, const Tensors& grad_outputs)>;
using PostAccumulateHook = Callback<void(const Tensor& parameter)>;

// Hooks by registration order; a hook may remove itself or others while it runs.
template <class F>
struct HookList {
  struct Registration {
    uint64_t id;
    int index;  // the output of the node; unused by node hooks
    F call;
  };
  std::vector<Registration> entries;
};

struct NodeHooks;
uint64_t next_hook_id();

// Removes a hook; does nothing when it is gone already. Copies refer to the same hook.
class HookHandle {
 public:
  void remove() const;

 private:
  friend struct NodeHooks;
  uint64_t next_hook_id();
  struct Cell : Counted {  // finds the hooks without keeping them alive
    Lock lock;
    NodeHooks* hooks = nullptr;
    static void destroy(Cell* cell) { delete cell; }
  };
  Ref<Cell> cell_;
  uint64_t id_ = 0;
};

// Rare parts of a node: hooks, and metadata that users attach.
struct NodeHooks : Counted {
  HookList<TensorHook> tensor;
  std::map<int, Callback<void(const Tensor&)>> retain_grad;  // by output
  HookList<NodePreHook> pre;
  HookList<NodePostHook> post;
  HookList<PostAccumulateHook> post_accumulate;
  std::map<std::string, std::any> metadata;

  NodeHooks();
  ~NodeHooks();
  bool any() const {
    return !(tensor.entries.empty() && pre.entries.empty() && post.entries.empty() &&
             post_accumulate.entries.empty() && retain_grad.empty());
  }
  static void destroy(NodeHooks* hooks) { delete hooks; }
  template <class F>
  HookHandle add(HookList<F>& list, int index, F hook) {
    HookHandle handle;
    handle.cell_ = cell_;
    handle.id_ = next_hook_id();
    list.entries.push_back({handle.id_, index, std::move(hook)});
    return handle;
  }

 private:
  Ref<HookHandle::Cell> cell_;
};

class Node : public Faced {
 public:
  Node();
  virtual ~Node() = default;
  static void destroy(Node* node);
  static void* operator new(size_t bytes);
  static void operator delete(void* pointer);

  virtual std::string name() const = 0;
  // Gradients of the forward outputs in, gradients of the forward inputs out; undefined = none.
  virtual Tensors apply(Tensors&& grads) = 0;
  // Frees the values saved for backward; using the node again is an error afterwards.
  virtual void release_variables() {}
  // Refuses to show the gradient of a forward output to a hook, or to return it, where it is only a
  // part of the whole.
  virtual void check_watched(uint32_t output) const;
  // Whether the running backward wants anything to which the gradient of this forward output leads.
  // A node of several functions says no where the node of that function alone would not run.
  virtual bool leads_to_wanted(uint32_t output) const {
    (void)output;
    return true;
  }
  // Whether the node is one function. A node of several runs when one of them would: an undefined
  // gradient there belongs to a function that would not run, and no hook is called with it.
  virtual bool is_one_function() const { return true; }
  // Makes check_watched fail with the reason `why`, which lives as long as the process.
  void refuse_watching(const char* why) { unwatchable_ = why; }
  // The values saved for backward, with PyTorch's names: "self", "other", "result".
  virtual size_t saved_count() const { return 0; }
  virtual SavedValue* saved_value(size_t) { return nullptr; }
  virtual std::string saved_name(size_t) const { return {}; }

  const SmallVector<Edge, 2>& next_edges() const { return edges_; }
  const Edge& next_edge(size_t i) const { return edges_[i]; }
  // Whether the running backward (or, outside of one, any) wants the gradient of an input.
  bool should_compute(size_t input) const;
  void add_next_edge(Edge edge) {
    if (edge.node && edge.node->topological_nr_ >= topological_nr_) {
      topological_nr_ = edge.node->topological_nr_ + 1;
    }
    edges_.emplace_back(std::move(edge));
  }
  // Called when the last reference is gone: a leaf keeps its accumulator, other nodes are deleted.
  virtual void dispose() { delete this; }

  size_t num_outputs() const { return metadata_.size(); }
  const InputMetadata& input_metadata(size_t i) const { return metadata_[i]; }
  void add_input_metadata(const Dims& sizes, DType dtype) { metadata_.emplace_back(sizes, dtype); }

  uint64_t sequence_nr() const { return sequence_nr_; }
  void set_sequence_nr(uint64_t number) { sequence_nr_ = number; }
  uint64_t topological_nr() const { return topological_nr_; }
  std::map<std::string, std::any>& metadata();

  HookHandle register_prehook(NodePreHook hook);
  HookHandle register_hook(NodePostHook hook);
  // Sets the hooks of an accumulator: its leaf owns them, since accumulators come and go.
  void share_hooks(Ref<NodeHooks> hooks) { hooks_ = std::move(hooks); }
  NodeHooks* hooks() const { return hooks_.get(); }
  virtual NodeHooks& ensure_hooks();

 protected:
  Lock lock_;

 private:
  friend struct NodeReaper;
  friend class WeakNode;
  friend class AccumulateGrad;
  bool lost_last_reference();

  uint64_t sequence_nr_, topological_nr_ = 0;
  SmallVector<Edge, 2> edges_;
  SmallVector<InputMetadata, 1> metadata_;
  Ref<NodeHooks> hooks_;
  Ref<WeakNode::Cell> weak_;
  Node* next_dead_ = nullptr;
  const char* unwatchable_ = nullptr;
};

// A tensor's place in the graph, or any node's output: accepted wherever a tensor is, as input or
// output of backward() and grad(). Keeps the graph alive.
struct GradientEdge {
  Ref<Node> node;
  uint32_t output_nr = 0;
};
GradientEdge get_gradient_edge(const Tensor& tensor);

}  // namespace fg::autograd
