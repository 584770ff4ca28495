// c += self on a part of a product that was just computed, while a cache has it.
#pragma once

#include <cstdint>

#include "ops/matmul/gemm_micro.h"

namespace fg::kernels {

// Columns of c are side by side; self has any strides, zero where it is repeated.
template <class T>
struct Addition {
  int64_t rows, cols;
  T* c;
  int64_t c_row;
  const T* self;
  int64_t self_row, self_col;
};

template <Level L, class T>
FG_INLINE void add_self(const Addition<T>& x) {
  using Vec = Register<L, T>;
  constexpr int kLanes = Registers<L, T>::kLanes;
  for (int64_t i = 0; i < x.rows; ++i) {
    T* const c = x.c + i * x.c_row;
    const T* const self = x.self + i * x.self_row;
    int64_t j = 0;
    for (; x.self_col == 1 && j + kLanes <= x.cols; j += kLanes) {
      store(c + j, load<Vec>(c + j) + load<Vec>(self + j));
    }
    for (; j < x.cols; ++j) c[j] += self[j * x.self_col];
  }
}

template <class T>
FG_KERNEL_V3 void add_self_v3(const Addition<T>& x) {
  add_self<Level::v3>(x);
}
template <class T>
FG_KERNEL_BASELINE void add_self_baseline(const Addition<T>& x) {
  add_self<Level::baseline>(x);
}

template <Level L, class T>
void add_self_at(const Addition<T>& x) {
  if constexpr (narrowed(L) == Level::v3) {
    add_self_v3(x);
  } else {
    add_self_baseline(x);
  }
}

}  // namespace fg::kernels
