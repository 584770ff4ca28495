// Conversion of one Python object to a boxed value of a schema's type.
#include "base/fail.h"
#include "python/arguments.h"
#include "python/face.h"
#include "python/types.h"

namespace fg::python {

using ir::Type;
using ir::Value;

bool is_number(PyObject* object) {
  if (PyFloat_Check(object) || PyLong_Check(object)) return true;
  if (is_tensor(object) || PyUnicode_Check(object) || PyComplex_Check(object)) return false;
  PyNumberMethods* number = Py_TYPE(object)->tp_as_number;  // numpy's scalars
  return number && (number->nb_index || number->nb_float) && !PySequence_Check(object);
}

PyObject* traced_number_type = nullptr;
bool is_traced_number(PyObject* object) {
  return traced_number_type && modes.capturing &&
         Py_TYPE(object) == reinterpret_cast<PyTypeObject*>(traced_number_type);
}
static Tensor tensor_of_number(PyObject* traced) {
  return tensor_of(own(PyObject_GetAttrString(traced, "_tensor")).ptr());
}

Scalar scalar_of(PyObject* number, PyObject* overflow_error) {
  if (PyBool_Check(number)) return Scalar(number == Py_True);
  if (PyFloat_Check(number)) return Scalar(PyFloat_AS_DOUBLE(number));
  if (is_traced_number(number)) return number_in(tensor_of_number(number));
  if (PyIndex_Check(number)) {
    nb::object integer = own(PyNumber_Index(number));
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow == 0) return Scalar(value);
    PyErr_Format(overflow_error, "the integer %R does not fit into 64 bits", integer.ptr());
    nb::raise_python_error();
  }
  nb::object real = own(PyNumber_Float(number));
  return Scalar(PyFloat_AS_DOUBLE(real.ptr()));
}

static bool zero_dim(PyObject* object) {
  return is_tensor(object) && impl_of(object)->sizes.empty() && !tensor_of(object).requires_grad();
}

// Whether a tensor may stand for an integer: as in PyTorch, any tensor of one integer may.
static bool one_integer(PyObject* object) {
  const TensorImpl* impl = impl_of(object);
  return is_integral(impl->dtype) && impl->numel == 1;
}

static bool convert_integer(PyObject* object, bool strict, Value& value) {
  if (PyBool_Check(object) || PyFloat_Check(object)) return false;
  if (PyLong_Check(object)) return value = scalar_of(object), true;
  if (is_tensor(object)) {
    if (strict || !one_integer(object)) return false;
    return value = tensor_of(object).item(), true;
  }
  if (!PyIndex_Check(object)) return false;
  return value = scalar_of(object), true;
}

static bool convert_scalar(PyObject* object, bool strict, Value& value) {
  if (is_number(object)) return value = scalar_of(object), true;
  if (strict || !zero_dim(object)) return false;
  return value = tensor_of(object).item(), true;
}

static bool convert_dims(PyObject* object, bool strict, Value& value) {
  Value one;
  if (PyTuple_Check(object) || PyList_Check(object)) {
    Dims dims;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); i++) {
      nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(object, i));  // __index__ may drop it
      if (!convert_integer(item.ptr(), false, one)) return false;
      dims.push_back(std::get<Scalar>(one).to_int());
    }
    return value = std::move(dims), true;
  }
  if (!convert_integer(object, strict, one)) return false;
  return value = Dims{std::get<Scalar>(one).to_int()}, true;
}

static bool convert_tensor(PyObject* object, bool strict, Value& value) {
  if (is_tensor(object)) return value = tensor_of(object), true;
  if (strict || !is_number(object)) return false;
  return value = Tensor(scalar_of(object)), true;
}

static bool convert_tensors(PyObject* object, bool optional, Value& value) {
  if (!PyTuple_Check(object) && !PyList_Check(object)) return false;
  Tensors tensors;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); i++) {
    PyObject* item = PySequence_Fast_GET_ITEM(object, i);
    if (is_tensor(item))
      tensors.push_back(tensor_of(item));
    else if (optional && item == Py_None)
      tensors.emplace_back();
    else
      return false;
  }
  return value = std::move(tensors), true;
}

static bool is_optional(Type type) {
  switch (type) {
    case Type::opt_tensor:
    case Type::opt_scalar:
    case Type::opt_integer:
    case Type::opt_dim:
    case Type::opt_dims:
    case Type::opt_real:
    case Type::opt_boolean:
    case Type::opt_string:
    case Type::opt_dtype:
    case Type::generator:
      return true;
    default:
      return false;
  }
}

bool convert(PyObject* object, Type type, bool strict, Value& value) {
  if (object == Py_None) return value = Value(), is_optional(type);
  switch (type) {
    case Type::tensor:
    case Type::opt_tensor:
      return convert_tensor(object, strict, value);
    case Type::tensors:
    case Type::opt_tensors:
      return convert_tensors(object, type == Type::opt_tensors, value);
    case Type::scalar:
    case Type::opt_scalar:
    case Type::real:
    case Type::opt_real:
      return convert_scalar(object, strict, value);
    case Type::integer:
    case Type::opt_integer:
    case Type::dim:
    case Type::opt_dim:
      return convert_integer(object, strict, value);
    case Type::dims:
    case Type::opt_dims:
      return convert_dims(object, strict, value);
    case Type::boolean:
    case Type::opt_boolean:
      if (!PyBool_Check(object)) return false;
      return value = Scalar(object == Py_True), true;
    case Type::string:
    case Type::opt_string:
      if (!PyUnicode_Check(object)) return false;
      return value = bytes_of(object), true;
    case Type::dtype:
    case Type::opt_dtype: {
      OptDType dtype = dtype_of(object);
      if (!dtype) return false;
      return value = *dtype, true;
    }
    case Type::generator:
      if (!is_generator(object)) return false;
      return value = generator_of(object), true;
    case Type::none:
      return false;
  }
  return false;
}

const char* type_name(Type type) {
  static constexpr const char* kNames[] = {"Tensor",
                                           "Tensor or None",
                                           "a list of Tensors",
                                           "a list of Tensors or None",
                                           "a number",
                                           "a number or None",
                                           "int",
                                           "int or None",
                                           "int",
                                           "int or None",
                                           "a tuple of ints",
                                           "a tuple of ints or None",
                                           "float",
                                           "float or None",
                                           "bool",
                                           "bool or None",
                                           "str",
                                           "str or None",
                                           "dtype",
                                           "dtype or None",
                                           "Generator"};
  return kNames[static_cast<int>(type)];
}

}  // namespace fg::python
