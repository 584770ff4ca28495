#include "autograd/custom.h"

#include <algorithm>

#include "autograd/active_hooks.h"
#include "autograd/function.h"
#include "autograd/view.h"
#include "base/fail.h"
#include "base/log.h"
#include "ops/create/create.h"
#include "ops/view/views.h"

namespace fg::autograd {

bool contains(std::span<const Tensor> tensors, const Tensor& tensor) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const Tensor& one) { return one.is_same(tensor); });
}

void CustomNode::connect(std::span<const Tensor> inputs) {
  for (const Tensor& input : inputs) executable_ |= input.defined() && input.requires_grad();
  executable_ = executable_ && modes.grad_enabled && !modes.inference;
  if (!executable_) return;
  for (const Tensor& input : inputs) {
    add_next_edge(input.defined() && input.requires_grad() ? gradient_edge(input) : Edge{});
  }
}

void CustomNode::check_dirty(std::span<const Tensor> outputs) const {
  for (const Tensor& dirty : marks.dirty) {
    if (contains(outputs, dirty)) continue;
    fail(
        "{}: an input that mark_dirty names is no output of forward; a function must return every "
        "input that it modifies in place",
        name());
  }
}

static Tensor view_of_itself(const Tensor& tensor) {
  NoGradGuard as_in_forward;
  return alias_of(tensor);
}

Tensor CustomNode::with_history(Tensor output, uint32_t number, Role role, bool differentiable,
                                size_t outputs) {
  if (!differentiable) {
    if (role == Role::input) {
      return output.requires_grad() ? output.detach() : view_of_itself(output);
    }
    if (role == Role::made && output.requires_grad() && !output.is_view()) output.detach_();
    return output;
  }
  if (role == Role::modified) {
    if (output.is_leaf() && output.requires_grad()) {
      fail("{}: a leaf variable that requires grad is being used in an in-place operation", name());
    }
    if (output.is_view() && output._base().requires_grad() && output._base().is_leaf()) {
      fail(
          "{}: a view of a leaf variable that requires grad is being used in an in-place operation",
          name());
    }
    if (output.is_view() && outputs > 1) {
      fail(
          "{}: a function that modifies a view in place may return one tensor only; clone the "
          "input, or split the function in two",
          name());
    }
    output.set_grad({});
    rebase_history(output, {Ref<Node>::share(this), number});
    return output;
  }
  if (role == Role::input) {
    if (marks.separate_context && contains(marks.to_save, output)) {
      fail(
          "{}: an input that is returned as it is may not be saved in setup_context; return and "
          "save a view of it, as in x.view_as(x)",
          name());
    }
    output = view_of_itself(output);
  }
  set_gradient_edge(output, {Ref<Node>::share(this), number});
  return output;
}

void CustomNode::finish(std::span<const Tensor> inputs, std::span<Tensor> outputs) {
  for (const Tensor& dirty : marks.dirty) {
    refuse_outside(dirty, name());
    dirty.impl()->bump_version();
  }
  check_dirty(outputs);
  int differentiable_outputs = 0;
  for (size_t i = 0; i < outputs.size(); i++) {
    Tensor& output = outputs[i];
    if (!output.defined()) {
      outputs_.push_back(Output::none);
      add_input_metadata({}, DType::f32);
      continue;
    }
    add_input_metadata(output.sizes(), output.dtype());
    bool is_input = contains(inputs, output), modified = contains(marks.dirty, output);
    if (modified && !is_input) {
      logging::warn(
          "only inputs should be given to mark_dirty; a tensor that is no input needs no mark");
    }
    bool differentiable = executable_ && is_differentiable(output.dtype()) &&
                          !contains(marks.non_differentiable, output);
    outputs_.push_back(differentiable ? Output::differentiable : Output::plain);
    Role role = modified ? Role::modified : is_input ? Role::input : Role::made;
    if (executable_ || role == Role::input) {
      output = with_history(output, static_cast<uint32_t>(i), role, differentiable, outputs.size());
    }
    differentiable_outputs += differentiable;
    if (!(is_input && modified) && output.is_view()) {
      ensure_meta(output).view.origin = ViewOrigin::custom_function;
    }
  }
  for (const Tensor& output : outputs) {
    if (differentiable_outputs > 1 && output.defined() && output.is_view()) {
      ensure_meta(output).view.origin = ViewOrigin::multi_output;
    }
  }
  if (executable_) save(outputs);
  marks.to_save.clear();
  marks.dirty.clear();
  marks.non_differentiable.clear();
  if (differentiable_outputs > 0) node_created([&] { return attached_through(outputs); });
}

Ref<Node> CustomNode::attached_through(std::span<const Tensor> outputs) {
  bool through_base = outputs.size() == 1 && outputs[0].grad_fn().get() != this;
  return through_base ? attached_node(outputs[0]) : Ref<Node>::share(this);
}

void CustomNode::save(std::span<const Tensor> outputs) {
  for (const Tensor& tensor : marks.to_save) {
    // A view that was written has its history through its base, which leads here: a cycle.
    bool written_view =
        tensor.defined() && tensor.is_view() && executable_ && contains(marks.dirty, tensor);
    bool own = written_view || (tensor.defined() && tensor.grad_fn().get() == this);
    saved_.emplace_back(tensor, own && contains(outputs, tensor), written_view);
  }
}

Tensors CustomNode::saved_tensors() const {
  Tensors tensors;
  for (const SavedValue& value : saved_) tensors.push_back(value.unpack(this));
  return tensors;
}

Tensors CustomNode::apply(Tensors&& grads) {
  if (marks.materialize_grads) {
    for (size_t i = 0; i < grads.size(); i++) {
      const InputMetadata& output = input_metadata(i);
      Output lowest = marks.materialize_non_differentiable ? Output::plain : Output::differentiable;
      if (!grads[i].defined() && outputs_[i] >= lowest) {
        grads[i] = zeros(output.sizes, output.dtype);
      }
    }
  }
  return run_backward(std::move(grads));
}

void CustomNode::release_variables() {
  for (SavedValue& value : saved_) value.reset();
}

Tensors detail::gradients_of_tensors(const Node& node, Tensors all,
                                     const std::vector<size_t>& tensors) {
  size_t expected = 0;
  for (size_t count : tensors) expected += std::max<size_t>(count, 1);
  // As libtorch: arguments of forward that the call left to their defaults may have one too, which
  // says that there is none.
  while (all.size() > expected && !all.back().defined()) all.pop_back();
  if (all.size() != expected) {
    fail("{}: backward returned {} gradients but forward has {} arguments; return one for each",
         node.name(), all.size(), expected);
  }
  Tensors results;
  size_t at = 0;
  for (size_t argument = 0; argument < tensors.size(); argument++) {
    if (tensors[argument] == 0 && all[at++].defined()) {
      fail("{}: backward returned a gradient for argument {}, which is no tensor", node.name(),
           argument);
    }
    for (size_t i = 0; i < tensors[argument]; i++) results.push_back(std::move(all[at++]));
  }
  return results;
}

}  // namespace fg::autograd
