#include "tensor/geometry.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"

namespace fg {

static constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

void refuse_rank(const Dims& sizes) {
  fail("a tensor of {} dimensions has too many; expected at most 1024", sizes.size());
}

// last + (size - 1) * stride, or the largest number.
static int64_t farther(int64_t last, int64_t size, int64_t stride) {
  int64_t steps, result;
  bool wraps = __builtin_mul_overflow(size - 1, stride, &steps) ||
               __builtin_add_overflow(last, steps, &result);
  return wraps ? kMost : result;
}

// Asks nothing that a guard would have to answer: the second factor is 0 if there are no elements.
static Dim symbolic_reach(const Dims& sizes, const Dims& strides) {
  Dim last = 0, elements = 1;
  for (size_t i = 0; i < sizes.size(); i++) {
    last += (sizes[i] - 1) * strides[i];
    if (known_less(sizes[i], 1) != Known::no) elements *= min(sizes[i], 1);
  }
  return (last + 1) * elements;
}

Dim reach(const Dims& sizes, const Dims& strides) {
  int64_t last = 0;
  bool plain = true;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (known_equal(sizes[i], 0) == Known::yes) return 0;
    plain = plain && sizes[i].is_constant() && strides[i].is_constant();
    if (plain) last = farther(last, sizes[i].value(), strides[i].value());
  }
  if (!plain) return symbolic_reach(sizes, strides);
  return last == kMost ? last : last + 1;
}

bool overlaps_itself(const Dims& sizes, const Dims& strides) {
  std::vector<std::pair<int64_t, int64_t>> dims;  // stride, size
  for (size_t i = 0; i < sizes.size(); i++) {
    int64_t size = sizes[i].value();
    if (size == 0) return false;
    if (size > 1) dims.emplace_back(strides[i].value(), size);
  }
  std::sort(dims.begin(), dims.end());
  int64_t last = 0;  // offset of the last element of the dimensions so far
  for (auto [stride, size] : dims) {
    if (stride <= last) return true;
    last = farther(last, size, stride);
  }
  return false;
}

}  // namespace fg
