#include "python/hooks.h"

#include "base/fail.h"
#include "python/face.h"

namespace fg::python {

namespace {

// A function; `face` shows it to the garbage collector.
struct Hook {
  Held function;
  void* face() const { return function.get(); }

  std::string name() const {
    nb::object name = nb::getattr(function.object(), "__name__", nb::none());
    return name.is_none() ? "<nameless>" : bytes_of(name);
  }
  Tensor to_tensor(nb::handle result) const {
    if (result.is_none()) return {};
    if (is_tensor(result.ptr())) return tensor_of(result.ptr());
    fail(ErrorKind::type, "the hook '{}' returned {}; expected a Tensor or None", name(),
         Py_TYPE(result.ptr())->tp_name);
  }
  // Refuses a replacement with another size or dtype than the gradient.
  void check(const Tensor& before, const Tensor& after) const {
    if (!after.defined()) return;
    if (!before.defined()) {
      fail("the hook '{}' returned a Tensor in place of None; return None there", name());
    }
    if (!(before.sizes() == after.sizes())) {
      fail("the hook '{}' has changed the size of the gradient: from {} to {}", name(),
           text(before.sizes()), text(after.sizes()));
    }
    if (before.dtype() != after.dtype()) {
      fail("the hook '{}' has changed the type of the gradient: from {} to {}", name(),
           fg::name(before.dtype()), fg::name(after.dtype()));
    }
  }
  Tensors to_tensors(nb::handle result, const Tensors& before) const {
    if (result.is_none()) return {};
    if (!PyTuple_Check(result.ptr())) {
      fail(ErrorKind::type, "the hook '{}' returned {}; expected a tuple of Tensors or None",
           name(), Py_TYPE(result.ptr())->tp_name);
    }
    Tensors tensors;
    for (nb::handle item : nb::borrow<nb::tuple>(result)) tensors.push_back(to_tensor(item));
    if (tensors.size() != before.size()) {
      fail("the hook '{}' has returned an incorrect number of values (got {}, but expected {})",
           name(), tensors.size(), before.size());
    }
    for (size_t i = 0; i < tensors.size(); i++) check(before[i], tensors[i]);
    return tensors;
  }
};

struct PackCall : Hook {
  Held unpack;
  std::any operator()(const Tensor& value) const {
    WithLock lock;
    return Packed{Held(function.object()(nb::steal(wrap(value)))), unpack};
  }
};
struct UnpackCall : Hook {
  Tensor operator()(const std::any& packed) const {
    WithLock lock;
    nb::object result = function.object()(std::any_cast<const Packed&>(packed).value.object());
    if (is_tensor(result.ptr())) return tensor_of(result.ptr());
    fail(ErrorKind::type, "the unpack hook '{}' returned {}; expected a Tensor", name(),
         Py_TYPE(result.ptr())->tp_name);
  }
};
struct CreationCall : Hook {
  void operator()(const Ref<autograd::Node>& node) const {
    WithLock lock;
    nb::object result = function.object()(nb::steal(wrap(node)));
    if (result.is_none()) return;
    fail("the node creation hook '{}' returned {}; it must return None", name(),
         Py_TYPE(result.ptr())->tp_name);
  }
};

template <class H>
H make(nb::object function) {
  if (!PyCallable_Check(function.ptr())) {
    fail(ErrorKind::type, "a hook must be callable, got {}", Py_TYPE(function.ptr())->tp_name);
  }
  H hook;
  hook.function = Held(std::move(function));
  return hook;
}

// The functions of a dictionary, called in its order as one hook.
struct Hooks {
  Held by_id;
  void* face() const { return by_id.get(); }

  // A copy: a function may take itself or others out.
  std::vector<Hook> functions() const {
    std::vector<Hook> functions;
    for (nb::handle function : nb::list(own(PyMapping_Values(by_id.get())))) {
      functions.push_back(make<Hook>(nb::borrow(function)));
    }
    return functions;
  }
};

struct TensorCall : Hooks {
  Tensor operator()(const Tensor& grad) const {
    WithLock lock;
    Tensor now = grad;
    for (const Hook& hook : functions()) {
      Tensor after = hook.to_tensor(hook.function.object()(nb::steal(wrap(now))));
      hook.check(now, after);
      if (after.defined()) now = after;
    }
    return now;
  }
};
struct PostAccumulateCall : Hooks {
  void operator()(const Tensor& parameter) const {
    WithLock lock;
    for (const Hook& hook : functions()) {
      if (hook.function.object()(nb::steal(wrap(parameter))).is_none()) continue;
      fail(ErrorKind::type,
           "the post-accumulate-grad hook '{}' returned a value; it should return None",
           hook.name());
    }
  }
};
// The gradients as the functions replaced them; empty when they left them as they are.
template <class... Others>
Tensors replaced(const std::vector<Hook>& functions, const Tensors& grads,
                 const Others&... others) {
  Tensors now;
  for (const Hook& hook : functions) {
    const Tensors& before = now.empty() ? grads : now;
    Tensors after = hook.to_tensors(hook.function.object()(tuple_of(before), others...), before);
    if (!after.empty()) now = std::move(after);
  }
  return now;
}
struct PreCall : Hooks {
  Tensors operator()(const Tensors& grads) const {
    WithLock lock;
    return replaced(functions(), grads);
  }
};
struct PostCall : Hooks {
  Tensors operator()(const Tensors& grad_inputs, const Tensors& grad_outputs) const {
    WithLock lock;
    return replaced(functions(), grad_inputs, tuple_of(grad_outputs));
  }
};

autograd::HookHandle add(autograd::NodeHooks& hooks, HookKind kind, int output, Held by_id) {
  switch (kind) {
    case HookKind::tensor:
      return hooks.add(hooks.tensor, output, autograd::TensorHook(TensorCall{{by_id}}));
    case HookKind::pre:
      return hooks.add(hooks.pre, output, autograd::NodePreHook(PreCall{{by_id}}));
    case HookKind::post:
      return hooks.add(hooks.post, output, autograd::NodePostHook(PostCall{{by_id}}));
    default:
      return hooks.add(hooks.post_accumulate, output,
                       autograd::PostAccumulateHook(PostAccumulateCall{{by_id}}));
  }
}

std::string place_of(HookKind kind, int output) {
  return fmt::format("python hooks {} {}", static_cast<int>(kind), output);
}

}  // namespace

PyObject* hook_dictionary(autograd::NodeHooks* hooks, HookKind kind, int output) {
  if (!hooks) return nullptr;
  auto found = hooks->metadata.find(place_of(kind, output));
  if (found == hooks->metadata.end()) return nullptr;
  return std::any_cast<BoundHooks&>(found->second).dictionary.get();
}

void bind_hook_dictionary(autograd::NodeHooks& hooks, HookKind kind, int output, PyObject* by_id) {
  std::any& bound = hooks.metadata[place_of(kind, output)];
  if (bound.has_value()) std::any_cast<BoundHooks&>(bound).handle.remove();
  if (!by_id) {
    hooks.metadata.erase(place_of(kind, output));
    return;
  }
  Held held(nb::borrow(by_id));
  bound = BoundHooks{held, add(hooks, kind, output, held)};
}

nb::object register_hook(autograd::NodeHooks& hooks, HookKind kind, int output,
                         nb::object function) {
  make<Hook>(function);  // can it be called?
  nb::object by_id = nb::borrow(hook_dictionary(&hooks, kind, output));
  if (!by_id) {
    by_id = nb::module_::import_("collections").attr("OrderedDict")();
    bind_hook_dictionary(hooks, kind, output, by_id.ptr());
  }
  nb::object handle = nb::module_::import_("foregrad.utils.hooks").attr("RemovableHandle")(by_id);
  by_id[handle.attr("id")] = function;
  return handle;
}

SavedHooks saved_hooks(nb::object pack, nb::object unpack) {
  auto unpack_call = make<UnpackCall>(std::move(unpack));
  auto pack_call = make<PackCall>(std::move(pack));
  pack_call.unpack = unpack_call.function;
  return {std::move(pack_call), std::move(unpack_call)};
}
autograd::NodeCreationCallback node_creation_hook(nb::object f) {
  return make<CreationCall>(std::move(f));
}

}  // namespace fg::python
