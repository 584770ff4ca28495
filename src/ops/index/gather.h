// Reading and writing elements at positions that index tensors name. Positions have three parts:
// dimensions before the indexed ones, the indexed ones, and dimensions after them.
//
// Writes use no atomics: the additions into one element happen in the order of the indices, and
// threads share out the destinations, so that results do not depend on their number.
#pragma once

#include <vector>

#include "tensor/tensor.h"

namespace fg::kernels {

// The offsets (in elements) of all indices over some dimensions, in logical order.
class Offsets {
 public:
  Offsets(const Dims& sizes, const Dims& strides);

  int64_t count() const { return count_; }
  bool is_dense() const { return dense_; }  // offset(i) is i
  int64_t at(int64_t i) const;
  std::vector<int64_t> all() const;

 private:
  int64_t count_ = 1;
  bool dense_;
  std::vector<int64_t> sizes_, strides_;
};

// The element (b, n, m) lies at before.at(b) + index[n] + after.at(m).
struct Rows {
  Offsets before;
  std::vector<int64_t> index;
  Offsets after;
};

enum class Combine : uint8_t { assign, add, multiply };

// out[b][n][m] = from[...]; `out` is contiguous and holds items of the dtype of `from`.
void gather_rows(const Rows& rows, const Tensor& from, const Tensor& out);
// to[...] = or += values[b][n][m], for n in order; `values` is contiguous.
void scatter_rows(const Rows& rows, const Tensor& to, const Tensor& values, Combine combine);

// A line per index (o, k) of the dimensions around `axis`; index tensors may be smaller than the
// other tensor in those dimensions.
struct Lines {
  Offsets before, after;
  int64_t length, stride;  // of the index tensor along the axis; of the other tensor's axis
  Tensor index;            // contiguous int64, in range
};
Lines lines_along(const Tensor& other, const Tensor& index, int64_t axis);
// out[o][j][k] = from[o][index[o][j][k]][k]
void gather_lines(const Lines& lines, const Tensor& from, const Tensor& out);
// to[o][index[o][j][k]][k] = or += values[o][j][k], for j in order; `values` is contiguous.
void scatter_lines(const Lines& lines, const Tensor& to, const Tensor& values, Combine combine);

// Zeros in all of a contiguous tensor.
void zero_elements(const Tensor& out);

}  // namespace fg::kernels
