// x[...] and x[...] = value: Python's index objects to TensorIndex.
#include "ops/index/indexing.h"

#include <limits>

#include "base/fail.h"
#include "ops/create/create.h"
#include "python/arguments.h"
#include "python/data.h"
#include "python/tensor_type.h"

namespace fg::python {

namespace {

int64_t integer_of(PyObject* object) {
  nb::object integer = own(PyNumber_Index(object));
  int64_t value = PyLong_AsLongLong(integer.ptr());
  if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
  return value;
}

// Clamps as Python's lists do: an integer of more than 64 bits is beyond every end.
OptInt bound_of(PyObject* object) {
  if (object == Py_None) return {};
  if (is_tensor(object) || PyIndex_Check(object)) {
    nb::object integer = own(PyNumber_Index(object));
    int overflow = 0;
    int64_t value = PyLong_AsLongLongAndOverflow(integer.ptr(), &overflow);
    if (overflow == 0) return value;
    using Limits = std::numeric_limits<int64_t>;
    return overflow > 0 ? Limits::max() : Limits::min();
  }
  fail(ErrorKind::type,
       "slice indices must be integers or None or have an __index__ method, not {}",
       Py_TYPE(object)->tp_name);
}

Slice slice_of(PyObject* object) {
  auto* slice = reinterpret_cast<PySliceObject*>(object);
  OptInt step = bound_of(slice->step);
  if (step && *step <= 0) {
    fail(ErrorKind::value, "slice step must be positive, got {}; use flip to go backwards", *step);
  }
  return {bound_of(slice->start), bound_of(slice->stop), step.value_or(1)};
}

// A list of numbers is a tensor of positions (or a mask, when they are bools).
Tensor positions_of(PyObject* sequence) {
  Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) nb::raise_python_error();
  if (count == 0) return empty_tensor({0}, kInt64);
  return tensor_from_data(sequence, {});
}

TensorIndex index_of(PyObject* object) {
  if (PyBool_Check(object)) return TensorIndex(object == Py_True);
  if (PyLong_Check(object)) return TensorIndex(integer_of(object));
  if (PySlice_Check(object)) return TensorIndex(slice_of(object));
  if (object == Py_None) return TensorIndex(std::nullopt);
  if (object == Py_Ellipsis) return TensorIndex("...");
  if (is_tensor(object)) {
    Tensor tensor = tensor_of(object);
    // A zero-dim integer is an integer: it selects, and shares memory.
    if (tensor.dim() == 0 && is_integral(tensor.dtype()) && tensor.dtype() != kUInt8) {
      return TensorIndex(tensor.item().to_int());
    }
    return TensorIndex(std::move(tensor));
  }
  if (PySequence_Check(object) && !PyUnicode_Check(object))
    return TensorIndex(positions_of(object));
  if (PyIndex_Check(object)) return TensorIndex(integer_of(object));
  if (PyObject_CheckBuffer(object)) return TensorIndex(positions_of(object));
  fail(PyUnicode_Check(object) ? ErrorKind::type : ErrorKind::index,
       "only integers, slices (`:`), ellipsis (`...`), None and tensors or lists of integers or "
       "bools are valid indices, got {}",
       Py_TYPE(object)->tp_name);
}

// As PyTorch: a short list that holds more than numbers is taken for a tuple.
bool is_tuple(PyObject* index) {
  if (PyTuple_Check(index)) return true;
  if (!PyList_Check(index) || PyList_GET_SIZE(index) >= 32) return false;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(index); i++) {
    PyObject* item = PyList_GET_ITEM(index, i);
    bool part = is_tensor(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None ||
                (PySequence_Check(item) && !PyUnicode_Check(item));
    if (part) return true;
  }
  return false;
}

std::vector<TensorIndex> indices_of(PyObject* index) {
  std::vector<TensorIndex> indices;
  if (is_tuple(index)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(index); i++) {
      nb::object item = nb::borrow(PySequence_Fast_GET_ITEM(index, i));
      indices.push_back(index_of(item.ptr()));
    }
  } else {
    indices.push_back(index_of(index));
  }
  return indices;
}

// Whether the only tensor among the indices is a mask.
bool is_one_mask(const std::vector<TensorIndex>& indices) {
  int tensors = 0, masks = 0;
  for (const TensorIndex& index : indices) {
    if (!index.tensor.defined()) continue;
    tensors++;
    masks += index.tensor.dtype() == kBool || index.tensor.dtype() == kUInt8;
  }
  return tensors == 1 && masks == 1;
}

// As PyTorch: one value for a mask is converted; other tensors are taken as they are.
Tensor value_of(PyObject* value, const Tensor& self, const std::vector<TensorIndex>& indices) {
  if (is_tensor(value)) {
    Tensor given = tensor_of(value);
    return given.numel() == 1 && is_one_mask(indices) ? given.to(self.dtype()) : given;
  }
  if (is_number(value)) {
    Scalar number = scalar_of(value);
    bool wide = self.dtype() == kFloat32 || self.dtype() == kFloat64;  // others round otherwise
    if (!number.is_known() && wide) return Tensor(number).to(self.dtype());
    bool counts = number.is_known() && is_integral_or_bool(self.dtype());  // floats become infinite
    if (counts) ops::check_fits(number, self.dtype(), "__setitem__");
    return scalar_tensor(number, self.dtype());
  }
  if (!PySequence_Check(value) || PyUnicode_Check(value)) {
    fail(ErrorKind::type, "can't assign a {} to a tensor of {}", Py_TYPE(value)->tp_name,
         name(self.dtype()));
  }
  return tensor_from_data(value, self.dtype());
}

}  // namespace

PyObject* subscript(PyObject* self, PyObject* index) {
  return guarded([&] { return wrap(get_item(tensor_of(self), indices_of(index))); });
}

int assign_subscript(PyObject* self, PyObject* index, PyObject* value) {
  return guarded(
      [&] {
        if (!value) fail(ErrorKind::type, "Tensor does not support deleting items");
        if (index == Py_False) return 0;  // as PyTorch: there is nothing to write, whatever it is
        Tensor tensor = tensor_of(self);
        std::vector<TensorIndex> indices = indices_of(index);
        set_item(tensor, indices, value_of(value, tensor, indices));
        return 0;
      },
      -1);
}

}  // namespace fg::python
