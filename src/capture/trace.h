// One run of a function under the tracer, and what it says about the call: which inputs were
// written, what the outputs share memory with, which of them gradients flow through.
#pragma once

#include "capture/tracer.h"
#include "ir/record.h"

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
  bool fresh;  // memory of its own, not that of an input or of another result
  // A view to autograd of an input or result, but not one that can be made again.
  std::optional<size_t> view_of_input{}, view_of_result{};
  autograd::ViewOrigin origin{};
  // No value of the graph: a part of the memory of an input or of another result, without history.
  struct Part {
    bool of_input;
    size_t of;
    Dims sizes, strides;
    Dim offset;  // from the first element of the whole
  };
  std::optional<Part> part{};
  // Which of the counters of versions beside those of memories it has (x.data), and its state.
  std::optional<size_t> counter{};
  uint32_t count = 0;
};

struct Step {
  const ir::PrimitiveInfo* primitive;
  ir::ParamsRef params;
};

// How the caller gets an output: an input or a result itself, or a view of one.
struct Output {
  bool defined = true, of_input = false;
  size_t of = 0;            // which input or result
  std::vector<Step> steps;  // none: it is that very tensor
  bool retains_grad = false;
  bool recorded = false;              // in which mode the views are made
  autograd::ViewOrigin origin{};      // of the last of them
  size_t steps_before = 0;            // how many of them were made before the last write
  std::optional<size_t> of_output{};  // the steps begin at another output
  bool inner = false;                 // another output is computed from this view
  std::optional<size_t> same_as{};    // the very tensor of an earlier output
};

struct Trace {
  Tracer tracer;
  std::vector<Mutation> mutations;
  std::vector<Relayout> relayouts;
  std::vector<std::pair<size_t, uint32_t>> bumps;  // of versions of inputs that were not written
  std::vector<Result> results;
  std::vector<Output> outputs;
  bool grad_mode_after = true;

  const std::vector<Lifted>& inputs() const { return tracer.lifted(); }
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
