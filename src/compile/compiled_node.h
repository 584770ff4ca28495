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

  // After the forward: what it kept, beside the inputs.
  void expect(size_t count) { saved_.reserve(count); }
  void keep(const Tensor& value, bool output) { saved_.emplace_back(value, output); }
  // From now on a write to one of these is an error of a backward for which eager code would have
  // saved it, whatever was kept in fact. Inputs are watched, except for those that the call wrote.
  void watch_input(size_t i, const Tensor& input);
  void watch_outputs(const Tensors& outputs, const std::vector<size_t>& which);
  // Asked before every run, where code of the user may read more than tensors: the number of the
  // state in which those things are now. A backward is traced for each.
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
  // `given` are the gradients that come, as the engine has them, where a backward may write there.
  Tensors run(const Request& request, Tensors tangents, const Tensors& given);
  const Tensor& live(size_t input) const;
  Tensors targets_of(const Backward& backward, const Tensors& given) const;
  static void write_back(const Backward& backward, const Tensors& targets, Tensors& results);
  Tensors run_again(const Request& request, Tensors tangents);
  Tensors unpack_inputs(Programs& gradient, std::vector<size_t>& written);

  Ref<Programs> programs_;
  Tensors seeds_;
  Callback<size_t()> state_;
  std::vector<autograd::SavedValue> saved_, saved_inputs_;  // of the inputs those that are needed
  std::map<size_t, autograd::SavedValue> watched_;          // inputs, then outputs
  std::vector<std::pair<size_t, Tensor>> live_;
  // Of a call of a gradient: the node of the call that it is the gradient of, and the outputs of
  // that one which an eager second derivative goes through.
  Ref<Node> first_;
  std::vector<uint32_t> through_;
  bool released_ = false;
};

}  // namespace fg::compiler
