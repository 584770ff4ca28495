// FlushDenormals: while alive, float32 numbers below 1.2e-38 are zero on this thread. Some CPUs
// take a hundred times as long for them, and vanishing gradients are made of them.
#pragma once

#include <cstdint>

namespace fg::kernels {

class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() {
    asm volatile("stmxcsr %0" : "=m"(before_) : : "memory");
    uint32_t flushing = before_ | kInputs | kResults;
    asm volatile("ldmxcsr %0" : : "m"(flushing) : "memory");
  }
  ~FlushDenormals() { asm volatile("ldmxcsr %0" : : "m"(before_) : "memory"); }
#else
  FlushDenormals() {}
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  static constexpr uint32_t kInputs = 1 << 6, kResults = 1 << 15;
  uint32_t before_ = 0;
};

}  // namespace fg::kernels
