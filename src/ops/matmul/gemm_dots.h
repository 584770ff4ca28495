// c[j] = sum over k of a[k] * b[k][j] for columns of b that run along k: packing would take longer
// than reading them, so they are transposed in registers on the way to the sums.
// A register of columns over one block of k is a chain, in which each step waits for the one before
// it. Two chains side by side are faster in the caches; from memory one is, since it needs fewer
// streams. They are different blocks of k of the same columns, where k has that many: columns at a
// power-of-two distance share too few cache lines.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/matmul/gemm_micro.h"
#include "ops/matmul/gemm_pack.h"

namespace fg::kernels {

// Column j is at b + j * b_col; its elements are neighbours. There are at least kLanes columns.
template <class T>
struct Dots {
  int64_t n, k, block;
  const T* a;
  int64_t a_k;
  const T* b;
  int64_t b_col;
  T* c;  // columns are neighbours
};

inline constexpr int64_t kStreamBytes = 8 << 20;  // from here on b is taken to come from memory

template <Level L, class T>
struct Chain {
  const T *a, *b;
  int64_t k;
  Register<L, T> sum;
};

// Whole squares of k from the front of C chains.
template <Level L, int C, class T>
FG_INLINE void advance(Chain<L, T>* chains, int64_t k, int64_t a_k, int64_t b_col) {
  constexpr int kSize = kGroup<T>, kLanes = Registers<L, T>::kLanes;
  const int64_t squares = k / kSize;
  Register<L, T> sum[C];
  const T *a[C], *b[C];
  unroll<C>([&](auto c) {
    sum[c] = chains[c].sum;
    a[c] = chains[c].a;
    b[c] = chains[c].b;
  });
  for (int64_t i = 0; i < squares; ++i) {
    unroll<C>([&](auto c) {
      const T* lane[kLanes];
      unroll<kLanes>([&](auto j) { lane[j] = b[c] + j * b_col; });
      Register<L, T> square[kSize];
      load_square<L>(lane, 0, square);
      unroll<kSize>([&](auto r) {
        sum[c] = multiply_add<L, T>(sum[c], splat<L>(a[c] + r * a_k), square[r]);
      });
      a[c] += kSize * a_k;
      b[c] += kSize;
    });
  }
  unroll<C>([&](auto c) {
    chains[c] = {a[c], b[c], chains[c].k - squares * kSize, Register<L, T>(sum[c])};
  });
}

// The remaining steps of k, fewer than a square.
template <Level L, class T>
FG_INLINE void finish(Chain<L, T>& chain, int64_t a_k, int64_t b_col) {
  constexpr int kLanes = Registers<L, T>::kLanes;
  for (; chain.k > 0; --chain.k, chain.a += a_k, ++chain.b) {
    T row[kLanes];
    for (int j = 0; j < kLanes; ++j) row[j] = chain.b[j * b_col];
    chain.sum = multiply_add<L, T>(chain.sum, splat<L>(chain.a), load<Register<L, T>>(row));
  }
}

template <Level L, int kChains, class T>
FG_INLINE void multiply_dots(const Dots<T>& d) {
  constexpr int kLanes = Registers<L, T>::kLanes;
  const int64_t blocks = (d.k + d.block - 1) / d.block, groups = (d.n + kLanes - 1) / kLanes;
  // The last group begins earlier to be full: columns that two groups compute have the same bits.
  auto first = [&](int64_t group) { return std::min(group * kLanes, d.n - kLanes); };
  Register<L, T> total{};
  for (int64_t begin = 0; begin < groups * blocks; begin += kChains) {
    Chain<L, T> chains[kChains];
    int64_t together = d.block;
    for (int c = 0; c < kChains; ++c) {  // chains beyond the end repeat the last one
      const int64_t index = std::min(begin + c, groups * blocks - 1);
      const int64_t k = index % blocks * d.block;
      chains[c] = {d.a + k * d.a_k, d.b + first(index / blocks) * d.b_col + k,
                   std::min(d.block, d.k - k), Register<L, T>{}};
      together = std::min(together, chains[c].k);
    }
    if (kChains > 1) advance<L, kChains>(chains, together, d.a_k, d.b_col);
    for (int c = 0; c < kChains && begin + c < groups * blocks; ++c) {
      advance<L, 1>(chains + c, chains[c].k, d.a_k, d.b_col);
      finish(chains[c], d.a_k, d.b_col);
      const int64_t group = (begin + c) / blocks, block = (begin + c) % blocks;
      total = block == 0 ? chains[c].sum : total + chains[c].sum;
      if (block == blocks - 1) store(d.c + first(group), total);
    }
  }
}

template <int kChains, class T>
FG_KERNEL_V3 void multiply_dots_v3(const Dots<T>& dots) {
  multiply_dots<Level::v3, kChains>(dots);
}
template <int kChains, class T>
FG_KERNEL_BASELINE void multiply_dots_baseline(const Dots<T>& dots) {
  multiply_dots<Level::baseline, kChains>(dots);
}

template <Level L, int kChains, class T>
void multiply_dots_at(const Dots<T>& dots) {
  if constexpr (narrowed(L) == Level::v3) {
    multiply_dots_v3<kChains>(dots);
  } else {
    multiply_dots_baseline<kChains>(dots);
  }
}

template <Level L, class T>
void multiply_along_k(const Dots<T>& dots) {
  if (dots.n * dots.k * int64_t{sizeof(T)} < kStreamBytes) {
    multiply_dots_at<L, 2>(dots);
  } else {
    multiply_dots_at<L, 1>(dots);
  }
}

}  // namespace fg::kernels
