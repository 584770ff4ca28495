// The structure of arguments: the places of tensors, of numbers and of constants. Two calls of one
// structure differ only in their tensors, their floats and the contents of objects.
#pragma once

#include "base/first_places.h"
#include "python/object.h"

namespace fg::python {

// One part of a structure; parts stand in the order of the walk through the arguments.
struct Part {
  enum class Kind : uint8_t {
    tensor,
    number,    // a float
    constant,  // compared by type and value
    key,       // of a dictionary: compared by value
    opening,   // of a container: its type, and how many parts it has
    object,    // anything else: compared by identity
  };
  Kind kind;
  uint32_t count;
  PyObject* what;
};
bool equal(const Part& a, const Part& b);

// Arguments as flat lists.
class Flat {
 public:
  Flat() = default;
  Flat(const Flat&) = delete;
  Flat& operator=(const Flat&) = delete;
  Flat(Flat&& other);  // to be kept, not to be added to
  ~Flat();

  // The arguments of a call as CPython makes it.
  void add_call(PyObject* const* arguments, size_t count, PyObject* names);
  void add(PyObject* tree);
  // Whether every leaf is the same: tensors and objects by identity, numbers by their bits.
  bool equals(const Flat& other) const;

  SmallVector<Part, 16> parts;
  Tensors tensors;                   // each once
  SmallVector<uint32_t, 16> places;  // of the tensors among these
  SmallVector<double, 8> floats;

 private:
  void add_part(Part::Kind kind, PyObject* what = nullptr, size_t count = 0);
  void add_tensor(PyObject* tensor);
  void add_dictionary(PyObject* dictionary);
  void add_slice(PyObject* slice);
  void add_container(PyObject* tree);

  FirstPlaces identities_;
};

// A structure that is kept, without a reference to objects: its owner drops it when they go.
class Structure {
 public:
  explicit Structure(const Flat& flat);
  Structure(const Structure&) = delete;
  Structure& operator=(const Structure&) = delete;
  ~Structure();

  template <class Parts>
  bool is(const Parts& parts) const {
    if (parts.size() != parts_.size()) return false;
    for (size_t i = 0; i < parts.size(); i++) {
      if (!equal(parts_[i], parts[i])) return false;
    }
    return true;
  }
  bool operator==(const Structure& other) const { return is(other.parts_); }
  size_t size() const { return parts_.size(); }
  int traverse(visitproc visit, void* arg) const;

 private:
  std::vector<Part> parts_;
};

// Names of leaves, as code would say them: "x", "x[0]", "x.field", "x['key']".
struct LeafNames {
  nb::list tensors;  // each once
  nb::list floats, objects;
};
// `positional`: names of the positional arguments.
LeafNames names_of(const Flat& flat, const nb::list& positional);

// The same structure with every leaf replaced; containers are made anew. A new reference.
using Replace = Callback<PyObject*(PyObject* leaf)>;
nb::object map_leaves(PyObject* tree, const Replace& replace);

void add_structure(nb::module_& module);

}  // namespace fg::python
