// Bindings of autograd: backward, grad, modes, gradcheck, hooks of a thread.
#include "autograd/autograd.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>

#include "autograd/gradcheck.h"
#include "autograd/view.h"
#include "base/fail.h"
#include "base/pool.h"
#include "base/version.h"
#include "ops/view/views.h"
#include "python/bindings.h"
#include "python/face.h"
#include "python/hooks.h"
#include "python/types.h"

namespace fg::python {

namespace {

using autograd::GraphPoint;
using autograd::GraphPoints;

uint32_t output_of(nb::handle edge, const char* who) {
  uint32_t number = 0;
  if (nb::try_cast(edge.attr("output_nr"), number)) return number;
  fail(ErrorKind::value, "{}: a GradientEdge's output_nr must be 0 or more, got {}", who,
       nb::repr(edge.attr("output_nr")).c_str());
}

// A tensor, or a GradientEdge (anything with a node and an output_nr).
GraphPoint point_of(nb::handle object, const char* who) {
  if (is_tensor(object.ptr())) return tensor_of(object.ptr());
  if (nb::hasattr(object, "node") && nb::hasattr(object, "output_nr")) {
    nb::object node = object.attr("node");
    if (is_node(node.ptr())) {
      return autograd::GradientEdge{node_of(node.ptr()), output_of(object, who)};
    }
  }
  fail(ErrorKind::type, "{}: expected Tensors or GradientEdges, got {}", who,
       Py_TYPE(object.ptr())->tp_name);
}

// One of them, or several.
GraphPoints points_of(nb::handle given, const char* who) {
  if (is_tensor(given.ptr())) return {tensor_of(given.ptr())};
  bool plain = PyTuple_CheckExact(given.ptr()) || PyList_CheckExact(given.ptr());
  if (!plain && nb::hasattr(given, "output_nr")) return {point_of(given, who)};
  nb::object all = own(plain ? Py_NewRef(given.ptr()) : PySequence_Tuple(given.ptr()));
  GraphPoints points;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(all.ptr()); i++) {
    points.push_back(point_of(PySequence_Fast_GET_ITEM(all.ptr(), i), who));
  }
  return points;
}

// None, one per output, or a single one.
Tensors gradients_of(nb::handle given, size_t outputs, const char* who) {
  if (given.is_none()) return {};
  Tensors gradients;
  if (is_tensor(given.ptr()))
    gradients.push_back(tensor_of(given.ptr()));
  else
    gradients = tensors_of(own(PySequence_Tuple(given.ptr())).ptr(), who, true);
  if (gradients.size() != outputs) {
    fail("got {} tensors and {} gradients", outputs, gradients.size());
  }
  return gradients;
}

OptBool flag_of(nb::handle flag, const char* name) {
  if (flag.is_none()) return {};
  if (PyBool_Check(flag.ptr())) return flag.ptr() == Py_True;
  fail(ErrorKind::type, "{} must be a bool, not {}", name, Py_TYPE(flag.ptr())->tp_name);
}

void run_backward(nb::handle outputs, nb::handle grads, nb::handle retain, nb::handle create,
                  nb::handle inputs) {
  OptBool retain_graph = flag_of(retain, "retain_graph");
  bool create_graph = flag_of(create, "create_graph").value_or(false);
  GraphPoints from = points_of(outputs, "backward");
  std::optional<GraphPoints> to;
  if (!inputs.is_none()) to = points_of(inputs, "backward");
  if (to && to->empty()) fail("`inputs` argument to `backward()` cannot be empty.");
  Tensors gradients = gradients_of(grads, from.size(), "backward");
  if (from.empty()) return;
  MayRelease released;
  autograd::backward(from, gradients, retain_graph, create_graph, to);
}

nb::object run_grad(nb::handle outputs, nb::handle inputs, nb::handle grads, nb::handle retain,
                    nb::handle create, nb::handle unused, bool batched, bool materialize) {
  OptBool retain_graph = flag_of(retain, "retain_graph");
  bool create_graph = flag_of(create, "create_graph").value_or(false);
  OptBool allow_unused = flag_of(unused, "allow_unused");
  if (materialize && allow_unused == false) {
    fail(ErrorKind::value,
         "Expected allow_unused to be True or not passed when materialize_grads=True, but got: "
         "allow_unused=False.");
  }
  GraphPoints from = points_of(outputs, "grad"), to = points_of(inputs, "grad");
  Tensors gradients = gradients_of(grads, from.size(), "grad");
  autograd::GradOptions options{retain_graph, create_graph, allow_unused.value_or(false),
                                materialize, batched};
  Tensors results;
  {
    MayRelease released;
    results = autograd::grad(from, to, gradients, options);
  }
  return tuple_of(results);
}

// ---- hooks of a thread

void add_thread_hooks(nb::module_& module) {
  module.def("_push_node_creation_hook", [](nb::object hook) {
    autograd::push_node_creation_hook(node_creation_hook(std::move(hook)));
  });
  module.def("_pop_node_creation_hook", &autograd::pop_node_creation_hook);
  module.def("_push_saved_tensors_hooks", [](nb::object pack, nb::object unpack) {
    SavedHooks hooks = saved_hooks(std::move(pack), std::move(unpack));
    autograd::push_saved_tensors_hooks(std::move(hooks.pack), std::move(hooks.unpack));
  });
  module.def("_pop_saved_tensors_hooks", &autograd::pop_saved_tensors_hooks);
  module.def("_disable_saved_tensors_hooks", &autograd::disable_saved_tensors_hooks,
             nb::arg().none());
}

// ---- gradcheck

autograd::TensorFunction python_function(nb::object function) {
  Held held(std::move(function));
  return [held](const Tensors& inputs) -> Tensors {
    WithLock lock;
    nb::object result = own(PyObject_Call(held.get(), tuple_of(inputs).ptr(), nullptr));
    if (is_tensor(result.ptr())) return {tensor_of(result.ptr())};
    return tensors_of(result.ptr(), "gradcheck");
  };
}

void add_gradcheck(nb::module_& module) {
  module.def("_gradcheck", [](nb::object function, nb::sequence inputs, double eps, double atol,
                              double rtol, double nondet_tol, bool check_undefined_grad) {
    autograd::GradcheckOptions options{eps, atol, rtol, true, nondet_tol, check_undefined_grad};
    return autograd::gradcheck(python_function(function), tensors_of(inputs.ptr(), "gradcheck"),
                               options);
  });
  module.def(
      "_gradgradcheck", [](nb::object function, nb::sequence inputs, nb::sequence grads, double eps,
                           double atol, double rtol, double nondet_tol, bool check_undefined_grad) {
        autograd::GradcheckOptions options{eps, atol, rtol, true, nondet_tol, check_undefined_grad};
        return autograd::gradgradcheck(python_function(function),
                                       tensors_of(inputs.ptr(), "gradgradcheck"),
                                       tensors_of(grads.ptr(), "gradgradcheck"), options);
      });
}

// ---- modes and settings

void add_modes(nb::module_& module) {
  module.def("is_grad_enabled", [] { return is_grad_enabled(); });
  module.def("_set_grad_enabled", [](bool enabled) { set_grad_enabled(enabled); });
  module.def("is_inference_mode_enabled", [] { return modes.inference; });
  module.def("_set_modes", [](bool grad, bool inference) {
    modes.grad_enabled = grad;
    modes.inference = inference;
  });
  module.def("set_num_threads", [](int count) { pool::set_num_threads(count); });
  module.def("get_num_threads", [] {
    asked_outside("get_num_threads()");
    return pool::num_threads();
  });
  module.def("get_default_dtype", [] { return nb::borrow(dtype_object(default_dtype())); });
  module.def("set_default_dtype", [](nb::handle dtype) {
    OptDType type = dtype_of(dtype.ptr());
    if (!type) fail(ErrorKind::type, "set_default_dtype: expected a foregrad.dtype");
    set_default_dtype(*type);
  });
  module.def("_promote_types", [](nb::handle a, nb::handle b) {
    OptDType first = dtype_of(a.ptr()), second = dtype_of(b.ptr());
    if (!first || !second) fail(ErrorKind::type, "promote_types: expected two dtypes");
    return nb::borrow(dtype_object(promote(*first, *second)));
  });
  module.def("_can_cast", [](nb::handle a, nb::handle b) {
    OptDType from = dtype_of(a.ptr()), to = dtype_of(b.ptr());
    if (!from || !to) fail(ErrorKind::type, "can_cast: expected two dtypes");
    return can_cast(*from, *to);
  });
  module.attr("__version__") = std::string(version());
}

void check_subclass(nb::type_object cls) {
  if (PyType_IsSubtype(reinterpret_cast<PyTypeObject*>(cls.ptr()), tensor_type)) return;
  fail(ErrorKind::type, "a tensor can only become a subclass of Tensor, not {}",
       reinterpret_cast<PyTypeObject*>(cls.ptr())->tp_name);
}

void add_tensor_hooks(nb::module_& module) {
  module.def(
      "_register_hook",
      [](const Tensor& tensor, nb::object function) {
        return register_hook(autograd::hooks_for_gradient(tensor), HookKind::tensor,
                             static_cast<int>(tensor.output_nr()), std::move(function));
      },
      nb::arg(), nb::arg().none());
  module.def("_register_post_accumulate_grad_hook", [](const Tensor& tensor, nb::object function) {
    return register_hook(autograd::hooks_for_accumulation(tensor), HookKind::post_accumulate, 0,
                         std::move(function));
  });
  module.def("_get_backward_hooks", [](const Tensor& tensor) {
    auto output = static_cast<int>(tensor.output_nr());
    PyObject* by_id = hook_dictionary(autograd::hooks_of(tensor), HookKind::tensor, output);
    return by_id ? nb::borrow(by_id) : nb::none();
  });
  module.def(
      "_set_backward_hooks",
      [](const Tensor& tensor, nb::object by_id) {
        if (!by_id.is_none() && !PyDict_Check(by_id.ptr())) {
          fail(ErrorKind::type, "_backward_hooks: expected a dictionary of hooks or None, got {}",
               Py_TYPE(by_id.ptr())->tp_name);
        }
        bind_hook_dictionary(autograd::ensure_hooks_of(tensor), HookKind::tensor,
                             static_cast<int>(tensor.output_nr()),
                             by_id.is_none() ? nullptr : by_id.ptr());
      },
      nb::arg(), nb::arg().none());
}

void add_tensor_methods(nb::module_& module) {
  module.def("_retain_grad", [](const Tensor& tensor) { tensor.retain_grad(); });
  module.def("_requires_grad_", [](const Tensor& tensor, bool on) { tensor.requires_grad_(on); });
  module.def("_detach_", [](const Tensor& tensor) { tensor.detach_(); });
  module.def("_become_view", [](const Tensor& self, const Tensor& view, const std::string& name) {
    autograd::become_view(self, view, name.c_str());
  });
  module.def("_is_view", [](const Tensor& tensor) {
    asked(tensor, "_is_view");
    return tensor.is_view();
  });
  module.def("_is_inference", [](const Tensor& tensor) { return tensor.is_inference(); });
  module.def("_is_contiguous", [](const Tensor& tensor) { return tensor.is_contiguous(); });
  module.def("_strides", [](const Tensor& tensor) {
    nb::list strides;
    for (const Dim& stride : tensor.strides()) strides.append(stride.value());
    return nb::steal(PyList_AsTuple(strides.ptr()));
  });
  module.def("_numel", [](const Tensor& tensor) { return tensor.numel(); });
  module.def("_storage_offset", [](const Tensor& tensor) {
    asked(tensor, "storage_offset");
    return tensor.storage_offset();
  });
  module.def("_data_ptr",
             [](const Tensor& tensor) { return reinterpret_cast<uintptr_t>(tensor.data_ptr()); });
  module.def("_storage_ptr", [](const Tensor& tensor) {
    return reinterpret_cast<uintptr_t>(tensor.impl()->storage.get());
  });
  module.def("_storage_uses",
             [](const Tensor& tensor) { return tensor.impl()->storage->use_count(); });
  // For copies that keep shared memory shared: all of a tensor's memory, and a tensor like another
  // over a copy of it.
  module.def("_whole_storage", [](const Tensor& tensor) {
    auto bytes = static_cast<int64_t>(tensor.impl()->storage->bytes());
    return alias(tensor, {bytes / static_cast<int64_t>(item_size(tensor.dtype()))}, {1}, 0);
  });
  module.def("_same_layout", [](const Tensor& memory, const Tensor& like) {
    return alias(memory, like.sizes(), like.strides(), like.impl()->offset);
  });
  module.def("_use_count", [](const Tensor& tensor) { return tensor.use_count() - 1; });
  module.def("_make_subclass", [](nb::type_object cls, const Tensor& data, bool requires_grad) {
    check_subclass(cls);
    Tensor fresh = data.detach();
    if (requires_grad) fresh.requires_grad_();
    return nb::steal(wrap_as(reinterpret_cast<PyTypeObject*>(cls.ptr()), fresh));
  });
  module.def("_as_subclass", [](const Tensor& data, nb::type_object cls) {
    check_subclass(cls);
    Tensor fresh = alias_of(data);
    return nb::steal(wrap_as(reinterpret_cast<PyTypeObject*>(cls.ptr()), fresh));
  });
}

}  // namespace

void add_autograd(nb::module_& module) {
  module.def("_run_backward", run_backward, nb::arg().none(), nb::arg().none(), nb::arg().none(),
             nb::arg().none(), nb::arg().none());
  module.def("_run_grad", run_grad, nb::arg().none(), nb::arg().none(), nb::arg().none(),
             nb::arg().none(), nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg());
  module.def("_get_gradient_edge", [](const Tensor& tensor) {
    autograd::GradientEdge edge = autograd::get_gradient_edge(tensor);
    return nb::make_tuple(edge.node, edge.output_nr);
  });
  module.def("_increment_version",
             [](const std::vector<Tensor>& tensors) { autograd::increment_version(tensors); });
  module.def("_current_graph_task_id", &autograd::current_graph_task_id);
  module.def("_current_autograd_node", [] {
    bool inside = autograd::current_graph_task_id() >= 0;
    return inside ? autograd::current_graph_task_node() : nullptr;
  });
  module.def("_current_graph_task_execution_order",
             [] { return autograd::current_graph_task_execution_order(); });
  module.def("_will_engine_execute_node", &autograd::will_engine_execute_node);
  module.def("_get_current_graph_task_keep_graph", &autograd::current_graph_task_keep_graph);
  add_thread_hooks(module);
  add_gradcheck(module);
  add_modes(module);
  add_tensor_hooks(module);
  add_tensor_methods(module);
}

}  // namespace fg::python
