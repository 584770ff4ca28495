// Gradient rules: the values saved per input, and the formula of its gradient, written with ops on
// Tensors, so that one rule serves eager backward, capture and any higher derivative.
//
//   .vjp("MulBackward0", wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() * v.in(1); }),
//                        wrt(1, saves::in(0), [](const Vjp& v) { return v.grad() * v.in(0); }))
//
// Inputs are counted over the tensor arguments of the schema; a list of tensors is one input. The
// engine sums a gradient to the shape of its input and casts it to its dtype, so rules need not.
#pragma once

#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace fg::ir {

struct Schema;
struct Value;

// The values that a rule may read, as bits per input or output.
struct Saves {
  uint32_t in = 0, out = 0, shapes = 0;
  friend constexpr Saves operator|(Saves a, Saves b) {
    return {a.in | b.in, a.out | b.out, a.shapes | b.shapes};
  }
};

namespace saves {
inline constexpr Saves nothing{};
constexpr Saves in(int i) { return {.in = 1u << i}; }
constexpr Saves out(int i = 0) { return {.out = 1u << i}; }
constexpr Saves shape(int i) { return {.shapes = 1u << i}; }  // sizes and dtype of an input
}  // namespace saves

struct ShapeOf {
  Dims sizes;
  DType dtype;
  bool transposed = false;  // a matrix whose columns are contiguous, not its rows
};
// Sizes, dtype and layout of a tensor.
ShapeOf shape_of(const Tensor& tensor);

// The source of a rule's reads: a node of the graph.
class VjpSource {
 public:
  virtual Tensor unpack_input(int input, int element) = 0;
  virtual Tensor unpack_output(int output) = 0;
  virtual const ShapeOf& shape(int input, int element) = 0;
  virtual int list_size(int input) = 0;
  virtual bool needs(int input, int element) = 0;

 protected:
  ~VjpSource() = default;
};

class Vjp {
 public:
  Vjp(VjpSource& source, const Tensors& grads, Saves allowed, const char* node)
      : source_(source), grads_(grads), allowed_(allowed), node_(node) {}

  // The gradient of an output; undefined if none flowed (only with several outputs).
  const Tensor& grad(int output = 0) const { return grads_[output]; }
  Tensor in(int input) const;
  Tensor out(int output = 0) const;
  const Dims& sizes(int input, int element = 0) const { return shape(input, element).sizes; }
  DType dtype(int input) const { return shape(input, 0).dtype; }
  bool transposed(int input) const { return shape(input, 0).transposed; }
  Tensors list(int input) const;
  int list_size(int input) const { return source_.list_size(input); }
  bool needs(int input) const { return source_.needs(input, 0); }
  bool needs_element(int input, int element) const { return source_.needs(input, element); }

 private:
  const ShapeOf& shape(int input, int element) const;
  void check(uint32_t allowed, int index, const char* what) const;

  VjpSource& source_;
  const Tensors& grads_;
  Saves allowed_;
  const char* node_;
};

// One rule, bound to the argument types of its function. Writes the gradients of its inputs: one
// entry per input of `wrt`, or the elements of the list.
struct Rule {
  uint32_t wrt = 0;
  Saves saves;
  void (*run)(const Vjp& vjp, const void* arguments, Tensors& grads) = nullptr;
};

struct Gradient {
  const char* node_name = "";
  std::vector<Rule> rules;
  bool reads_arguments = true;  // some rule takes the call's other arguments
  // The schema that names the inputs, for the names of saved values.
  mutable const Schema* schema = nullptr;
  // The call's other arguments, for programs that inspect nodes; null where they are not kept so.
  std::vector<Value> (*box_arguments)(const void* arguments) = nullptr;
};

// Rules as written: the lambda keeps its type until the function is known.
template <class F>
struct RuleText {
  uint32_t wrt;
  Saves saves;
};
template <class F>
constexpr RuleText<F> wrt(int input, Saves saves, F) {
  return {1u << input, saves};
}
// One computation for several inputs, e.g. layer_norm: returns Tensors in the order of the inputs;
// an entry whose input needs no gradient may be undefined.
template <class F>
constexpr RuleText<F> wrt_all(std::initializer_list<int> inputs, Saves saves, F) {
  uint32_t bits = 0;
  for (int i : inputs) bits |= 1u << i;
  return {bits, saves};
}

}  // namespace fg::ir
