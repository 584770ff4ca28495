#include "ops/pooling/pooling_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "base/pool.h"

namespace fg::kernels {

Axis fixed_windows(int64_t size, int64_t results, int64_t kernel, int64_t stride, int64_t padding,
                   int64_t dilation) {
  Axis axis{size, dilation, {}};
  for (int64_t i = 0; i < results; i++) {
    int64_t begin = i * stride - padding;
    const int64_t end = begin + (kernel - 1) * dilation + 1;
    const int64_t padded = std::min(end, size + padding) - begin;
    if (begin < 0) begin += (-begin + dilation - 1) / dilation * dilation;
    axis.windows.push_back({begin, std::min(end, size), padded});
  }
  return axis;
}

Axis adaptive_windows(int64_t size, int64_t results) {
  Axis axis{size, 1, {}};
  for (int64_t i = 0; i < results; i++) {
    const int64_t begin = i * size / results, end = ((i + 1) * size + results - 1) / results;
    axis.windows.push_back({begin, end, end - begin});
  }
  return axis;
}

namespace {

template <class T>
using Wide = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

int64_t results(const PoolGeometry& g) {
  return static_cast<int64_t>(g.rows.windows.size() * g.columns.windows.size());
}

// Calls f(plane) for all planes, on threads.
template <class F>
void each_plane(const PoolGeometry& g, F f) {
  constexpr int64_t kEnough = 16 * 1024;
  const int64_t work = std::max<int64_t>({results(g), g.rows.size * g.columns.size, 1});
  pool::parallel_for(g.planes, std::max<int64_t>(kEnough / work, 1),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t plane = begin; plane < end; plane++) f(plane);
                     });
}

// The largest of no elements is none.
void refuse_empty_windows(const PoolGeometry& g) {
  for (const Axis* axis : {&g.rows, &g.columns}) {
    for (const Window& window : axis->windows) {
      if (window.begin < window.end) continue;
      fail("max_pool: a window lies in the padding alone; expected a smaller padding or dilation");
    }
  }
}

// values[o] = max of input over the window of o; indices[o]: the first largest, or the last NaN.
template <class T>
void max_plane(const PoolGeometry& g, const T* input, T* values, int64_t* indices) {
  const int64_t width = g.columns.size;
  for (const Window& rows : g.rows.windows) {
    for (const Window& columns : g.columns.windows) {
      int64_t best = rows.begin * width + columns.begin;
      auto largest = static_cast<Wide<T>>(input[best]);
      for (int64_t h = rows.begin; h < rows.end; h += g.rows.step) {
        for (int64_t w = columns.begin; w < columns.end; w += g.columns.step) {
          const auto value = static_cast<Wide<T>>(input[h * width + w]);
          if (value > largest || value != value) {
            largest = value;
            best = h * width + w;
          }
        }
      }
      *values++ = input[best];
      *indices++ = best;
    }
  }
}

int64_t divide_by(const Window& rows, const Window& columns, Divisor divisor) {
  if (divisor.override) return divisor.override;
  if (divisor.count_padding) return rows.padded * columns.padded;
  return (rows.end - rows.begin) * (columns.end - columns.begin);
}

// output[o] = sum of input over the window of o / divisor; 0 for an empty window.
template <class T>
void average_plane(const PoolGeometry& g, Divisor divisor, const T* input, T* output) {
  for (const Window& rows : g.rows.windows) {
    for (const Window& columns : g.columns.windows) {
      Wide<T> sum = 0;
      for (int64_t h = rows.begin; h < rows.end; h++) {
        const T* row = input + h * g.columns.size;
        for (int64_t w = columns.begin; w < columns.end; w++) sum += row[w];
      }
      const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
      *output++ = T(empty ? 0 : sum / Wide<T>(divide_by(rows, columns, divisor)));
    }
  }
}

// sums[i] += output[o] / divisor for every i in the window of o, in order of o; `sums` begins as 0.
template <class T>
void spread_plane(const PoolGeometry& g, Divisor divisor, const T* output, Wide<T>* sums) {
  for (const Window& rows : g.rows.windows) {
    for (const Window& columns : g.columns.windows) {
      const auto value = static_cast<Wide<T>>(*output++);
      const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
      if (empty) continue;
      const Wide<T> share = value / Wide<T>(divide_by(rows, columns, divisor));
      for (int64_t h = rows.begin; h < rows.end; h++) {
        Wide<T>* row = sums + h * g.columns.size;
        for (int64_t w = columns.begin; w < columns.end; w++) row[w] += share;
      }
    }
  }
}

template <class T>
inline constexpr bool kAverages =
    !std::is_integral_v<T> || std::is_same_v<T, int64_t>;  // bool is integral

}  // namespace

void max_pool(DType dtype, const PoolGeometry& g, const void* input, void* values,
              int64_t* indices) {
  if (g.planes > 0) refuse_empty_windows(g);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    each_plane(g, [&](int64_t plane) {
      max_plane(g, static_cast<const T*>(input) + plane * g.rows.size * g.columns.size,
                static_cast<T*>(values) + plane * results(g), indices + plane * results(g));
    });
  });
}

void average_pool(DType dtype, const PoolGeometry& g, Divisor divisor, const void* input,
                  void* output) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kAverages<T>) {
      each_plane(g, [&](int64_t plane) {
        average_plane(g, divisor,
                      static_cast<const T*>(input) + plane * g.rows.size * g.columns.size,
                      static_cast<T*>(output) + plane * results(g));
      });
    }
  });
}

void average_pool_spread(DType dtype, const PoolGeometry& g, Divisor divisor, const void* output,
                         void* input) {
  const int64_t size = g.rows.size * g.columns.size;
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kAverages<T>) {
      each_plane(g, [&](int64_t plane) {
        const T* from = static_cast<const T*>(output) + plane * results(g);
        T* to = static_cast<T*>(input) + plane * size;
        if constexpr (std::is_same_v<T, Wide<T>>) {
          std::fill_n(to, size, T{});
          spread_plane(g, divisor, from, to);
        } else {  // rounded once
          std::vector<Wide<T>> sums(static_cast<size_t>(size));
          spread_plane(g, divisor, from, sums.data());
          std::transform(sums.begin(), sums.end(), to, [](Wide<T> sum) { return T(sum); });
        }
      });
    }
  });
}

}  // namespace fg::kernels
