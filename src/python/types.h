// Small Python types of the package: dtype and Size; devices, layouts and generators.
#pragma once

#include "python/object.h"

namespace fg::python {

// foregrad.float32 and its like: one object per dtype.
PyObject* dtype_object(DType dtype);  // borrowed
bool is_dtype(PyObject* object);
// A dtype, or Python's float, int or bool; nothing for anything else.
OptDType dtype_of(PyObject* object);

// A bool, int or float, after the number's category; a new reference.
PyObject* number_object(const Scalar& number);

// foregrad.Size, a tuple of integers.
nb::object size_object(const Dims& dims);
bool is_size(PyObject* object);

bool is_generator(PyObject* object);
Generator generator_of(PyObject* object);

void add_types(nb::module_& module);

}  // namespace fg::python
