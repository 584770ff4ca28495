// Optimisers as PyTorch defines them: their settings, and the formula of one update of a parameter.
//
//   optim::Numbers numbers = optim::numbers(AdamW{.lr = 1e-3}, step);
//   optim::adamw_update(parameter, {exp_avg, exp_avg_sq}, gradient, numbers);
//
// Numbers that change from step to step are computed in double beforehand: a captured update takes
// them as inputs, and another learning rate captures nothing anew. The formulas use only operations
// that fuse into one loop over a parameter.
#pragma once

#include <array>
#include <string>
#include <variant>
#include <vector>

#include "tensor/tensor.h"

namespace fg {

struct AdamW {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8, weight_decay = 1e-2;
  bool amsgrad = false, maximize = false;
};

// As AdamW, but weight_decay is added to the gradient.
struct Adam {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8, weight_decay = 0;
  bool amsgrad = false, maximize = false;
};

struct SGD {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};

using Optimizer = std::variant<AdamW, SGD, Adam>;

namespace optim {

// The numbers of a formula. None: that part of the formula is left out.
using Numbers = std::vector<OptScalar>;

void check(const Optimizer& settings);  // refuses what PyTorch refuses
// State that an optimiser keeps per parameter, by PyTorch's names: tensors like the parameter.
std::vector<std::string> state_names(const Optimizer& settings);

bool counts_steps(const Optimizer& settings);  // whether numbers depend on the count of steps
const char* name(const Optimizer& settings);

// Numbers of the `step`-th update of a parameter, counted from 1.
Numbers numbers(const AdamW& settings, int64_t step);
Numbers numbers(const Adam& settings, int64_t step);
Numbers numbers(const SGD& settings, int64_t step);
Numbers numbers(const Optimizer& settings, int64_t step);
// Writes the parameter and its state, without recording. State begins as zeros. adamw_update is
// that of Adam too.
void adamw_update(const Tensor& parameter, const Tensors& state, Tensor gradient,
                  const Numbers& numbers);
void sgd_update(const Tensor& parameter, const Tensors& state, Tensor gradient,
                const Numbers& numbers);

// The update of the optimiser of that name.
using Update = void (*)(const Tensor&, const Tensors&, Tensor, const Numbers&);
Update update_of(const std::string& name);
// The same bits for eager steps of large parameters: block after block, so that an operation finds
// the results of the one before it in a near cache.
void update_in_blocks(Update update, const Tensor& parameter, const Tensors& state,
                      const Tensor& gradient, const Numbers& numbers);

// The norm of all tensors together, and the factor that brings it down to at most `max_norm`.
Tensor norm_of(const Tensors& tensors, double norm_type = 2, bool error_if_nonfinite = false);
Tensor scale_for(const Tensor& norm, const Scalar& max_norm);

// clip_grad_norm_ and clip_grad_value_ for gradients that are not written to; undefined ones are
// left out. Returns the norm before.
Tensor clip_norm(Tensors& gradients, const Scalar& max_norm, bool error_if_nonfinite = false);
void clip_value(Tensors& gradients, const Scalar& limit);

}  // namespace optim
}  // namespace fg
