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
  std::string partition_name{};      // by which the cache may know a partition of its own
  std::string about{};               // what was known of the call, for the key of the cache
  Callback<std::string()> guards{};  // the same for people
  Backend inference{};               // of a forward that is not recorded; none: forward
};

class CompiledNode;

class Programs : public Counted {
 public:
  // `known`: values beside the inputs that its calls are given too.
  Programs(capture::Function function, ProgramOptions options, std::vector<ir::ValueId> known = {});
  static void destroy(Programs* programs) { delete programs; }

  const capture::Function& function() const { return function_; }
  // Runs on real tensors, one per input and known value, with the seeds of its random numbers.
  // Outputs that are differentiable get this call as their history when `record`: the node that is
  // put into `made`.
  Tensors call(const Tensors& inputs, const Tensors& known, const Tensors& seeds, bool record,
               Ref<CompiledNode>* made = nullptr);

  // Compiles the forward, or finds it in the cache. Its graph is read from there when asked for.
  void prepare(bool record) { forward(record); }
  const ir::Graph& forward_graph(bool record);
  int64_t work(bool record) { return forward(record).work; }  // about how many elements it computes
  const Dims& saved_strides(size_t i) const { return training_->saved_strides[i]; }
  ir::ValueInfo input_info(size_t i) const;  // as it is given
  // Whether eager code would have saved an output for the backward, or any; of a recorded call.
  bool reads_results() const { return !training_->watched.empty(); }
  bool is_read_back(size_t output) const {
    const std::vector<size_t>& watched = training_->watched;
    return std::find(watched.begin(), watched.end(), output) != watched.end();
  }
  // Whether the gradient of an input depends on gradients that come; of a recorded call.
  bool gradient_varies(size_t input) const { return training_->varies[input]; }
  // Which inputs, then outputs, nodes behind a differentiable output have saved for nobody.
  const std::vector<size_t>& watched_behind(size_t output) const {
    return training_->watched_behind[output];
  }
  const capture::Reach& reach() const { return training_->reach; }
  // Of inputs that need a gradient: whether one gets there.
  const std::vector<bool>& reached() const { return training_->reached; }
  // Whether a recorded call keeps the i-th input to compare its version; or for derivatives of
  // higher order, where the forward does not keep it anyway.
  bool holds(size_t i) const { return training_->held[i]; }
  bool holds_for_again(size_t i) const { return training_->again[i]; }
  // The place of an input among the values that the forward keeps.
  std::optional<size_t> kept_place(size_t input) const;
  // Whether memory of an input that code of the user reaches in a backward may be kept, too.
  bool may_save_live() const;
  // Inputs that code of the user reaches in a backward: a call hands them to its node. Of those,
  // and of gradients that come (after the inputs), those that it writes to.
  const std::vector<size_t>& live() const { return training_->live; }
  const std::vector<size_t>& written() const { return training_->written; }
  // Traces the gradient once more, for a call with these inputs, and refuses it if code of the user
  // does something else each time.
  void check_gradient(const Tensors& inputs);
  // Whether a recorded call reads or keeps the i-th input, or known value after them.
  bool uses(size_t i) { return forward(true).used[i]; }
  std::string plan();  // what is saved and why
  // The digest under which the cache has the forward; makes nothing.
  std::string cache_key(bool record);

  // To look at: a graph that was made ready to run, after the passes.
  struct CompiledGraph {
    std::string title;
    ir::Graph graph;
    std::vector<timing::Time> phases;  // of a backward; a forward is made with its version
    std::string from;                  // the cache; empty: it was compiled
  };
  // The forward, then the backwards that were asked for: if none was, the one that most will be.
  // What is differentiated again has its own.
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
    std::vector<size_t> known;      // which of the saved values its calls are given
    std::vector<uint32_t> through;  // differentiable outputs that its own gradient goes through
  };
  Forward& forward(bool record);
  Forward make_forward(bool record);
  Forward compile_forward(bool record, Forward plan, const cache::Key* key);
  // What a call keeps for its backward, and how its node answers the engine.
  void plan_gradient(Forward& forward, const Tensors* inputs = nullptr) const;
  void ensure_placed(const Tensors* inputs);
  struct KeyOrReason {
    std::optional<cache::Key> key;
    std::string reason;  // why there is none
  };
  // Where nodes do not say what the gradient is, it is planned.
  KeyOrReason identify(bool record, Forward& plan, bool& planned);
  // None: the function is not cached.
  std::optional<cache::Key> forward_key(bool record, Forward& plan, bool& planned);
  std::optional<cache::Key> backward_key(const Request& request,
                                         const capture::Function* gradient) const;
  const Backward* find_backward(const Request& request);  // null: it was not made yet
  // For a call with these inputs, see gradient_of.
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
  // After the passes, and which of the saved values it reads.
  ir::Graph backward_graph(const capture::Function& gradient, std::vector<size_t>& saved) const;
  void finish(ir::Graph& graph, const char* what) const;
  void find_used(const ir::Graph& graph, Forward& forward) const;
  static void find_alone(const ir::Graph& graph, std::vector<Kept>& kept);
  std::string partition_text(const std::vector<passes::Saved>& saved) const;
  // Of a forward that is compiled: what people may want to see of it, to be kept, or logged alone.
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
  bool known_by_nodes_ = true;           // nodes say what its gradient is
  std::atomic<Forward*> ready_[2] = {};  // these two, for those who do not want to wait
  std::map<Request, Backward> backwards_;
  std::map<Request, DifferentiableGradient> gradients_;
};

}  // namespace fg::compiler
