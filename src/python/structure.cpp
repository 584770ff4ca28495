#include "python/structure.h"

#include <nanobind/stl/vector.h>

#include <algorithm>
#include <bit>

#include "base/fail.h"
#include "python/face.h"
#include "python/types.h"

namespace fg::python {

using Kind = Part::Kind;

static bool same_value(PyObject* a, PyObject* b) {
  if (a == b) return true;
  int same = PyObject_RichCompareBool(a, b, Py_EQ);
  if (same < 0) nb::raise_python_error();
  return same == 1;
}

bool equal(const Part& a, const Part& b) {
  if (a.kind != b.kind || a.count != b.count) return false;
  if (a.what == b.what) return true;
  if (a.kind == Kind::constant)
    return Py_TYPE(a.what) == Py_TYPE(b.what) && same_value(a.what, b.what);
  return a.kind == Kind::key && same_value(a.what, b.what);
}

// ---- arguments as flat lists

static bool is_constant(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  return type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type ||
         type == &PyBytes_Type || object == Py_None || type == &PyComplex_Type ||
         object == Py_Ellipsis || is_dtype(object);
}

// Whether it is a dictionary of the standard library: other classes may run code when read.
static bool is_dictionary(PyObject* object) {
  if (PyDict_CheckExact(object)) return true;
  if (!PyDict_Check(object)) return false;
  nb::object module = nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object))).attr("__module__");
  return module.equal(nb::str("builtins")) || module.equal(nb::str("collections"));
}

static bool is_named_tuple(PyObject* object) {
  return PyTuple_Check(object) && nb::hasattr(object, "_fields");
}

static std::span<PyObject*> items_of(PyObject* sequence) {
  return {PySequence_Fast_ITEMS(sequence), static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence))};
}

// A container may contain itself.
class Deeper {
 public:
  Deeper() {
    if (Py_EnterRecursiveCall(" in the arguments of a compiled function")) nb::raise_python_error();
  }
  ~Deeper() { Py_LeaveRecursiveCall(); }
  Deeper(const Deeper&) = delete;
  Deeper& operator=(const Deeper&) = delete;
};

Flat::~Flat() {
  for (const Part& part : parts) Py_XDECREF(part.what);
}

Flat::Flat(Flat&& other) : tensors(std::move(other.tensors)) {
  for (const Part& part : other.parts) parts.push_back(part);
  other.parts.clear();  // with the references
  for (uint32_t place : other.places) places.push_back(place);
  for (double number : other.floats) floats.push_back(number);
}

bool Flat::equals(const Flat& other) const {
  return std::equal(parts.begin(), parts.end(), other.parts.begin(), other.parts.end(), equal) &&
         std::equal(places.begin(), places.end(), other.places.begin(), other.places.end()) &&
         std::equal(tensors.begin(), tensors.end(), other.tensors.begin(), other.tensors.end(),
                    [](const Tensor& a, const Tensor& b) { return a.is_same(b); }) &&
         std::equal(floats.begin(), floats.end(), other.floats.begin(), other.floats.end(),
                    [](double a, double b) {
                      return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
                    });
}

void Flat::add_part(Kind kind, PyObject* what, size_t count) {
  parts.push_back({kind, static_cast<uint32_t>(count), Py_XNewRef(what)});
}

void Flat::add_tensor(PyObject* tensor) {
  add_part(Kind::tensor);
  size_t first = identities_.of(tensor), place = tensors.size();
  if (first < places.size())
    place = places[first];
  else
    tensors.push_back(tensor_of(tensor));
  places.push_back(static_cast<uint32_t>(place));
}

void Flat::add_dictionary(PyObject* dictionary) {
  nb::object keys = own(PySequence_List(dictionary));
  add_part(Kind::opening, reinterpret_cast<PyObject*>(Py_TYPE(dictionary)),
           items_of(keys.ptr()).size());
  for (PyObject* key : items_of(keys.ptr())) {
    add_part(Kind::key, key);
    add(own(PyObject_GetItem(dictionary, key)).ptr());
  }
}

// Adds a slice of integers as three constants, any other slice as its repr().
void Flat::add_slice(PyObject* object) {
  auto* slice = reinterpret_cast<PySliceObject*>(object);
  auto plain = [](PyObject* part) { return part == Py_None || PyLong_CheckExact(part); };
  if (plain(slice->start) && plain(slice->stop) && plain(slice->step)) {
    add_part(Kind::opening, reinterpret_cast<PyObject*>(&PySlice_Type), 3);
    for (PyObject* part : {slice->start, slice->stop, slice->step}) add_part(Kind::constant, part);
  } else {
    add_part(Kind::opening, reinterpret_cast<PyObject*>(&PySlice_Type), 1);
    add_part(Kind::constant, own(PyObject_Repr(object)).ptr());
  }
}

void Flat::add_container(PyObject* tree) {
  Deeper deeper;
  if (PyTuple_CheckExact(tree) || PyList_CheckExact(tree) || is_named_tuple(tree)) {
    add_part(Kind::opening, reinterpret_cast<PyObject*>(Py_TYPE(tree)), items_of(tree).size());
    for (size_t i = 0; i < items_of(tree).size(); i++) add(items_of(tree)[i]);
  } else if (is_dictionary(tree)) {
    add_dictionary(tree);
  } else if (is_size(tree)) {
    add_part(Kind::constant, tree);
  } else if (PySlice_Check(tree)) {
    add_slice(tree);
  } else {
    add_part(Kind::object, tree);
  }
}

void Flat::add(PyObject* tree) {
  if (is_tensor(tree)) {
    add_tensor(tree);
  } else if (PyFloat_CheckExact(tree)) {
    add_part(Kind::number);
    floats.push_back(PyFloat_AS_DOUBLE(tree));
  } else if (is_constant(tree)) {
    add_part(Kind::constant, tree);
  } else {
    add_container(tree);
  }
}

// Adds a call as a tuple of the positional arguments and a dictionary of the others.
void Flat::add_call(PyObject* const* arguments, size_t count, PyObject* names) {
  size_t named = names ? items_of(names).size() : 0;
  tensors.reserve(count + named);
  add_part(Kind::opening, reinterpret_cast<PyObject*>(&PyTuple_Type), count);
  for (size_t i = 0; i < count; i++) add(arguments[i]);
  add_part(Kind::opening, reinterpret_cast<PyObject*>(&PyDict_Type), named);
  for (size_t i = 0; i < named; i++) {
    add_part(Kind::key, items_of(names)[i]);
    add(arguments[count + i]);
  }
}

// ---- kept structures

static bool is_owned(const Part& part) { return part.kind != Kind::object; }

Structure::Structure(const Flat& flat) : parts_(flat.parts.begin(), flat.parts.end()) {
  for (const Part& part : parts_) {
    if (is_owned(part)) Py_XINCREF(part.what);
  }
}
Structure::~Structure() {
  for (const Part& part : parts_) {
    if (is_owned(part)) Py_XDECREF(part.what);
  }
}
int Structure::traverse(visitproc visit, void* arg) const {
  for (const Part& part : parts_) {
    if (is_owned(part)) Py_VISIT(part.what);
  }
  return 0;
}

// ---- names of leaves

namespace {

class NameLeaves {
 public:
  NameLeaves(const Flat& flat, LeafNames& names) : flat_(flat), names_(names) {}

  void name_call(const nb::list& positional) {
    size_t count = next().count;
    for (size_t i = 0; i < count; i++) name(nb::str(positional[i]));
    for (count = next().count; count > 0; count--) name(nb::str(nb::handle(next().what)));
  }

 private:
  const Part& next() { return flat_.parts[part_++]; }

  void name(const nb::str& as) {
    const Part& part = next();
    if (part.kind == Kind::tensor) {
      if (flat_.places[place_++] == nb::len(names_.tensors)) names_.tensors.append(as);
    } else if (part.kind == Kind::number) {
      names_.floats.append(as);
    } else if (part.kind == Kind::object) {
      names_.objects.append(as);
    } else if (part.kind == Kind::opening) {
      Deeper deeper;
      name_items(part, as);
    }
  }

  void name_items(const Part& part, const nb::str& as) {
    auto* type = reinterpret_cast<PyTypeObject*>(part.what);
    bool keys = PyType_IsSubtype(type, &PyDict_Type);
    nb::tuple fields;
    if (PyType_IsSubtype(type, &PyTuple_Type) && nb::hasattr(part.what, "_fields")) {
      fields = nb::tuple(nb::handle(part.what).attr("_fields"));
    }
    for (size_t i = 0; i < part.count; i++) {
      PyObject* text = nullptr;
      if (keys) {
        text = PyUnicode_FromFormat("%U[%R]", as.ptr(), next().what);
      } else if (i < nb::len(fields)) {
        text = PyUnicode_FromFormat("%U.%S", as.ptr(), nb::object(fields[i]).ptr());
      } else {
        text = PyUnicode_FromFormat("%U[%zu]", as.ptr(), i);
      }
      name(nb::steal<nb::str>(own(text).release()));
    }
  }

  const Flat& flat_;
  LeafNames& names_;
  size_t part_ = 0, place_ = 0;
};

}  // namespace

LeafNames names_of(const Flat& flat, const nb::list& positional) {
  LeafNames names;
  NameLeaves(flat, names).name_call(positional);
  return names;
}

// ---- leaves

static nb::object map_items(PyObject* tree, const Replace& replace) {
  nb::list mapped;
  for (size_t i = 0; i < items_of(tree).size(); i++) {
    mapped.append(map_leaves(items_of(tree)[i], replace));
  }
  if (PyList_CheckExact(tree)) return mapped;
  nb::tuple items(mapped);
  if (PyTuple_CheckExact(tree)) return items;
  return own(PyObject_Call(reinterpret_cast<PyObject*>(Py_TYPE(tree)), items.ptr(), nullptr));
}

nb::object map_leaves(PyObject* tree, const Replace& replace) {
  if (is_tensor(tree)) return own(replace(tree));
  Deeper deeper;
  if (PyTuple_CheckExact(tree) || PyList_CheckExact(tree) || is_named_tuple(tree)) {
    return map_items(tree, replace);
  }
  if (!is_dictionary(tree)) return own(replace(tree));
  nb::object copied = nb::handle(tree).attr("copy")();
  nb::object keys = own(PySequence_List(tree));
  for (PyObject* key : items_of(keys.ptr())) {
    nb::object value = own(PyObject_GetItem(tree, key));
    copied[nb::handle(key)] = map_leaves(value.ptr(), replace);
  }
  return copied;
}

// ---- for Python

namespace {

int structure_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<Structure>(self)->traverse(visit, arg) : 0;
}
PyType_Slot structure_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(structure_traverse)},
                                 {0, nullptr}};

nb::list objects_in(const Flat& flat) {
  nb::list objects;
  for (const Part& part : flat.parts) {
    if (part.kind == Kind::object) objects.append(nb::handle(part.what));
  }
  return objects;
}

template <class Numbers>
nb::list numbers_in(const Numbers& numbers) {
  nb::list result;
  for (auto number : numbers) result.append(number);
  return result;
}

}  // namespace

void add_structure(nb::module_& module) {
  nb::class_<Structure>(module, "Structure", nb::type_slots(structure_slots))
      .def("__eq__", [](const Structure& a, const Structure& b) { return a == b; })
      .def("__hash__", [](const Structure& self) { return self.size(); });
  nb::class_<Flat>(module, "Arguments")
      .def("__init__",
           [](Flat* self, nb::args args, nb::kwargs kwargs) {
             new (self) Flat();
             self->add(args.ptr());
             self->add(kwargs.ptr());
           })
      .def(
          "structure", [](const Flat& self) { return new Structure(self); },
          nb::rv_policy::take_ownership)
      .def_prop_ro("tensors", [](const Flat& self) { return list_of(self.tensors); })
      .def_prop_ro("places", [](const Flat& self) { return numbers_in(self.places); })
      .def_prop_ro("floats", [](const Flat& self) { return numbers_in(self.floats); })
      .def_prop_ro("objects", objects_in)
      .def("equals", &Flat::equals)
      .def("names", [](const Flat& self, const nb::list& positional) {
        LeafNames names = names_of(self, positional);
        return nb::make_tuple(names.tensors, names.floats, names.objects);
      });
  module.def(
      "map_leaves",
      [](nb::handle tree, nb::object replace) {
        CallsPython calls;
        return map_leaves(tree.ptr(),
                          [&](PyObject* leaf) { return PyObject_CallOneArg(replace.ptr(), leaf); });
      },
      nb::arg().none(), nb::arg());
}

}  // namespace fg::python
