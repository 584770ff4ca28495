// The random kind: primitives whose kernels take their numbers from a generator. The generator is a
// parameter, and numbers are reserved when the kernel runs, so shape rules draw nothing.
#pragma once

#include "ops/random/random_kernel.h"

namespace fg::ops {

using OptGenerator = std::optional<Generator>;
using kernels::Distribution;

struct RandomParams {
  Dims size;
  DType dtype;
  Distribution distribution;
  double a, b;  // see Distribution
  OptGenerator generator;
  bool operator==(const RandomParams&) const = default;
};
// A tensor of independent values. `who` names the caller when the dtype is not floating.
Tensor draw(const RandomParams& params, const char* who);

// Integers in [low, high); no high: up to the largest that the dtype holds.
Tensor draw_integers(const Dims& size, DType dtype, int64_t low, std::optional<int64_t> high,
                     const OptGenerator& generator, const char* who);

// The next numbers of a generator, or of the process's own.
PhiloxKey reserve(const OptGenerator& generator, Dim numbers);

}  // namespace fg::ops
