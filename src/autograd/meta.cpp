#include "autograd/meta.h"

#include "autograd/accumulate_grad.h"
#include "base/fail.h"
#include "ir/capturing.h"
#include "ir/primitive.h"
#include "tensor/allocator.h"

namespace fg::autograd {

void* AutogradMeta::operator new(size_t bytes) { return small_allocate(bytes); }
void AutogradMeta::operator delete(void* pointer) { small_deallocate(pointer); }

AutogradMeta::~AutogradMeta() { delete accumulator; }

AutogradMeta& ensure_meta(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (!impl->autograd) impl->autograd = new AutogradMeta;
  return *static_cast<AutogradMeta*>(impl->autograd);
}

void refuse_outside(const Tensor& tensor, std::string_view function) {
  if (!modes.capturing || tensor.is_abstract()) return;
  if (tensor.impl()->storage->made_in_capture()) return;
  fail(
      "{}: a function that is being captured changes a tensor that it reached by itself; pass the "
      "tensor as an argument",
      function);
}

// The same for what is no write of elements; an interpreter may refuse more of it.
static void refuse_change(const Tensor& tensor, const char* function) {
  refuse_outside(tensor, function);
  if (modes.capturing) modes.capturing->asked(tensor, function);
}

Ref<Node> grad_accumulator(const Tensor& leaf) {
  AutogradMeta& meta = ensure_meta(leaf);
  return meta.borrowed_accumulator ? meta.borrowed_accumulator : AccumulateGrad::of(leaf, meta);
}

Edge gradient_edge(const Tensor& tensor) {
  if (modes.capturing) [[unlikely]] {
    Tensor inside = modes.capturing->stand_in(tensor);
    if (!inside.is_same(tensor)) return gradient_edge(inside);
  }
  AutogradMeta* meta = meta_of(tensor);
  if (!meta) return {};
  if (const Ref<Node>& node = grad_fn_of(tensor)) return {node, meta->output_nr};
  if (meta->requires_grad) return {grad_accumulator(tensor), 0};
  return {};
}

NodeHooks* hooks_of(const Tensor& tensor) {
  AutogradMeta* meta = meta_of(tensor);
  if (!meta) return nullptr;
  const Ref<Node>& node = grad_fn_of(tensor);
  return node ? node->hooks() : meta->leaf_hooks.get();
}

NodeHooks& ensure_hooks_of(const Tensor& tensor) {
  if (Edge edge = gradient_edge(tensor); edge.is_valid()) return edge.node->ensure_hooks();
  AutogradMeta& meta = ensure_meta(tensor);  // a leaf that may require grad later
  if (!meta.leaf_hooks) meta.leaf_hooks = Ref<NodeHooks>::adopt(new NodeHooks);
  return *meta.leaf_hooks;
}

NodeHooks& hooks_for_gradient(const Tensor& tensor) {
  if (!tensor.requires_grad()) {
    fail(
        "register_hook: the tensor does not require grad, so the hook would never run; call "
        "requires_grad_() first");
  }
  refuse_change(tensor, "register_hook");
  if (Edge edge = gradient_edge(tensor); edge.is_valid()) edge.node->check_watched(edge.input_nr);
  return ensure_hooks_of(tensor);
}

NodeHooks& hooks_for_accumulation(const Tensor& tensor) {
  if (!tensor.requires_grad() || !tensor.is_leaf()) {
    fail(
        "register_post_accumulate_grad_hook: only leaf tensors that require grad accumulate "
        "gradients; use register_hook for others");
  }
  refuse_change(tensor, "register_post_accumulate_grad_hook");
  return ensure_hooks_of(tensor);
}

void set_gradient_edge(const Tensor& tensor, Edge edge) {
  AutogradMeta& meta = ensure_meta(tensor);
  meta.grad_fn = std::move(edge.node);
  meta.output_nr = edge.input_nr;
  if (meta.view) meta.view.version = tensor.impl()->version();
}

GradientEdge get_gradient_edge(const Tensor& tensor) {
  if (!tensor.requires_grad()) {
    fail(
        "get_gradient_edge: the tensor does not require grad, so it is in no graph; call "
        "requires_grad_() first");
  }
  Edge edge = gradient_edge(tensor);
  return {edge.node, edge.input_nr};
}

}  // namespace fg::autograd

namespace fg {

using autograd::AutogradMeta;
using autograd::ensure_meta;
using autograd::meta_of;

bool Tensor::autograd_requires_grad() const {
  AutogradMeta* meta = meta_of(*this);
  if (meta->requires_grad || meta->grad_fn) return true;
  // A view of what requires grad does too, even one that was made in no_grad mode.
  return meta->view && meta->view.base.requires_grad();
}

const Tensor& Tensor::requires_grad_(bool on) const {
  check_defined("requires_grad_");
  if (on && !is_differentiable(dtype())) {
    fail("requires_grad_: only floating point tensors can require gradients, got {}",
         name(dtype()));
  }
  if (!on && !is_leaf()) {
    fail(
        "requires_grad_: you can only change requires_grad of leaf tensors; use detach() to get a "
        "tensor without history");
  }
  if (on && is_inference() && !modes.inference) {
    fail(
        "requires_grad_: an inference tensor cannot require grad outside inference mode; clone it");
  }
  if (on != requires_grad()) {
    autograd::refuse_change(*this, "requires_grad_");
  }
  if (is_leaf() && (on || impl_->autograd)) ensure_meta(*this).requires_grad = on;
  return *this;
}

const Tensor& Tensor::grad() const {
  check_defined("grad");
  static const Tensor none;
  return impl_->autograd ? meta_of(*this)->grad : none;
}

void Tensor::set_grad(const Tensor& grad) const {
  check_defined("set_grad");
  autograd::refuse_change(*this, "set_grad");
  if (grad.defined()) {
    if (grad.is_same(*this)) fail("set_grad: a tensor cannot be its own gradient");
    if (!(grad.sizes() == sizes()) || grad.dtype() != dtype()) {
      fail(
          "set_grad: the gradient is {} of sizes {} but the tensor is {} of sizes {}; they must be "
          "equal",
          name(grad.dtype()), fg::text(grad.sizes()), name(dtype()), fg::text(sizes()));
    }
  }
  ensure_meta(*this).grad = grad;
}

Ref<autograd::Node> Tensor::grad_fn() const {
  check_defined("grad_fn");
  return autograd::grad_fn_of(*this);
}

bool Tensor::is_leaf() const {
  check_defined("is_leaf");
  return !impl_->autograd || !autograd::grad_fn_of(*this);
}

int64_t Tensor::output_nr() const {
  check_defined("output_nr");
  return impl_->autograd ? meta_of(*this)->output_nr : 0;
}

autograd::HookHandle Tensor::register_hook(Hook<Tensor(const Tensor&)> hook) const {
  autograd::NodeHooks& hooks = autograd::hooks_for_gradient(*this);
  return hooks.add(hooks.tensor, static_cast<int>(output_nr()), std::move(hook));
}

autograd::HookHandle Tensor::register_post_accumulate_grad_hook(
    Callback<void(const Tensor&)> hook) const {
  autograd::NodeHooks& hooks = autograd::hooks_for_accumulation(*this);
  return hooks.add(hooks.post_accumulate, 0, std::move(hook));
}

void Tensor::retain_grad() const {
  if (!requires_grad()) {
    fail("retain_grad: the tensor does not require grad; call requires_grad_() first");
  }
  if (is_leaf() || meta_of(*this)->retains_grad) return;
  autograd::refuse_change(*this, "retain_grad");
  Ref<autograd::Node> node = grad_fn();
  node->check_watched(static_cast<uint32_t>(output_nr()));
  AutogradMeta* meta = meta_of(*this);
  meta->retains_grad = true;
  // The node must not keep the tensor alive: that would be a cycle.
  if (!meta->self) meta->self = std::make_shared<AutogradMeta*>(meta);
  std::weak_ptr<AutogradMeta*> weak = meta->self;
  node->ensure_hooks().retain_grad[static_cast<int>(meta->output_nr)] = [weak](const Tensor& grad) {
    auto alive = weak.lock();
    if (!alive) return;
    Tensor& kept = (*alive)->grad;
    kept = !kept.defined() ? grad.clone() : kept.add(grad);
  };
}

bool Tensor::retains_grad() const {
  check_defined("retains_grad");
  return impl_->autograd && meta_of(*this)->retains_grad;
}

Tensor Tensor::detach() const {
  check_defined("detach");
  return alias(*this);  // no view: what is written later, to either, is not its history
}

Tensor& Tensor::detach_() const {
  check_defined("detach_");
  if (modes.capturing) modes.capturing->asked(*this, "is_view (in detach_)");
  if (is_view()) {
    fail(
        "detach_: a view cannot be detached in place, its base would still lead to it; use "
        "detach()");
  }
  if (impl_->autograd) {
    autograd::refuse_change(*this, "detach_");
    AutogradMeta* meta = meta_of(*this);
    meta->grad_fn = nullptr;
    meta->requires_grad = false;
    meta->output_nr = 0;
  }
  return itself();
}

Tensor Tensor::data() const {
  check_defined("data");
  Tensor result = alias(*this);
  result.impl()->own_version = Ref<VersionCounter>::adopt(new VersionCounter);
  return result;
}

void Tensor::set_data(const Tensor& data) const {
  check_defined("set_data");
  data.check_defined("set_data");
  autograd::refuse_change(*this, "set_data");
  if (!is_differentiable(data.dtype()) && requires_grad()) {
    fail(
        "set_data: the new data is {} but the tensor requires grad, which only floating point "
        "tensors can; convert the data first",
        name(data.dtype()));
  }
  impl_->take_memory(*data.impl());
  AutogradMeta* meta = impl_->autograd ? meta_of(*this) : nullptr;
  if (meta && meta->accumulator) meta->accumulator->expect_dtype(dtype());
}

bool Tensor::is_view() const {
  check_defined("is_view");
  return impl_->autograd && static_cast<bool>(meta_of(*this)->view);
}

Tensor Tensor::_base() const { return is_view() ? meta_of(*this)->view.base : Tensor(); }

}  // namespace fg
