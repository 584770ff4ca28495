// The tensors from outside: what stands for them while a function is traced.
#include "autograd/meta.h"
#include "base/fail.h"
#include "capture/tracer.h"
#include "tensor/geometry.h"

namespace fg::capture {

bool contains_memory(const Tensor& whole, const Tensor& part) {
  Dim begin = whole.impl()->offset, first = part.impl()->offset;
  Dim end = begin + reach(whole.sizes(), whole.strides());
  return !(first < begin) && !(first + reach(part.sizes(), part.strides()) > end);
}

namespace {

Tensor abstract_like(const Tensor& tensor) {
  Tensor result =
      abstract_tensor(tensor.sizes(), tensor.strides(), tensor.impl()->offset, tensor.dtype());
  if (tensor.impl()->storage) {
    result.impl()->storage = Storage::create_abstract(tensor.impl()->storage->bytes());
  }
  result.impl()->wrapped_number = tensor.impl()->wrapped_number;
  result.impl()->inference = tensor.impl()->inference;
  return result;
}

// The node through which the gradient of a non-leaf argument leaves the function.
class ArgumentNode : public autograd::Node {
 public:
  explicit ArgumentNode(const Tensor& input) {
    add_next_edge(autograd::gradient_edge(input));
    add_input_metadata(input.sizes(), input.dtype());
  }
  std::string name() const override { return "ArgumentBackward"; }
  Tensors apply(Tensors&& grads) override { return std::move(grads); }
};

}  // namespace

void Tracer::forget_outside() {
  for (Lifted& lifted : lifted_) lifted.real.reset();
  inside_.clear();
  inside_storage_.clear();
  on_lift = [](const Tensor&, bool) -> LiftedAs {
    fail("capture: a backward uses a tensor that the forward did not; use it there, or pass it");
  };
}

void Tracer::meet(const Tensors& inputs) {
  inside_.clear();
  inside_storage_.clear();
  for (size_t i = 0; i < lifted_.size(); i++) {
    const Tensor& real = inputs[i];
    if (!real.defined()) continue;
    inside_[real.impl()] = {real, lifted_[i].inside};
    inside_storage_.try_emplace(real.impl()->storage.get(), lifted_[i].inside);
  }
}

Tensor Tracer::add_input(const Tensor& like, ir::Role role) {
  Tensor input = abstract_like(like);
  Memory& memory = memories_[input.impl()->storage.get()];
  memory = Memory(input, graph.add_input(ir::info_of(input), role));
  memory.is_input = true;
  if (like.requires_grad()) input.requires_grad_();
  return input;
}

// A leaf may be a view of what needs no gradient, and then so are its own views to autograd.
static Tensor base_of_leaf(const Tensor& real, const Tensor& leaf) {
  if (!real.is_view() || real._base().requires_grad()) return {};
  Tensor base = alias(leaf);
  autograd::make_view(base, leaf, autograd::ViewOrigin::plain);
  return base;
}

Tensor Tracer::add_argument(const Tensor& real, ir::Role role) {
  Tensor leaf = add_input(real, std::move(role));
  Tensor inside = leaf;
  Ref<autograd::Node> entry;
  if (real.requires_grad() && !real.is_leaf()) {
    inside = abstract_like(real);
    memories_[inside.impl()->storage.get()] = Memory(inside, graph.inputs.back());
    memories_[inside.impl()->storage.get()].is_input = true;
    entry = Ref<autograd::Node>::adopt(new ArgumentNode(leaf));
    autograd::set_gradient_edge(inside, {entry, 0});
  }
  Tensor view_base = real.requires_grad() && !entry ? base_of_leaf(real, leaf) : Tensor();
  lifted_.push_back({real, leaf, inside, entry, inside.impl()->storage, graph.inputs.back(),
                     graph.input_roles.back(), real.requires_grad(), view_base});
  inside_[real.impl()] = {real, inside};
  inside_storage_.try_emplace(real.impl()->storage.get(), inside);
  return inside;
}

// Another tensor over memory that is known already, e.g. x.detach() of a parameter x.
Tensor Tracer::alias_of_lifted(const Tensor& tensor) {
  auto found = inside_storage_.find(tensor.impl()->storage.get());
  if (found == inside_storage_.end() || tensor.requires_grad()) return {};
  const Tensor& base = found->second;
  if (tensor.dtype() != base.dtype() || !contains_memory(base, tensor)) return {};
  Tensor result = alias(base, tensor.sizes(), tensor.strides(), tensor.impl()->offset);
  if (const VersionCounter* outside = tensor.impl()->own_version.get()) {
    Ref<VersionCounter>& counter = inside_counters_[outside];  // x.data and its views share one
    if (!counter) counter = Ref<VersionCounter>::adopt(new VersionCounter);
    result.impl()->own_version = counter;
  }
  return result;
}

Tensor Tracer::stand_in(const Tensor& tensor) {
  if (!tensor.defined() || tensor.is_abstract()) return tensor;
  if (tensor.impl()->storage->made_in_capture()) return tensor;
  if (auto found = inside_.find(tensor.impl()); found != inside_.end()) {
    const Tensor& inside = found->second.second;
    if (inside.sizes() == tensor.sizes()) return inside;
    fail(
        "capture: the function changes the sizes of a tensor that it also reaches by itself; pass "
        "it as an argument only");
  }
  if (LiftedAs as = on_lift(tensor, true); as.tensor.defined()) {
    return add_argument(as.tensor, as.role);
  }
  Tensor inside = alias_of_lifted(tensor);
  if (!inside.defined()) {
    LiftedAs as = on_lift(tensor, false);
    Tensor lifted = add_argument(as.tensor, as.role);
    if (as.tensor.is_same(tensor)) return lifted;
    inside = alias_of_lifted(tensor);
  }
  if (!inside.defined()) {
    fail("capture: a tensor shares memory with one from outside in a way that is not captured yet");
  }
  inside_[tensor.impl()] = {tensor, inside};
  return inside;
}

// A tensor that the function holds itself knows nothing of what was done to its stand-in, and is
// compared at the next call as inputs are.
void Tracer::asked_outside(const Tensor& tensor, const char* what) const {
  if (std::string_view(what) != "requires_grad" && std::string_view(what) != "is_leaf") {
    fail(
        "capture: the function reads {} of a tensor from outside, which may be another one at the "
        "next call",
        what);
  }
  auto found = inside_.find(tensor.impl());
  if (found == inside_.end()) return;
  if (found->second.second.requires_grad() == tensor.requires_grad()) return;
  fail(
      "capture: the function reads {} of a tensor that it reached by itself and wrote to; pass the "
      "tensor as an argument",
      what);
}

// Calls that change a tensor beside its elements.
static bool is_change(std::string_view what) {
  for (const char* one : {"requires_grad_", "set_grad", "set_data", "detach_", "retain_grad",
                          "register_hook", "register_post_accumulate_grad_hook"}) {
    if (what == one) return true;
  }
  return false;
}

void Tracer::asked(const Tensor& tensor, const char* what) {
  if (is_change(what)) {
    if (scope_) note_change(tensor, what, false);
    if (std::string_view(what) != "requires_grad_") return;
  }
  if (!tensor.is_abstract()) return asked_outside(tensor, what);
  if (std::string_view(what) == "is_leaf" || std::string_view(what) == "requires_grad") return;
  auto found = memories_.find(tensor.impl()->storage.get());
  if (found == memories_.end() || !found->second.is_input) return;
  if (std::string_view(what) == "requires_grad_") {
    for (const Lifted& input : lifted_) {
      if (!input.inside.is_same(tensor)) continue;
      fail(
          "capture: the function changes requires_grad of an input; call requires_grad_() outside");
    }
    return;
  }
  // The history of a part of an input is made here; that of the input itself is the caller's.
  bool is_history = std::string_view(what) == "grad_fn";
  if (is_history && !dynamic_cast<ArgumentNode*>(tensor.grad_fn().get())) return;
  fail("capture: the function reads {} of an input, which may be another one at the next call",
       what);
}

}  // namespace fg::capture
