// Graph: a functional program in SSA form. Operations are calls of primitives, in an order in
// which they can run; nothing is ever written to. A value has sizes, strides and a dtype. A role
// says the meaning of every input and output. docs/internals/ir.md has the grammar of the
// text form.
#pragma once

#include "ir/primitive.h"
#include "tensor/symbols.h"

namespace fg::ir {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};  // an undefined tensor

struct ValueInfo {
  Dims sizes, strides;
  DType dtype = DType::f32;
  bool number = false;  // weak in promotion, as a plain number

  friend bool same(const ValueInfo& a, const ValueInfo& b) {
    return same(a.sizes, b.sizes) && same(a.strides, b.strides) && a.dtype == b.dtype &&
           a.number == b.number;
  }
};
ValueInfo info_of(const Tensor& tensor);
Tensor abstract_tensor_of(const ValueInfo& info);

// The meaning of an input or output of a graph to its caller. `index` counts within the kind; for
// gradients, tangents and mutations it is the index of the input or output that they belong to: the
// gradient of input 3, the tangent of output 0.
struct Role {
  enum class Kind : uint8_t {
    argument,   // given by the caller
    parameter,  // reached by the function itself: a closure, an object
    seed,       // the first random numbers
    tangent,    // gradient of an output, given to the backward
    output,     // a result of the function
    mutation,   // new elements of an input
    gradient,   // of an input
    saved,      // kept by the forward for the backward
    token       // orders side effects
  };
  Kind kind = Kind::argument;
  int64_t index = 0;
  std::string name{};

  bool operator==(const Role&) const = default;
  std::string text() const;
};
const char* name(Role::Kind kind);

struct Operation {
  const PrimitiveInfo* primitive = nullptr;  // null: a constant
  std::vector<ValueId> inputs;               // a list among them is spread out
  int list_input = -1, list_count = 0;
  ParamsRef params;       // null where the primitive has none
  int numbers = 0;        // inputs after the operands that parameters ask for: symbol i is the i-th
  Tensor constant;        // the value of a constant
  ValueId output = 0;     // the first; further ones follow it
  uint64_t skip = 0;      // random: numbers of the seed that come before those of this call
  uint32_t source = 0;    // of Graph::sources: the user's line
  bool backward = false;  // computed by the backward
  bool again = false;     // rematerialised: computed again, so that its memory is free in between

  int outputs() const { return primitive ? primitive->outputs : 1; }
  bool aliases_input() const { return primitive && primitive->aliases_input(); }
  bool is_random() const { return primitive && primitive->kind == Kind::random; }
};

struct Graph {
  std::vector<ValueInfo> values;
  std::vector<Operation> operations;
  std::vector<ValueId> inputs, outputs;  // an output may be kNoValue
  std::vector<Role> input_roles, output_roles;
  std::vector<std::string> sources{""};
  // Own the sizes of values and parameters that are no numbers. Null: all are.
  std::shared_ptr<Symbols> symbols;
  // The new elements of an input (role mutation) may be computed in the memory of the old ones: the
  // caller does not need those after the run. Not part of the text.
  bool overwrites = false;
  // Inputs whose memory a run may use for other values after their last read, if it is handed the
  // only reference to them. Not part of the text.
  std::vector<ValueId> consumable;

  ValueId add_value(ValueInfo info);
  ValueId add_input(ValueInfo info, Role role);
  void add_output(ValueId value, Role role);

  std::string text() const;
};

// The text form, and back; a mistake is an error that names the line.
Graph parse_graph(std::string_view text);

// Refuses a graph that uses undefined values, defines a value twice, or states other sizes than its
// shape rules give. `after` names the pass that made the graph.
void verify(const Graph& graph, const char* after);
// Verifies a graph from outside: mistakes are errors of its author. Also checks the demands that
// callers in this library meet by themselves, so that it can be compiled and run.
void verify_text(const Graph& graph);

// The operands of an operation, from the tensors of its values. The numbers of its
// parameters and the seed of a random one are no operands.
class OperationOperands {
 public:
  OperationOperands(const Operation& operation, const Tensor* values);
  Operands get() const { return {operands_.data(), operands_.size()}; }

 private:
  Tensors list_;
  std::vector<Operand> operands_;
};

// The parameters of an operation with the numbers that its values give.
class OperationParams {
 public:
  OperationParams(const Operation& operation, const Tensor* values);
  const void* get() const { return params_; }

 private:
  ParamsRef filled_;
  const void* params_;
};
// The number of symbols in the parameters of an operation.
int count_symbols(const Operation& operation);

// The strides of an output.
Dims strides_of(const Meta& meta);

// Kernels of one call, without recording and below any interpreter.
void evaluate(const PrimitiveInfo& primitive, Operands inputs, const void* params, Tensor* outputs);

}  // namespace fg::ir
