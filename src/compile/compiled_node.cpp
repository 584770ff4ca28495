#include "compile/compiled_node.h"

#include "autograd/graph_task.h"
#include "autograd/meta.h"
#include "base/fail.h"
#include "tensor/geometry.h"

namespace fg::compiler {

CompiledNode::CompiledNode(Ref<Programs> programs, const Tensors& inputs, Tensors seeds)
    : programs_(std::move(programs)), seeds_(std::move(seeds)) {
  for (size_t i = 0; i < inputs.size(); i++) {
    const capture::Function::In& in = programs_->function().inputs[i];
    if (!in.needs_grad) continue;
    // No edge to what no gradient reaches: nobody shall run this node for it.
    bool reached = programs_->reached()[next_edges().size()];
    add_next_edge(reached ? autograd::gradient_edge(inputs[i]) : autograd::Edge{});
  }
  bool hooks = graph_counters.saved_tensor_hooks > 0;  // nobody compares versions then
  saved_inputs_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    bool kept = programs_->holds_for_again(i) || (!hooks && programs_->holds(i));
    if (kept) saved_inputs_[i] = autograd::SavedValue(inputs[i], false);
  }
}

void CompiledNode::check_watched(uint32_t output) const {
  for (const capture::Function::Out& out : programs_->function().outputs) {
    if (!out.differentiable || output-- > 0) continue;
    if (!out.inner) return;
    fail(
        "{}: a hook on, or the gradient of, a result that the compiled function itself has a hook "
        "on, or uses for another result, would miss that part; return a clone() of it from the "
        "function",
        name());
  }
}

bool CompiledNode::leads_to_wanted(uint32_t output) const {
  const std::vector<bool>& reached = programs_->reach()[output];
  for (size_t i = 0; i < reached.size(); i++) {
    if (reached[i] && should_compute(i)) return true;
  }
  return false;
}

// Where saved-tensor hooks pack what is saved, nobody compares versions.
void CompiledNode::watch_input(size_t i, const Tensor& input) {
  if (graph_counters.saved_tensor_hooks > 0) return;
  watched_.emplace(i, autograd::SavedValue(alias(input), false));
}

void CompiledNode::watch_outputs(const Tensors& outputs, const std::vector<size_t>& which) {
  if (graph_counters.saved_tensor_hooks > 0) return;
  size_t before = programs_->function().inputs.size();
  for (size_t i : which) {
    if (outputs[i].defined()) watched_.emplace(before + i, autograd::SavedValue(outputs[i], true));
  }
}

// A backward() without inputs runs all nodes, also those that lead to no leaf.
void CompiledNode::check_all_versions(const capture::Tangents& kinds) const {
  autograd::GraphTask* task = autograd::current_task();
  if (task && task->restricted) return;
  for (size_t k = 0; k < kinds.size(); k++) {
    if (kinds[k] != capture::Tangent::none) check_versions(programs_->watched_behind(k));
  }
}

void CompiledNode::check_versions(const std::vector<size_t>& watched) const {
  for (size_t i : watched) {
    if (auto found = watched_.find(i); found != watched_.end()) {
      check_version(found->second);
    } else if (i < saved_inputs_.size() && saved_inputs_[i].held().defined()) {
      check_version(saved_inputs_[i]);
    }
  }
}

// Code of the user may read what nothing saved: eager code would find there what is written now.
void CompiledNode::check_version(const autograd::SavedValue& value) const {
  if (value.was_written() && capture::runs_code_of_user(programs_->function())) {
    fail(
        "{}: one of the variables needed for gradient computation has been modified by an inplace "
        "operation: a tensor that a backward or a hook of the compiled function may read, as it "
        "was after the call; clone it before modifying it",
        name());
  }
  value.check_version(this);
}

void CompiledNode::release_variables() {
  Locked locked(lock_);
  free_saved();
}

void CompiledNode::free_saved() {
  released_ = true;
  watched_.clear();
  live_.clear();
  first_ = nullptr;
  for (auto* values : {&saved_, &saved_inputs_}) {
    for (autograd::SavedValue& value : *values) value.reset();
  }
}

// A gradient, or what a hook unpacked, in the layout that the backward was captured with: the same
// to autograd.
static Tensor in_layout(Tensor tangent, const Dims& strides) {
  if (tangent.strides() == strides) return tangent;
  autograd::Edge edge = autograd::gradient_edge(tangent);
  NoGradGuard no_grad;
  // What is repeated is stored once.
  Tensor part = tangent;
  for (size_t i = 0; i < strides.size(); i++) {
    bool repeated = strides[i] == 0 && tangent.sizes()[i] > 1;
    if (repeated) part = part.narrow(static_cast<int64_t>(i), 0, 1);
  }
  Tensor result = empty_strided_tensor(part.sizes(), strides, tangent.dtype());
  result.copy_(part);
  if (!part.is_same(tangent)) result = alias(result.expand(tangent.sizes()));
  if (edge.is_valid()) autograd::set_gradient_edge(result, std::move(edge));
  return result;
}

// The inputs as they are now, to be recognised; a packed one stays packed. Of an input that the
// call wrote there is a copy from before, and what the user's code has is the other one.
Tensors CompiledNode::held_inputs() {
  Locked locked(lock_);
  if (released_) autograd::refuse_freed(*this);
  Tensors inputs;
  for (const autograd::SavedValue& value : saved_inputs_) inputs.push_back(value.held());
  for (const auto& [i, input] : live_) inputs[i] = input;
  return inputs;
}

// Whether the engine frees the graph: nothing can ask for saved values after this call. Hooks that
// run after it still could.
bool CompiledNode::is_last_call() const {
  autograd::GraphTask* task = autograd::current_task();
  bool hooked = hooks() && !hooks()->post.entries.empty();
  return task && task->current_node == this && !task->keep_graph && !hooked;
}

// ---- code of the user that reaches inputs and writes to them

static bool share_memory(const Tensor& a, const Tensor& b) {
  return a.defined() && b.defined() && a.impl()->storage == b.impl()->storage;
}

// Results that are the memory of some other tensor become tensors of their own.
static void keep_apart(Tensors& results, const Tensors& others) {
  for (Tensor& result : results) {
    for (const Tensor& other : others) {
      if (share_memory(result, other)) result = result.clone();
    }
  }
}

const Tensor& CompiledNode::live(size_t input) const {
  for (const auto& [i, tensor] : live_) {
    if (i != input) continue;
    ir::ValueInfo given = programs_->input_info(i);
    if (tensor.sizes() == given.sizes && tensor.strides() == given.strides) return tensor;
    fail(
        "{}: the shape of a tensor that a backward or a hook uses was changed in place since the "
        "call; use the out-of-place form",
        name());
  }
  fail(ErrorKind::internal, "{}: the call did not keep input {} for its backward", name(), input);
}

// The tensors that the backward writes to: nothing else that it is given may show their memory.
Tensors CompiledNode::targets_of(const Backward& backward, const Tensors& given) const {
  Tensors targets;
  size_t inputs = programs_->function().inputs.size();
  for (const auto& write : backward.writes) {
    targets.push_back(write.place < inputs ? live(write.place) : given[write.place - inputs]);
    const Tensor& target = targets.back();
    if (overlaps_itself(target.sizes(), target.strides())) {
      fail(
          "{}: more than one element of the written-to tensor, a gradient that a backward or a "
          "hook writes to, refers to a single memory location; clone() it first",
          name());
    }
    size_t shown = 0;
    for (const Tensor& grad : given) shown += share_memory(grad, target);
    for (const auto& [i, input] : live_) shown += share_memory(input, target);
    if (shown == 1) continue;
    fail(
        "{}: a backward or a hook of a compiled function writes to memory that two of the "
        "gradients "
        "and inputs share; write to a clone()",
        name());
  }
  return targets;
}

void CompiledNode::write_back(const Backward& backward, const Tensors& targets, Tensors& results) {
  NoGradGuard no_grad;
  keep_apart(results, targets);
  size_t gradients = results.size() - targets.size();
  for (size_t i = 0; i < targets.size(); i++) {
    uint32_t bumps = backward.writes[i].bumps;
    Tensor target = bumps == 0 ? targets[i].data() : alias(targets[i]);
    target.copy_(results[gradients + i]);
    for (uint32_t k = 1; k < bumps; k++) target.impl()->bump_version();
  }
  results.resize(gradients);
}

Tensors CompiledNode::run(const Request& request, Tensors tangents, const Tensors& given) {
  const Backward* made = programs_->find_backward(request);
  const Backward& backward = made ? *made : programs_->backward(request, held_inputs());
  Tensors inputs, live_inputs, targets;
  inputs.reserve(backward.saved.size() + tangents.size() + backward.live.size());
  {
    Locked locked(lock_);
    if (released_) autograd::refuse_freed(*this);
    check_all_versions(request.tangents);
    check_versions(backward.watched);
    for (size_t i : backward.saved) {
      inputs.push_back(in_layout(saved_[i].unpack(this), programs_->saved_strides(i)));
    }
    for (size_t i : backward.live) live_inputs.push_back(live(i));
    if (!backward.writes.empty()) targets = targets_of(backward, given);
    if (is_last_call()) free_saved();  // then the backward may have the only references
  }
  for (Tensor& tangent : tangents) inputs.push_back(std::move(tangent));
  for (const Tensor& input : live_inputs) inputs.push_back(alias(input));
  timing::Span span("call", "backward");
  Tensors results = backward.run(std::move(inputs));
  if (!backward.live.empty()) keep_apart(results, live_inputs);
  if (!backward.writes.empty()) write_back(backward, targets, results);
  return results;
}

// An input as it was kept: by itself, or among the values that the forward saves.
const autograd::SavedValue& CompiledNode::saved_input(size_t i) const {
  const autograd::SavedValue& own = saved_inputs_[i];
  std::optional<size_t> kept;
  if (!own.held().defined() && !own.packed()) kept = programs_->kept_place(i);
  return kept ? saved_[*kept] : own;
}

// The inputs for a gradient that is differentiated again; which of them were written since. Those,
// and those that were not kept, are not read, and have the history that they had.
Tensors CompiledNode::unpack_inputs(Programs& gradient, std::vector<size_t>& written) {
  Tensors inputs;
  size_t edge = 0;
  for (size_t i = 0; i < saved_inputs_.size(); i++) {
    const capture::Function::In& in = programs_->function().inputs[i];
    ir::ValueInfo given = programs_->input_info(i);
    const autograd::SavedValue& saved = saved_input(i);
    bool read = gradient.uses(i);
    Tensor input = read ? saved.unpack(this) : saved.held();
    if (read && !input.defined()) {
      fail(ErrorKind::internal, "{}: the call did not keep input {} for a second derivative",
           name(), i);
    }
    bool reshaped = input.defined() && !(input.sizes() == given.sizes);
    if (read && reshaped) {
      fail(
          "{}: the shape of a tensor that a second derivative reads was changed since the call; "
          "use the out-of-place form",
          name());
    }
    bool replaced = !read && (!input.defined() || reshaped || saved.was_written());
    if (replaced && input.defined() && !reshaped) {
      written.push_back(i);
      input = alias(input);
    } else if (replaced) {
      input = abstract_tensor(given.sizes, given.strides, 0, given.dtype);
    }
    if (replaced && in.needs_grad) autograd::set_gradient_edge(input, next_edge(edge));
    edge += in.needs_grad;
    inputs.push_back(in_layout(input, given.strides));
  }
  return inputs;
}

Tensors CompiledNode::run_again(const Request& request, Tensors tangents) {
  const Programs::DifferentiableGradient& again = programs_->gradient(request, held_inputs());
  Programs& gradient = *again.programs;
  Tensors inputs, known;
  std::vector<size_t> written;
  {
    Locked locked(lock_);
    if (released_) autograd::refuse_freed(*this);
    check_all_versions(request.tangents);
    check_versions(again.watched);
    inputs = unpack_inputs(gradient, written);
    size_t next = saved_inputs_.size() + tangents.size();
    for (size_t i : again.known) {
      bool used = gradient.uses(next++);
      known.push_back(used ? in_layout(alias(saved_[i].unpack(this)), programs_->saved_strides(i))
                           : Tensor());
    }
  }
  for (Tensor& tangent : tangents) inputs.push_back(std::move(tangent));
  Ref<CompiledNode> made;
  Tensors results = gradient.call(inputs, known, seeds_, true, &made);
  if (!made) return results;
  made->state_ = state_;
  for (size_t i : written) made->saved_inputs_[i].expect_version_of(saved_input(i));
  if (!again.through.empty()) {
    made->first_ = Ref<Node>::share(this);
    made->through_ = again.through;
  }
  return results;
}

// Where eager code saved a result, its second derivative goes through that result once more.
void CompiledNode::check_hooks_of_first() const {
  autograd::NodeHooks* hooks = first_ ? first_->hooks() : nullptr;
  if (!hooks) return;
  for (uint32_t output : through_) {
    bool watched = hooks->retain_grad.count(static_cast<int>(output)) > 0;
    for (const auto& hook : hooks->tensor.entries) {
      watched |= hook.index == static_cast<int>(output);
    }
    if (!watched) continue;
    fail(
        "{}: a hook on, or the gradient of, a result of a compiled function would miss the part "
        "that a second derivative adds to it; return a clone() of it from the function",
        name());
  }
}

Tensors CompiledNode::apply(Tensors&& grads) {
  Request request;
  capture::Tangents& kinds = request.tangents;
  Tensors tangents, given;
  kinds.reserve(grads.size());
  request.wanted.reserve(next_edges().size());
  for (const capture::Function::Out& out : programs_->function().outputs) {
    if (!out.differentiable) continue;
    Tensor grad = std::move(grads[kinds.size()]);
    kinds.push_back(capture::Tangent::none);
    if (!grad.defined()) continue;
    if (!programs_->written().empty()) {
      given.resize(kinds.size());
      given.back() = grad;
    }
    bool again = modes.grad_enabled && grad.requires_grad();
    kinds.back() = again ? capture::Tangent::differentiable : capture::Tangent::plain;
    tangents.push_back(in_layout(std::move(grad), capture::tangent_strides(out.inside)));
  }
  if (tangents.empty()) return Tensors(next_edges().size());
  check_hooks_of_first();
  if (state_) request.state = state_();
  for (size_t i = 0; i < next_edges().size(); i++) request.wanted.push_back(should_compute(i));
  return modes.grad_enabled ? run_again(request, std::move(tangents))
                            : run(request, std::move(tangents), given);
}

}  // namespace fg::compiler
