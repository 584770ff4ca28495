// The node of a Python custom function: a C++ node with its backward in Python.
#pragma once

#include "autograd/custom.h"
#include "python/face.h"

namespace fg::python {

class PythonNode : public autograd::CustomNode {
 public:
  // `type`: the class of the context; its _forward_cls is the Function.
  explicit PythonNode(nb::object type);
  std::string name() const override { return name_; }

  PyObject* type() const { return type_.get(); }
  // For each tensor input its place among the arguments of forward, and the number of arguments.
  std::vector<size_t> positions;
  size_t argument_count = 0;
  std::vector<bool> requires_grad;  // by argument
  Held needs_input_grad;            // the same for Python, made when asked for; settable

 protected:
  Tensors run_backward(Tensors&& grads) override;

 private:
  Held type_;
  std::string name_;
};

// The Python class of a node's wrapper: one per name.
PyTypeObject* type_of_node(const autograd::Node& node);

// Function.apply(cls, *args, **kwargs).
PyObject* apply_function(PyObject* cls, PyObject* args, PyObject* kwargs);

void add_nodes(nb::module_& module);
void add_context(nb::module_& module);

}  // namespace fg::python
