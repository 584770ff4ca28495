// Programs of one captured function: its forward, its backwards by the gradients that come and are
// asked for, and the identity under which the cache has them. One node of autograd stands over
// them. A gradient that is differentiated in its turn has Programs of its own.
#pragma once

#include <algorithm>
#include <atomic>
#include <map>

#include "cache/cache.h"
#include "capture/identity.h"
#include "compile/programs_parts.h"

namespace fg::compiler {

using Partition = Callback<std::vector<passes::Saved>(const passes::JointGraph& joint)>;

struct ProgramOptions {
  Backend forward{}, backward{};     // none: compile_default
  Partition partition{};             // none: save what the backward reads
  bool passes = true;                // false: graphs reach the back ends as they were captured
  bool native = false;               // without back ends: native code or an error
  bool remember_trace = false;       // to be compared with another one later
  std::string partition_name{};      // a name of the partition for the key of the cache
  std::string about{};               // facts about the call, for the key of the cache
  Callback<std::string()> guards{};  // the guards as text, for people
  Backend inference{};               // of a forward that is not recorded; none: forward
};

class CompiledNode;

class Programs : public Counted {
 public:
  // `known`: values that its calls are given beside the inputs.
  Programs(capture::Function function, ProgramOptions options, std::vector<ir::ValueId> known = {});
  static void destroy(Programs* programs) { delete programs; }

  const capture::Function& function() const { return function_; }
  // Runs on real tensors, one per input and known value, with the seeds of its random numbers.
  // With `record` the differentiable outputs get this call as their history: a node, which is also
  // put into `made`.
  Tensors call(const Tensors& inputs, const Tensors& known, const Tensors& seeds, bool record,
               Ref<CompiledNode>* made = nullptr);

  // Compiles the forward, or finds it in the cache. Its graph is read from there when asked for.
  void prepare(bool record) { forward(record); }
  const ir::Graph& forward_graph(bool record);
  int64_t work(bool record) { return forward(record).work; }  // about how many elements it computes
  const Dims& saved_strides(size_t i) const { return training_->saved_strides[i]; }
  ir::ValueInfo input_info(size_t i) const;  // as calls give it
  // Whether eager code would have saved any output, or this one, for the backward; if recorded.
  bool reads_results() const { return !training_->watched.empty(); }
  bool is_read_back(size_t output) const {
    const std::vector<size_t>& watched = training_->watched;
    return std::find(watched.begin(), watched.end(), output) != watched.end();
  }
  // Whether the gradient of an input depends on incoming gradients; if recorded.
  bool gradient_varies(size_t input) const { return training_->varies[input]; }
  // Inputs, then outputs, saved by nodes behind a differentiable output that lead to no input.
  const std::vector<size_t>& watched_behind(size_t output) const {
    return training_->watched_behind[output];
  }
  const capture::Reach& reach() const { return training_->reach; }
  // Whether a gradient gets to an input, for each input that needs one.
  const std::vector<bool>& reached() const { return training_->reached; }
  // Whether a recorded call keeps the i-th input to compare its version; or for derivatives of
  // higher order, where the forward does not keep it anyway.
  bool holds(size_t i) const { return training_->held[i]; }
  bool holds_for_again(size_t i) const { return training_->again[i]; }
  // The place of an input among the values that the forward keeps.
  std::optional<size_t> kept_place(size_t input) const;
  // Whether a call may keep memory that code of the user reaches in a backward as a live input.
  bool may_save_live() const;
  // Live inputs: code of the user reaches them in a backward, so a call hands them to its node.
  // Those of them, and of incoming gradients (numbered after the inputs), that such code writes to.
  const std::vector<size_t>& live() const { return training_->live; }
  const std::vector<size_t>& written() const { return training_->written; }
  // Traces the gradient once more, for a call with these inputs, and refuses it if code of the user
  // does something else each time.
  void check_gradient(const Tensors& inputs);
  // Whether a recorded call reads or keeps the i-th input, or known value after them.
  bool uses(size_t i) { return forward(true).used[i]; }
  std::string plan();  // saved values, each with the reason
  // The digest under which the cache has the forward; compiles nothing.
  std::string cache_key(bool record);

  // A graph after the passes, as it was made ready to run; for people.
  struct CompiledGraph {
    std::string title;
    ir::Graph graph;
    std::vector<timing::Time> phases;  // of a backward; a forward is made with its version
    std::string from;                  // the cache; empty: it was compiled
  };
  // The forward, then the backwards of all requests so far; without any, that of the usual request.
  // Gradients that are differentiated again have their own.
  std::vector<CompiledGraph> compiled_graphs();
  struct SavedInfo {
    ir::ValueId value;  // of the recorded forward's graph
    std::string from, why;
  };
  std::vector<SavedInfo> saved();  // of a recorded forward

 private:
  friend class CompiledNode;
  // A gradient that can be differentiated in its turn.
  struct DifferentiableGradient {
    Ref<Programs> programs;
    std::vector<size_t> watched;
    std::vector<size_t> known;      // places of the saved values that its calls are given
    std::vector<uint32_t> through;  // differentiable outputs that its own gradient goes through
  };
  Forward& forward(bool record);
  Forward make_forward(bool record);
  Forward compile_forward(bool record, Forward plan, const cache::Key* key);
  // Plans the values that a call keeps for its backward, and the answers of its node to the engine.
  void plan_gradient(Forward& forward, const Tensors* inputs = nullptr) const;
  void ensure_placed(const Tensors* inputs);
  struct KeyOrReason {
    std::optional<cache::Key> key;
    std::string reason;  // why there is none
  };
  // Plans the gradient, too, where the nodes alone do not identify it.
  KeyOrReason identify(bool record, Forward& plan, bool& planned);
  // None: the function is not cached.
  std::optional<cache::Key> forward_key(bool record, Forward& plan, bool& planned);
  std::optional<cache::Key> backward_key(const Request& request,
                                         const capture::Function* gradient) const;
  const Backward* find_backward(const Request& request);  // null: it was not made yet
  // The backward for a call with these inputs, see gradient_of.
  const Backward& backward(const Request& request, const Tensors& inputs);
  Backward make_backward(const Request& request, const Tensors& inputs);
  Backward compile_backward(const Request& request, const Tensors& inputs,
                            std::optional<capture::Function> gradient, const cache::Key* key);
  const DifferentiableGradient& gradient(const Request& request, const Tensors& inputs);
  std::vector<size_t> watched_by(const capture::Function& gradient) const;
  static std::string text_of(const capture::Function& gradient);
  void find_held(const capture::Function& gradient, Forward& forward) const;
  void take_effects(const capture::Function& gradient, Backward& backward) const;
  ir::Graph cut_backward(const capture::Function& gradient) const;
  // The graph after the passes; `saved` gets the places of the saved values that it reads.
  ir::Graph backward_graph(const capture::Function& gradient, std::vector<size_t>& saved) const;
  void finish(ir::Graph& graph, const char* what) const;
  void find_used(const ir::Graph& graph, Forward& forward) const;
  static void find_alone(const ir::Graph& graph, std::vector<Kept>& kept);
  std::string partition_text(const std::vector<passes::Saved>& saved) const;
  // Texts about a compiled forward, for people: to be kept in its entry, or only logged.
  ForwardTexts take_texts(Forward& forward, bool kept) const;
  void add_joint(const Forward& forward, capture::Function whole, ForwardTexts& texts) const;
  passes::JointGraph joint(const capture::Function& gradient) const;
  ir::Ends forward_inputs() const;

  capture::Function function_;
  ProgramOptions options_;
  std::vector<ir::ValueId> known_;
  std::mutex mutex_;
  std::unique_ptr<Forward> inference_, training_;
  std::optional<cache::Key> key_;        // of the recorded forward
  capture::Lines lines_[2];              // of the keys of the forward, recorded or not
  bool known_by_nodes_ = true;           // the nodes identify its gradient
  std::atomic<Forward*> ready_[2] = {};  // the same two, read without the lock
  std::map<Request, Backward> backwards_;
  std::map<Request, DifferentiableGradient> gradients_;
};

}  // namespace fg::compiler
