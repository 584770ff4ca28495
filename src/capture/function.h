// A captured function that can be differentiated: its inputs and outputs in a trace. Its gradient
// is a captured function again, in the same trace, and so on to any order.
#pragma once

#include <mutex>

#include "capture/trace.h"

namespace fg::capture {

struct Function {
  struct In {
    Tensor leaf;
    ir::ValueId value;
    bool needs_grad;
    const Storage* memory;  // memory of the tensor that the function sees
  };
  struct Out {
    Tensor inside;  // undefined: there is none
    ir::ValueId value;
    bool differentiable;
    ir::Role role;
    bool inner = false;    // another output is computed from it
    uint32_t version = 0;  // of fresh memory
  };
  std::shared_ptr<Trace> trace;
  std::shared_ptr<std::mutex> mutex;  // guards the trace, which grows
  std::vector<In> inputs;
  std::vector<Out> outputs;
  std::vector<ir::Role> input_roles;
  size_t end = 0;      // operations of the trace that came before its gradient
  size_t checked = 0;  // those of them that may refuse values and run in any case
  // Inputs and outputs that eager code would have saved for this gradient of a function.
  std::vector<size_t> reads_inputs{}, reads_outputs{};
  std::vector<ir::ValueId> reads_values{};  // the same and values between them: all that it reads
  // Live inputs: code of the user reaches them when it runs. They are inputs once more, after the
  // tangents, with their elements of that time.
  std::vector<size_t> live{};
  // Tensors that it writes to; their new elements are outputs after the gradients.
  struct Write {
    size_t place;    // an input of the function, or after those a tangent
    uint32_t bumps;  // of the version; none: written through .data
    bool operator==(const Write&) const = default;
  };
  std::vector<Write> writes{};

  size_t differentiable_count() const;
  size_t gradient_count() const;  // of inputs that need one
};

// Per differentiable output: on which of the inputs that need a gradient it depends.
using Reach = std::vector<std::vector<bool>>;
Reach reach_of(const Function& function);
// Differentiable outputs of a function that its gradient is computed from, as autograd sees it.
std::vector<uint32_t> outputs_behind(const Function& function, const Function& gradient);

// Whether its gradient runs code of the user: a hook, a custom function, an unpack hook.
bool runs_code_of_user(const Function& function);

// The function that a trace computes. Outputs: new elements of written inputs, then the results.
Function function_of(std::shared_ptr<Trace> trace);

// Fills in reads_inputs and reads_outputs: those that nodes behind an output have saved, as far as
// these nodes lead to no input.
void find_saved(const Function& function, const Function::Out& out, Function& gradient);

// The form in which the gradient of a differentiable output comes: not at all, or as a tensor that
// does not, or does, require grad itself.
enum class Tangent : uint8_t { none, plain, differentiable };
using Tangents = std::vector<Tangent>;
// The strides of a tangent: those of the output, or contiguous if the output overlaps itself.
Dims tangent_strides(const Tensor& output);

// The gradient: takes the inputs of `function` and its tangents, returns one gradient per input.
// With `again` it can be differentiated in its turn. `inputs` are those of the call that asks for
// it: hooks and custom functions may meet them. `wanted`: of the inputs that need a gradient, those
// whose gradient is asked for; empty: all.
Function gradient_of(const Function& function, const Tangents& tangents, bool again,
                     const Tensors* inputs = nullptr, const std::vector<bool>& wanted = {});

// The function as one graph; seeds of random numbers are the last inputs.
ir::Graph graph_of(const Function& function);

}  // namespace fg::capture
