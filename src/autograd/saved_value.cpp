#include "autograd/saved_value.h"

#include "autograd/accumulate_grad.h"
#include "autograd/active_hooks.h"
#include "base/fail.h"
#include "ir/capturing.h"
#include "ir/primitive.h"

namespace fg::autograd {

void refuse_freed(const Node& node) {
  fail(
      "{}: trying to backward through the graph a second time (or to read saved tensors after they "
      "were freed); pass retain_graph to the first backward to keep them",
      node.name());
}

SavedValue::SavedValue(const Tensor& given, bool output, bool inplace_on_view)
    : output_(output), inplace_on_view_(inplace_on_view) {
  if (!given.defined()) return;
  Tensor inside;
  const Tensor& value = modes.capturing ? (inside = modes.capturing->stand_in(given)) : given;
  if (value.is_inference()) {
    fail(
        "inference tensors cannot be saved for backward: make the tensor outside inference mode, "
        "or clone it there to get a normal tensor");
  }
  defined_ = true;
  version_ = value.impl()->version();
  if (value.impl()->autograd) {
    leaf_ = value.is_leaf();
    requires_grad_ = value.requires_grad();
    output_nr_ = static_cast<uint32_t>(value.output_nr());
  }
  original_ = !output_ || leaf_;
  data_ = original_ ? value : alias(value);
  if (inplace_on_view_) rare().view_grad_fn = WeakNode(value.grad_fn());
  if (graph_counters.saved_tensor_hooks == 0 || value.impl()->wrapped_number) return;
  ActiveHooks::Pair hooks = active_hooks().saved_tensors.back();
  pack(hooks.pack, hooks.unpack);
}

SavedValue::Rare& SavedValue::rare() {
  if (!rare_) rare_ = Ref<Rare>::adopt(new Rare);
  return *rare_;
}

// Hands the value over to the hook, and remembers the history that the hook does not see.
void SavedValue::pack(const PackHook& pack, UnpackHook unpack) {
  Tensor value = alias(data_);
  if (!output_) {
    if (leaf_ && requires_grad_)
      rare().accumulator = gradient_edge(data_).node;
    else
      rare().grad_fn = data_.grad_fn();
  }
  data_.reset();
  NoGradGuard no_grad;
  uint32_t before = value.impl()->version();
  rare().packed = pack(value);
  if (value.impl()->version() != before) {
    fail(
        "a saved-tensor pack hook modified its input in place; clone the tensor before changing "
        "it");
  }
  rare().unpack = std::move(unpack);
}

void SavedValue::register_hooks(PackHook pack_hook, UnpackHook unpack_hook) {
  if (freed_) fail("register_hooks: the saved value was freed; register before backward frees it");
  if (!defined_) fail("register_hooks: nothing was saved here (None); hooks need a saved tensor");
  if (is_packed())
    fail("register_hooks: this saved value has hooks already; only one pair is possible");
  pack(pack_hook, std::move(unpack_hook));
}

void SavedValue::reset() {
  rare_ = nullptr;
  data_.reset();
  freed_ = true;
}

// The forward function of a node: MulBackward0 gives Mul.
static std::string forward_name(const Node& node) {
  std::string name = node.name();
  size_t end = name.find_last_not_of("0123456789");
  constexpr std::string_view suffix = "Backward";
  if (!std::string_view(name).substr(0, end + 1).ends_with(suffix)) return name;
  return name.substr(0, end + 1 - suffix.size());
}

void SavedValue::check_version(const Node* saved_for) const {
  if (!was_written()) return;
  uint32_t current = data_.impl()->version();
  Ref<Node> producer = output_ ? nullptr : data_.grad_fn();
  const Node* made_by = producer ? producer.get() : output_ ? saved_for : nullptr;
  std::string which = made_by ? fmt::format("output {} of {}", output_nr_, forward_name(*made_by))
                              : std::string("a leaf");
  fail(
      "one of the variables needed for gradient computation has been modified by an inplace "
      "operation: [{} {}], which is {}, is at version {}; expected version {} instead. The "
      "gradient "
      "of {} needs it as it was; clone it before modifying it",
      name(data_.dtype()), text(data_.sizes()), which, current, version_, forward_name(*saved_for));
}

Tensor SavedValue::with_history(Tensor data, const Node* saved_for) const {
  if (!data.defined()) fail(ErrorKind::type, "an unpack hook returned no tensor; return a tensor");
  if (!requires_grad_) return data;  // indices, beside what has a gradient
  Tensor value = alias(data);
  if (output_) {
    // A view written in place has its history through its base; a strong link would be a cycle.
    // When the view is gone, the node that wrote it knows the same history.
    Ref<Node> node = inplace_on_view_ ? rare_->view_grad_fn.lock() : nullptr;
    if (!node) node = Ref<Node>::share(const_cast<Node*>(saved_for));
    set_gradient_edge(value, {node, output_nr_});
  } else if (rare_->grad_fn) {
    set_gradient_edge(value, {rare_->grad_fn, output_nr_});
  } else {
    // A view of a leaf that was made in no_grad requires a gradient and has no accumulator.
    AutogradMeta& meta = ensure_meta(value);
    meta.requires_grad = true;
    meta.borrowed_accumulator = rare_->accumulator;
  }
  return value;
}

Tensor SavedValue::unpack(const Node* saved_for) const {
  if (freed_) refuse_freed(*saved_for);
  if (!defined_) return {};
  if (modes.capturing && data_.defined()) modes.capturing->unpacked(data_);
  if (is_packed()) {
    Tensor unpacked;
    {
      NoGradGuard no_grad;
      unpacked = rare_->unpack(rare_->packed);
    }
    return with_history(std::move(unpacked), saved_for);
  }
  check_version(saved_for);
  if (original_) {
    if (!leaf_ && data_.is_leaf()) {
      fail(
          "{}: a tensor that was saved for backward has been detached in place (detach_), so its "
          "history is lost; use detach() to leave the saved tensor as it is",
          saved_for->name());
    }
    return data_;
  }
  return with_history(data_, saved_for);
}

}  // namespace fg::autograd
