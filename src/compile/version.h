// One captured version of a function: what a call must look like to use it, and how the caller gets
// what an eager call would have given: written inputs, aliases, versions, history.
#pragma once

#include "compile/programs.h"

namespace fg::compiler {

// What was true of a tensor when the function was captured.
struct TensorGuard {
  explicit TensorGuard(const Tensor& tensor);
  // Empty if it holds, else what differs: "sizes [2, 3], not [4, 3]".
  std::string difference(const Tensor& tensor) const;
  bool holds(const Tensor& tensor) const;

  Dims sizes, strides;
  Dim offset;
  DType dtype;
  bool requires_grad, leaf, inference, number, view, hooked;
  bool check_offset = false, check_view = false, check_hooks = false;
};

std::string text_of(const TensorGuard& guard);  // for people

// Which inputs share memory: for each the first input with the same storage.
std::vector<size_t> alias_pattern(const Tensors& inputs);

// A trace as something to compare: the operations, and the tensors that the function reached by
// itself. Those in place `parameters` and before are found anew by every call.
struct TraceMemory {
  TraceMemory() = default;
  TraceMemory(const capture::Trace& trace, size_t arguments);
  bool same(const TraceMemory& other, size_t parameters) const;

  std::string text;
  Tensors lifted;
  std::vector<int64_t> places;
};

class Version {
 public:
  // Captures `body` as it would run now on these arguments, which are different tensors.
  Version(const capture::Body& body, const Tensors& arguments, const capture::TraceOptions& trace,
          const ProgramOptions& options);

  // The digest under which the cache has what such a version runs; compiles nothing.
  static std::string cache_key(const capture::Body& body, const Tensors& arguments,
                               const capture::TraceOptions& trace, const ProgramOptions& options);

  // Whether the function would be captured alike now. Compiles nothing. Only of a version that
  // remembers its trace.
  bool is_current(const capture::Body& body, const Tensors& arguments,
                  const capture::TraceOptions& trace, size_t parameters) const;

  // Tensors that the function reached by itself, as they were at capture.
  const Tensors& lifted() const { return lifted_; }
  void forget_lifted() { lifted_.clear(); }  // of a caller that finds them anew at every call
  const std::vector<ir::Role>& lifted_roles() const { return lifted_roles_; }
  // Whether a call with these inputs (arguments, then what is lifted) may run this; else why not.
  bool matches(const Tensors& inputs) const;
  std::string difference(const Tensors& inputs) const;

  // `state`: see CompiledNode::ask_state.
  Tensors call(const Tensors& inputs, const Callback<size_t()>& state = {});
  Programs& programs() const { return *programs_; }
  std::string text() const;  // of the graph of its forward
  // Whether the gradient runs code of the user, which may read what it likes when it is traced.
  bool runs_code_of_user() const { return capture::runs_code_of_user(programs_->function()); }
  // Refuses a gradient whose code of the user does something else each time it runs.
  void check_gradient(const Tensors& inputs) { programs_->check_gradient(inputs); }
  // Whether a call does work beside which handing over a lock is nothing.
  bool is_long() const;

  // What a call must look like, for people: per input, and beside the inputs.
  const std::vector<TensorGuard>& guards() const { return guards_; }
  std::vector<std::string> conditions() const;
  const std::vector<timing::Time>& phases() const { return phases_; }  // of capturing it

 private:
  Version();  // in the modes of now
  void capture(const capture::Body& body, const Tensors& arguments,
               const capture::TraceOptions& trace, const ProgramOptions& options);
  void make(size_t arguments);
  bool is_plain() const;
  std::string about_inputs() const;
  Tensors reserve_seeds() const;
  Tensors inputs_before(const Tensors& inputs, bool record) const;
  void hold_live(CompiledNode& node, const Tensors& inputs) const;
  void relayout(const Tensors& inputs) const;
  void write_back(const Tensors& inputs, const Tensors& values) const;
  Tensors make_results(const Tensors& inputs, Tensors values) const;
  void relate_views(const Tensors& inputs, const Tensors& results) const;
  void make_before(size_t i, const Tensors& inputs, Tensors& outputs) const;
  void make_output(size_t i, const Tensors& inputs, const Tensors& results, std::vector<bool>& done,
                   Tensors& outputs) const;

  std::shared_ptr<capture::Trace> trace_;
  TraceMemory memory_;
  Ref<Programs> programs_;
  Tensors lifted_;
  std::vector<ir::Role> lifted_roles_;
  std::vector<TensorGuard> guards_;
  std::vector<size_t> aliases_;  // empty: it does not matter
  std::vector<timing::Time> phases_;
  bool grad_mode_, inference_mode_, records_;
  bool live_is_saved_ = false;  // code of the user may reach what the call saves
  bool plain_ = false;  // the caller gets what the programs compute, and nothing else happens
  DType default_dtype_;
};

}  // namespace fg::compiler
