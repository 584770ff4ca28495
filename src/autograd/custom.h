// The node of a custom function, and what a custom function may say about its call. C++ functions
// (autograd/function.h) and Python's share it.
#pragma once

#include "autograd/saved_value.h"
#include "ir/call.h"

namespace fg::autograd {

class CustomNode : public Node, public ir::OwnNode {
 public:
  // What forward says about its call.
  struct Marks {
    Tensors to_save;  // undefined ones stand for None
    Tensors dirty, non_differentiable;
    bool materialize_grads = true;
    bool materialize_non_differentiable = true;
    bool separate_context = false;  // forward did not see the context (setup_context)
  };
  Marks marks;

  // Before forward: edges to the inputs, if the call becomes part of the graph.
  void connect(std::span<const Tensor> inputs) override;
  bool is_executable() const { return executable_; }
  // After forward: checks the marks, gives the outputs their history (an input that comes back as
  // it was becomes a view of itself), and saves. Undefined outputs stand for what is no tensor.
  void finish(std::span<const Tensor> inputs, std::span<Tensor> outputs) override;

  Tensors apply(Tensors&& grads) override;
  void release_variables() override;
  Tensors saved_tensors() const;
  size_t saved_count() const override { return saved_.size(); }
  SavedValue* saved_value(size_t i) override { return &saved_[i]; }
  std::string saved_name(size_t) const override { return "tensors"; }

 protected:
  // One gradient per input of `connect`, from one per output.
  virtual Tensors run_backward(Tensors&& grads) = 0;

 private:
  enum class Role : uint8_t { made, input, modified };
  Tensor with_history(Tensor output, uint32_t number, Role role, bool differentiable,
                      size_t outputs);
  void check_dirty(std::span<const Tensor> outputs) const;
  void save(std::span<const Tensor> outputs);
  // The node that the outputs refer to: this, or the CopySlices of a base written through a view.
  Ref<Node> attached_through(std::span<const Tensor> outputs);

  bool executable_ = false;
  enum class Output : uint8_t { none, plain, differentiable };
  std::vector<Output> outputs_;
  std::vector<SavedValue> saved_;
};

// Whether `tensors` holds this very tensor.
bool contains(std::span<const Tensor> tensors, const Tensor& tensor);

}  // namespace fg::autograd
