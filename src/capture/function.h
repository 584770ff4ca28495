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
    const Storage* memory;  // what the function sees of it
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
  size_t checked = 0;  // of those, operations that may refuse values and run in any case
  // Of a gradient: which inputs and outputs of the function eager code would have saved for it.
  std::vector<size_t> reads_inputs{}, reads_outputs{};
  std::vector<ir::ValueId> reads_values{};  // those and what lies between: all that it reads
  // Inputs of the function that its code reaches when it runs: after the tangents, they are inputs
  // once more, as they are then.
  std::vector<size_t> live{};
  // Tensors that it writes to: after the gradients, their new elements are outputs.
  struct Write {
    size_t place;    // an input of the function, or after those a tangent
    uint32_t bumps;  // of the version; none: written through .data
    bool operator==(const Write&) const = default;
  };
  std::vector<Write> writes{};

  size_t differentiable_count() const;
};

// For every differentiable output: from which of the inputs that need a gradient it is computed.
using Reach = std::vector<std::vector<bool>>;
Reach reach_of(const Function& function);
// Which differentiable outputs of a function its gradient is computed from, as autograd sees it.
std::vector<uint32_t> outputs_behind(const Function& function, const Function& gradient);

// Whether its gradient runs code of the user: a hook, a custom function, what unpacks a value.
bool runs_code_of_user(const Function& function);

// What the trace of a call computes: the new elements of written inputs, then the results.
Function function_of(std::shared_ptr<Trace> trace);

// Fills in what the nodes behind an output that lead to no input have saved of inputs and outputs:
// reads_inputs and reads_outputs.
void find_saved(const Function& function, const Function::Out& out, Function& gradient);

// How the gradient of a differentiable output comes: not at all, or as a tensor that does or does
// not require grad itself.
enum class Tangent : uint8_t { none, plain, differentiable };
using Tangents = std::vector<Tangent>;
// In which layout: that of the output, where that is one.
Dims tangent_strides(const Tensor& output);

// The gradient: takes the inputs of `function` and its tangents, returns one gradient per input.
// With `again` it can be differentiated in its turn. `inputs` are those of the call that asks for
// it: hooks and custom functions may meet them. `wanted`: of the inputs that need a gradient, those
// whose gradient is asked for; empty: all.
Function gradient_of(const Function& function, const Tangents& tangents, bool again,
                     const Tensors* inputs = nullptr, const std::vector<bool>& wanted = {});

// One graph of it; seeds of random numbers are the last inputs.
ir::Graph graph_of(const Function& function);

}  // namespace fg::capture
