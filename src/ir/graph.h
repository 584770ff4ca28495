// Graph: a functional program in SSA form. Operations are calls of primitives, in an order in
// which they can run; nothing is ever written to. A value has sizes, strides and a dtype. The
// meaning of every input and output is said by a role. docs/internals/ir.md has the grammar of the
// text form.
#pragma once

#include "ir/primitive.h"

namespace fg::ir {

using ValueId = uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};  // an undefined tensor

struct ValueInfo {
  Dims sizes, strides;
  DType dtype = DType::f32;
  bool number = false;  // weak in promotion, as a plain number

  bool operator==(const ValueInfo&) const = default;
};
ValueInfo info_of(const Tensor& tensor);
Tensor abstract_tensor_of(const ValueInfo& info);

// What an input or output of a graph means to the caller; `index` counts within the kind, and for
// what belongs to something else it is the place of that: the gradient of input 3, the tangent of
// output 0.
struct Role {
  enum class Kind : uint8_t {
    argument,   // given by the caller
    parameter,  // reached by the function itself: a closure, an object
    seed,       // where random numbers start
    tangent,    // gradient of an output, given to the backward
    output,     // what the function returns
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
  bool backward = false;  // made by the backward
  bool again = false;     // a second time, so that its memory is free in between

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
  // The new elements of an input (role mutation) may be computed in the memory of the old ones:
  // nobody needs those after the run. Not part of the text.
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

// Refuses a graph that uses what is not there, defines a value twice, or whose shape rules give
// other sizes than it says. `after` names what made the graph.
void verify(const Graph& graph, const char* after);
// The same of a graph from outside, which is an error of its author; and asks for everything that
// the makers of graphs in this library see to, so that it can be compiled and run.
void verify_text(const Graph& graph);

// The operands of an operation, from where its values are. The numbers of its
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
// How many numbers parameters ask for.
int count_symbols(const Operation& operation);

// The strides that an output gets.
Dims strides_of(const Meta& meta);

// Kernels of one call, without recording and below any interpreter.
void evaluate(const PrimitiveInfo& primitive, Operands inputs, const void* params, Tensor* outputs);

}  // namespace fg::ir
