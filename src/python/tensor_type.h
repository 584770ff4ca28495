// The Tensor type: lifetime, number and mapping slots, properties.
#pragma once

#include "python/face.h"

namespace fg::python {

void add_tensor_type(nb::module_& module);
// Called after add_functions: the number slots look their functions up once.
void connect_operators();

// x[index] and x[index] = value.
PyObject* subscript(PyObject* self, PyObject* index);
int assign_subscript(PyObject* self, PyObject* index, PyObject* value);

int get_buffer(PyObject* self, Py_buffer* view, int flags);
void release_buffer(PyObject* self, Py_buffer* view);

extern PyGetSetDef tensor_properties[];

}  // namespace fg::python
