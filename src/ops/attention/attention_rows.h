// The steps of attention on rows between its matrix products: weights from scores, their gradients,
// copies. Each step is a struct whose `run` is compiled for every level.
#pragma once

#include <algorithm>

#include "ir/math.h"
#include "ops/attention/attention_kernel.h"
#include "ops/kernels/matrix_rows.h"
#include "ops/matmul/gemm_block.h"
#include "ops/matmul/gemm_pack.h"
#include "ops/reduce/reduce_rows.h"

namespace fg::kernels {

inline constexpr int64_t kGroupSize = ir::kLanes;
// Rows that are done together where each row sees one key more than the row before.
inline constexpr int64_t kTileRows = 6;

template <class T>
Rows<T> head_of(const Heads& heads, int64_t batch, int64_t head) {
  T* data = static_cast<T*>(heads.data);
  return {data ? data + batch * heads.batch + head * heads.head : data, heads.row};
}

// exp(x) for x that exceeds 0 at most by rounding; weights below the normal numbers are 0.
template <class V>
FG_INLINE V weight_of(const V& x) {
  V zero = ir::like(x, 0), least = ir::like(x, ir::by_double(x, -708.0, -87.0));
  return ir::select(x < least, zero, ir::exp_normal(x));
}

// The keys of a tile that a few rows see: row i the first `seen + i * step`.
struct Sight {
  int64_t cols, seen, step;
  int64_t of(int64_t row) const { return std::clamp<int64_t>(seen + row * step, 0, cols); }
};

// to = factor * from, rows filled up with zeros.
template <class T>
struct CopyRows {
  Rows<const T> from;
  Rows<T> to;
  int64_t rows, width;
  T factor;

  template <Level L>
  FG_INLINE void run() const {
    auto scale = ir::splat<T, L>(factor);
    for (int64_t i = 0; i < rows; i++) {
      const T* x = from.data + i * from.stride;
      T* y = to.data + i * to.stride;
      each_group(width, [&](int64_t c, int64_t count) FG_INLINED {
        store_group<L>(y + c, load_group<L>(x + c, count) * scale, count);
      });
    }
  }
};

// dots[i] = sum over c of a[i][c] * b[i][c].
template <class T>
struct DotRows {
  Rows<const T> a, b;
  int64_t rows, width;
  T* dots;

  template <Level L>
  FG_INLINE void run() const {
    for (int64_t i = 0; i < rows; i++) {
      const T *x = a.data + i * a.stride, *y = b.data + i * b.stride;
      auto sum = ir::splat<T, L>(T(0));
      each_group(width, [&](int64_t c, int64_t count) FG_INLINED {
        sum = ir::mad(load_group<L>(x + c, count), load_group<L>(y + c, count), sum);
      });
      dots[i] = fold<SumOp>(sum);
    }
  }
};

// scores += mask for the keys that a row sees; -inf for the others, to the end of the group.
template <Level L, class T>
FG_INLINE void mask_scores(T* scores, const T* mask, int64_t seen, int64_t end) {
  if (mask) {
    each_group(seen, [&](int64_t c, int64_t count) FG_INLINED {
      store_group<L>(scores + c, load_group<L>(scores + c, count) + load_group<L>(mask + c, count),
                     count);
    });
  }
  for (int64_t c = seen; c < end; c++) scores[c] = -std::numeric_limits<T>::infinity();
}

// One more tile of an online softmax: w = exp(s - m) replaces the scores s, m being the largest so
// far; sums and totals relative to an older m0 are scaled by exp(m0 - m).
template <class T>
struct WeighRows {
  Rows<T> scores;
  int64_t rows;
  Sight sight;
  Rows<const T> mask;
  T *largest, *total;
  Rows<T> sums;  // of weights times values
  int64_t width;
  bool first;

  template <Level L>
  FG_INLINE void run() const {
    for (int64_t i = 0; i < rows; i++) weigh<L>(i);
  }

 private:
  static constexpr T kNothing = -std::numeric_limits<T>::infinity();

  template <Level L>
  FG_INLINE static T largest_of(const T* x, int64_t n) {
    auto larger = [](const auto& a, const auto& b) FG_INLINED { return ir::select(b < a, a, b); };
    auto best = ir::splat<T, L>(kNothing);  // NaN is not seen here; it comes back through the sum
    for (int64_t c = 0; c < n; c += kGroupSize) best = larger(ir::load<T, L>(x + c), best);
    return fold<MaxOp>(best);
  }

  template <Level L>
  FG_INLINE void weigh(int64_t i) const {
    T* s = scores.data + i * scores.stride;
    const int64_t end = round_up_to(sight.cols, kGroupSize);
    mask_scores<L>(s, mask.data ? mask.data + i * mask.stride : nullptr, sight.of(i), end);
    const T before = first ? kNothing : largest[i];
    const T now = std::max(before, largest_of<L>(s, end)), base = now == kNothing ? T(0) : now;
    auto level = ir::splat<T, L>(base), sum = ir::splat<T, L>(T(0));
    for (int64_t c = 0; c < end; c += kGroupSize) {
      auto weight = weight_of(ir::load<T, L>(s + c) - level);
      ir::store(s + c, weight);
      sum = sum + weight;
    }
    const T added = fold<SumOp>(sum);
    largest[i] = now;
    if (first) {
      total[i] = added;
    } else if (now > before) {
      auto factor = weight_of(ir::splat<T, L>(before) - level);
      T* row = sums.data + i * sums.stride;
      for (int64_t c = 0; c < width; c += kGroupSize)
        ir::store(row + c, ir::load<T, L>(row + c) * factor);
      total[i] = total[i] * factor.lane(0) + added;
    } else {
      total[i] = total[i] + added;
    }
  }
};

// The end of the softmax: out = sums / total and logs = largest + log(total).
template <class T>
struct FinishRows {
  Rows<const T> sums;
  Rows<T> out;
  int64_t rows, width;
  const T *largest, *total;
  T* logs;

  template <Level L>
  FG_INLINE void run() const {
    for (int64_t i = 0; i < rows; i++) {
      auto factor = ir::splat<T, L>(total[i] == 0 ? T(0) : 1 / total[i]);
      each_group(width, [&](int64_t c, int64_t count) FG_INLINED {
        store_group<L>(out.data + i * out.stride + c,
                       load_group<L>(sums.data + i * sums.stride + c, count) * factor, count);
      });
    }
    each_group(rows, [&](int64_t i, int64_t count) FG_INLINED {
      auto sum = ir::log(load_group<L>(total + i, count));
      store_group<L>(logs + i, load_group<L>(largest + i, count) + sum, count);
    });
  }
};

// w = exp(s - logsumexp) replaces the scores s, and w * (g - mean) the gradients g of weights,
// where mean is the row's sum of w * g.
template <class T>
struct DifferentiateRows {
  Rows<T> scores, grads;
  int64_t rows, end;  // zeros are written behind the last seen key up to here: whole groups
  Sight sight;
  Rows<const T> mask;
  const T *logs, *means;

  template <Level L>
  FG_INLINE void run() const {
    constexpr T kInfinity = std::numeric_limits<T>::infinity();
    for (int64_t i = 0; i < rows; i++) {
      T *s = scores.data + i * scores.stride, *g = grads.data + i * grads.stride;
      const int64_t seen = sight.of(i);
      mask_scores<L>(s, mask.data ? mask.data + i * mask.stride : nullptr, seen, end);
      for (int64_t c = seen; c < end; c++) g[c] = 0;
      // A query that sees nothing has no weights.
      auto log = ir::splat<T, L>(logs[i] == -kInfinity ? kInfinity : logs[i]);
      auto mean = ir::splat<T, L>(means[i]);
      for (int64_t c = 0; c < end; c += kGroupSize) {
        auto weight = weight_of(ir::load<T, L>(s + c) - log);
        ir::store(s + c, weight);
        ir::store(g + c, weight * (ir::load<T, L>(g + c) - mean));
      }
    }
  }
};

}  // namespace fg::kernels
