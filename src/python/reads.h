// Reads: the places outside of its arguments that a captured function looked at (free variables,
// globals, attributes, containers). Every call reads them again, so that no version is ever stale.
#pragma once

#include "python/object.h"

namespace fg::python {

// One place that is read, and the condition on the value found there.
struct Read {
  enum class How : uint8_t {
    item,             // holder[key]
    entry,            // of a dictionary; may be missing
    cell,             // of a free variable
    attribute,        // may be missing
    class_entry,      // of the dictionary of a class
    length,           // this one and the rest ask about the holder itself
    keys,             // of a dictionary, members of a set; in order
    bytes,            // of a bytearray
    elements,         // of a numpy array, with its type and shape
    memory,           // of a functools.lru_cache: misses, then keys and values alternately
    kind,             // its class; the holder of this and the next may be a weak reference
    attributes,       // its dictionary
    lineage,          // of a class: itself and the classes it inherits from, in order
    code,             // of a function
    defaults,         // of a function
    keyword_defaults  // of a function
  };
  enum class Expected : uint8_t {
    same,    // the very object
    tensor,  // any tensor without attributes of these names: it is an input
    bits,    // of a float: NaN and both zeros
    moving,  // any float: it is an input
    value,   // of its type, and equal
    each,    // of a tuple: the very object, or a value that is equal
    lacks,   // of a dictionary: it has none of these names
  };
  How how;
  Expected expected;
  PyObject *holder, *key, *value;
  double number = 0;
  size_t place = 0;  // among the moving floats
};

// The first difference from the values that were read, in words. `place` is (how, id of the holder,
// key) if the difference is a float that might become an input.
struct Why {
  std::string text;
  nb::object place;
};

struct Found {
  Tensors tensors;  // in the order of the reads
  std::vector<double> floats;
};

class Reads {
 public:
  explicit Reads(nb::list reads);
  Reads(const Reads&) = delete;
  Reads& operator=(const Reads&) = delete;
  ~Reads();

  // Reads everything again. False if a value has changed; `why`, unless null, then says which.
  bool again(Found& found, Why* why) const;
  int traverse(visitproc visit, void* arg) const;

 private:
  std::vector<Read> reads_;
  size_t floats_ = 0, tensors_ = 0;
};

void add_reads(nb::module_& module);

}  // namespace fg::python
