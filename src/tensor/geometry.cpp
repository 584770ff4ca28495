#include "tensor/geometry.h"

#include <algorithm>

namespace fg {

Dim reach(const Dims& sizes, const Dims& strides) {
  Dim last = 0;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == 0) return 0;
    last += (sizes[i] - 1) * strides[i];
  }
  return last + 1;
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
    last += stride * (size - 1);
  }
  return false;
}

}  // namespace fg
