#include "ops/pooling/pooling_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/fail.h"
#include "base/level.h"
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

// Calls f(volume) for all volumes, on threads.
template <class F>
void each_volume(const PoolGeometry& g, F f) {
  constexpr int64_t kEnough = 16 * 1024;
  const int64_t work = std::max<int64_t>({g.results(), g.size(), 1});
  pool::parallel_for(g.volumes, std::max<int64_t>(kEnough / work, 1),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t volume = begin; volume < end; volume++) f(volume);
                     });
}

// The window of a result.
struct Box {
  const Window &depth, &rows, &columns;

  bool empty() const {
    return depth.begin >= depth.end || rows.begin >= rows.end || columns.begin >= columns.end;
  }
  int64_t divide_by(Divisor divisor) const {
    if (divisor.override) return divisor.override;
    if (divisor.count_padding) return depth.padded * rows.padded * columns.padded;
    return (depth.end - depth.begin) * (rows.end - rows.begin) * (columns.end - columns.begin);
  }
};

// Calls f(box) for the results of a volume, in order.
template <class F>
FG_INLINE void each_box(const PoolGeometry& g, F f) {
  for (const Window& depth : g.depth.windows) {
    for (const Window& rows : g.rows.windows) {
      for (const Window& columns : g.columns.windows) f(Box{depth, rows, columns});
    }
  }
}

// Calls f(row) with the index of the first element of each row of a box. Planes are no volumes of
// depth one: the loop over their depth would cost as much as a small window.
template <bool deep, class F>
FG_INLINE void each_row(const PoolGeometry& g, const Box& box, F f) {
  const int64_t width = g.columns.size;
  if constexpr (deep) {
    for (int64_t d = box.depth.begin; d < box.depth.end; d += g.depth.step) {
      for (int64_t h = box.rows.begin; h < box.rows.end; h += g.rows.step) {
        f((d * g.rows.size + h) * width);
      }
    }
  } else {
    for (int64_t h = box.rows.begin; h < box.rows.end; h += g.rows.step) f(h * width);
  }
}

// The largest of no elements is none.
void refuse_empty_windows(const PoolGeometry& g) {
  for (const Axis* axis : {&g.depth, &g.rows, &g.columns}) {
    for (const Window& window : axis->windows) {
      if (window.begin < window.end) continue;
      fail("max_pool: a window lies in the padding alone; expected a smaller padding or dilation");
    }
  }
}

// values[o] = max of input over the window of o; indices[o]: the first largest, or the last NaN.
template <bool deep, class T>
void max_volume(const PoolGeometry& g, const T* input, T* values, int64_t* indices) {
  each_box(g, [&](const Box& box) {
    int64_t best =
        (box.depth.begin * g.rows.size + box.rows.begin) * g.columns.size + box.columns.begin;
    auto largest = static_cast<Wide<T>>(input[best]);
    each_row<deep>(g, box, [&](int64_t row) {
      for (int64_t w = box.columns.begin; w < box.columns.end; w += g.columns.step) {
        const auto value = static_cast<Wide<T>>(input[row + w]);
        if (value > largest || value != value) {
          largest = value;
          best = row + w;
        }
      }
    });
    *values++ = input[best];
    *indices++ = best;
  });
}

// output[o] = sum of input over the window of o / divisor; 0 for an empty window.
template <bool deep, class T>
void average_volume(const PoolGeometry& g, Divisor divisor, const T* input, T* output) {
  each_box(g, [&](const Box& box) {
    Wide<T> sum = 0;
    each_row<deep>(g, box, [&](int64_t row) {
      for (int64_t w = box.columns.begin; w < box.columns.end; w++) sum += input[row + w];
    });
    *output++ = T(box.empty() ? 0 : sum / Wide<T>(box.divide_by(divisor)));
  });
}

// sums[i] += output[o] / divisor for every i in the window of o, in order of o; `sums` begins as 0.
template <bool deep, class T>
void spread_volume(const PoolGeometry& g, Divisor divisor, const T* output, Wide<T>* sums) {
  each_box(g, [&](const Box& box) {
    const auto value = static_cast<Wide<T>>(*output++);
    if (box.empty()) return;
    const Wide<T> share = value / Wide<T>(box.divide_by(divisor));
    each_row<deep>(g, box, [&](int64_t row) {
      for (int64_t w = box.columns.begin; w < box.columns.end; w++) sums[row + w] += share;
    });
  });
}

// Calls f with whether volumes have depth, as a constant.
template <class F>
void with_depth(const PoolGeometry& g, F f) {
  if (g.depth.size == 1 && g.depth.windows.size() == 1) {
    f(std::false_type{});
  } else {
    f(std::true_type{});
  }
}

template <class T>
inline constexpr bool kAverages =
    !std::is_integral_v<T> || std::is_same_v<T, int64_t>;  // bool is integral

}  // namespace

void max_pool(DType dtype, const PoolGeometry& g, const void* input, void* values,
              int64_t* indices) {
  if (g.volumes > 0) refuse_empty_windows(g);
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    with_depth(g, [&](auto deep) {
      each_volume(g, [&](int64_t volume) {
        max_volume<deep.value>(g, static_cast<const T*>(input) + volume * g.size(),
                               static_cast<T*>(values) + volume * g.results(),
                               indices + volume * g.results());
      });
    });
  });
}

void average_pool(DType dtype, const PoolGeometry& g, Divisor divisor, const void* input,
                  void* output) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kAverages<T>) {
      with_depth(g, [&](auto deep) {
        each_volume(g, [&](int64_t volume) {
          average_volume<deep.value>(g, divisor, static_cast<const T*>(input) + volume * g.size(),
                                     static_cast<T*>(output) + volume * g.results());
        });
      });
    }
  });
}

namespace {

template <bool deep, class T>
void spread_to(const PoolGeometry& g, Divisor divisor, const T* from, T* to) {
  if constexpr (std::is_same_v<T, Wide<T>>) {
    std::fill_n(to, g.size(), T{});
    spread_volume<deep>(g, divisor, from, to);
  } else {  // rounded once
    std::vector<Wide<T>> sums(static_cast<size_t>(g.size()));
    spread_volume<deep>(g, divisor, from, sums.data());
    std::transform(sums.begin(), sums.end(), to, [](Wide<T> sum) { return T(sum); });
  }
}

}  // namespace

void average_pool_spread(DType dtype, const PoolGeometry& g, Divisor divisor, const void* output,
                         void* input) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (kAverages<T>) {
      with_depth(g, [&](auto deep) {
        each_volume(g, [&](int64_t volume) {
          spread_to<deep.value>(g, divisor, static_cast<const T*>(output) + volume * g.results(),
                                static_cast<T*>(input) + volume * g.size());
        });
      });
    }
  });
}

}  // namespace fg::kernels
