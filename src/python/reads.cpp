#include "python/reads.h"

#include <nanobind/stl/string.h>

#include <bit>

#include "base/fail.h"
#include "python/face.h"

namespace fg::python {

using How = Read::How;
using Expected = Read::Expected;

namespace {

// The value of a missing entry or attribute.
PyObject* missing() {
  static PyObject* object =
      own(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type))).release().ptr();
  return object;
}

constexpr std::pair<std::string_view, How> kHows[] = {{"item", How::item},
                                                      {"entry", How::entry},
                                                      {"cell", How::cell},
                                                      {"attribute", How::attribute},
                                                      {"class_entry", How::class_entry},
                                                      {"length", How::length},
                                                      {"keys", How::keys},
                                                      {"bytes", How::bytes},
                                                      {"elements", How::elements},
                                                      {"memory", How::memory},
                                                      {"kind", How::kind},
                                                      {"attributes", How::attributes},
                                                      {"lineage", How::lineage}};
constexpr std::pair<std::string_view, Expected> kExpected[] = {
    {"same", Expected::same},     {"tensor", Expected::tensor}, {"bits", Expected::bits},
    {"moving", Expected::moving}, {"value", Expected::value},   {"each", Expected::each},
    {"lacks", Expected::lacks}};

template <class Names>
auto named(const Names& names, nb::handle name) {
  std::string text = bytes_of(name);
  for (const auto& [known, value] : names) {
    if (known == text) return value;
  }
  fail(ErrorKind::value, "'{}' is no way to read, and nothing to expect", text);
}

// The way to read a place. Code and defaults of functions are read without a lookup by name.
How how_to_read(nb::handle how, PyObject* holder, PyObject* key) {
  How found = named(kHows, how);
  if (found != How::attribute || !PyFunction_Check(holder)) return found;
  if (PyUnicode_CompareWithASCIIString(key, "__code__") == 0) return How::code;
  if (PyUnicode_CompareWithASCIIString(key, "__defaults__") == 0) return How::defaults;
  if (PyUnicode_CompareWithASCIIString(key, "__kwdefaults__") == 0) return How::keyword_defaults;
  return found;
}

PyObject* or_none(PyObject* borrowed) { return Py_NewRef(borrowed ? borrowed : Py_None); }

PyObject* entry_of(PyObject* holder, PyObject* key) {
  if (!PyDict_CheckExact(holder)) return PyObject_CallMethod(holder, "get", "OO", key, missing());
  PyObject* value = PyDict_GetItemWithError(holder, key);
  if (!value && PyErr_Occurred()) return nullptr;
  return Py_NewRef(value ? value : missing());
}

PyObject* item_of(PyObject* holder, PyObject* key) {
  if (!PyList_CheckExact(holder) && !PyTuple_CheckExact(holder))
    return PyObject_GetItem(holder, key);
  Py_ssize_t index = PyLong_AsSsize_t(key);
  bool inside = index < PySequence_Fast_GET_SIZE(holder);
  return Py_NewRef(inside ? PySequence_Fast_GET_ITEM(holder, index) : missing());
}

PyObject* elements_of(PyObject* array) {
  nb::handle holder(array);
  return nb::make_tuple(holder.attr("dtype").attr("str"), holder.attr("shape"),
                        holder.attr("tobytes")())
      .release()
      .ptr();
}

// An object that may be held weakly: None when it is gone.
PyObject* referent(PyObject* holder) {
  return PyWeakref_CheckRefExact(holder) ? PyWeakref_GET_OBJECT(holder) : holder;
}

// Parts of a functools.lru_cache: its dictionary, and the keys and results of one with a size,
// which its traversal meets before that. In all Pythons the function that it calls follows the
// dictionary.
struct Memory {
  nb::object entries;
  std::vector<nb::object> links;
};

Memory memory_parts(PyObject* memory) {
  nb::object function = nb::getattr(nb::handle(memory), "__wrapped__", nb::none());
  std::vector<nb::object> met;
  auto visit = [](PyObject* part, void* met) {
    static_cast<std::vector<nb::object>*>(met)->push_back(nb::borrow(part));
    return 0;
  };
  Py_TYPE(memory)->tp_traverse(memory, visit, &met);
  for (size_t i = met.size(); i-- > 1;) {
    if (!met[i].is(function) || !PyDict_CheckExact(met[i - 1].ptr())) continue;
    nb::object entries = met[i - 1];
    met.resize(i - 1);
    return {std::move(entries), std::move(met)};
  }
  fail(
      "the function reads a functools.lru_cache whose __wrapped__ is not the function that it "
      "calls; call it outside and pass the result");
}

nb::object misses_of(PyObject* memory) {
  return nb::handle(memory).attr("cache_info")().attr("misses");
}

// (misses, key, value, ...) of an lru_cache: one that is cleared and filled again has other keys.
PyObject* memory_of(PyObject* memory) {
  nb::list kept;
  kept.append(misses_of(memory));
  Memory parts = memory_parts(memory);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(parts.entries.ptr(), &at, &key, &value);) {
    kept.append(nb::handle(key));
    kept.append(nb::handle(value));
  }
  return PySequence_Tuple(kept.ptr());
}

// The results that an lru_cache keeps, and perhaps their keys.
nb::list results_of(nb::handle memory) {
  nb::list results;
  Memory parts = memory_parts(memory.ptr());
  for (const nb::object& part : parts.links) {
    if (!PyType_Check(part.ptr())) results.append(part);
  }
  PyObject* value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(parts.entries.ptr(), &at, nullptr, &value);) {
    results.append(nb::handle(value));
  }
  return results;
}

// A new reference; null with a Python error.
PyObject* read_raw(How how, PyObject* holder, PyObject* key) {
  switch (how) {
    case How::item:
      return item_of(holder, key);
    case How::entry:
      return entry_of(holder, key);
    case How::cell: {
      PyObject* value = PyCell_GET(holder);
      return Py_NewRef(value ? value : missing());
    }
    case How::attribute:
      return PyObject_GetAttr(holder, key);
    case How::class_entry:
      return entry_of(reinterpret_cast<PyTypeObject*>(holder)->tp_dict, key);
    case How::length: {
      Py_ssize_t length = PyObject_Size(holder);
      return length < 0 ? nullptr : PyLong_FromSsize_t(length);
    }
    case How::keys:
      return PySequence_Tuple(holder);
    case How::bytes:
      return PyBytes_FromObject(holder);
    case How::elements:
      return elements_of(holder);
    case How::memory:
      return memory_of(holder);
    case How::kind:
      return Py_NewRef(reinterpret_cast<PyObject*>(Py_TYPE(referent(holder))));
    case How::attributes:
      return PyObject_GenericGetDict(referent(holder), nullptr);
    case How::lineage:
      return or_none(reinterpret_cast<PyTypeObject*>(holder)->tp_mro);
    case How::code:
      return Py_NewRef(PyFunction_GET_CODE(holder));
    case How::defaults:
      return or_none(PyFunction_GET_DEFAULTS(holder));
    case How::keyword_defaults:
      return or_none(PyFunction_GET_KW_DEFAULTS(holder));
  }
  return nullptr;
}

nb::object read(How how, PyObject* holder, PyObject* key) {
  PyObject* value = read_raw(how, holder, key);
  if (value) return nb::steal(value);
  bool absent = PyErr_ExceptionMatches(PyExc_LookupError) ||
                PyErr_ExceptionMatches(PyExc_TypeError) ||
                PyErr_ExceptionMatches(PyExc_AttributeError);
  if (!absent) nb::raise_python_error();
  PyErr_Clear();
  return nb::borrow(missing());
}

bool same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool same_items(PyObject* value, PyObject* expected);

bool same_value(PyObject* value, PyObject* expected) {
  if (value == expected) return true;
  if (Py_TYPE(value) != Py_TYPE(expected)) return false;
  if (PyTuple_CheckExact(value)) return same_items(value, expected);
  if (PyFloat_Check(value))  // one of numpy
    return same_bits(PyFloat_AsDouble(value), PyFloat_AsDouble(expected));
  int same = PyObject_RichCompareBool(value, expected, Py_EQ);
  if (same < 0 && !PyErr_ExceptionMatches(PyExc_RecursionError)) nb::raise_python_error();
  if (same < 0) PyErr_Clear();  // nested too deeply to be compared: another one
  return same == 1;
}

// Whether two keys or members are equal. Objects may answer `==` with anything: identity counts.
bool same_item(PyObject* value, PyObject* expected) {
  if (value == expected) return true;
  if (Py_TYPE(value) != Py_TYPE(expected)) return false;
  if (PyFloat_CheckExact(value))
    return same_bits(PyFloat_AS_DOUBLE(value), PyFloat_AS_DOUBLE(expected));
  if (PyTuple_CheckExact(value)) return same_items(value, expected);
  bool plain = PyUnicode_CheckExact(value) || PyLong_CheckExact(value) ||
               PyBytes_CheckExact(value) || PyComplex_CheckExact(value) || PyRange_Check(value) ||
               PyFrozenSet_CheckExact(value);
  return plain && same_value(value, expected);
}

bool same_items(PyObject* value, PyObject* expected) {
  Py_ssize_t count = PyTuple_GET_SIZE(expected);
  if (PyTuple_GET_SIZE(value) != count) return false;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!same_item(PyTuple_GET_ITEM(value, i), PyTuple_GET_ITEM(expected, i))) return false;
  }
  return true;
}

// Whether the keys of a plain dictionary are those of a tuple, in its order.
bool has_keys(PyObject* dictionary, PyObject* keys) {
  Py_ssize_t count = PyTuple_GET_SIZE(keys), at = 0;
  if (PyDict_GET_SIZE(dictionary) != count) return false;
  PyObject* key = nullptr;
  for (Py_ssize_t i = 0; i < count; i++) {
    if (!PyDict_Next(dictionary, &at, &key, nullptr)) return false;
    if (!same_item(key, PyTuple_GET_ITEM(keys, i))) return false;
  }
  return true;
}

bool has_one_of(PyObject* names, PyObject* attributes) {
  if (!attributes || PyDict_GET_SIZE(attributes) == 0) return false;
  PyObject* name = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(attributes, &at, &name, nullptr);) {
    int found = PySet_Contains(names, name);
    if (found < 0) nb::raise_python_error();
    if (found == 1) return true;
  }
  return false;
}

// Whether an lru_cache is unchanged; `kept` is (misses, key, value, key, value, ...).
bool remembers(PyObject* memory, PyObject* kept) {
  Py_ssize_t count = PyTuple_GET_SIZE(kept), next = 1, at = 0;
  if (!same_item(misses_of(memory).ptr(), PyTuple_GET_ITEM(kept, 0))) return false;
  Memory parts = memory_parts(memory);
  if (2 * PyDict_GET_SIZE(parts.entries.ptr()) + 1 != count) return false;
  PyObject *key = nullptr, *value = nullptr;
  for (; PyDict_Next(parts.entries.ptr(), &at, &key, &value); next += 2) {
    bool same = same_item(key, PyTuple_GET_ITEM(kept, next)) &&
                same_item(value, PyTuple_GET_ITEM(kept, next + 1));
    if (!same) return false;
  }
  return true;
}

// Whether the value of a read is as expected; tensors and floats that are inputs are collected.
bool holds(const Read& read, PyObject* value, Found& found) {
  switch (read.expected) {
    case Expected::same:
      return value == read.value;
    case Expected::tensor:
      if (!is_tensor(value) || has_one_of(read.value, attributes_of(value))) return false;
      found.tensors.push_back(tensor_of(value));
      return true;
    case Expected::bits:
      return PyFloat_CheckExact(value) && same_bits(PyFloat_AS_DOUBLE(value), read.number);
    case Expected::moving:
      if (!PyFloat_CheckExact(value)) return false;
      found.floats[read.place] = PyFloat_AS_DOUBLE(value);
      return true;
    case Expected::value:
      return same_value(value, read.value);
    case Expected::each:
      return PyTuple_CheckExact(value) && same_items(value, read.value);
    case Expected::lacks:
      return PyDict_CheckExact(value) && !has_one_of(read.value, value);
  }
  return false;
}

std::string shown(PyObject* object) { return bytes_of(nb::repr(object)); }

std::string what_differs(const Read& read, PyObject* value) {
  if (read.how == How::memory) return "holds other results";
  if (read.how == How::kind) return "is of another class";
  if (read.how == How::attributes) return "has other attributes";
  if (read.how == How::lineage) return "inherits from other classes";
  switch (read.expected) {
    case Expected::same:
      return "is another object";
    case Expected::tensor:
      return is_tensor(value) ? "has other attributes" : "is no tensor any more";
    case Expected::bits:
      return "is " + shown(value) + " now";
    case Expected::moving:
      return "is no float any more";
    case Expected::value:
    case Expected::each:
    case Expected::lacks:
      return "is " + shown(value) + ", not " + shown(read.value);
  }
  return "";
}

std::string_view name_of(How how) {
  for (const auto& [name, known] : kHows) {
    if (known == how) return name;
  }
  return "attribute";
}

bool is_writable(const Read& read) {
  if (read.how == How::item) return !PyTuple_Check(read.holder);
  return read.how <= How::class_entry;
}

Why explain(const Read& read, PyObject* value) {
  nb::handle holder(referent(read.holder));
  nb::object name =
      nb::getattr(holder, "__name__",
                  nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(holder.ptr()))).attr("__name__"));
  std::string text = bytes_of(name);
  if (read.key != Py_None) text += ": " + bytes_of(read.key);
  Why why{text + " " + what_differs(read, value), nb::none()};
  if (read.expected == Expected::bits && PyFloat_CheckExact(value) && is_writable(read)) {
    why.place = nb::make_tuple(std::string(name_of(read.how)), own(PyLong_FromVoidPtr(read.holder)),
                               nb::handle(read.key));
  }
  return why;
}

}  // namespace

Reads::Reads(nb::list reads) {
  for (nb::handle given : reads) {  // (how, holder, key, what is expected, which)
    PyObject *holder = nb::object(given[1]).ptr(), *key = nb::object(given[2]).ptr();
    Read read{how_to_read(given[0], holder, key), named(kExpected, given[3]), holder, key, nullptr};
    nb::object value = given[4];
    if (read.expected == Expected::bits) read.number = nb::cast<double>(value);
    if (read.expected == Expected::moving) {
      read.place = nb::cast<size_t>(value);
      floats_ = std::max(floats_, read.place + 1);
    }
    tensors_ += read.expected == Expected::tensor;
    read.value = Py_NewRef(value.ptr());
    Py_INCREF(holder);
    Py_INCREF(key);
    reads_.push_back(read);
  }
}

Reads::~Reads() {
  for (const Read& read : reads_) {
    Py_DECREF(read.holder);
    Py_DECREF(read.key);
    Py_DECREF(read.value);
  }
}

int Reads::traverse(visitproc visit, void* arg) const {
  for (const Read& read : reads_) {
    Py_VISIT(read.holder);
    Py_VISIT(read.key);
    Py_VISIT(read.value);
  }
  return 0;
}

bool Reads::again(Found& found, Why* why) const {
  found.tensors.reserve(tensors_);
  found.floats.resize(floats_);
  for (const Read& one : reads_) {
    bool keys = one.how == How::keys && PyDict_CheckExact(one.holder);
    if (keys && has_keys(one.holder, one.value)) continue;
    if (one.how == How::memory && remembers(one.holder, one.value)) continue;
    nb::object value = read(one.how, one.holder, one.key);
    if (holds(one, value.ptr(), found)) continue;
    if (why) *why = explain(one, value.ptr());
    return false;
  }
  return true;
}

static int reads_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Reads>(self)->traverse(visit, arg) : 0;
}

void add_reads(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(reads_traverse)},
                                {0, nullptr}};
  nb::class_<Reads>(module, "Reads", nb::type_slots(slots))
      .def(nb::init<nb::list>())
      .def("hold",
           [](const Reads& self) {
             Found found;
             return self.again(found, nullptr);
           })
      .def("again", [](const Reads& self) {
        Found found;
        Why why;
        if (!self.again(found, &why)) fail("{}", why.text);
        nb::list floats;
        for (double value : found.floats) floats.append(value);
        return nb::make_tuple(list_of(found.tensors), floats);
      });
  module.attr("MISSING") = nb::borrow(missing());
  module.def("remembered_results", results_of);
  module.def(
      "read",
      [](nb::handle how, nb::handle holder, nb::handle key) {
        return read(how_to_read(how, holder.ptr(), key.ptr()), holder.ptr(), key.ptr());
      },
      nb::arg(), nb::arg(), nb::arg().none());
}

}  // namespace fg::python
