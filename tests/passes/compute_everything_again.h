// Even tiny values are computed again while this lives.
#pragma once

#include "passes/compute_again.h"

namespace fg::passes {

class ComputeEverythingAgain {
 public:
  ComputeEverythingAgain() : before_(again_limits) {
    again_limits = {.least_bytes = 1, .least_part = int64_t{1} << 40};
  }
  ~ComputeEverythingAgain() { again_limits = before_; }
  ComputeEverythingAgain(const ComputeEverythingAgain&) = delete;
  ComputeEverythingAgain& operator=(const ComputeEverythingAgain&) = delete;

 private:
  AgainLimits before_;
};

}  // namespace fg::passes
