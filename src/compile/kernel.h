// A captured function made ready to run: forward and backward graphs, one node of autograd over
// them, and the same again for its gradient when that is differentiated.
#pragma once

#include <map>

#include "capture/function.h"
#include "compile/backend.h"
#include "passes/partition.h"

namespace fg::compiler {

using Partition = Callback<std::vector<passes::Saved>(const passes::JointGraph& joint)>;

struct KernelOptions {
  Backend forward{}, backward{};  // none: compile_default
  Partition partition{};          // none: save what the backward reads
  bool passes = true;             // false: graphs reach the back ends as they were captured
};

// The backward for the gradients that come: which of them do is part of what is captured.
struct Backward {
  GraphCallable run;
  std::vector<size_t> saved;  // which of the saved values it reads
};

class Kernel : public Counted {
 public:
  Kernel(capture::Function function, KernelOptions options);
  static void destroy(Kernel* kernel) { delete kernel; }

  const capture::Function& function() const { return function_; }
  // Runs on real tensors, one per input, with the seeds of its random numbers. Outputs that are
  // differentiable get this call as their history when `record`.
  Tensors call(const Tensors& inputs, const Tensors& seeds, bool record);

  const ir::Graph& forward_graph(bool record);
  const Dims& saved_strides(size_t i) const { return training_->saved_strides[i]; }
  // Whether the i-th of the inputs that need a gradient gets one.
  bool reaches(size_t i) const { return training_->reached[i]; }
  // Whether a recorded call reads or keeps the i-th input.
  bool uses(size_t i) { return forward(true).used[i]; }
  std::string plan();  // what is saved and why

 private:
  friend class KernelNode;
  // What the forward keeps: an input, an output, or a value of its own.
  struct Kept {
    enum class From : uint8_t { input, output, extra } from;
    size_t index;
  };
  struct Forward {
    ir::Graph graph;
    GraphCallable run;
    std::vector<passes::Saved> saved;
    std::vector<Kept> kept;
    std::vector<Dims> saved_strides;
    std::vector<bool> reached, used;
  };
  Forward& forward(bool record);
  Forward make_forward(bool record);
  // For a call with these inputs, see gradient_of.
  const Backward& backward(const capture::Tangents& tangents, const Tensors& inputs);
  Backward make_backward(const capture::Tangents& tangents, const Tensors& inputs);
  Kernel& gradient(const capture::Tangents& tangents, const Tensors& inputs);
  void finish(ir::Graph& graph, const char* what) const;
  void find_used(Forward& forward) const;
  passes::JointGraph joint(const capture::Function& gradient) const;

  capture::Function function_;
  KernelOptions options_;
  std::mutex mutex_;
  std::unique_ptr<Forward> inference_, training_;
  std::map<capture::Tangents, Backward> backwards_;
  std::map<capture::Tangents, Ref<Kernel>> gradients_;
};

}  // namespace fg::compiler
