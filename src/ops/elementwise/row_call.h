// The kernel that an elementwise primitive ran, for code that runs it again over other rows.
#pragma once

#include "ops/kernels/row.h"

namespace fg::ops {

struct ElementwiseInfo;

struct RowCall {
  const ElementwiseInfo* info = nullptr;
  kernels::RowKernel kernel = nullptr;  // null: no elementwise primitive ran
  DType compute{};
};

// While alive, the last evaluation of an elementwise primitive on this thread is written to `call`.
class WatchRowCall {
 public:
  explicit WatchRowCall(RowCall& call);
  ~WatchRowCall();
  WatchRowCall(const WatchRowCall&) = delete;
  WatchRowCall& operator=(const WatchRowCall&) = delete;

 private:
  RowCall* before_;
};

}  // namespace fg::ops
