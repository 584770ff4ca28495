// The one argument parser: Python arguments to boxed values by a function's schemas.
//
// A name has several overloads, tried in order: first with every argument of its very type, then
// with numbers where tensors may stand and zero-dim tensors where numbers may.
#pragma once

#include "ir/registry.h"
#include "python/object.h"

namespace fg::python {

struct Parameter {
  PyObject* name;  // interned
  ir::Type type;
  bool has_default, keyword_only;
  bool several;  // a list of integers for which no single one may stand
  bool number;   // a tensor for which a number may stand
  ir::Value fallback;
};

struct Overload {
  explicit Overload(const ir::FunctionInfo& info);
  const ir::FunctionInfo* info;
  std::vector<Parameter> parameters;
  size_t positional = 0;      // how many may be given by position
  size_t self = 0;            // which one a method's object is
  bool needs_tensor = false;  // numbers may stand for some of the tensors, but not for all
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

// Fills `parsed`, or raises TypeError with what came and what was expected.
void parse(const OverloadSet& set, const Call& call, Parsed& parsed);

// Converts one object; false when it does not fit. `strict` allows no stand-ins.
bool convert(PyObject* object, ir::Type type, bool strict, ir::Value& value);
// Whether an object may be an operand of an arithmetic operator.
bool is_number(PyObject* object);
// `overflow` is the error of an integer that does not fit into 64 bits.
Scalar scalar_of(PyObject* number, PyObject* overflow = PyExc_OverflowError);
// What stands for a float argument of a function that is being captured; set by the package.
extern PyObject* traced_number_type;
// While this thread captures: elsewhere it is the float that it stands for.
bool is_traced_number(PyObject* object);

const char* type_name(ir::Type type);  // as Python users say it

}  // namespace fg::python
