// Even tiny values are computed again while this lives, unless the gain is too small a part.
#pragma once

#include "passes/compute_again.h"

namespace fg::passes {

class ComputeEverythingAgain {
 public:
  explicit ComputeEverythingAgain(int64_t least_part = int64_t{1} << 40) : before_(again_limits) {
    again_limits = {.least_bytes = 1, .least_part = least_part};
  }
  ~ComputeEverythingAgain() { again_limits = before_; }
  ComputeEverythingAgain(const ComputeEverythingAgain&) = delete;
  ComputeEverythingAgain& operator=(const ComputeEverythingAgain&) = delete;

 private:
  AgainLimits before_;
};

}  // namespace fg::passes
