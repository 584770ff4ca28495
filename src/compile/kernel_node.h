// The node of a call of compiled code.
#pragma once

#include "autograd/saved_value.h"
#include "compile/kernel.h"

namespace fg::compiler {

class KernelNode : public autograd::Node {
 public:
  KernelNode(Ref<Kernel> kernel, const Tensors& inputs, Tensors seeds);

  std::string name() const override { return "CompiledFunctionBackward"; }
  Tensors apply(Tensors&& grads) override;
  void release_variables() override;
  void check_watched(uint32_t output) const override;
  size_t saved_count() const override { return saved_.size(); }
  autograd::SavedValue* saved_value(size_t i) override { return &saved_[i]; }
  std::string saved_name(size_t) const override { return "tensors"; }

  // After the forward: what it kept, beside the inputs.
  void keep(const Tensor& value, bool output) { saved_.emplace_back(value, output); }

 private:
  Tensors held_inputs();
  Tensors run(const capture::Tangents& kinds, Tensors tangents);
  Tensors run_again(const capture::Tangents& kinds, Tensors tangents);

  Ref<Kernel> kernel_;
  Tensors seeds_;
  std::vector<autograd::SavedValue> saved_, saved_inputs_;
  bool released_ = false;
};

}  // namespace fg::compiler
