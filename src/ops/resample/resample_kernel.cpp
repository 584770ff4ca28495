#include "ops/resample/resample_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <vector>

#include "base/pool.h"
#include "ops/reduce/reduce_rows.h"

namespace fg::kernels {

namespace {

// ---- the table of indices and weights, in T: float for float32, as PyTorch computes them

template <class T>
struct Taps {
  int64_t room = 1;  // entries per result
  std::vector<int64_t> counts, index;
  std::vector<T> weight;

  Taps(int64_t results, int64_t per_result)
      : room(per_result),
        counts(static_cast<size_t>(results), 0),
        index(static_cast<size_t>(results * per_result)),
        weight(static_cast<size_t>(results * per_result)) {}
  void add(int64_t result, int64_t at, T w) {
    auto r = static_cast<size_t>(result);
    auto place = static_cast<size_t>(result * room + counts[r]++);
    index[place] = at;
    weight[place] = w;
  }
};

// Inputs per result.
template <class T>
T ratio(const Sampling& s) {
  if (s.align_corners && s.filter >= Filter::linear) {
    return s.output > 1 ? T(s.input - 1) / T(s.output - 1) : T(0);
  }
  return s.scale > 0 ? T(1.0 / s.scale) : T(s.input) / T(s.output);
}

template <class T>
Taps<T> nearest_taps(const Sampling& s) {
  Taps<T> taps(s.output, 1);
  const float step = ratio<float>(s);
  for (int64_t i = 0; i < s.output; i++) {
    const float shift = s.filter == Filter::nearest_exact ? 0.5F : 0.0F;
    const auto at = static_cast<int64_t>(std::floor((static_cast<float>(i) + shift) * step));
    taps.add(i, std::clamp<int64_t>(at, 0, s.input - 1), 1);
  }
  return taps;
}

template <class T>
Taps<T> linear_taps(const Sampling& s) {
  Taps<T> taps(s.output, 2);
  const T step = ratio<T>(s);
  for (int64_t i = 0; i < s.output; i++) {
    T at = s.align_corners ? step * T(i) : std::max(step * (T(i) + T(0.5)) - T(0.5), T(0));
    if (s.input == s.output) at = T(i);
    const int64_t low = std::min(static_cast<int64_t>(at), s.input - 1);
    const T rest = std::clamp(at - T(low), T(0), T(1));
    taps.add(i, low, 1 - rest);
    taps.add(i, std::min(low + 1, s.input - 1), rest);
  }
  return taps;
}

// The cubic convolution with slope `a`, for distances up to 1 and up to 2.
template <class T>
T cubic_near(T x, T a) {
  return ((a + 2) * x - (a + 3)) * x * x + 1;
}
template <class T>
T cubic_far(T x, T a) {
  return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a;
}
template <class T>
Taps<T> cubic_taps(const Sampling& s) {
  Taps<T> taps(s.output, 4);
  const T step = ratio<T>(s), a = T(-0.75);
  for (int64_t i = 0; i < s.output; i++) {
    T at = s.align_corners ? step * T(i) : step * (T(i) + T(0.5)) - T(0.5);
    if (s.input == s.output) at = T(i);
    const auto low = std::min(static_cast<int64_t>(std::floor(at)), s.input - 1);
    const T t = std::clamp(at - T(low), T(0), T(1));
    const T weights[] = {cubic_far(t + 1, a), cubic_near(t, a), cubic_near(1 - t, a),
                         cubic_far(2 - t, a)};
    for (int64_t k = 0; k < 4; k++) {
      taps.add(i, std::clamp<int64_t>(low - 1 + k, 0, s.input - 1), weights[k]);
    }
  }
  return taps;
}

template <class T>
T sinc(T x) {
  if (x == 0) return 1;
  x *= T(std::numbers::pi);
  return std::sin(x) / x;
}
// The value of a wide filter at distance x, and its reach.
template <class T>
T wide_weight(Filter filter, T x) {
  x = std::abs(x);
  if (filter == Filter::wide_linear) return x < 1 ? 1 - x : T(0);
  if (filter == Filter::wide_lanczos) return x < 3 ? sinc(x) * sinc(x / 3) : T(0);
  const T a = T(-0.5);
  if (x < 1) return cubic_near(x, a);
  return x < 2 ? cubic_far(x, a) : T(0);
}
double reach_of(Filter filter) {
  if (filter == Filter::wide_linear) return 1;
  return filter == Filter::wide_cubic ? 2 : 3;
}

// Weights around the centre of each result, which add up to 1.
template <class T>
Taps<T> wide_taps(const Sampling& s) {
  const T step = ratio<T>(s), shift = T(0.5);
  const T support = T(reach_of(s.filter)) * std::max(step, T(1));
  const T inverse = step >= 1 ? 1 / step : T(1);
  Taps<T> taps(s.output, std::min(static_cast<int64_t>(std::ceil(support)) * 2 + 1, s.input));
  for (int64_t i = 0; i < s.output; i++) {
    const T centre = step * (T(i) + shift);
    const int64_t first = std::max(static_cast<int64_t>(centre - support + shift), int64_t{0});
    const int64_t last =
        std::min({static_cast<int64_t>(centre + support + shift), s.input, first + taps.room});
    T total = 0;
    for (int64_t j = first; j < last; j++) {
      const T w = wide_weight(s.filter, (T(j) - centre + shift) * inverse);
      taps.add(i, j, w);
      total += w;
    }
    for (int64_t k = 0; total != 0 && k < last - first; k++) {
      taps.weight[static_cast<size_t>(i * taps.room + k)] /= total;
    }
  }
  return taps;
}

template <class T>
Taps<T> taps_of(const Sampling& s) {
  switch (s.filter) {
    case Filter::nearest:
    case Filter::nearest_exact:
      return nearest_taps<T>(s);
    case Filter::linear:
      return linear_taps<T>(s);
    case Filter::cubic:
      return cubic_taps<T>(s);
    default:
      return wide_taps<T>(s);
  }
}

// ---- loops: rows of `inner` elements, sixteen at a time; single elements where inner is 1

constexpr int64_t kGrain = 16 * 1024;  // elements per piece of work

template <class T>
struct Task {
  const Taps<T>& taps;
  int64_t input, output, inner;
  const T* from;
  T* to;
};

// Rows [begin, end) of all y.
template <class T, Level L>
FG_INLINE void forward_rows(const Task<T>& task, int64_t begin, int64_t end) {
  const Taps<T>& taps = task.taps;
  for (int64_t row = begin; row < end; row++) {
    const int64_t outer = row / task.output, o = row % task.output, first = o * taps.room;
    const T* x = task.from + outer * task.input * task.inner;
    T* y = task.to + row * task.inner;
    const int64_t *index = taps.index.data() + first, count = taps.counts[o];
    const T* weight = taps.weight.data() + first;
    each_group(task.inner, [&](int64_t i, int64_t n) FG_INLINED {
      auto sum = ir::splat<T, L>(T(0));
      for (int64_t k = 0; k < count; k++) {
        auto part = load_group<L>(x + index[k] * task.inner + i, n) * ir::splat<T, L>(weight[k]);
        sum = k == 0 ? part : sum + part;
      }
      store_group<L>(y + i, sum, n);
    });
  }
}
// Samples [begin, end) of x; additions in the order of the results.
template <class T, Level L>
FG_INLINE void transposed_rows(const Task<T>& task, int64_t begin, int64_t end) {
  const Taps<T>& taps = task.taps;
  for (int64_t outer = begin; outer < end; outer++) {
    T* x = task.to + outer * task.input * task.inner;
    std::fill_n(x, task.input * task.inner, T(0));
    for (int64_t o = 0; o < task.output; o++) {
      const T* y = task.from + (outer * task.output + o) * task.inner;
      for (int64_t k = 0; k < taps.counts[o]; k++) {
        T* row = x + taps.index[o * taps.room + k] * task.inner;
        auto weight = ir::splat<T, L>(taps.weight[o * taps.room + k]);
        each_group(task.inner, [&](int64_t i, int64_t n) FG_INLINED {
          store_group<L>(row + i, load_group<L>(row + i, n) + load_group<L>(y + i, n) * weight, n);
        });
      }
    }
  }
}

template <class T>
FG_KERNEL_BASELINE void forward_baseline(const Task<T>& task, int64_t begin, int64_t end) {
  forward_rows<T, Level::baseline>(task, begin, end);
}
template <class T>
FG_KERNEL_V3 void forward_v3(const Task<T>& task, int64_t begin, int64_t end) {
  forward_rows<T, kBestLevel>(task, begin, end);
}
template <class T>
FG_KERNEL_BASELINE void transposed_baseline(const Task<T>& task, int64_t begin, int64_t end) {
  transposed_rows<T, Level::baseline>(task, begin, end);
}
template <class T>
FG_KERNEL_V3 void transposed_v3(const Task<T>& task, int64_t begin, int64_t end) {
  transposed_rows<T, kBestLevel>(task, begin, end);
}

template <class T>
void forward_elements(const Task<T>& task, int64_t begin, int64_t end) {
  const Taps<T>& taps = task.taps;
  for (int64_t outer = begin; outer < end; outer++) {
    const T* x = task.from + outer * task.input;
    T* y = task.to + outer * task.output;
    for (int64_t o = 0; o < task.output; o++) {
      const int64_t* index = taps.index.data() + o * taps.room;
      const T* weight = taps.weight.data() + o * taps.room;
      T sum = taps.counts[o] ? x[index[0]] * weight[0] : T(0);
      for (int64_t k = 1; k < taps.counts[o]; k++) sum += x[index[k]] * weight[k];
      y[o] = sum;
    }
  }
}
template <class T>
void transposed_elements(const Task<T>& task, int64_t begin, int64_t end) {
  const Taps<T>& taps = task.taps;
  for (int64_t outer = begin; outer < end; outer++) {
    const T* y = task.from + outer * task.output;
    T* x = task.to + outer * task.input;
    std::fill_n(x, task.input, T(0));
    for (int64_t o = 0; o < task.output; o++) {
      for (int64_t k = o * taps.room, end_k = k + taps.counts[o]; k < end_k; k++) {
        x[taps.index[k]] += y[o] * taps.weight[k];
      }
    }
  }
}

// Copies rows of `inner` items of any kind.
template <class Item>
void copy_rows(const Sampling& s, int64_t outer, int64_t inner, const Item* x, Item* y) {
  const Taps<float> taps = nearest_taps<float>(s);
  pool::parallel_for(outer, std::max<int64_t>(kGrain / std::max<int64_t>(s.output * inner, 1), 1),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; i++) {
                         const Item* from = x + i * s.input * inner;
                         Item* to = y + i * s.output * inner;
                         if (inner == 1) {
                           for (int64_t o = 0; o < s.output; o++) to[o] = from[taps.index[o]];
                           continue;
                         }
                         for (int64_t o = 0; o < s.output; o++, to += inner) {
                           std::memcpy(to, from + taps.index[o] * inner,
                                       static_cast<size_t>(inner) * sizeof(Item));
                         }
                       }
                     });
}

template <class T>
void forward(const Sampling& s, int64_t outer, int64_t inner, const T* x, T* y) {
  const Taps<T> taps = taps_of<T>(s);
  const Task<T> task{taps, s.input, s.output, inner, x, y};
  if (inner == 1) {
    pool::parallel_for(outer, std::max<int64_t>(kGrain / std::max<int64_t>(s.output, 1), 1),
                       [&](int64_t b, int64_t e) { forward_elements(task, b, e); });
    return;
  }
  pool::parallel_for(
      outer * s.output, std::max<int64_t>(kGrain / inner, 1), [&](int64_t b, int64_t e) {
        (level() == Level::baseline ? forward_baseline<T> : forward_v3<T>)(task, b, e);
      });
}
template <class T>
void transposed(const Sampling& s, int64_t outer, int64_t inner, const T* y, T* x) {
  const Taps<T> taps = taps_of<T>(s);
  const Task<T> task{taps, s.input, s.output, inner, y, x};
  auto* rows = level() == Level::baseline ? transposed_baseline<T> : transposed_v3<T>;
  pool::parallel_for(
      outer, std::max<int64_t>(kGrain / std::max<int64_t>(s.output * inner, 1), 1),
      [&](int64_t b, int64_t e) { (inner == 1 ? transposed_elements<T> : rows)(task, b, e); });
}

}  // namespace

void resample(DType dtype, const Sampling& s, int64_t outer, int64_t inner, const void* x,
              void* y) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(y);
    if (s.filter < Filter::linear) {
      copy_rows(s, outer, inner, from, to);
    } else if constexpr (std::is_floating_point_v<T>) {
      forward(s, outer, inner, from, to);
    }
  });
}

void resample_transposed(DType dtype, const Sampling& s, int64_t outer, int64_t inner,
                         const void* y, void* x) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<T>) {
      transposed(s, outer, inner, static_cast<const T*>(y), static_cast<T*>(x));
    }
  });
}

}  // namespace fg::kernels
