#include "python/types.h"

#include <nanobind/stl/string.h>

#include "base/fail.h"
#include "python/arguments.h"

namespace fg::python {

// ---- dtype

struct DTypeObject {
  PyObject_HEAD;
  DType dtype;
};
static PyTypeObject* dtype_type = nullptr;
static PyObject* dtype_objects[kDTypeCount];

static DType dtype_in(PyObject* self) { return reinterpret_cast<DTypeObject*>(self)->dtype; }
static std::string dtype_text(PyObject* self) {
  return "foregrad." + std::string(name(dtype_in(self)));
}
static PyObject* dtype_repr(PyObject* self) {
  return PyUnicode_FromString(dtype_text(self).c_str());
}
static PyObject* dtype_reduce(PyObject* self, PyObject*) {
  // Pickled by name: the module's global of that name is the object.
  return PyUnicode_FromString(std::string(name(dtype_in(self))).c_str());
}
static PyObject* boolean(bool value) { return PyBool_FromLong(value); }

static PyMethodDef dtype_methods[] = {{"__reduce__", dtype_reduce, METH_NOARGS, nullptr},
                                      {nullptr, nullptr, 0, nullptr}};
static PyGetSetDef dtype_properties[] = {
    {"is_floating_point", [](PyObject* s, void*) { return boolean(is_floating(dtype_in(s))); },
     nullptr, nullptr, nullptr},
    {"is_complex", [](PyObject*, void*) { return boolean(false); }, nullptr, nullptr, nullptr},
    {"is_signed", [](PyObject* s, void*) { return boolean(is_signed(dtype_in(s))); }, nullptr,
     nullptr, nullptr},
    {"itemsize", [](PyObject* s, void*) { return PyLong_FromSize_t(item_size(dtype_in(s))); },
     nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

static void add_dtypes(nb::module_& module) {
  PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(dtype_repr)},
                         {Py_tp_methods, dtype_methods},
                         {Py_tp_getset, dtype_properties},
                         {0, nullptr}};
  PyType_Spec spec{"foregrad.dtype", sizeof(DTypeObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  dtype_type = reinterpret_cast<PyTypeObject*>(own(PyType_FromSpec(&spec)).release().ptr());
  module.attr("dtype") = nb::borrow(reinterpret_cast<PyObject*>(dtype_type));
  for (int i = 0; i < kDTypeCount; i++) {
    PyObject* object = own(dtype_type->tp_alloc(dtype_type, 0)).release().ptr();
    reinterpret_cast<DTypeObject*>(object)->dtype = static_cast<DType>(i);
    dtype_objects[i] = object;
    module.attr(std::string(name(static_cast<DType>(i))).c_str()) = nb::borrow(object);
  }
}

PyObject* dtype_object(DType dtype) { return dtype_objects[static_cast<int>(dtype)]; }

bool is_dtype(PyObject* object) { return Py_TYPE(object) == dtype_type; }

OptDType dtype_of(PyObject* object) {
  if (Py_TYPE(object) == dtype_type) return dtype_in(object);
  if (object == reinterpret_cast<PyObject*>(&PyFloat_Type)) return kFloat64;
  if (object == reinterpret_cast<PyObject*>(&PyLong_Type)) return kInt64;
  if (object == reinterpret_cast<PyObject*>(&PyBool_Type)) return kBool;
  return {};
}

PyObject* number_object(const Scalar& number) {
  if (number.dtype() == kBool) return PyBool_FromLong(number.to_bool());
  if (number.is_floating()) return PyFloat_FromDouble(number.to_double());
  return PyLong_FromLongLong(number.to_int());
}

// ---- Size

static PyTypeObject* size_type = nullptr;

bool is_size(PyObject* object) { return PyObject_TypeCheck(object, size_type); }

static PyObject* new_size(Py_ssize_t count) { return size_type->tp_alloc(size_type, count); }

nb::object size_object(const Dims& dims) {
  nb::object size = own(new_size(static_cast<Py_ssize_t>(dims.size())));
  for (size_t i = 0; i < dims.size(); i++) {
    PyTuple_SET_ITEM(size.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(dims[i].value()));
  }
  return size;
}

static PyObject* size_repr(PyObject* self) {
  std::string text = "foregrad.Size([";
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
    if (i > 0) text += ", ";
    text += nb::repr(PyTuple_GET_ITEM(self, i)).c_str();
  }
  return PyUnicode_FromString((text + "])").c_str());
}
static PyObject* size_numel(PyObject* self, PyObject*) {
  nb::object product = nb::int_(1);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self); i++) {
    product = nb::steal(PyNumber_Multiply(product.ptr(), PyTuple_GET_ITEM(self, i)));
  }
  return product.release().ptr();
}
// Slices, sums and repeats of a Size are Sizes, as in PyTorch.
static PyObject* as_size(PyObject* tuple) {
  if (!tuple || !PyTuple_CheckExact(tuple)) return tuple;
  nb::object owned = nb::steal(tuple);
  PyObject* size = new_size(PyTuple_GET_SIZE(tuple));
  for (Py_ssize_t i = 0; size && i < PyTuple_GET_SIZE(tuple); i++) {
    PyTuple_SET_ITEM(size, i, Py_NewRef(PyTuple_GET_ITEM(tuple, i)));
  }
  return size;
}
static PyObject* size_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    nb::object self = own(PyTuple_Type.tp_new(type, args, kwargs));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self.ptr()); i++) {
      PyObject* item = PyTuple_GET_ITEM(self.ptr(), i);
      if (PyLong_Check(item)) continue;
      if (!PyIndex_Check(item)) {
        fail(ErrorKind::type, "Size() takes an iterable of integers; item {} is {}", i,
             Py_TYPE(item)->tp_name);
      }
      PyTuple_SET_ITEM(self.ptr(), i, own(PyNumber_Index(item)).release().ptr());
      Py_DECREF(item);
    }
    return self.release().ptr();
  });
}
static PyObject* size_reduce(PyObject* self, PyObject*) {
  nb::object items = nb::steal(PySequence_List(self));
  return Py_BuildValue("(O(O))", size_type, items.ptr());
}

static void add_size(nb::module_& module) {
  static PyMethodDef methods[] = {{"numel", size_numel, METH_NOARGS, "The product of the sizes."},
                                  {"__reduce__", size_reduce, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static auto subscript = [](PyObject* self, PyObject* index) {
    return as_size(PyTuple_Type.tp_as_mapping->mp_subscript(self, index));
  };
  static auto concat = [](PyObject* a, PyObject* b) {
    return as_size(PyTuple_Type.tp_as_sequence->sq_concat(a, b));
  };
  static auto repeat = [](PyObject* self, Py_ssize_t n) {
    return as_size(PyTuple_Type.tp_as_sequence->sq_repeat(self, n));
  };
  PyType_Slot slots[] = {{Py_tp_repr, reinterpret_cast<void*>(size_repr)},
                         {Py_tp_methods, methods},
                         {Py_tp_new, reinterpret_cast<void*>(size_new)},
                         {Py_mp_subscript, reinterpret_cast<void*>(+subscript)},
                         {Py_sq_concat, reinterpret_cast<void*>(+concat)},
                         {Py_sq_repeat, reinterpret_cast<void*>(+repeat)},
                         {0, nullptr}};
  PyType_Spec spec{"foregrad.Size", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  nb::object bases = own(PyTuple_Pack(1, &PyTuple_Type));
  nb::object type = own(PyType_FromSpecWithBases(&spec, bases.ptr()));
  size_type = reinterpret_cast<PyTypeObject*>(type.ptr());
  module.attr("Size") = type;
  type.release();
}

// ---- Generator

bool is_generator(PyObject* object) { return nb::isinstance<Generator>(nb::handle(object)); }
Generator generator_of(PyObject* object) { return nb::cast<Generator>(nb::handle(object)); }

static uint64_t seed_of(nb::int_ seed) {
  // Negative seeds wrap, as in PyTorch.
  nb::object bits = own(PyNumber_And(seed.ptr(), nb::int_(UINT64_MAX).ptr()));
  return PyLong_AsUnsignedLongLong(bits.ptr());
}

static void add_generator(nb::module_& module) {
  nb::class_<Generator>(module, "Generator")
      .def(
          "__init__",
          [](Generator* self, nb::object device) {
            expect_cpu(device.ptr(), "Generator");
            new (self) Generator();
          },
          nb::arg("device") = "cpu")
      .def("manual_seed",
           [](nb::handle self, nb::int_ seed) {
             nb::cast<Generator>(self).manual_seed(seed_of(seed));
             return nb::borrow(self);
           })
      .def("seed", [](const Generator& self) { return self.seed(); })
      .def("initial_seed", [](const Generator& self) { return self.current_seed(); })
      .def("_state",
           [](const Generator& self) {
             PhiloxKey key = self.get_state();
             return nb::make_tuple(key.seed, key.offset);
           })
      .def("_set_words", [](const Generator& self, uint64_t seed,
                            uint64_t offset) { self.set_state({seed, offset}); })
      .def("_clone", [](const Generator& self) { return self.clone(); });
  module.def("_default_generator", [] { return default_generator(); });
}

void add_types(nb::module_& module) {
  add_dtypes(module);
  add_size(module);
  add_generator(module);
}

}  // namespace fg::python
