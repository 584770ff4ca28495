// The Python type of nodes: names, edges, hooks, metadata and saved values.
#include <nanobind/stl/string.h>

#include <map>

#include "autograd/accumulate_grad.h"
#include "autograd/op_node.h"
#include "autograd/view.h"
#include "base/fail.h"
#include "ir/value.h"
#include "ops/view/views.h"
#include "python/custom_node.h"
#include "python/hooks.h"
#include "python/types.h"

namespace fg::python {

using autograd::Node;

namespace {

// A saved value as users of the graph API see it: torch's SavedTensor.
struct SavedTensor {
  Ref<Node> node;
  size_t index;
  autograd::SavedValue& value() const {
    static autograd::SavedValue nothing;  // stands for what was not needed
    return index < node->saved_count() ? *node->saved_value(index) : nothing;
  }
};

nb::object edge_tuple(const autograd::Edge& edge) {
  return nb::make_tuple(own(wrap(edge.node)), edge.is_valid() ? edge.input_nr : 0);
}

PyObject* node_repr(PyObject* self) {
  return guarded([&] {
    return PyUnicode_FromFormat("<%s object at %p>", node_of(self)->name().c_str(), self);
  });
}

// ---- methods

// Nodes that are no function's gradient have PyTorch's own name here: programs compare with it.
PyObject* get_name(PyObject* self, PyObject*) {
  return guarded([&] {
    Ref<Node> node = node_of(self);
    bool own_kind = dynamic_cast<autograd::AccumulateGrad*>(node.get()) ||
                    dynamic_cast<autograd::CopySlices*>(node.get());
    return PyUnicode_FromString(((own_kind ? "torch::autograd::" : "") + node->name()).c_str());
  });
}
PyObject* register_post_hook(PyObject* self, PyObject* function) {
  return guarded([&] {
    return register_hook(node_of(self)->ensure_hooks(), HookKind::post, 0, nb::borrow(function))
        .release()
        .ptr();
  });
}
PyObject* register_prehook(PyObject* self, PyObject* function) {
  return guarded([&] {
    return register_hook(node_of(self)->ensure_hooks(), HookKind::pre, 0, nb::borrow(function))
        .release()
        .ptr();
  });
}
PyObject* register_hook_dict(PyObject* self, PyObject* tensor) {
  return guarded([&]() -> PyObject* {
    if (!is_tensor(tensor)) {
      fail(ErrorKind::type, "_register_hook_dict: expected a Tensor, got {}",
           Py_TYPE(tensor)->tp_name);
    }
    auto output = static_cast<int>(tensor_of(tensor).output_nr());
    PyObject* by_id =
        hook_dictionary(autograd::hooks_of(tensor_of(tensor)), HookKind::tensor, output);
    if (!by_id) fail("_register_hook_dict: the tensor has no hooks; register_hook gives it some");
    autograd::NodeHooks& hooks = node_of(self)->ensure_hooks();
    if (hook_dictionary(&hooks, HookKind::tensor, output) != by_id) {
      bind_hook_dictionary(hooks, HookKind::tensor, output, by_id);
    }
    Py_RETURN_NONE;
  });
}
PyObject* get_sequence_nr(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromUnsignedLongLong(node_of(self)->sequence_nr()); });
}
PyObject* set_sequence_nr(PyObject* self, PyObject* number) {
  return guarded([&]() -> PyObject* {
    uint64_t value = 0;
    if (!nb::try_cast(nb::handle(number), value)) {
      fail(ErrorKind::type, "_set_sequence_nr: expected an integer of 0 or more");
    }
    node_of(self)->set_sequence_nr(value);
    Py_RETURN_NONE;
  });
}

// Runs the node by itself on given gradients, without its hooks.
PyObject* call_node(PyObject* self, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    Ref<Node> node = node_of(self);
    auto given = static_cast<size_t>(PyTuple_GET_SIZE(args));
    if (dynamic_cast<PythonNode*>(node.get())) {
      fail(ErrorKind::type, "'{}' object is not callable; its apply() runs backward", node->name());
    }
    if (kwargs && PyDict_GET_SIZE(kwargs) > 0) {
      fail(ErrorKind::type, "{} takes no keyword arguments; give one gradient per forward output",
           node->name());
    }
    if (given != node->num_outputs()) {
      fail(ErrorKind::type, "{} takes {} gradients, one per forward output, but got {}",
           node->name(), node->num_outputs(), given);
    }
    Tensors grads = tensors_of(args, node->name().c_str(), true);
    // The engine fits gradients before an accumulator takes them as they are.
    if (dynamic_cast<autograd::AccumulateGrad*>(node.get()) && grads[0].defined()) {
      grads[0] = expand(grads[0], node->input_metadata(0).sizes);
    }
    Tensors results = node->apply(std::move(grads));
    if (results.size() == 1) return wrap(results[0]);
    return tuple_of(results).release().ptr();
  });
}

// ---- properties

PyObject* get_next_functions(PyObject* self, void*) {
  return guarded([&] {
    Ref<Node> node = node_of(self);
    nb::list edges;
    for (const autograd::Edge& edge : node->next_edges()) edges.append(edge_tuple(edge));
    return PyList_AsTuple(edges.ptr());
  });
}

PyObject* get_metadata(PyObject* self, void*) {
  return guarded([&] {
    std::any& slot = node_of(self)->metadata()["python"];
    if (!slot.has_value()) slot = Held(nb::dict());
    return Py_NewRef(std::any_cast<Held&>(slot).get());
  });
}

PyObject* get_input_metadata(PyObject* self, void*) {
  return guarded([&] {
    Ref<Node> node = node_of(self);
    nb::object make = nb::module_::import_("types").attr("SimpleNamespace");
    nb::list all;
    for (size_t i = 0; i < node->num_outputs(); i++) {
      const autograd::InputMetadata& metadata = node->input_metadata(i);
      all.append(make(nb::arg("shape") = size_object(metadata.sizes),
                      nb::arg("dtype") = nb::borrow(dtype_object(metadata.dtype)),
                      nb::arg("device") = nb::module_::import_("foregrad").attr("device")("cpu"),
                      nb::arg("is_nested_tensor") = false, nb::arg("is_cpp_nested_tensor") = false,
                      nb::arg("is_tensor_subclass") = false));
    }
    return all.release().ptr();
  });
}

// An argument of the call that is no tensor, as its node kept it; null when it has no such name.
PyObject* argument_of(const autograd::OpNode& node, std::string_view name) {
  ir::Value value;
  if (!node.find_argument(name, value)) return nullptr;
  if (auto* number = std::get_if<Scalar>(&value)) return number_object(*number);
  if (auto* text = std::get_if<std::string>(&value)) return PyUnicode_FromString(text->c_str());
  if (auto* dtype = std::get_if<DType>(&value)) return Py_NewRef(dtype_object(*dtype));
  if (auto* dims = std::get_if<Dims>(&value)) {
    nb::list sizes;
    for (const Dim& size : *dims) sizes.append(size.value());
    return PyList_AsTuple(sizes.ptr());
  }
  Py_RETURN_NONE;
}

// A value that was not needed, or an argument that is no tensor.
PyObject* missing_attribute(Node& node, std::string_view name, bool raw) {
  auto* op = dynamic_cast<autograd::OpNode*>(&node);
  if (!op) return nullptr;
  if (op->may_save(name)) {
    if (raw)
      return nb::cast(SavedTensor{Ref<Node>::share(&node), node.saved_count()}).release().ptr();
    Py_RETURN_NONE;
  }
  return raw ? nullptr : argument_of(*op, name);
}

// _saved_self, _raw_saved_self, and `variable` of an accumulator.
PyObject* saved_attribute(PyObject* self, std::string_view name) {
  Ref<Node> node = node_of(self);
  bool raw = name.starts_with("_raw_saved_"), custom = dynamic_cast<PythonNode*>(node.get());
  std::string_view wanted = name.substr(raw ? 11 : 7);
  nb::list found;
  for (size_t i = 0; i < node->saved_count(); i++) {
    if (node->saved_name(i) != wanted) continue;
    bool freed = node->saved_value(i)->is_freed();
    if (freed && custom) autograd::refuse_freed(*node);  // also where it is only looked at
    found.append(raw ? nb::cast(SavedTensor{node, i})
                     : nb::steal(wrap(node->saved_value(i)->unpack(node.get()))));
  }
  if (nb::len(found) == 0) return missing_attribute(*node, wanted, raw);
  if (nb::len(found) == 1 && wanted != "tensors") return nb::object(found[0]).release().ptr();
  return PyList_AsTuple(found.ptr());
}

PyObject* node_getattr(PyObject* self, PyObject* name) {
  PyObject* found = PyObject_GenericGetAttr(self, name);
  if (found || !PyErr_ExceptionMatches(PyExc_AttributeError)) return found;
  Py_ssize_t size = 0;
  const char* data = nullptr;
  {
    nb::error_scope kept;
    data = PyUnicode_AsUTF8AndSize(name, &size);
    if (!data) PyErr_Clear();
  }
  std::string_view text(data ? data : "", static_cast<size_t>(data ? size : 0));
  if (!text.starts_with("_saved_") && !text.starts_with("_raw_saved_") && text != "variable") {
    return nullptr;
  }
  nb::python_error missing;
  return guarded([&]() -> PyObject* {
    if (text == "variable") {
      auto* leaf = dynamic_cast<autograd::AccumulateGrad*>(node_of(self).get());
      if (leaf) return wrap(leaf->variable());
    } else if (PyObject* saved = saved_attribute(self, text)) {
      return saved;
    }
    missing.restore();
    return nullptr;
  });
}

// Saved values of a node cannot be set, except on the context of a custom function.
int node_setattr(PyObject* self, PyObject* name, PyObject* value) {
  const char* characters = PyUnicode_AsUTF8(name);
  if (!characters) return -1;
  std::string_view text = characters;
  bool saved = text.starts_with("_saved_") || text.starts_with("_raw_saved_");
  if (saved && !PyObject_HasAttrString(self, "_forward_cls")) {
    PyErr_Format(PyExc_AttributeError, "attribute '%U' of '%s' objects is not writable", name,
                 Py_TYPE(self)->tp_name);
    return -1;
  }
  return PyObject_GenericSetAttr(self, name, value);
}

PyMethodDef node_methods[] = {
    {"name", get_name, METH_NOARGS, "The name of the node, as AddBackward0."},
    {"register_hook", register_post_hook, METH_O,
     "Calls hook(grad_inputs, grad_outputs) after the node ran; returns a handle."},
    {"register_prehook", register_prehook, METH_O,
     "Calls hook(grad_outputs) before the node runs; returns a handle."},
    {"_register_hook_dict", register_hook_dict, METH_O,
     "Calls the hooks of a tensor with the gradient of the output that it is."},
    {"_sequence_nr", get_sequence_nr, METH_NOARGS, "How late the node was made."},
    {"_set_sequence_nr", set_sequence_nr, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef node_properties[] = {
    {"next_functions", get_next_functions, nullptr, "Pairs of a node and its input.", nullptr},
    {"metadata", get_metadata, nullptr, "A dictionary for users.", nullptr},
    {"_input_metadata", get_input_metadata, nullptr, "What gradients must look like.", nullptr},
    {"requires_grad", [](PyObject*, void*) { return Py_NewRef(Py_True); }, nullptr, nullptr,
     nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// The pack hook's result of a saved value with its unpack hook, or null.
const Packed* packed_of(const SavedTensor& saved) {
  const std::any* packed = saved.value().packed();
  return packed ? std::any_cast<Packed>(packed) : nullptr;
}

void add_saved_tensor(nb::module_& module) {
  nb::class_<SavedTensor>(module, "SavedTensor")
      .def("unpack", [](const SavedTensor& self) { return self.value().unpack(self.node.get()); })
      .def("register_hooks",
           [](const SavedTensor& self, nb::object pack, nb::object unpack) {
             SavedHooks hooks = saved_hooks(std::move(pack), std::move(unpack));
             self.value().register_hooks(std::move(hooks.pack), std::move(hooks.unpack));
           })
      .def_prop_ro("data",
                   [](const SavedTensor& self) {
                     const Packed* packed = packed_of(self);
                     return packed ? packed->value.object() : nb::steal(wrap(self.value().held()));
                   })
      .def_prop_ro("unpack_hook", [](const SavedTensor& self) {
        const Packed* packed = packed_of(self);
        return packed ? packed->unpack.object() : nb::none();
      });
}

PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) {
  PyErr_Format(PyExc_TypeError, "%s cannot be made by hand: nodes come from recorded calls",
               type->tp_name);
  return nullptr;
}

}  // namespace

PyTypeObject* type_of_node(const Node& node) {
  if (auto* custom = dynamic_cast<const PythonNode*>(&node)) {
    return reinterpret_cast<PyTypeObject*>(custom->type());
  }
  static auto* types = new std::map<std::string, PyObject*>;
  PyObject*& type = (*types)[node.name()];
  if (!type) {
    nb::object base = nb::borrow(reinterpret_cast<PyObject*>(node_type));
    nb::dict attributes;
    attributes["__module__"] = "foregrad.autograd.graph";
    nb::object made = nb::borrow(reinterpret_cast<PyObject*>(&PyType_Type))(
        node.name(), nb::make_tuple(base), attributes);
    type = made.release().ptr();
  }
  return reinterpret_cast<PyTypeObject*>(type);
}

void add_nodes(nb::module_& module) {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(face_dealloc)},
                         {Py_tp_finalize, reinterpret_cast<void*>(face_finalize)},
                         {Py_tp_traverse, reinterpret_cast<void*>(face_traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(face_clear)},
                         {Py_tp_repr, reinterpret_cast<void*>(node_repr)},
                         {Py_tp_call, reinterpret_cast<void*>(call_node)},
                         {Py_tp_getattro, reinterpret_cast<void*>(node_getattr)},
                         {Py_tp_setattro, reinterpret_cast<void*>(node_setattr)},
                         {Py_tp_new, reinterpret_cast<void*>(refuse_new)},
                         {Py_tp_methods, node_methods},
                         {Py_tp_getset, node_properties},
                         {Py_tp_members, face_members},
                         {0, nullptr}};
  PyType_Spec spec{"foregrad.autograd.graph.Node", sizeof(FaceObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  nb::object type = own(PyType_FromSpec(&spec));
  module.attr("Node") = type;
  node_type = reinterpret_cast<PyTypeObject*>(type.release().ptr());

  add_saved_tensor(module);
}

}  // namespace fg::python
