// Python custom functions: the context, which is the Python wrapper of the node, and apply.
#include "python/custom_node.h"

#include "autograd/introspection.h"
#include "base/fail.h"

namespace fg::python {

namespace {

nb::object attribute(PyObject* object, const char* name) {
  return own(PyObject_GetAttrString(object, name));
}

PythonNode& context_of(PyObject* self) {
  auto* node = dynamic_cast<PythonNode*>(node_of(self).get());
  if (!node) fail("{} is no context of a custom function", Py_TYPE(self)->tp_name);
  return *node;
}

Tensors marked(PyObject* args, const char* who, bool optional = false) {
  Tensors tensors;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(args); i++) {
    PyObject* item = PyTuple_GET_ITEM(args, i);
    if (is_tensor(item))
      tensors.push_back(tensor_of(item));
    else if (optional && item == Py_None)
      tensors.emplace_back();
    else
      fail(optional ? ErrorKind::type : ErrorKind::runtime,
           "{}: argument {} must be a Tensor{}, not {}", who, i, optional ? " or None" : "",
           Py_TYPE(item)->tp_name);
  }
  return tensors;
}

// ---- methods of the context

PyObject* save_for_backward(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    PythonNode& node = context_of(self);
    // A call outside of the graph saves nothing, whatever it was given.
    if (node.is_executable()) node.marks.to_save = marked(args, "save_for_backward", true);
    Py_RETURN_NONE;
  });
}
PyObject* mark_dirty(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    context_of(self).marks.dirty = marked(args, "mark_dirty");
    Py_RETURN_NONE;
  });
}
PyObject* mark_non_differentiable(PyObject* self, PyObject* args) {
  return guarded([&]() -> PyObject* {
    context_of(self).marks.non_differentiable = marked(args, "mark_non_differentiable");
    Py_RETURN_NONE;
  });
}
bool boolean_of(PyObject* value, const char* who) {
  if (PyBool_Check(value)) return value == Py_True;
  fail(ErrorKind::type, "{} must be a bool, not {}", who, Py_TYPE(value)->tp_name);
}
PyObject* set_materialize_grads(PyObject* self, PyObject* value) {
  return guarded([&]() -> PyObject* {
    context_of(self).marks.materialize_grads = boolean_of(value, "set_materialize_grads: value");
    Py_RETURN_NONE;
  });
}
PyObject* maybe_clear_saved_tensors(PyObject* self, PyObject*) {
  return guarded([&]() -> PyObject* {
    PythonNode& node = context_of(self);
    bool keep = autograd::current_graph_task_id() >= 0 && autograd::current_graph_task_keep_graph();
    if (!keep) node.release_variables();
    Py_RETURN_NONE;
  });
}

// ---- properties of the context

PyObject* get_saved_tensors(PyObject* self, void*) {
  return guarded([&] {
    PythonNode& node = context_of(self);
    nb::object saved = tuple_of(node.saved_tensors());
    nb::object function = attribute(node.type(), "_forward_cls");
    nb::object clear = nb::getattr(function, "clear_saved_tensors_on_access", nb::bool_(false));
    if (boolean_of(clear.ptr(), "clear_saved_tensors_on_access")) node.release_variables();
    return saved.release().ptr();
  });
}
PyObject* get_needs_input_grad(PyObject* self, void*) {
  return guarded([&] {
    PythonNode& node = context_of(self);
    if (!node.needs_input_grad) {
      nb::list needs;
      for (bool needed : node.requires_grad) needs.append(needed);
      node.needs_input_grad = Held(nb::steal(PyList_AsTuple(needs.ptr())));
    }
    return Py_NewRef(node.needs_input_grad.get());
  });
}
int set_needs_input_grad(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        context_of(self).needs_input_grad = Held(nb::borrow(value));
        return 0;
      },
      -1);
}
PyObject* get_materialize(PyObject* self, void*) {
  return guarded([&] { return PyBool_FromLong(context_of(self).marks.materialize_grads); });
}
int set_materialize(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        context_of(self).marks.materialize_grads = boolean_of(value, "materialize_grads");
        return 0;
      },
      -1);
}
PyObject* get_materialize_non_diff(PyObject* self, void*) {
  return guarded(
      [&] { return PyBool_FromLong(context_of(self).marks.materialize_non_differentiable); });
}
int set_materialize_non_diff(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        context_of(self).marks.materialize_non_differentiable =
            boolean_of(value, "_materialize_non_diff_grads");
        return 0;
      },
      -1);
}

PyMethodDef context_methods[] = {
    {"save_for_backward", save_for_backward, METH_VARARGS,
     "Keeps tensors, or None, for backward: read them as ctx.saved_tensors."},
    {"mark_dirty", mark_dirty, METH_VARARGS,
     "Names inputs that forward changed in place; it must return them."},
    {"mark_non_differentiable", mark_non_differentiable, METH_VARARGS,
     "Names outputs that have no gradient."},
    {"set_materialize_grads", set_materialize_grads, METH_O,
     "False: an output without a gradient gives None instead of zeros."},
    {"maybe_clear_saved_tensors", maybe_clear_saved_tensors, METH_NOARGS,
     "Frees what was saved, unless the graph is kept."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef context_properties[] = {
    {"saved_tensors", get_saved_tensors, nullptr, "What save_for_backward kept.", nullptr},
    {"needs_input_grad", get_needs_input_grad, set_needs_input_grad,
     "Whether each argument of forward requires grad.", nullptr},
    {"materialize_grads", get_materialize, set_materialize, nullptr, nullptr},
    {"_materialize_non_diff_grads", get_materialize_non_diff, set_materialize_non_diff, nullptr,
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

// ---- backward

Tensor gradient_of(const PythonNode& node, PyObject* item, size_t position) {
  if (item == Py_None) return {};
  if (is_tensor(item)) return tensor_of(item);
  fail("{}: backward returned {} at position {}; expected a Tensor or None", node.name(),
       Py_TYPE(item)->tp_name, position);
}

// Gradients by argument to gradients by tensor input.
Tensors by_input(const PythonNode& node, nb::object result) {
  if (!PyTuple_Check(result.ptr())) result = nb::make_tuple(result);
  auto got = static_cast<size_t>(PyTuple_GET_SIZE(result.ptr()));
  auto item = [&](size_t i) { return PyTuple_GET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i)); };
  bool fits = got >= node.argument_count;
  for (size_t i = node.argument_count; i < got; i++) fits = fits && item(i) == Py_None;
  if (!fits) {
    fail("{}: backward returned an incorrect number of gradients (expected {}, got {})",
         node.name(), node.argument_count, got);
  }
  Tensors grads;
  size_t next = 0;
  for (size_t i = 0; i < node.argument_count; i++) {
    if (next < node.positions.size() && node.positions[next] == i) {
      grads.push_back(gradient_of(node, item(i), i));
      next++;
    } else if (item(i) != Py_None) {
      fail(
          "{}: backward returned a gradient different from None at position {}, but the argument "
          "of forward there was no Tensor",
          node.name(), i);
    }
  }
  return grads;
}

}  // namespace

PythonNode::PythonNode(nb::object type)
    : type_(type), name_(bytes_of(attribute(type.ptr(), "__name__"))) {}

Tensors PythonNode::run_backward(Tensors&& grads) {
  WithLock lock;
  nb::object context = nb::steal(wrap(Ref<Node>::share(this)));
  nb::object function = attribute(type_.get(), "_forward_cls");
  nb::object boxed = nb::getattr(function, "boxed_grads_call", nb::bool_(false));
  nb::object result;
  if (boolean_of(boxed.ptr(), "boxed_grads_call")) {
    nb::list list;
    for (Tensor& grad : grads) {
      list.append(nb::steal(wrap(grad)));
      grad.reset();  // the list holds the only reference
    }
    result = context.attr("apply_boxed")(list);
  } else {
    nb::object arguments = tuple_of(grads);
    grads.clear();
    nb::object apply = attribute(context.ptr(), "apply");
    result = own(PyObject_Call(apply.ptr(), arguments.ptr(), nullptr));
  }
  return by_input(*this, std::move(result));
}

// ---- apply

namespace {

// The forward of a function written in Python, as the choke point runs it.
class PythonForward final : public ir::Body {
 public:
  PythonForward(PyObject* cls, nb::object context, nb::object arguments, bool separate)
      : cls_(cls),
        context_(std::move(context)),
        arguments_(std::move(arguments)),
        separate_(separate) {}

  std::span<Tensor> run() override {
    NoGradGuard below;
    CallsPython calls;
    nb::object raw = separate_ ? call_apart() : call_with_context();
    single_ = !PyTuple_Check(raw.ptr());
    items_ = single_ ? nb::object(nb::make_tuple(raw)) : raw;
    outputs_.resize(static_cast<size_t>(PyTuple_GET_SIZE(items_.ptr())));
    for (size_t i = 0; i < outputs_.size(); i++) {
      if (is_tensor(item(i))) outputs_[i] = tensor_of(item(i));
    }
    return outputs_;
  }
  std::span<Tensor> take(Tensors outputs) override {
    outputs_ = std::move(outputs);
    single_ = outputs_.size() == 1;
    nb::list none;
    for (size_t i = 0; i < outputs_.size(); i++) none.append(nb::none());
    items_ = own(PyList_AsTuple(none.ptr()));
    return outputs_;
  }

  // The result for the caller: tensors with their history, other objects as they were.
  nb::object result() const {
    auto count = static_cast<Py_ssize_t>(outputs_.size());
    nb::object result = own(PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; i++) {
      const Tensor& output = outputs_[static_cast<size_t>(i)];
      PyObject* one = output.defined() ? wrap(output) : Py_NewRef(item(static_cast<size_t>(i)));
      PyTuple_SET_ITEM(result.ptr(), i, one);
    }
    return single_ ? nb::borrow(PyTuple_GET_ITEM(result.ptr(), 0)) : result;
  }

 private:
  PyObject* item(size_t i) const {
    return PyTuple_GET_ITEM(items_.ptr(), static_cast<Py_ssize_t>(i));
  }
  nb::object call_with_context() const {
    std::vector<PyObject*> all{context_.ptr()};
    Py_ssize_t count = PyTuple_GET_SIZE(arguments_.ptr());
    for (Py_ssize_t i = 0; i < count; i++) all.push_back(PyTuple_GET_ITEM(arguments_.ptr(), i));
    nb::object forward = attribute(cls_, "forward");
    return own(PyObject_Vectorcall(forward.ptr(), all.data(), all.size(), nullptr));
  }
  nb::object call_apart() const {
    nb::object forward = attribute(cls_, "forward");
    nb::object output = own(PyObject_Call(forward.ptr(), arguments_.ptr(), nullptr));
    attribute(cls_, "setup_context")(context_, arguments_, output);
    return output;
  }

  PyObject* cls_;
  nb::object context_, arguments_, items_;
  bool separate_, single_ = true;
  Tensors outputs_;
};

PyObject* apply(PyObject* cls, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    nb::object arguments = nb::borrow(args);
    bool separate = nb::cast<bool>(attribute(cls, "_has_setup_context")());
    if (separate || (kwargs && PyDict_GET_SIZE(kwargs) > 0)) {
      nb::object named = kwargs ? nb::borrow(kwargs) : nb::object(nb::dict());
      arguments = attribute(cls, "_bind_arguments")(arguments, named);
    }
    auto node = Ref<PythonNode>::adopt(new PythonNode(attribute(cls, "_backward_cls")));
    nb::object context = nb::steal(wrap(Ref<autograd::Node>(node)));
    Tensors inputs;
    node->argument_count = static_cast<size_t>(PyTuple_GET_SIZE(arguments.ptr()));
    node->requires_grad.resize(node->argument_count);
    for (size_t i = 0; i < node->argument_count; i++) {
      PyObject* item = PyTuple_GET_ITEM(arguments.ptr(), static_cast<Py_ssize_t>(i));
      if (!is_tensor(item)) continue;
      inputs.push_back(tensor_of(item));
      node->positions.push_back(i);
      node->requires_grad[i] = inputs.back().requires_grad();
    }
    node->marks.separate_context = separate;
    PythonForward forward(cls, context, arguments, separate);
    ir::Operand operand(inputs);
    ir::Call call{.custom = node.get(), .inputs = {&operand, 1}, .body = &forward};
    ir::call(call);
    return forward.result().release().ptr();
  });
}

PyMethodDef function_methods[] = {
    {"apply", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(apply)),
     METH_VARARGS | METH_KEYWORDS | METH_CLASS, "Calls forward and records one node."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void add_context(nb::module_& module) {
  PyType_Slot slots[] = {
      {Py_tp_methods, context_methods}, {Py_tp_getset, context_properties}, {0, nullptr}};
  PyType_Spec spec{"foregrad._C.ContextBase", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                   slots};
  nb::object bases = own(PyTuple_Pack(1, node_type));
  module.attr("ContextBase") = own(PyType_FromSpecWithBases(&spec, bases.ptr()));

  PyType_Slot function_slots[] = {{Py_tp_methods, function_methods}, {0, nullptr}};
  PyType_Spec function_spec{"foregrad._C.FunctionBase", sizeof(PyObject), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, function_slots};
  module.attr("FunctionBase") = own(PyType_FromSpec(&function_spec));
}

}  // namespace fg::python
