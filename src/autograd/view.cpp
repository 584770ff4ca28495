#include "autograd/view.h"

#include "autograd/accumulate_grad.h"
#include "autograd/graph_task.h"
#include "autograd/op_node.h"
#include "base/fail.h"
#include "ir/capturing.h"
#include "ir/registry.h"
#include "ops/create/create.h"
#include "ops/view/views.h"

namespace fg::autograd {

ViewOrigin current_view_origin() {
  if (modes.inference) return ViewOrigin::inference;
  return modes.grad_enabled ? ViewOrigin::plain : ViewOrigin::no_grad;
}

void make_view(const Tensor& viewed, const Tensor& output, ViewOrigin origin) {
  if (output.is_inference()) return;
  Tensor inside;
  const Tensor& base = modes.capturing ? (inside = modes.capturing->stand_in(viewed)) : viewed;
  AutogradMeta* base_meta = meta_of(base);
  AutogradMeta& meta = ensure_meta(output);
  const ViewInfo* outer = base_meta && base_meta->view ? &base_meta->view : nullptr;
  // A view of a restricted view is restricted in the same way.
  if (outer && origin == ViewOrigin::plain) origin = outer->origin;
  meta.view.base = outer ? outer->base : base;
  meta.view.origin = origin;
  meta.view.version = output.impl()->version();
}

void forget_view(const Tensor& result) {
  if (AutogradMeta* meta = result.defined() ? meta_of(result) : nullptr) meta->view = {};
}

void become_view(const Tensor& self, const Tensor& view, const char* name) {
  refuse_outside(self, name);
  check_inplace(self, name, self.requires_grad());
  if (modes.capturing) modes.capturing->reshaping(self, view);
  TensorImpl& impl = *self.impl();
  impl.set_layout(view.sizes(), view.strides());
  impl.offset = view.impl()->offset;
  impl.data = view.impl()->data;
  impl.bump_version();
  AutogradMeta* meta = meta_of(self);
  if (!meta) return;
  if (AutogradMeta* from = meta_of(view); from && from->grad_fn) {
    meta->grad_fn = from->grad_fn;
    meta->output_nr = from->output_nr;
  }
  meta->view.version = impl.version();
}

CopySlices::CopySlices(const Tensor& base, const Tensor& view, Ref<Node> writer)
    : base_sizes_(base.sizes()),
      base_strides_(base.strides()),
      view_sizes_(view.sizes()),
      view_strides_(view.strides()),
      offset_(view.impl()->offset - base.impl()->offset),
      writer_(std::move(writer)) {
  add_input_metadata(base.sizes(), base.dtype());
  add_next_edge(gradient_edge(base));
  for (size_t i = 1; i < writer_->next_edges().size(); i++) add_next_edge(writer_->next_edge(i));
}

Tensors CopySlices::apply(Tensors&& grads) {
  Tensors results(next_edges().size());
  if (!grads[0].defined()) return results;
  Locked locked(lock_);
  if (!writer_) refuse_freed(*this);
  // The writer is asked through this node only: what the base wants, the view wants.
  GraphTask* task = current_task();
  if (task && task->restricted && should_compute(0) && writer_->next_edge(0).is_valid()) {
    task->state(writer_->next_edge(0).node.get()).needed = true;
  }
  Tensor whole = empty_strided(base_sizes_, base_strides_, grads[0].dtype());
  whole.copy_(grads[0]);
  Tensor part = as_strided(whole, view_sizes_, view_strides_, offset_);
  Tensors inner = writer_->apply({part.clone()});
  inner.resize(results.size());
  for (size_t i = 0; i < results.size(); i++) {
    if (!should_compute(i)) continue;
    if (i > 0) {
      results[i] = std::move(inner[i]);
      continue;
    }
    if (inner[0].defined())
      part.copy_(inner[0]);
    else
      part.zero_();
    results[0] = whole;
  }
  return results;
}

// The writer is let go and not released: where its view is gone, a graph of the backward leads
// through the writer itself, which then still needs what it saved.
void CopySlices::release_variables() {
  Locked locked(lock_);
  writer_ = nullptr;
}

static const char* forbidden(ViewOrigin origin) {
  switch (origin) {
    case ViewOrigin::multi_output:
      return "it is an output of a function that returns several views; such views may not be "
             "modified in place: clone it, or use an out-of-place function";
    case ViewOrigin::no_grad:
      return "it was made in no_grad mode and its base or the change requires grad; make both the "
             "view and the change inside no_grad, or both outside";
    case ViewOrigin::inference:
      return "it was made in inference mode; make it in normal mode, or clone it";
    case ViewOrigin::custom_function:
      return "it was returned by a custom Function, whose backward the change would bypass; clone "
             "the output of the Function";
    case ViewOrigin::plain:
      break;
  }
  return nullptr;
}

void check_inplace(const Tensor& self, const char* function, bool recording) {
  std::string_view schema(function), name = schema.substr(0, schema.find_first_of(".("));
  AutogradMeta* meta = meta_of(self);
  if (self.is_inference() && !modes.inference) {
    fail("{}_: inplace update to an inference tensor outside inference mode; clone it first", name);
  }
  if (recording) refuse_outside(self, name);
  if (!meta || !modes.grad_enabled) return;
  if (meta->requires_grad && !meta->grad_fn) {
    fail(
        "{}_: a leaf variable that requires grad is being used in an in-place operation; use "
        "no_grad, or clone it first",
        name);
  }
  if (!meta->view) return;
  if (recording || self.requires_grad()) {
    if (const char* reason = forbidden(meta->view.origin)) {
      fail("{}_: this view may not be modified in place: {}", name, reason);
    }
  }
  const Tensor& base = meta->view.base;
  if (base.requires_grad() && base.is_leaf()) {
    fail(
        "{}_: a view of a leaf variable that requires grad is being used in an in-place operation; "
        "use no_grad, or clone the leaf first",
        name);
  }
}

void adopt_history(const Tensor& self, const Tensor& result) {
  if (!result.grad_fn()) return;
  if (!self.is_view()) return rebase_history(self, gradient_edge(result));
  // What wrote into a view must be a function of that view: a copy of the result is one.
  static const ir::Gradient& copy = *ir::find_function("copy")->gradient;
  const ir::Operand operands[] = {self, result};
  record_inplace(copy, operands, {}, {}, [] {});  // it is written already
}

// retain_grad follows the tensor to its new node; tensor hooks stay with the old one.
static void move_retained_grad(const Tensor& tensor, AutogradMeta& meta, const Ref<Node>& old_node,
                               uint32_t old_output) {
  if (!meta.retains_grad || !old_node || !old_node->hooks()) return;
  old_node->hooks()->retain_grad.erase(static_cast<int>(old_output));
  meta.retains_grad = false;
  tensor.retain_grad();
}

// The base changed under the view: its history is now "this part of the base".
static void renew_view_history(const Tensor& view, AutogradMeta& meta) {
  const Tensor base = meta.view.base;
  Ref<Node> old_node = meta.grad_fn;
  uint32_t old_output = meta.output_nr;
  Tensor replayed;
  {
    EnableGradGuard recording;
    replayed = as_strided(base, view.sizes(), view.strides(), view.impl()->offset);
  }
  AutogradMeta* fresh = meta_of(replayed);
  meta.grad_fn = fresh->grad_fn;
  meta.output_nr = fresh->output_nr;
  meta.view.version = view.impl()->version();
  move_retained_grad(view, meta, old_node, old_output);
}

void rebase_history(const Tensor& self, Edge edge) {
  AutogradMeta& meta = ensure_meta(self);
  if (meta.view) {
    const Tensor base = meta.view.base;
    if (const char* reason = forbidden(meta.view.origin)) {
      fail("this view may not be modified in place: {}", reason);
    }
    // Whether second derivatives meet the hooks depends on how long the view lives, as in PyTorch.
    if (modes.capturing && meta.grad_fn && meta.grad_fn->hooks()) {
      fail(
          "a function that is being captured writes to a view that it has a hook on; write to a "
          "clone()");
    }
    auto copy = Ref<Node>::adopt(new CopySlices(base, self, edge.node));
    AutogradMeta& base_meta = ensure_meta(base);
    Ref<Node> old_node = base_meta.grad_fn;
    uint32_t old_output = base_meta.output_nr;
    base_meta.requires_grad = false;
    set_gradient_edge(base, {copy, 0});
    move_retained_grad(base, base_meta, old_node, old_output);
    renew_view_history(self, meta);
    return;
  }
  Ref<Node> old_node = meta.grad_fn;
  uint32_t old_output = meta.output_nr;
  meta.requires_grad = false;
  set_gradient_edge(self, std::move(edge));
  move_retained_grad(self, meta, old_node, old_output);
}

const Ref<Node>& attached_node(const Tensor& self) {
  return grad_fn_of(self.is_view() ? meta_of(self)->view.base : self);
}

// The base was written since the view's node was made, in a way that the view cannot follow.
[[noreturn]] static void refuse_renewal(const char* reason) {
  fail("a view whose base (or another view of it) was modified in place has no gradient here: {}",
       reason);
}

const Ref<Node>& grad_fn_of(const Tensor& tensor) {
  static const Ref<Node> none;
  AutogradMeta* meta = meta_of(tensor);
  if (!meta) return none;
  if (!meta->view) return meta->grad_fn;
  if (!meta->grad_fn && !meta->view.base.requires_grad()) return none;
  if (meta->view.version != tensor.impl()->version()) {
    if (const char* reason = forbidden(meta->view.origin)) refuse_renewal(reason);
    renew_view_history(tensor, *meta);
  }
  return meta->grad_fn;
}

}  // namespace fg::autograd
