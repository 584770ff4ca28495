#include "ops/rearrange/memory_order.h"

#include <algorithm>

#include "ops/create/create.h"
#include "ops/view/views.h"

namespace fg::ops {

MemoryOrder::MemoryOrder(const Tensor& self) {
  Dims strides = preserved_strides(self);
  for (size_t d = 0; d < strides.size(); d++) order_.push_back(static_cast<int64_t>(d));
  auto outside = [&](const Dim& a, const Dim& b) {
    return strides[static_cast<size_t>(a.value())] > strides[static_cast<size_t>(b.value())];
  };
  std::stable_sort(order_.begin(), order_.end(), outside);
  auto later = [](const Dim& a, const Dim& b) { return a.value() < b.value(); };
  if (std::is_sorted(order_.begin(), order_.end(), later)) order_ = {};
}

Tensor MemoryOrder::ordered(const Tensor& self) const {
  return order_.empty() ? self : permute(self, order_);
}

int64_t MemoryOrder::axis(int64_t of_self) const {
  auto place = std::find(order_.begin(), order_.end(), Dim(of_self));
  return order_.empty() ? of_self : place - order_.begin();
}

Tensor MemoryOrder::given_back(const Tensor& ordered) const {
  if (order_.empty()) return ordered;
  Dims back(order_.size(), 0);
  for (size_t i = 0; i < order_.size(); i++) {
    back[static_cast<size_t>(order_[i].value())] = static_cast<int64_t>(i);
  }
  return permute(ordered, back);
}

}  // namespace fg::ops
