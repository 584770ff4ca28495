// The random numbers of one element that needs a changing count of them: draws 0, 1, 2, ... are the
// counter's upper words (tensor/generator.h), so no element takes those of another.
#pragma once

#include "tensor/generator.h"

namespace fg::kernels {

class Draws {
 public:
  Draws(PhiloxKey key, int64_t element)
      : seed_(key.seed), counter_(key.offset + static_cast<uint64_t>(element)) {}
  UniformPair<double> next() { return uniform_pair<double>(philox(seed_, counter_, draw_++)); }

 private:
  uint64_t seed_, counter_, draw_ = 0;
};

}  // namespace fg::kernels
