// The canonical order of reductions: element i of a row goes to lane i mod 16, a block is 512
// elements, lanes fold by halves, and the results of the blocks form a new row. The order depends
// only on the logical index, so neither layout nor threads nor level can change a bit. Accumulators
// start at the identity, and no combination is fused. To be inlined into marked kernels.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>

#include "ir/lanes.h"
#include "ir/math_basic.h"
#include "ops/reduce/reduce_kernel.h"

namespace fg::kernels {

// Combinations work on numbers, on vectors of g++ and so on chunks of Lanes.
struct SumOp {
  template <class T>
  static constexpr T identity() {
    return T(0);
  }
  template <class V>
  FG_INLINE static V combine(const V& a, const V& b) {
    return a + b;
  }
};
struct ProdOp {
  template <class T>
  static constexpr T identity() {
    return T(1);
  }
  template <class V>
  FG_INLINE static V combine(const V& a, const V& b) {
    return a * b;
  }
};
// max(a, b); NaN wins.
struct MaxOp {
  template <class T>
  static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
  }
  template <class V>
  FG_INLINE static V combine(const V& a, const V& b) {
    if constexpr (ir::is_formula_value<V>)
      return ir::maximum(a, b);
    else
      return ((b < a) | (a != a)) ? a : b;
  }
};
struct MinOp {
  template <class T>
  static constexpr T identity() {
    using Limits = std::numeric_limits<T>;
    return Limits::has_infinity ? Limits::infinity() : Limits::max();
  }
  template <class V>
  FG_INLINE static V combine(const V& a, const V& b) {
    if constexpr (ir::is_formula_value<V>)
      return ir::minimum(a, b);
    else
      return ((a < b) | (a != a)) ? a : b;
  }
};

// The lanes of 16 bytes: lane j with lane j + half, then half of that, down to one.
template <class Op, class T, int half, int... I>
FG_INLINE T fold_register(typename ir::Vector<T, 16>::type v,
                          std::integer_sequence<int, I...> all) {
  if constexpr (half == 0) {
    return v[0];
  } else {
    constexpr int kCount = sizeof...(I);
    auto behind = __builtin_shufflevector(v, v, (I + half) % kCount...);
    return fold_register<Op, T, half / 2>(Op::combine(v, behind), all);
  }
}

// Lane j with lane j + 8, then 4, 2, 1.
template <class Op, class T, Level L>
FG_INLINE T fold(ir::Lanes<T, L> v) {
  using V = ir::Lanes<T, L>;
#pragma GCC unroll 16
  for (int half = V::kChunks / 2; half > 0; half /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < half; i++) v.chunk[i] = Op::combine(v.chunk[i], v.chunk[i + half]);
  }
  constexpr int kCount = 16 / sizeof(T);
  using Half = typename ir::Vector<T, 16>::type;
  Half rest;
  if constexpr (V::kBytes == 16) {
    rest = (Half)v.chunk[0];
  } else {
#if FG_HAS_V3
    auto whole = (typename ir::Vector<float, 32>::type)v.chunk[0];
    rest = Op::combine((Half)ir::lower_half<float>(whole), (Half)ir::upper_half<float>(whole));
#endif
  }
  return fold_register<Op, T, kCount / 2>(rest, std::make_integer_sequence<int, kCount>());
}

// Up to sixteen elements, one per lane; lanes without an element would add the identity.
template <class Op, class T, class S>
FG_INLINE T fold_few(const S* p, int64_t n) {
  T lane[ir::kLanes];
  for (int64_t i = 0; i < n; i++) lane[i] = Op::combine(Op::template identity<T>(), T(p[i]));
  for (int64_t half = ir::kLanes / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half && i + half < n; i++)
      lane[i] = Op::combine(lane[i], lane[i + half]);
  }
  return n > 0 ? lane[0] : Op::template identity<T>();
}

// Loads the n < 16 last elements of a row, the identity behind them.
template <class S, Level L, class T = ir::compute_t<S>>
FG_INLINE ir::Lanes<T, L> load_tail(const S* p, int64_t n, T identity) {
  ir::Spilled<T> padded;
  for (int i = 0; i < ir::kLanes; i++) padded.lane[i] = i < n ? T(p[i]) : identity;
  return ir::load_chunks<ir::Lanes<T, L>>(padded.lane);
}

// `kStreams` blocks of n <= 512 elements that lie `step` apart, at once: one alone would wait for
// its own additions.
template <class Op, class S, Level L, int kStreams>
FG_INLINE void reduce_streams(const S* p, int64_t step, int64_t n, ir::compute_t<S>* out) {
  using T = ir::compute_t<S>;
  constexpr T identity = Op::template identity<T>();
  ir::Lanes<T, L> sums[kStreams];
#pragma GCC unroll 16
  for (int k = 0; k < kStreams; k++) sums[k] = ir::splat<T, L>(identity);
  int64_t i = 0;
  for (; i + ir::kLanes <= n; i += ir::kLanes) {
#pragma GCC unroll 16
    for (int k = 0; k < kStreams; k++)
      sums[k] = Op::combine(sums[k], ir::load<S, L>(p + k * step + i));
  }
  if (i < n) {
#pragma GCC unroll 16
    for (int k = 0; k < kStreams; k++)
      sums[k] = Op::combine(sums[k], load_tail<S, L>(p + k * step + i, n - i, identity));
  }
#pragma GCC unroll 16
  for (int k = 0; k < kStreams; k++) out[k] = fold<Op>(sums[k]);
}

// `count` blocks of n <= 512 elements, `step` apart.
template <class Op, class S, Level L>
struct ReduceBlocks {
  using T = ir::compute_t<S>;

  FG_INLINE static void run(const void* from, int64_t step, int64_t n, int64_t count, void* to) {
    const S* p = static_cast<const S*>(from);
    T* out = static_cast<T*>(to);
    if (n < ir::kLanes) {
      for (int64_t k = 0; k < count; k++) out[k] = fold_few<Op, T>(p + k * step, n);
      return;
    }
    constexpr int kStreams = 4;
    int64_t k = 0;
    for (; k + kStreams <= count; k += kStreams)
      reduce_streams<Op, S, L, kStreams>(p + k * step, step, n, out + k);
    for (; k + 2 <= count; k += 2) reduce_streams<Op, S, L, 2>(p + k * step, step, n, out + k);
    if (k < count) reduce_streams<Op, S, L, 1>(p + k * step, step, n, out + k);
  }
};

// A block of `rows` <= 512 rows, `stride` apart, reduced over the rows: lane l of every column is
// row l of a scratch that stays in the first cache. Needs at least 16 columns.
template <class Op, class S, Level L>
struct ReduceColumns {
  using T = ir::compute_t<S>;
  using V = ir::Lanes<T, L>;
  static constexpr int kGroups = 16;  // of sixteen columns
  static constexpr int kUnroll = 4;   // rows of one lane that are added between load and store

  FG_INLINE static void run(const void* from, int64_t stride, int64_t rows, int64_t width,
                            void* to) {
    const S* p = static_cast<const S*>(from);
    T* out = static_cast<T*>(to);
    int64_t groups = width / ir::kLanes;
    for (int64_t g = 0; g < groups; g += kGroups) {
      int64_t first = g * ir::kLanes;
      strip(p + first, stride, rows, std::min<int64_t>(kGroups, groups - g), out + first);
    }
    // The last columns again together with some before them: the same bits are written twice.
    if (width % ir::kLanes) {
      int64_t first = width - ir::kLanes;
      strip(p + first, stride, rows, 1, out + first);
    }
  }

 private:
  FG_INLINE static void strip(const S* p, int64_t stride, int64_t rows, int64_t groups, T* out) {
    alignas(64) T lanes[ir::kLanes][kGroups * ir::kLanes];
    int64_t used = std::min<int64_t>(ir::kLanes, rows);
    V identity = ir::splat<T, L>(Op::template identity<T>());
    for (int64_t r = 0; r < rows; r += kUnroll * ir::kLanes) {
      for (int64_t l = 0; l < used && r + l < rows; l++) {
        const S* row = p + (r + l) * stride;
        int64_t count = std::min<int64_t>(kUnroll, (rows - r - l + ir::kLanes - 1) / ir::kLanes);
        for (int64_t g = 0; g < groups; g++) {
          T* at = lanes[l] + g * ir::kLanes;
          V sum = r == 0 ? identity : ir::load<T, L>(at);
          const S* x = row + g * ir::kLanes;
          if (count == kUnroll) {
#pragma GCC unroll 4
            for (int k = 0; k < kUnroll; k++)
              sum = Op::combine(sum, ir::load<S, L>(x + k * ir::kLanes * stride));
          } else {
            for (int64_t k = 0; k < count; k++)
              sum = Op::combine(sum, ir::load<S, L>(x + k * ir::kLanes * stride));
          }
          ir::store(at, sum);
        }
      }
    }
    fold_rows(lanes[0], used, groups, out);
  }

  FG_INLINE static void fold_rows(T* lanes, int64_t used, int64_t groups, T* out) {
    constexpr int64_t kRow = kGroups * ir::kLanes;
    if (used == 0) {
      for (int64_t i = 0; i < groups * ir::kLanes; i++) out[i] = Op::template identity<T>();
      return;
    }
    for (int64_t half = ir::kLanes / 2; half > 0; half /= 2) {
      for (int64_t l = 0; l < half && l + half < used; l++) {
        T *a = lanes + l * kRow, *b = lanes + (l + half) * kRow;
        for (int64_t i = 0; i < groups * ir::kLanes; i += ir::kLanes)
          ir::store(a + i, Op::combine(ir::load<T, L>(a + i), ir::load<T, L>(b + i)));
      }
    }
    std::memcpy(out, lanes, static_cast<size_t>(groups * ir::kLanes) * sizeof(T));
  }
};

// A block of rows <= 512 rows of eight elements, reduced over the rows: two rows are sixteen
// elements, and eight of those the lanes of all columns.
template <class Op, class S, Level L>
struct ReduceFewColumns {
  using T = ir::compute_t<S>;
  using V = ir::Lanes<T, L>;
  static constexpr int kVectors = kFewColumns;

  FG_INLINE static void run(const void* from, int64_t, int64_t rows, int64_t, void* to) {
    const S* p = static_cast<const S*>(from);
    const int64_t count = rows * kFewColumns;
    constexpr T identity = Op::template identity<T>();
    V sums[kVectors];
#pragma GCC unroll 8
    for (int k = 0; k < kVectors; k++) sums[k] = ir::splat<T, L>(identity);
    int64_t i = 0;
    for (; i + kVectors * ir::kLanes <= count; i += kVectors * ir::kLanes) {
#pragma GCC unroll 8
      for (int k = 0; k < kVectors; k++)
        sums[k] = Op::combine(sums[k], ir::load<S, L>(p + i + k * ir::kLanes));
    }
    for (int k = 0; i < count; k++, i += ir::kLanes) {
      sums[k] = Op::combine(sums[k], load_tail<S, L>(p + i, count - i, identity));
    }
#pragma GCC unroll 8
    for (int half = kVectors / 2; half > 0; half /= 2) {
#pragma GCC unroll 8
      for (int k = 0; k < half; k++) sums[k] = Op::combine(sums[k], sums[k + half]);
    }
    ir::Spilled<T> last;
    ir::store_chunks(last.lane, sums[0]);
    for (int c = 0; c < kFewColumns; c++)
      static_cast<T*>(to)[c] = Op::combine(last.lane[c], last.lane[c + kFewColumns]);
  }
};

}  // namespace fg::kernels
