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
  Tensors to_tensors(nb::handle result) const {
    if (result.is_none()) return {};
    if (!PyTuple_Check(result.ptr())) {
      fail(ErrorKind::type, "the hook '{}' returned {}; expected a tuple of Tensors or None",
           name(), Py_TYPE(result.ptr())->tp_name);
    }
    Tensors tensors;
    for (nb::handle item : nb::borrow<nb::tuple>(result)) tensors.push_back(to_tensor(item));
    return tensors;
  }
};

struct TensorCall : Hook {
  Tensor operator()(const Tensor& grad) const {
    nb::gil_scoped_acquire lock;
    return to_tensor(function.object()(nb::steal(wrap(grad))));
  }
};
struct PostAccumulateCall : Hook {
  void operator()(const Tensor& parameter) const {
    nb::gil_scoped_acquire lock;
    if (function.object()(nb::steal(wrap(parameter))).is_none()) return;
    fail("the post-accumulate-grad hook '{}' returned a value; it should return None", name());
  }
};
struct PreCall : Hook {
  Tensors operator()(const Tensors& grads) const {
    nb::gil_scoped_acquire lock;
    return to_tensors(function.object()(tuple_of(grads)));
  }
};
struct PostCall : Hook {
  Tensors operator()(const Tensors& grad_inputs, const Tensors& grad_outputs) const {
    nb::gil_scoped_acquire lock;
    return to_tensors(function.object()(tuple_of(grad_inputs), tuple_of(grad_outputs)));
  }
};
struct PackCall : Hook {
  std::any operator()(const Tensor& value) const {
    nb::gil_scoped_acquire lock;
    return Held(function.object()(nb::steal(wrap(value))));
  }
};
struct UnpackCall : Hook {
  Tensor operator()(const std::any& packed) const {
    nb::gil_scoped_acquire lock;
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
