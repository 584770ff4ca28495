// One run of a function under the tracer, and what it says about the call: which inputs were
// written, what the outputs share memory with, which of them gradients flow through.
#pragma once

#include "capture/tracer.h"

namespace fg::capture {

using Body = Callback<Tensors(const Tensors& arguments)>;

// What stands in the way of capturing a function. The function itself may be fine: it can run
// eagerly.
[[noreturn]] void refuse(const std::string& why);

// New elements of an input.
struct Mutation {
  size_t input;
  ir::ValueId value;
  bool differentiable;  // autograd saw the write
  uint32_t bumps;       // of the version
  bool inner = false;   // another output is computed from it
};

// New sizes and strides of an input.
struct Relayout {
  size_t input;
  Dims sizes, strides;
  Dim shift;  // of its first element
};

// Memory that the function made and that some output shows.
struct Result {
  Tensor base;
  ir::ValueId value;
  bool differentiable;
  bool inner;  // another output is computed from it
  // Memory of its own, or of an input or another result; a view of that to autograd, but not one
  // that can be made again.
  bool fresh;
  std::optional<size_t> view_of_input{}, view_of_result{};
};

struct Step {
  const ir::PrimitiveInfo* primitive;
  ir::ParamsRef params;
};

// How the caller gets an output: an input or a result itself, or a view of one.
struct Output {
  bool defined = true, of_input = false;
  size_t of = 0;          // which input or result
  bool itself = false;    // not a view of it
  bool detached = false;  // shares memory but no history: has this geometry
  bool own_version = false;
  Dims sizes, strides;
  Dim offset = 0;  // from the first element of the base
  std::vector<Step> steps;
  bool has_history = false, retains_grad = false;
  std::optional<size_t> same_as{};  // the very tensor of an earlier output
};

struct Trace {
  Tracer tracer;
  size_t arguments = 0;  // the first of tracer.lifted() are arguments, the others were reached
  std::vector<Mutation> mutations;
  std::vector<Relayout> relayouts;
  std::vector<std::pair<size_t, uint32_t>> bumps;  // of versions of inputs that were not written
  std::vector<Result> results;
  std::vector<Output> outputs;
  bool grad_mode_after = true;

  const std::vector<Lifted>& inputs() const { return tracer.lifted(); }
  // Lets go of the caller's tensors.
  void forget_arguments() { tracer.forget(arguments); }
};

struct TraceOptions {
  std::vector<std::string> names{};  // of the arguments
  OnLift on_lift{};                  // default: any tensor, no name
  Callback<std::string()> on_source{};
};
// Whether someone else waits for the gradient of a tensor.
bool has_caller_hooks(const Tensor& tensor);

// Calls `body` once with tensors that stand for the arguments. Each argument is another tensor.
std::unique_ptr<Trace> trace(const Body& body, const Tensors& arguments,
                             const TraceOptions& options = {});

}  // namespace fg::capture
