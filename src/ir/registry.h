// The table of functions: every one that `define` was called for, with its schema, documentation,
// forms, gradient, samples and a boxed call.
#pragma once

#include <map>

#include "ir/gradient.h"
#include "ir/primitive.h"
#include "ir/value.h"

namespace fg::ir {

// One way to call a function in the generic tests; arguments by position, defaults where absent.
struct Sample {
  std::vector<Value> arguments;
  std::string note{};
  bool check_gradient = true;
  bool check_second_gradient = true;
};
using Samples = std::vector<Sample>;

// A float64 tensor for samples: distinct values spread over [low, high], the same ones every time.
Tensor sample(const Dims& sizes, double low = -2, double high = 2);
Tensor sample_indices(const Dims& sizes, int64_t below);  // int64
Tensor sample_mask(const Dims& sizes);                    // bool

// The places where Python shows a function beside its in-place methods.
enum class Shown : uint8_t {
  everywhere,   // foregrad.f(x) and x.f()
  as_function,  // foregrad.f(x)
  as_method,    // x.f()
  in_nn,        // foregrad.nn.functional.f(x)
  nowhere       // behind other functions
};
struct PythonNames {
  Shown shown = Shown::everywhere;
  std::vector<const char*> aliases{};  // other names of the same function
  bool inplace_function = false;       // foregrad.f_(x), beside x.f_()
};

struct FunctionInfo {
  Schema schema;
  const char* documentation = "";
  bool has_inplace = false, has_out = false;
  bool deterministic = true;           // false: draws random numbers
  const Gradient* gradient = nullptr;  // its own, or that of the primitive it stands for
  Gradient own_gradient;
  const PrimitiveInfo* primitive = nullptr;  // set when the function is that primitive
  Samples (*samples)() = nullptr;
  PythonNames python{};  // of one of the overloads: they are one function there
  Value (*call)(const FunctionInfo& info, std::span<const Value> arguments) = nullptr;
  Value (*call_inplace)(const FunctionInfo& info, std::span<const Value> arguments) = nullptr;
  std::string full_name() const;  // "max.dim"
};

const std::vector<const FunctionInfo*>& functions();  // in order of full name
const FunctionInfo* find_function(std::string_view full_name);
void register_function(const FunctionInfo* function);

// A required tensor argument that holds nothing.
[[noreturn]] void refuse_undefined(const FunctionInfo& info, size_t argument);

// The out= form: calls the function and writes its results into `outs`, one tensor per result.
Value call_out(const FunctionInfo& info, std::span<const Value> arguments, const Tensors& outs);
// An in-place function may not read memory that it writes, unless it is the very tensor.
void refuse_overlap(const FunctionInfo& info, Operands operands);
// Checks shape, dtype and overlap, then copies the elements into self and bumps its version.
void write_inplace(const FunctionInfo& info, const Tensor& self, const Tensor& result);

}  // namespace fg::ir
