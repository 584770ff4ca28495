// The node of a call of compiled code.
#pragma once

#include "autograd/saved_value.h"
#include "compile/programs.h"

namespace fg::compiler {

class CompiledNode : public autograd::Node {
 public:
  CompiledNode(Ref<Programs> programs, const Tensors& inputs, Tensors seeds);

  std::string name() const override { return "CompiledFunctionBackward"; }
  Tensors apply(Tensors&& grads) override;
  void release_variables() override;
  void check_watched(uint32_t output) const override;
  bool leads_to_wanted(uint32_t output) const override;
  bool is_one_function() const override { return false; }
  size_t saved_count() const override { return saved_.size(); }
  autograd::SavedValue* saved_value(size_t i) override { return &saved_[i]; }
  std::string saved_name(size_t) const override { return "tensors"; }

  // Keeps values of the forward, beside the inputs; called after it ran.
  void expect(size_t count) { saved_.reserve(count); }
  void keep(const Tensor& value, bool output) { saved_.emplace_back(value, output); }
  // Watches versions: a later write is an error of every backward for which eager code would have
  // saved the tensor, kept here or not. Inputs that the call itself wrote are not watched.
  void watch_input(size_t i, const Tensor& input);
  void watch_outputs(const Tensors& outputs, const std::vector<size_t>& which);
  // Takes the function that numbers the state of all that code of the user reads beside tensors. It
  // is asked before every run; a backward is traced for each state.
  void ask_state(Callback<size_t()> state) { state_ = std::move(state); }
  // An input that code of the user reaches in the backward, as the caller has it.
  void hold_live(size_t i, Tensor input) { live_.emplace_back(i, std::move(input)); }

 private:
  Tensors held_inputs();
  const autograd::SavedValue& saved_input(size_t i) const;
  bool is_last_call() const;
  void free_saved();
  void check_versions(const std::vector<size_t>& watched) const;
  void check_version(const autograd::SavedValue& value) const;
  void check_all_versions(const capture::Tangents& kinds) const;
  void check_hooks_of_first() const;
  // `given`: the incoming gradients as the engine has them, for a backward that writes to them.
  Tensors run(const Request& request, Tensors tangents, const Tensors& given);
  const Tensor& live(size_t input) const;
  Tensors targets_of(const Backward& backward, const Tensors& given) const;
  static void write_back(const Backward& backward, const Tensors& targets, Tensors& results);
  Tensors run_again(const Request& request, Tensors tangents);
  Tensors unpack_inputs(Programs& gradient, std::vector<size_t>& written);

  Ref<Programs> programs_;
  Tensors seeds_;
  Callback<size_t()> state_;
  std::vector<autograd::SavedValue> saved_, saved_inputs_;  // inputs: only those needed
  std::map<size_t, autograd::SavedValue> watched_;          // inputs, then outputs
  std::vector<std::pair<size_t, Tensor>> live_;
  // Set in a call of a gradient: the node of the call that is differentiated, and those of its
  // outputs through which an eager second derivative goes.
  Ref<Node> first_;
  std::vector<uint32_t> through_;
  bool released_ = false;
};

}  // namespace fg::compiler
