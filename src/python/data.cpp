#include "python/data.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <limits>
#include <string_view>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "python/arguments.h"
#include "python/face.h"
#include "python/types.h"

namespace fg::python {

namespace {

// ---- other libraries' arrays: the buffer protocol and DLPack, without copies

nb::dlpack::dtype dlpack_dtype(DType dtype) {
  using Code = nb::dlpack::dtype_code;
  Code code = dtype == kBool       ? Code::Bool
              : dtype == kBFloat16 ? Code::Bfloat
              : is_floating(dtype) ? Code::Float
              : dtype == kUInt8    ? Code::UInt
                                   : Code::Int;
  return {static_cast<uint8_t>(code), static_cast<uint8_t>(8 * item_size(dtype)), 1};
}

std::optional<DType> dtype_of(nb::dlpack::dtype type) {
  for (int i = 0; i < kDTypeCount; i++) {
    nb::dlpack::dtype ours = dlpack_dtype(static_cast<DType>(i));
    bool same = ours.code == type.code && ours.bits == type.bits && ours.lanes == type.lanes;
    if (same) return static_cast<DType>(i);
  }
  return {};
}

// Calls __dlpack__ of an array, with or without a version; null if it has none.
nb::object call_dlpack(nb::handle array, bool versioned) {
  nb::object method = nb::getattr(array, "__dlpack__", nb::none());
  if (method.is_none()) return {};
  nb::dict options;
  if (versioned) options["max_version"] = nb::make_tuple(1, 0);
  PyObject* capsule = PyObject_Call(method.ptr(), nb::tuple().ptr(), options.ptr());
  if (capsule) return nb::steal(capsule);
  bool other = PyErr_ExceptionMatches(PyExc_BufferError) || PyErr_ExceptionMatches(PyExc_TypeError);
  if (!other) nb::raise_python_error();
  PyErr_Clear();
  return {};
}

// A capsule, or a view of a buffer. An array may hand out one capsule twice; nanobind marks only
// those as used that come by themselves, so they are asked for here.
nb::object exported(nb::handle array, const char* who) {
  nb::object capsule =
      PyCapsule_CheckExact(array.ptr()) ? nb::borrow(array) : call_dlpack(array, false);
  if (!capsule) capsule = call_dlpack(array, true);
  if (!capsule && PyObject_CheckBuffer(array.ptr())) {
    if (PyObject* view = PyMemoryView_FromObject(array.ptr())) return nb::steal(view);
    PyErr_Clear();  // of dates and other things that have no format
  }
  if (!capsule || !PyCapsule_CheckExact(capsule.ptr())) return {};
  const char* name = PyCapsule_GetName(capsule.ptr());
  if (name && std::string_view(name).starts_with("used_dltensor")) {
    fail("{}: the DLPack capsule was used before; ask the array for a new one", who);
  }
  return capsule;
}

Tensor share_array(nb::handle array, const char* who) {
  nb::ndarray<nb::ro> view;
  nb::object source = exported(array, who);
  if (!source || !nb::try_cast(source, view, false)) {
    fail(ErrorKind::type, "{}: expected an array of another library, got {}", who,
         Py_TYPE(array.ptr())->tp_name);
  }
  if (view.device_type() != nb::device::cpu::value) {
    fail(ErrorKind::value, "{}: the array is not in the memory of the cpu", who);
  }
  std::optional<DType> dtype = dtype_of(view.dtype());
  if (!dtype) {
    fail(ErrorKind::type, "{}: elements of {} bits of this kind have no dtype here", who,
         static_cast<int>(view.dtype().bits));
  }
  Dims sizes, strides;
  for (size_t i = 0; i < view.ndim(); i++) {
    sizes.push_back(static_cast<int64_t>(view.shape(i)));
    strides.push_back(view.stride(i));
    if (view.stride(i) < 0) {
      fail(ErrorKind::value, "{}: negative strides are not supported; copy the array first", who);
    }
  }
  // Held as a Python object: the tensor may go on a thread that must not wait for Python's lock.
  nb::capsule owner(new nb::ndarray<nb::ro>(view),
                    [](void* kept) noexcept { delete static_cast<nb::ndarray<nb::ro>*>(kept); });
  return from_blob(
      const_cast<void*>(view.data()), sizes, *dtype, [keep = Held(owner)](void*) {}, strides);
}

nb::object to_dlpack(nb::handle self) {
  Tensor tensor = tensor_of(self.ptr());
  tensor.check_known();
  if (tensor.requires_grad()) {
    fail(ErrorKind::value,
         "__dlpack__: a tensor that requires grad cannot be exported; use tensor.detach()");
  }
  std::vector<size_t> sizes;
  std::vector<int64_t> strides;
  for (const Dim& size : tensor.sizes()) sizes.push_back(static_cast<size_t>(size.value()));
  for (const Dim& stride : tensor.strides()) strides.push_back(stride.value());
  // Holds the memory itself: the tensor may get another one (`x.data = y`) while it is in use.
  nb::object owner = own(wrap(alias(tensor)));
  nb::ndarray<> array(tensor.data_ptr(), sizes.size(), sizes.data(), owner, strides.data(),
                      dlpack_dtype(tensor.dtype()));
  return array.cast(nb::rv_policy::reference);
}

// ---- nested sequences

bool is_array(PyObject* object) {
  return PyObject_CheckBuffer(object) && !PyBytes_Check(object) && !PyByteArray_Check(object);
}

bool is_list(PyObject* object) {
  return PySequence_Check(object) && !is_tensor(object) && !PyUnicode_Check(object) &&
         !PyBytes_Check(object);
}

// `other` is the error of what is no text and no complex number.
[[noreturn]] void refuse_data(PyObject* object, ErrorKind other) {
  fail(PyUnicode_Check(object)   ? ErrorKind::value
       : PyComplex_Check(object) ? ErrorKind::not_implemented
                                 : other,
       "tensor: the data holds a {}; expected numbers, tensors or nested lists",
       Py_TYPE(object)->tp_name);
}

// A list may contain itself.
void check_depth(size_t depth) {
  if (depth > 128) fail(ErrorKind::value, "tensor: the data is nested too deeply");
}

// Calls f(item) for the items of a list, which code of the user (__index__, __float__) may change.
template <class F>
void each_item(PyObject* sequence, const F& f) {
  nb::object items = own(PySequence_Fast(sequence, "expected a sequence"));
  Py_ssize_t count = PySequence_Fast_GET_SIZE(items.ptr());
  for (Py_ssize_t i = 0; i < count; i++) {
    if (PySequence_Fast_GET_SIZE(items.ptr()) != count) {
      fail(ErrorKind::value, "tensor: a list changed its length while it was read");
    }
    f(nb::borrow(PySequence_Fast_GET_ITEM(items.ptr(), i)).ptr());
  }
}

void add_sizes(PyObject* data, Dims& sizes) {
  nb::object item = nb::borrow(data);
  while (true) {
    if (!is_list(item.ptr())) return;
    Py_ssize_t count = PySequence_Size(item.ptr());
    if (count < 0) nb::raise_python_error();
    sizes.push_back(count);
    if (count == 0) return;
    check_depth(sizes.size());
    item = own(PySequence_GetItem(item.ptr(), 0));
  }
}

// The dtype of all numbers together: bool < integer < float.
DType infer_dtype(PyObject* data, size_t depth = 0) {
  check_depth(depth);
  if (is_tensor(data)) return impl_of(data)->dtype;
  if (is_number(data)) {
    Scalar number = scalar_of(data, PyExc_ValueError);
    if (is_array(data)) return share_array(data, "tensor").dtype();  // a number of numpy
    return number.is_floating() ? default_dtype() : number.dtype();
  }
  if (!is_list(data)) refuse_data(data, ErrorKind::runtime);  // no dtype follows from it
  OptDType result;
  each_item(data, [&](PyObject* item) {
    DType next = infer_dtype(item, depth + 1);
    result = result ? promote(*result, next) : next;
  });
  return result.value_or(default_dtype());
}

template <class T>
T element_of(PyObject* object) {
  if (is_tensor(object)) {
    if (!(impl_of(object)->numel == 1)) {
      fail(ErrorKind::value, "only one element tensors can be converted to Python scalars");
    }
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (is_floating(impl_of(object)->dtype)) refuse_data(object, ErrorKind::type);
    }
    return tensor_of(object).item().to<T>();
  }
  if (!is_number(object)) refuse_data(object, ErrorKind::type);
  if constexpr (!std::is_integral_v<T>) {  // also of integers that 64 bits do not hold
    if (PyLong_Check(object)) {
      double value = PyLong_AsDouble(object);
      if (value == -1 && PyErr_Occurred()) nb::raise_python_error();
      return Scalar(value).to<T>();
    }
  }
  Scalar number = scalar_of(object, PyExc_ValueError);
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    using Limits = std::numeric_limits<T>;
    double value = number.to_double();
    // Negative integers wrap into unsigned ones, as in PyTorch.
    bool wraps = !std::is_signed_v<T> && !number.is_floating();
    double lowest =
        wraps ? -static_cast<double>(Limits::max()) : static_cast<double>(Limits::min());
    if (!(value >= lowest && value <= static_cast<double>(Limits::max()))) {
      fail("tensor: the value {} does not fit into {}", number.text(), name(DTypeOf<T>::value));
    }
  }
  return number.to<T>();
}

template <class T>
void fill(PyObject* data, const Dims& sizes, size_t depth, T*& out) {
  if (depth == sizes.size()) {
    if (is_list(data)) {
      fail(ErrorKind::type, "tensor: expected a number at depth {}, got a {}", depth,
           Py_TYPE(data)->tp_name);
    }
    *out++ = element_of<T>(data);
    return;
  }
  if (!is_list(data)) {
    fail(ErrorKind::type, "tensor: expected a sequence at dimension {}, got a {}", depth,
         Py_TYPE(data)->tp_name);
  }
  nb::object items = own(PySequence_Fast(data, "expected a sequence"));
  int64_t count = PySequence_Fast_GET_SIZE(items.ptr());
  if (count != sizes[depth].value()) {
    fail(ErrorKind::value, "tensor: expected a sequence of length {} at dimension {}, got {}",
         sizes[depth].text(), depth, count);
  }
  each_item(items.ptr(), [&](PyObject* item) { fill(item, sizes, depth + 1, out); });
}

// ---- back to Python

template <class T>
Scalar scalar_from(T element) {
  if constexpr (std::is_arithmetic_v<T>)
    return Scalar(element);
  else
    return Scalar(static_cast<float>(element));  // the two half formats
}

// Nested lists of the elements from `next` on, which lie in logical order.
template <class T>
nb::object list_of(const Dims& sizes, size_t axis, const T*& next) {
  if (axis == sizes.size()) return own(number_object(scalar_from(*next++)));
  int64_t count = sizes[axis].value();
  nb::object list = own(PyList_New(count));
  for (int64_t i = 0; i < count; i++) {
    PyList_SET_ITEM(list.ptr(), i, list_of(sizes, axis + 1, next).release().ptr());
  }
  return list;
}

nb::object to_list(const Tensor& tensor) {
  tensor.check_known();
  Tensor all = tensor.detach().contiguous();
  return visit(all.dtype(), [&]<class T>(T) {
    auto* first = static_cast<const T*>(all.data_ptr());
    return list_of(all.sizes(), 0, first);
  });
}

}  // namespace

Tensor tensor_from_data(PyObject* data, OptDType dtype) {
  NoGradGuard no_grad;
  if (is_tensor(data))
    return tensor_of(data).detach().to(dtype.value_or(impl_of(data)->dtype), true);
  if (is_array(data)) {
    Tensor shared = share_array(data, "tensor");
    return shared.to(dtype.value_or(shared.dtype()), true);
  }
  if (PyUnicode_Check(data)) fail(ErrorKind::type, "tensor: got a str; expected numbers or lists");
  if (!is_list(data) && !is_number(data)) {
    refuse_data(data, dtype ? ErrorKind::type : ErrorKind::runtime);
  }
  Dims sizes;
  add_sizes(data, sizes);
  Tensor result = empty_tensor(sizes, dtype ? *dtype : infer_dtype(data));
  visit(result.dtype(), [&]<class T>(T) {
    T* out = static_cast<T*>(result.data_ptr());
    fill<T>(data, sizes, 0, out);
  });
  return result;
}

void add_data(nb::module_& module) {
  module.def(
      "_tensor_from_data",
      [](nb::handle data, nb::handle dtype) {
        OptDType type;
        if (!dtype.is_none()) {
          type = python::dtype_of(dtype.ptr());
          if (!type) fail(ErrorKind::type, "tensor: dtype must be a foregrad.dtype");
        }
        return tensor_from_data(data.ptr(), type);
      },
      nb::arg().none(), nb::arg().none());
  module.def("_share_array", [](nb::handle array, const std::string& who) {
    return share_array(array, who.c_str());
  });
  module.def("_to_dlpack", to_dlpack);
  module.def("_tolist", to_list);
  module.def("_item", [](const Tensor& tensor) { return own(number_object(tensor.item())); });
  module.def("_to_bytes", [](const Tensor& tensor) {
    tensor.check_known();
    Tensor whole = tensor.detach().contiguous();
    auto bytes = static_cast<size_t>(whole.numel()) * item_size(whole.dtype());
    return nb::bytes(static_cast<const char*>(whole.data_ptr()), bytes);
  });
  module.def("_from_bytes", [](nb::bytes bytes, nb::handle dtype, nb::tuple shape) {
    Dims sizes;
    for (nb::handle size : shape) sizes.push_back(nb::cast<int64_t>(size));
    OptDType type = python::dtype_of(dtype.ptr());
    if (!type) fail(ErrorKind::type, "a pickled tensor has no dtype");
    Tensor result = empty_tensor(sizes, *type);
    auto expected = static_cast<size_t>(result.numel()) * item_size(result.dtype());
    if (bytes.size() != expected) {
      fail("a pickled tensor of {} bytes has {} of them", expected, bytes.size());
    }
    std::memcpy(result.data_ptr(), bytes.c_str(), expected);
    return result;
  });
}

}  // namespace fg::python
