// Eager updates of many parameters at once.
#pragma once

#include <span>

#include "optim/description.h"

namespace fg::optim {

// A parameter with all that its update reads and writes.
struct Subject {
  Tensor parameter, gradient;
  Tensors state;
};

// One update of each, without recording. Under an interpreter the formulas run one by one.
void update_all(const Formula& formula, std::span<const Subject> all);

// An update that records for gradients: the parameter is written in place, the next state is made
// anew and put in the place of the one before.
void update_recorded(const Formula& formula, Subject& subject);

// Numbers of a rate that is a tensor: linear functions of it, so that gradients reach it.
std::vector<Number> numbers_of_rate(const OptimizerSettings& settings, int64_t step,
                                    const Memory& memory, const Tensor& rate);

}  // namespace fg::optim
