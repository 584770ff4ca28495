// Optimisers that take one step at a time, as torch::optim: they read `.grad` of their parameters.
//
//   fg::optim::AdamW optimizer(model->parameters(), {.lr = 3e-4});
//   optimizer.zero_grad();
//   loss.backward();
//   optimizer.step();
//
// The formulas are those of fg::compile_step, which does all of it as one program: equal bits.
#pragma once

#include "base/callback.h"
#include "nn/ordered_dict.h"
#include "optim/step.h"

namespace fg::optim {

class Optimizer {
 public:
  Optimizer(std::vector<ParameterGroup> groups, std::string name);
  virtual ~Optimizer() = default;

  void zero_grad(bool set_to_none = true);
  // Updates the parameters that have a gradient.
  void step();
  // Runs the closure, which computes the loss and its gradients, then step(); returns the loss.
  Tensor step(const Callback<Tensor()>& closure);

  // Settings may be changed at any time.
  std::vector<ParameterGroup>& param_groups() { return state_.groups(); }
  void add_param_group(ParameterGroup group) { state_.add_group(std::move(group)); }
  double lr() const;                             // of the first group
  void set_lr(double lr) { state_.set_lr(lr); }  // of all groups
  Tensors parameters() const;

  // The state of each parameter, by number and PyTorch's name: "0.exp_avg". Settings of groups
  // are not part of it.
  OrderedDict<Tensor> state_dict() const;
  void load_state_dict(const OrderedDict<Tensor>& state);

 private:
  mutable compiler::StepState state_;
};

// The optimiser of these settings: optim::SGD is EagerOptimizer<fg::SGD> (optim/optimizers.h).
template <class Settings>
class EagerOptimizer : public Optimizer {
 public:
  explicit EagerOptimizer(Tensors parameters, const Settings& settings = {})
      : Optimizer({{std::move(parameters), settings}}, name(Settings{})) {}
  explicit EagerOptimizer(std::vector<ParameterGroup> groups)
      : Optimizer(std::move(groups), name(Settings{})) {}
};

// The rate of a step: up in a straight line for `warmup` steps, then down along a cosine until
// `total`, and `low` after that.
struct CosineSchedule {
  double high, low = 0;
  int64_t warmup = 0, total = 1;
  double operator()(int64_t step) const;  // counted from 0
};

}  // namespace fg::optim

namespace fg::nn::utils {

// Scales the gradients of parameters so that their norm is at most max_norm; gives the norm before.
double clip_grad_norm_(const Tensors& parameters, double max_norm, double norm_type = 2,
                       bool error_if_nonfinite = false);
// The two halves of clip_grad_norm_, with the norm as a tensor: these may be captured.
Tensor get_total_norm(const Tensors& tensors, double norm_type = 2,
                      bool error_if_nonfinite = false);
void clip_grads_with_norm_(const Tensors& parameters, double max_norm, const Tensor& total_norm);
void clip_grad_value_(const Tensors& parameters, double clip_value);

// All elements as one vector, and back.
Tensor parameters_to_vector(const Tensors& parameters);
void vector_to_parameters(const Tensor& vector, const Tensors& parameters);

}  // namespace fg::nn::utils
