// What a captured function read besides its arguments: free variables, globals, attributes,
// contents of containers. Read again before every call, so that a captured function is never stale.
#pragma once

#include "python/object.h"

namespace fg::python {

// One place that is read, and what must be there.
struct Read {
  enum class How : uint8_t {
    item,             // holder[key]
    entry,            // of a dictionary; there may be none
    cell,             // of a free variable
    attribute,        // there may be none
    class_entry,      // of the dictionary of a class
    length,           // the rest asks about the holder itself
    keys,             // of a dictionary, members of a set; in order
    bytes,            // of a bytearray
    elements,         // of a numpy array, with its type and shape
    memory,           // of a functools.lru_cache: misses, and keys and values in turn
    kind,             // its class; the holder of these two may be a weak reference to it
    attributes,       // its dictionary
    lineage,          // of a class: itself and the classes it inherits from, in order
    code,             // of a function
    defaults,         // of a function
    keyword_defaults  // of a function
  };
  enum class Expected : uint8_t {
    same,    // the very object
    tensor,  // any without attributes of these names: it is an input
    bits,    // of a float: NaN and both zeros
    moving,  // any float: it is an input
    value,   // of its type, and equal
    each,    // of a tuple: the very object, or a value that is equal
    lacks,   // of a dictionary: none of these names is in it
  };
  How how;
  Expected expected;
  PyObject *holder, *key, *value;
  double number = 0;
  size_t place = 0;  // among the moving floats
};

// What differs from what was read, in words; and where, if another float is there that might be an
// input: (how, id of the holder, key).
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

  // False if something is not what it was; then `why`, where asked for, says what.
  bool again(Found& found, Why* why) const;
  int traverse(visitproc visit, void* arg) const;

 private:
  std::vector<Read> reads_;
  size_t floats_ = 0, tensors_ = 0;
};

void add_reads(nb::module_& module);

}  // namespace fg::python
