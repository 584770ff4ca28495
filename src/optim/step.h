// fg::compile_step: forward, backward, clipping and an optimiser's update as one compiled program.
//
//   auto step = fg::compile_step([&](const Tensor& x, const Tensor& y) { return loss_of(x, y); },
//                                model.parameters(), fg::AdamW{.lr = 1e-3}, {.clip_norm = 1.0});
//   Tensor loss = step(x, y);   // parameters and state are updated in place
//   step.set_lr(5e-4);          // captures nothing anew
//
// Numbers agree with torch.optim and clip_grad_norm_. Fields `.grad` are neither read nor written.
// A parameter that gets no gradient or needs none is left alone. A step is for one thread at a
// time.
#pragma once

#include "autograd/autograd.h"
#include "compile/compile.h"
#include "optim/clip.h"
#include "optim/description.h"

namespace fg {

struct ParameterGroup {
  Tensors parameters;
  OptimizerSettings optimizer;
};

struct StepOptions {
  std::optional<double> clip_norm{}, clip_value{};  // of all gradients together; of each element
  bool error_if_nonfinite = false;                  // of clip_norm
  bool fullgraph = false;
  std::string name = "a compiled step";
};

namespace compiler {

// An update that some parameters have in common: the formula's name, its numbers, the parameters
// and the state of each. Containers that fg::compile looks into.
using Rule = std::tuple<std::string, optim::Numbers, Tensors, std::vector<Tensors>>;
using Rules = std::vector<Rule>;
// The limit of the norm, that of each element, and whether a norm that is not finite is an error.
using Clip = std::tuple<OptScalar, OptScalar, bool>;
Clip clip_of(const StepOptions& options);

struct Applied {
  Tensor norm;               // of all gradients; undefined if it was not asked for
  std::vector<int> updated;  // 1: the parameter had a gradient
};
// Gradients of the parameters of all rules, in order; undefined if the loss does not depend on one.
Tensors gradients_of(const Tensor& loss, const Rules& rules);
Applied apply_rules(const Rules& rules, Tensors gradients, const Clip& clip);

// The parameters of a step, the state of their optimisers, and the number of updates of each.
class StepState {
 public:
  // `who`: the owner of the parameters, as messages name it.
  explicit StepState(std::vector<ParameterGroup> groups, std::string who = "compile_step");
  void add_group(ParameterGroup group);

  std::vector<ParameterGroup>& groups() { return groups_; }
  size_t count() const { return slots_.size(); }  // of parameters
  void set_lr(double lr);
  // The rules of the next call. Makes state that is not there yet.
  Rules next_rules();
  void advance(const std::vector<int>& updated);  // after a call, as apply_rules returned it
  void check_trained() const;                     // refuses if all parameters are frozen

  // State by PyTorch's names; empty before the first update, unless PyTorch has it before.
  // Parameters count through all groups.
  using Named = std::map<std::string, Tensor>;
  Named state(size_t parameter) const;
  void load(size_t parameter, const Named& state);
  size_t place_of(const Tensor& parameter) const;

 private:
  struct Slot {
    Tensor parameter;
    size_t group;
    Named state{};
    int64_t steps = 0;
    optim::Memory memory{}, next_memory{};  // the latter after the rules that came last
  };
  void prepare(Slot& slot) const;
  void prepare_call();

  std::vector<ParameterGroup> groups_;
  std::string who_;
  std::vector<Slot> slots_;
  std::vector<size_t> order_;  // of the parameters in the rules that came last
};

// The function that is captured: it takes rules, limits and the arguments of the loss.
template <class F>
struct StepBody {
  F loss;

  template <class... Args>
    requires std::is_invocable_v<const F&, const Args&...>
  auto operator()(const Rules& rules, const Clip& clip, const Args&... args) const {
    auto result = loss(args...);
    Tensor first;
    auto detach = [&](Tensor& tensor) {
      if (!first.defined()) first = tensor;
      tensor = tensor.detach();
    };
    visit_tensors(result, Numbers::inputs, detach);
    Applied applied = apply_rules(rules, gradients_of(first, rules), clip);
    return std::tuple(std::move(result), std::move(applied.norm), std::move(applied.updated));
  }

  Tensors parameters() const {
    if constexpr (HasParameters<F>) return loss.parameters();
    return {};
  }
  std::string capture_key() const { return capture_key_of(loss); }
};

template <class F>
class CompiledStep {
 public:
  CompiledStep(F loss, std::vector<ParameterGroup> groups, const StepOptions& options)
      : options(options),
        state_(std::make_shared<StepState>(std::move(groups))),
        run_(
            {std::move(loss)},
            make_versions({.fullgraph = options.fullgraph, .name = options.name}, holds_state<F>)) {
  }

  // Returns the result of the loss function, detached: the loss, or containers that begin with it.
  template <class... Args>
  auto operator()(const Args&... args) {
    state_->check_trained();
    auto [result, norm, updated] = run_(state_->next_rules(), clip_of(options), args...);
    state_->advance(updated);
    grad_norm_ = norm;
    return result;
  }

  // The key of the cache, as in CompiledFunction. Makes state that is not there yet.
  template <class... Args>
  std::string cache_key(const Args&... args) {
    return run_.cache_key(state_->next_rules(), clip_of(options), args...);
  }

  double lr() const { return optim::lr_of(state_->groups()[0].optimizer); }
  void set_lr(double lr) { state_->set_lr(lr); }  // of all groups
  std::vector<ParameterGroup>& groups() { return state_->groups(); }
  const Tensor& grad_norm() const { return grad_norm_; }  // of the last call, before clipping

  StepState::Named state(const Tensor& parameter) const {
    return state_->state(state_->place_of(parameter));
  }
  void load_state(const Tensor& parameter, const StepState::Named& state) {
    state_->load(state_->place_of(parameter), state);
  }

  // A page of HTML about the compiled step; takes about as long as compiling it did.
  std::string explain() const { return run_.explain(); }

  StepOptions options;  // limits may be changed at any time

 private:
  std::shared_ptr<StepState> state_;
  CompiledFunction<StepBody<F>> run_;
  Tensor grad_norm_;
};

}  // namespace compiler

template <class F>
compiler::CompiledStep<std::decay_t<F>> compile_step(F&& loss, std::vector<ParameterGroup> groups,
                                                     const StepOptions& options = {}) {
  return {std::forward<F>(loss), std::move(groups), options};
}

// `parameters`: tensors, or an object with parameters().
template <class F, class P>
auto compile_step(F&& loss, const P& parameters, const OptimizerSettings& optimizer,
                  const StepOptions& options = {}) {
  Tensors tensors;
  if constexpr (compiler::HasParameters<P>)
    tensors = parameters.parameters();
  else
    tensors = Tensors(std::begin(parameters), std::end(parameters));
  return compile_step(std::forward<F>(loss),
                      std::vector<ParameterGroup>{{std::move(tensors), optimizer}}, options);
}

}  // namespace fg
