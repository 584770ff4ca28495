// Small Python types of the package: dtype and Size; devices, layouts and generators.
#pragma once

#include "python/object.h"

namespace fg::python {

// The Python object of a dtype, such as foregrad.float32; one per dtype.
PyObject* dtype_object(DType dtype);  // borrowed
bool is_dtype(PyObject* object);
// The dtype of a dtype object, or of Python's float, int or bool; nothing for other objects.
OptDType dtype_of(PyObject* object);

// The Python bool, int or float of a number, by its category; a new reference.
PyObject* number_object(const Scalar& number);

// foregrad.Size, a tuple of integers.
nb::object size_object(const Dims& dims);
bool is_size(PyObject* object);

bool is_generator(PyObject* object);
Generator generator_of(PyObject* object);

void add_types(nb::module_& module);

}  // namespace fg::python
