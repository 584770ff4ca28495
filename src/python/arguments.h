// The one argument parser: Python arguments to boxed values by a function's schemas.
//
// Overloads of a name are tried in order: first with every argument of its very type, then with
// numbers in the place of tensors and zero-dim tensors in the place of numbers.
#pragma once

#include "ir/registry.h"
#include "python/object.h"

namespace fg::python {

struct Parameter {
  PyObject* name;  // interned
  ir::Type type;
  bool has_default, keyword_only;
  bool several;  // a list of integers that no single integer may replace
  bool number;   // a tensor that a number may replace
  ir::Value fallback;
};

struct Overload {
  explicit Overload(const ir::FunctionInfo& info);
  const ir::FunctionInfo* info;
  std::vector<Parameter> parameters;
  size_t positional = 0;      // how many may be given by position
  size_t self = 0;            // the parameter that gets a method's object
  bool needs_tensor = false;  // numbers may replace some of the tensors, but not all
  bool creates = false;       // takes device=, layout=, requires_grad= and so on
};

struct OverloadSet {
  std::string name;
  std::vector<Overload> overloads;
};

// A call as CPython makes it: positional arguments, then those named by `names`.
struct Call {
  PyObject* const* arguments;
  size_t count;
  PyObject* names;  // a tuple, or null
  bool method;      // the first argument is the object
  size_t named() const { return names ? static_cast<size_t>(PyTuple_GET_SIZE(names)) : 0; }
};

struct Parsed {
  const Overload* overload = nullptr;
  ir::Value values[ir::kMaxArguments];
  size_t count = 0;
  Tensors out;  // of out=
  bool requires_grad = false, contiguous = false;
  std::span<const ir::Value> arguments() const { return {values, count}; }
};

// Fills `parsed`, or raises a TypeError that names the given and the expected arguments.
void parse(const OverloadSet& set, const Call& call, Parsed& parsed);

// Refuses a device= that is not the cpu, in the name of a function.
void expect_cpu(PyObject* device, const std::string& who);

// Converts one object; false when it does not fit. `strict`: it must be of the very type.
bool convert(PyObject* object, ir::Type type, bool strict, ir::Value& value);
// Whether an object may be an operand of an arithmetic operator.
bool is_number(PyObject* object);
// The Scalar of a Python number; `overflow` is the error of an integer of more than 64 bits.
Scalar scalar_of(PyObject* number, PyObject* overflow = PyExc_OverflowError);
// The class that replaces a float argument while a function is captured; set by the package.
extern PyObject* traced_number_type;
// True only while this thread captures; elsewhere the object is the float that it replaces.
bool is_traced_number(PyObject* object);

const char* type_name(ir::Type type);  // in the words of Python

}  // namespace fg::python
