#include "python/hooks.h"

#include "base/fail.h"
#include "python/face.h"

namespace fg::python {

namespace {

// The callable that all hooks have in common; `face` shows it to the garbage collector.
struct Hook {
  Held function;
  void* face() const { return function.get(); }

  std::string name() const {
    nb::object name = nb::getattr(function.object(), "__name__", nb::none());
    return name.is_none() ? "<nameless>" : nb::str(name).c_str();
  }
  Tensor to_tensor(nb::handle result) const {
    if (result.is_none()) return {};
    if (is_tensor(result.ptr())) return tensor_of(result.ptr());
    fail(ErrorKind::type, "the hook '{}' returned {}; expected a Tensor or None", name(),
         Py_TYPE(result.ptr())->tp_name);
  }
  // What replaces a gradient must look like it.
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

struct TensorCall : Hook {
  Tensor operator()(const Tensor& grad) const {
    WithLock lock;
    Tensor after = to_tensor(function.object()(nb::steal(wrap(grad))));
    check(grad, after);
    return after;
  }
};
struct PostAccumulateCall : Hook {
  void operator()(const Tensor& parameter) const {
    WithLock lock;
    if (function.object()(nb::steal(wrap(parameter))).is_none()) return;
    fail("the post-accumulate-grad hook '{}' returned a value; it should return None", name());
  }
};
struct PreCall : Hook {
  Tensors operator()(const Tensors& grads) const {
    WithLock lock;
    return to_tensors(function.object()(tuple_of(grads)), grads);
  }
};
struct PostCall : Hook {
  Tensors operator()(const Tensors& grad_inputs, const Tensors& grad_outputs) const {
    WithLock lock;
    return to_tensors(function.object()(tuple_of(grad_inputs), tuple_of(grad_outputs)),
                      grad_inputs);
  }
};
struct PackCall : Hook {
  std::any operator()(const Tensor& value) const {
    WithLock lock;
    return Held(function.object()(nb::steal(wrap(value))));
  }
};
struct UnpackCall : Hook {
  Tensor operator()(const std::any& packed) const {
    WithLock lock;
    nb::object result = function.object()(std::any_cast<const Held&>(packed).object());
    if (is_tensor(result.ptr())) return tensor_of(result.ptr());
    fail(ErrorKind::type, "the unpack hook '{}' returned {}; expected a Tensor", name(),
         Py_TYPE(result.ptr())->tp_name);
  }
};

template <class H>
H make(nb::object function) {
  if (!PyCallable_Check(function.ptr())) {
    fail(ErrorKind::type, "a hook must be callable, got {}", Py_TYPE(function.ptr())->tp_name);
  }
  return H{{Held(std::move(function))}};
}

}  // namespace

autograd::TensorHook tensor_hook(nb::object f) { return make<TensorCall>(std::move(f)); }
autograd::PostAccumulateHook post_accumulate_hook(nb::object f) {
  return make<PostAccumulateCall>(std::move(f));
}
autograd::NodePreHook node_pre_hook(nb::object f) { return make<PreCall>(std::move(f)); }
autograd::NodePostHook node_post_hook(nb::object f) { return make<PostCall>(std::move(f)); }
autograd::PackHook pack_hook(nb::object f) { return make<PackCall>(std::move(f)); }
autograd::UnpackHook unpack_hook(nb::object f) { return make<UnpackCall>(std::move(f)); }

}  // namespace fg::python
