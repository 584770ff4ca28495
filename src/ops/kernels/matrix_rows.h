// Parts of kernels that join matrix products with steps on rows (attention, recurrent layers): rows
// of a matrix, memory for a while, steps that are compiled for every level.
#pragma once

#include "base/level.h"
#include "ops/matmul/gemm_micro.h"
#include "tensor/allocator.h"
#include "tensor/dtype.h"

namespace fg::kernels {

inline int64_t round_up_to(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
inline int64_t part_count(int64_t size, int64_t part) { return (size + part - 1) / part; }

// The rows of one matrix.
template <class T>
struct Rows {
  T* data = nullptr;
  int64_t stride = 0;
  T* at(int64_t row) const { return data ? data + row * stride : nullptr; }
};

// f(zero of the dtype), which is f32 or f64.
template <class F>
void visit_float(DType dtype, const F& f) {
  dtype == kFloat64 ? f(double{}) : f(float{});
}

// Memory for a while, from the allocator that keeps it; packing may write a register too much.
template <class T>
class Buffer {
 public:
  explicit Buffer(int64_t count)
      : bytes_(static_cast<size_t>(count) * sizeof(T) + 1024), data_(fg::allocate(bytes_)) {}
  ~Buffer() { fg::deallocate(data_, bytes_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  T* get() const { return static_cast<T*>(data_); }

 private:
  size_t bytes_;
  void* data_;
};

template <class Step>
FG_KERNEL_V3 void run_step_v3(const Step& step) {
  step.template run<Level::v3>();
}
template <class Step>
FG_KERNEL_BASELINE void run_step_baseline(const Step& step) {
  step.template run<Level::baseline>();
}
template <Level L, class Step>
void run_step(const Step& step) {
  if constexpr (narrowed(L) == Level::v3) {
    run_step_v3(step);
  } else {
    run_step_baseline(step);
  }
}

}  // namespace fg::kernels
