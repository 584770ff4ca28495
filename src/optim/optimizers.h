// All optimisers: their settings, with PyTorch's names and defaults.
//
//   fg::compile_step(loss, model, fg::SGD{.lr = 0.1, .momentum = 0.9});
//   fg::optim::SGD optimizer(model->parameters(), {.lr = 0.1, .momentum = 0.9});
//   fg::optim::SGD optimizer(model->parameters(), fg::optim::SGDOptions(0.1).momentum(0.9));
//
// The other half of a description, its state and its formula, is the file <name>.cpp beside this
// one. Checks, eager class, compiled step, Python's classes, stubs and docstrings follow.
#pragma once

#include "optim/settings.h"

#define FG_ADAGRAD(SETTING)                                                                   \
  SETTING(double, lr, at_least_0, "size of a step", 1e-2)                                     \
  SETTING(double, lr_decay, at_least_0, "step n has the size lr / (1 + (n - 1) lr_decay)", 0) \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0)  \
  SETTING(double, initial_accumulator_value, at_least_0, "first value of the sums", 0)        \
  SETTING(double, eps, at_least_0, "added to what a gradient is divided by", 1e-10)           \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(Adagrad, FG_ADAGRAD);

#define FG_ADAM(SETTING)                                                                     \
  SETTING(double, lr, at_least_0, "size of a step", 1e-3)                                    \
  SETTING(fg::optim::Betas, betas, at_least_0_below_1,                                       \
          "parts of the means of gradients and of squares that stay", 0.9, 0.999)            \
  SETTING(double, eps, at_least_0, "added to what a mean is divided by", 1e-8)               \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(bool, amsgrad, any, "divides by the largest mean of squares so far", false)        \
  SETTING(bool, maximize, any, "steps go up the gradient", false)                            \
  SETTING(bool, decoupled_weight_decay, any, "weight_decay is that of AdamW", false)
FG_OPTIMIZER(Adam, FG_ADAM);

#define FG_ADAMW(SETTING)                                                                         \
  SETTING(double, lr, at_least_0, "size of a step", 1e-3)                                         \
  SETTING(fg::optim::Betas, betas, at_least_0_below_1,                                            \
          "parts of the means of gradients and of squares that stay", 0.9, 0.999)                 \
  SETTING(double, eps, at_least_0, "added to what a mean is divided by", 1e-8)                    \
  SETTING(double, weight_decay, at_least_0, "times lr, part that a parameter loses before", 1e-2) \
  SETTING(bool, amsgrad, any, "divides by the largest mean of squares so far", false)             \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(AdamW, FG_ADAMW);

#define FG_RMSPROP(SETTING)                                                                  \
  SETTING(double, lr, at_least_0, "size of a step", 1e-2)                                    \
  SETTING(double, alpha, at_least_0, "part of the mean of squares that stays", 0.99)         \
  SETTING(double, eps, at_least_0, "added to what a gradient is divided by", 1e-8)           \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(double, momentum, at_least_0, "part of the last step that goes on", 0)             \
  SETTING(bool, centered, any, "divides by the deviation from the mean gradient", false)     \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(RMSprop, FG_RMSPROP);

#define FG_SGD(SETTING)                                                                      \
  SETTING(double, lr, at_least_0, "size of a step", 1e-3)                                    \
  SETTING(double, momentum, at_least_0, "part of the last step that goes on", 0)             \
  SETTING(double, dampening, any, "part of a gradient that the momentum does not get", 0)    \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(bool, nesterov, any, "steps look ahead along the momentum", false)                 \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(SGD, FG_SGD);

namespace fg {

// The settings of some optimiser. The optimiser itself, which reads `.grad`, is optim::Optimizer.
using OptimizerSettings = std::variant<Adagrad, Adam, AdamW, RMSprop, SGD>;

}  // namespace fg
