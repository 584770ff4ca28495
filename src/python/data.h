// Tensors from Python data and back: nested sequences, numbers, bytes, other libraries' arrays.
#pragma once

#include "python/object.h"

namespace fg::python {

// The tensor that fg.tensor makes of numbers, nested sequences and arrays; always a copy.
Tensor tensor_from_data(PyObject* data, OptDType dtype);

void add_data(nb::module_& module);

}  // namespace fg::python
