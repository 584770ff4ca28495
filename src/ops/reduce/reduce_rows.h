// Loops over one row for fused kernels (softmax, layer_norm): passes over groups of sixteen
// elements, and sums of a formula in the canonical order. To be inlined into marked kernels.
#pragma once

#include <algorithm>

#include "ops/reduce/reduce_lanes.h"

namespace fg::kernels {

// Sixteen elements, or the `count` that are left with zeros behind them.
template <Level L, class S>
FG_INLINE ir::Lanes<ir::compute_t<S>, L> load_group(const S* p, int64_t count) {
  if (count == ir::kLanes) return ir::load<S, L>(p);
  return load_tail<S, L>(p, count, ir::compute_t<S>(0));
}
template <Level L, class S>
FG_INLINE void store_group(S* p, const ir::Lanes<ir::compute_t<S>, L>& v, int64_t count) {
  if (count == ir::kLanes) return ir::store(p, v);
  S padded[ir::kLanes];
  ir::store(padded, v);
  for (int64_t i = 0; i < count; i++) p[i] = padded[i];
}

// f(i, count) for every group; count is 16 except for the last one.
template <class F>
FG_INLINE void each_group(int64_t n, F f) {
  int64_t i = 0;
  for (; i + ir::kLanes <= n; i += ir::kLanes) f(i, int64_t{ir::kLanes});
  if (i < n) f(i, n - i);
}

template <class T, Level L>
FG_INLINE ir::Lanes<T, L> zero_behind(const ir::Lanes<T, L>& v, int64_t count) {
  ir::Spilled<T> lanes;
  ir::store_chunks(lanes.lane, v);
  for (int64_t i = count; i < ir::kLanes; i++) lanes.lane[i] = 0;
  return ir::load_chunks<ir::Lanes<T, L>>(lanes.lane);
}

// Folds the results of blocks, which are a row again.
template <class Op, Level L, class T>
FG_INLINE T fold_partials(T* partials, int64_t count) {
  while (count > 1) {
    int64_t blocks = 0;
    for (int64_t i = 0; i < count; i += kReduceBlock) {
      int64_t n = std::min(kReduceBlock, count - i);
      if (n < ir::kLanes)
        partials[blocks++] = fold_few<Op, T>(partials + i, n);
      else
        reduce_streams<Op, T, L, 1>(partials + i, 0, n, partials + blocks++);
    }
    count = blocks;
  }
  return partials[0];
}

inline int64_t partials_of(int64_t n) { return n / kReduceBlock + 1; }

// The sum of f(i, count) over a row; `partials` has room for partials_of(n) numbers. Two blocks at
// once, so that one need not wait for its own additions.
template <class T, Level L, class F>
FG_INLINE T sum_of_row(int64_t n, T* partials, F f) {
  constexpr int64_t kGroup = ir::kLanes;
  auto zero = ir::splat<T, L>(T(0));
  int64_t begin = 0, blocks = 0;
  for (; begin + 2 * kReduceBlock <= n; begin += 2 * kReduceBlock) {
    auto first = zero, second = zero;
    for (int64_t i = begin; i < begin + kReduceBlock; i += kGroup) {
      first = first + f(i, kGroup);
      second = second + f(i + kReduceBlock, kGroup);
    }
    partials[blocks++] = fold<SumOp>(first);
    partials[blocks++] = fold<SumOp>(second);
  }
  for (; begin < n; begin += kReduceBlock) {
    int64_t end = std::min(begin + kReduceBlock, n), i = begin;
    auto sum = zero;
    for (; i + kGroup <= end; i += kGroup) sum = sum + f(i, kGroup);
    if (i < end) sum = sum + zero_behind(f(i, end - i), end - i);
    partials[blocks++] = fold<SumOp>(sum);
  }
  return blocks ? fold_partials<SumOp, L>(partials, blocks) : T(0);
}

}  // namespace fg::kernels
