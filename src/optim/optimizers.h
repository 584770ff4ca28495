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

#define FG_ADADELTA(SETTING)                                                                 \
  SETTING(double, lr, at_least_0, "size of a step", 1.0)                                     \
  SETTING(double, rho, from_0_to_1, "part of the means of squares that stays", 0.9)          \
  SETTING(double, eps, at_least_0, "added to both means before their roots", 1e-6)           \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(Adadelta, FG_ADADELTA);

#define FG_ADAFACTOR(SETTING)                                                                    \
  SETTING(double, lr, at_least_0, "size of a step", 1e-2)                                        \
  SETTING(double, beta2_decay, at_most_0,                                                        \
          "step n takes the part n^beta2_decay of its squares into the mean", -0.8)              \
  SETTING(fg::optim::Epsilons, eps, at_least_0,                                                  \
          "least mean of squares (none: that of the dtype) and least size of a parameter",       \
          std::nullopt, 1e-3)                                                                    \
  SETTING(double, d, at_least_1, "largest root of the mean square of an update", 1.0)            \
  SETTING(double, weight_decay, at_least_0, "times lr, part that a parameter loses before", 0.0) \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(Adafactor, FG_ADAFACTOR);

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

#define FG_ADAMAX(SETTING)                                                                   \
  SETTING(double, lr, at_least_0, "size of a step", 2e-3)                                    \
  SETTING(fg::optim::Betas, betas, at_least_0_below_1,                                       \
          "parts of the mean of gradients and of their largest size that stay", 0.9, 0.999)  \
  SETTING(double, eps, at_least_0, "added to the size of a gradient", 1e-8)                  \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(Adamax, FG_ADAMAX);

#define FG_ASGD(SETTING)                                                                     \
  SETTING(double, lr, at_least_0, "size of a step", 1e-2)                                    \
  SETTING(double, lambd, any, "times the rate, part that a parameter loses", 1e-4)           \
  SETTING(double, alpha, any, "power with which the rate decays", 0.75)                      \
  SETTING(double, t0, any, "step after which the average begins", 1e6)                       \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(ASGD, FG_ASGD);

#define FG_MUON(SETTING)                                                                         \
  SETTING(double, lr, at_least_0, "size of a step", 1e-3)                                        \
  SETTING(double, weight_decay, at_least_0, "times lr, part that a parameter loses before", 0.1) \
  SETTING(double, momentum, at_least_0, "part of the mean of gradients that stays", 0.95)        \
  SETTING(bool, nesterov, any, "steps look ahead along the momentum", true)                      \
  SETTING(fg::optim::Coefficients, ns_coefficients, any,                                         \
          "coefficients of the Newton-Schulz polynomial", 3.4445, -4.7750, 2.0315)               \
  SETTING(double, eps, at_least_0, "least norm that is divided by", 1e-7)                        \
  SETTING(int64_t, ns_steps, any, "steps of the Newton-Schulz iteration", 5)                     \
  SETTING(fg::optim::OptText, adjust_lr_fn, any,                                                 \
          "rule for the rate by sizes: original or match_rms_adamw", std::nullopt)
FG_OPTIMIZER(Muon, FG_MUON);

#define FG_NADAM(SETTING)                                                                    \
  SETTING(double, lr, at_least_0, "size of a step", 2e-3)                                    \
  SETTING(fg::optim::Betas, betas, at_least_0_below_1,                                       \
          "parts of the means of gradients and of squares that stay", 0.9, 0.999)            \
  SETTING(double, eps, at_least_0, "added to what is divided by", 1e-8)                      \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(double, momentum_decay, at_least_0, "rate at which the momentum grows", 4e-3)      \
  SETTING(bool, decoupled_weight_decay, any, "weight_decay is that of AdamW", false)         \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(NAdam, FG_NADAM);

#define FG_RADAM(SETTING)                                                                    \
  SETTING(double, lr, at_least_0, "size of a step", 1e-3)                                    \
  SETTING(fg::optim::Betas, betas, at_least_0_below_1,                                       \
          "parts of the means of gradients and of squares that stay", 0.9, 0.999)            \
  SETTING(double, eps, at_least_0, "added to what is divided by", 1e-8)                      \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(bool, decoupled_weight_decay, any, "weight_decay is that of AdamW", false)         \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(RAdam, FG_RADAM);

#define FG_RMSPROP(SETTING)                                                                  \
  SETTING(double, lr, at_least_0, "size of a step", 1e-2)                                    \
  SETTING(double, alpha, at_least_0, "part of the mean of squares that stays", 0.99)         \
  SETTING(double, eps, at_least_0, "added to what a gradient is divided by", 1e-8)           \
  SETTING(double, weight_decay, at_least_0, "part of a parameter that its gradient gets", 0) \
  SETTING(double, momentum, at_least_0, "part of the last step that goes on", 0)             \
  SETTING(bool, centered, any, "divides by the deviation from the mean gradient", false)     \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(RMSprop, FG_RMSPROP);

#define FG_RPROP(SETTING)                                                                         \
  SETTING(double, lr, at_least_0, "first size of all steps", 1e-2)                                \
  SETTING(fg::optim::Betas, etas, any, "factors of a step after a turn and after none", 0.5, 1.2) \
  SETTING(fg::optim::Betas, step_sizes, any, "least and largest size of a step", 1e-6, 50)        \
  SETTING(bool, maximize, any, "steps go up the gradient", false)
FG_OPTIMIZER(Rprop, FG_RPROP);

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
using OptimizerSettings = std::variant<Adadelta, Adafactor, Adagrad, Adam, AdamW, Adamax, ASGD,
                                       Muon, NAdam, RAdam, RMSprop, Rprop, SGD>;

}  // namespace fg
