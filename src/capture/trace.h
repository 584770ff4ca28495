// One run of a function under the tracer, and its meaning for the call: written inputs, memory that
// outputs share, outputs that gradients flow through.
#pragma once

#include "capture/tracer.h"
#include "ir/record.h"

namespace fg::capture {

using Body = Callback<Tensors(const Tensors& arguments)>;

// Ends a capture with the reason against it. The function itself may be fine: it can run
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
  // Set if autograd sees a view of an input or result, but one that cannot be made again.
  std::optional<size_t> view_of_input{}, view_of_result{};
  autograd::ViewOrigin origin{};
  // Set if it is no value of the graph: a part of an input's or result's memory, without history.
  struct Region {
    bool of_input;
    size_t of;
    Dims sizes, strides;
    Dim offset;  // from the first element of the whole
  };
  std::optional<Region> part{};
  // The place of its own version counter (x.data), beside the counters of memories, and its count.
  std::optional<size_t> counter{};
  uint32_t count = 0;
};

struct Step {
  const ir::PrimitiveInfo* primitive;
  ir::ParamsRef params;
};

// An output as the caller gets it: an input or a result itself, or a view of one.
struct Output {
  bool defined = true, of_input = false;
  size_t of = 0;            // place of the input or result
  std::vector<Step> steps;  // none: it is that very tensor
  bool retains_grad = false;
  bool recorded = false;              // whether the views are made in grad mode
  autograd::ViewOrigin origin{};      // of the last step
  size_t steps_before = 0;            // number of steps made before the last write
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
// Whether hooks of the caller wait for the gradient of a tensor.
bool has_caller_hooks(const Tensor& tensor);

// Calls `body` once with tensors that stand for the arguments. The arguments are different tensors.
std::unique_ptr<Trace> trace(const Body& body, const Tensors& arguments,
                             const TraceOptions& options = {});

}  // namespace fg::capture
