// The node of a recorded op: gradient rules, the values they declared, and the other arguments.
#pragma once

#include "autograd/meta.h"
#include "autograd/saved_value.h"

namespace fg::autograd {

class OpNode : public Node, private ir::VjpSource {
 public:
  OpNode(const ir::Gradient& gradient, ir::Arguments arguments);

  std::string name() const override { return gradient_.node_name; }
  Tensors apply(Tensors&& grads) override;
  void release_variables() override;

  // Takes the edges of the inputs and saves the values that rules of needed inputs read. `original`
  // stands in for the first input where that is overwritten.
  void connect(ir::Operands inputs, const Tensor* original = nullptr);
  void save_outputs(std::span<const Tensor> outputs, bool inplace_on_view = false);

  size_t saved_count() const override { return saved_.size(); }
  SavedValue* saved_value(size_t i) override { return &saved_[i]; }
  std::string saved_name(size_t i) const override;
  // Whether a rule reads the input of this name, so that it is saved when a gradient needs it.
  bool may_save(std::string_view input) const;
  // A kept argument that is no tensor; false when there is none of this name.
  bool find_argument(std::string_view name, ir::Value& value) const;
  const ir::Gradient& gradient() const { return gradient_; }
  const void* arguments() const { return arguments_.get(); }
  std::span<const ir::ShapeOf> shapes() const { return {shapes_.begin(), shapes_.end()}; }

 private:
  Tensor unpack_input(int input, int element) override;
  Tensor unpack_output(int output) override;
  const ir::ShapeOf& shape(int input, int element) override;
  int list_size(int input) override { return elements(input); }
  int elements(int input) const { return input == list_input_ ? list_count_ : 1; }
  bool needs(int input, int element) override;
  size_t flat(int input, int element) const;
  void run_rule(const ir::Rule& rule, const Tensors& grads, Tensors& results);
  size_t slot(uint32_t bits, int index, int element) const;

  const ir::Gradient& gradient_;
  ir::Arguments arguments_;
  ir::Saves saves_;  // of the rules that can run
  int inputs_ = 0, list_input_ = -1, list_count_ = 1;
  SmallVector<SavedValue, 2> saved_;  // inputs, then outputs
  size_t saved_inputs_ = 0;
  SmallVector<ir::ShapeOf, 1> shapes_;
  bool released_ = false;
};

}  // namespace fg::autograd
