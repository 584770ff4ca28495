// Pooling over the last two or three dimensions of contiguous memory: volumes of depth x height x
// width, where the depth of a plane is one. A table per axis lists the elements of each result, so
// that fixed and adaptive windows are the same.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"

namespace fg::kernels {

// The elements begin, begin + step ... below end; `padded` counts those in the padding too.
struct Window {
  int64_t begin, end, padded;
};

struct Axis {
  int64_t size;  // of the input
  int64_t step;
  std::vector<Window> windows;  // one per result
};
Axis fixed_windows(int64_t size, int64_t results, int64_t kernel, int64_t stride, int64_t padding,
                   int64_t dilation);
Axis adaptive_windows(int64_t size, int64_t results);

struct PoolGeometry {
  int64_t volumes;
  Axis depth, rows, columns;

  int64_t size() const { return depth.size * rows.size * columns.size; }
  int64_t results() const {
    return static_cast<int64_t>(depth.windows.size() * rows.windows.size() *
                                columns.windows.size());
  }
};

// The divisor of a sum over a window.
struct Divisor {
  bool count_padding;
  int64_t override;  // 0: none
};

// values = max over each window, NaN above all, with its index in the volume. Every dtype but bool.
void max_pool(DType dtype, const PoolGeometry& g, const void* input, void* values,
              int64_t* indices);
// output = sum over each window / divisor. Floats and int64.
void average_pool(DType dtype, const PoolGeometry& g, Divisor divisor, const void* input,
                  void* output);
// The transpose of average_pool: each result is handed back in equal shares.
void average_pool_spread(DType dtype, const PoolGeometry& g, Divisor divisor, const void* output,
                         void* input);

}  // namespace fg::kernels
