// Resampling along one dimension: every result is a weighted sum of a few inputs. A table holds
// their indices and weights, so that all filters and the transpose are the same two loops.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace fg::kernels {

// The filters; `wide` ones grow with the ratio of the sizes, so that nothing is skipped when an
// image shrinks (antialiasing).
enum class Filter : uint8_t {
  nearest,
  nearest_exact,
  linear,
  cubic,
  wide_linear,
  wide_cubic,
  wide_lanczos
};

struct Sampling {
  Filter filter;
  bool align_corners;
  double scale;  // results per input; 0: the ratio of the sizes
  int64_t input, output;
};

// x [outer, input, inner] -> y [outer, output, inner], both contiguous. The nearest filters copy
// any dtype; the others are for float32 and float64.
void resample(DType dtype, const Sampling& sampling, int64_t outer, int64_t inner, const void* x,
              void* y);
// The transpose: y -> x, every result handed back with its weights. float32 and float64.
void resample_transposed(DType dtype, const Sampling& sampling, int64_t outer, int64_t inner,
                         const void* y, void* x);

}  // namespace fg::kernels
