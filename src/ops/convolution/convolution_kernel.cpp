// Images become columns, columns are multiplied. Work is cut by the shape alone, into pieces whose
// columns stay in the second-level cache; threads take pieces. For f32, oneDNN is asked first.
#include "ops/convolution/convolution_kernel.h"

#include <algorithm>
#include <type_traits>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/convolution/convolution_onednn.h"
#include "ops/kernels/block.h"
#include "ops/matmul/gemm.h"

namespace fg::kernels {

namespace {

constexpr int64_t kColumnBytes = 512 * 1024;
constexpr int64_t kMaxSlices = 16;  // sums of weight gradients that are made side by side

int64_t parts(int64_t size, int64_t part) { return (size + part - 1) / part; }

template <class T>
Block<T> scratch(int64_t count) {
  return Block<T>(static_cast<size_t>(count));
}

// The least number of pieces that is worth waking up another thread.
int64_t grain(double piece_products) {
  return std::max<int64_t>(1, static_cast<int64_t>((1 << 20) / std::max(piece_products, 1.0)));
}

// How many columns (or rows) of `size` elements fit the cache; a multiple of 64 unless all do.
template <class T>
int64_t fitting(int64_t size, int64_t all) {
  const int64_t fit = kColumnBytes / static_cast<int64_t>(sizeof(T)) / std::max<int64_t>(size, 1);
  return std::max<int64_t>(1, std::min(all, std::max<int64_t>(fit / 64, 1) * 64));
}

template <class T>
void add_bias(T* rows, int64_t count, int64_t columns, int64_t row_stride, const T* bias) {
  for (int64_t i = 0; i < count; i++) {
    T* row = rows + i * row_stride;
    for (int64_t j = 0; j < columns; j++) row[j] += bias[i];
  }
}

template <class T>
struct Convolution {
  const ConvGeometry& g;
  int64_t depth = g.depth(), positions = g.positions(), plane = volume(g.input);
  // Output padding leaves positions that no tap reaches.
  bool pointwise = g.is_pointwise() && plane == positions;
  static constexpr DType kDType = DTypeOf<T>::value;

  // The input channels of one image that one group reads, and the output channels that it writes.
  auto image(auto* x, int64_t n, int64_t group) const {
    return x + (n * g.groups + group) * g.in_channels * plane;
  }
  auto result(auto* y, int64_t n, int64_t group) const {
    return y + (n * g.groups + group) * g.out_channels * positions;
  }
  auto filter(auto* w, int64_t group) const { return w + group * g.out_channels * depth; }

  // y = w @ im2col(x) + bias for the positions [begin, end) of one image and group.
  void forward_piece(int64_t n, int64_t group, int64_t begin, int64_t end, const T* x, const T* w,
                     const T* bias, T* y, T* columns) const {
    const T* from = image(x, n, group);
    MatrixView b{from + begin, positions, 1};
    if (!pointwise) {
      im2col(g, from, g.in_channels, begin, end, columns, end - begin);
      b = {columns, end - begin, 1};
    }
    T* to = result(y, n, group) + begin;
    gemm(kDType,
         {g.out_channels, end - begin, depth, {filter(w, group), depth, 1}, b, to, positions});
    if (bias) {
      add_bias(to, g.out_channels, end - begin, positions, bias + group * g.out_channels);
    }
  }

  void forward(const T* x, const T* w, const T* bias, T* y) const {
    const int64_t piece = fitting<T>(depth, positions), pieces = parts(positions, piece);
    const int64_t least = grain(1.0 * g.out_channels * depth * piece);
    pool::parallel_for(g.batch * g.groups * pieces, least, [&](int64_t begin, int64_t end) {
      auto columns = scratch<T>(pointwise ? 0 : depth * piece);
      for (int64_t i = begin; i < end; i++) {
        const int64_t first = i % pieces * piece, member = i / pieces;
        forward_piece(member / g.groups, member % g.groups, first,
                      std::min(first + piece, positions), x, w, bias, y, columns.get());
      }
    });
  }

  // x = col2im(w^T @ y) + bias for the channels [begin, end) of one image and group.
  void input_piece(int64_t n, int64_t group, int64_t begin, int64_t end, const T* y, const T* w,
                   const T* bias, T* x, T* columns) const {
    const int64_t taps = volume(g.kernel), rows = (end - begin) * taps;
    T* to = image(x, n, group) + begin * plane;
    gemm(kDType, {rows,
                  positions,
                  g.out_channels,
                  {filter(w, group) + begin * taps, 1, depth},
                  {result(y, n, group), positions, 1},
                  pointwise ? to : columns,
                  positions});
    if (!pointwise) {
      std::fill_n(to, (end - begin) * plane, T{});
      col2im(g, columns, end - begin, to);
    }
    if (bias) add_bias(to, end - begin, plane, plane, bias + group * g.in_channels + begin);
  }

  void input(const T* y, const T* w, const T* bias, T* x) const {
    const int64_t taps = volume(g.kernel);
    const int64_t fit = kColumnBytes / std::max<int64_t>(taps * positions * sizeof(T), 1);
    const int64_t least = parts(48, taps);  // few rows would make y travel too often
    const int64_t piece = std::clamp<int64_t>(std::max(fit, least), 1, g.in_channels);
    const int64_t pieces = parts(g.in_channels, piece);
    const int64_t few = grain(1.0 * g.out_channels * piece * taps * positions);
    pool::parallel_for(g.batch * g.groups * pieces, few, [&](int64_t begin, int64_t end) {
      auto columns = scratch<T>(pointwise ? 0 : piece * taps * positions);
      for (int64_t i = begin; i < end; i++) {
        const int64_t first = i % pieces * piece, member = i / pieces;
        input_piece(member / g.groups, member % g.groups, first,
                    std::min(first + piece, g.in_channels), y, w, bias, x, columns.get());
      }
    });
  }

  // Positions are counted over the whole batch: [begin, end) may begin and end inside an image.
  // Both operands are laid out along it.
  void gather(int64_t group, int64_t begin, int64_t end, const T* y, const T* x, T* rows,
              T* columns) const {
    const int64_t width = end - begin;
    for (int64_t at = begin; at < end;) {
      const int64_t n = at / positions, first = at % positions;
      const int64_t last = std::min(positions, first + end - at);
      im2col(g, image(x, n, group), g.in_channels, first, last, columns + at - begin, width);
      const T* from = result(y, n, group) + first;
      for (int64_t o = 0; o < g.out_channels; o++, from += positions) {
        std::copy_n(from, last - first, rows + o * width + at - begin);
      }
      at += last - first;
    }
  }

  // sum = y @ im2col(x)^T over the pieces [begin, end), in order.
  void weight_slice(int64_t group, int64_t begin, int64_t end, int64_t piece, const T* y,
                    const T* x, T* sum) const {
    const int64_t count = g.out_channels * depth, all = g.batch * positions;
    auto columns = scratch<T>(depth * piece), rows = scratch<T>(g.out_channels * piece);
    auto term = scratch<T>(count);
    std::fill_n(sum, count, T{});
    for (int64_t i = begin; i < end; i++) {
      const int64_t first = i * piece, last = std::min(all, first + piece), width = last - first;
      gather(group, first, last, y, x, rows.get(), columns.get());
      gemm(kDType, {g.out_channels,
                    depth,
                    width,
                    {rows.get(), width, 1},
                    {columns.get(), 1, width},
                    term.get(),
                    depth});
      for (int64_t j = 0; j < count; j++) sum[j] += term[j];
    }
  }

  void weight(const T* y, const T* x, T* w) const {
    const int64_t count = g.out_channels * depth, all = g.batch * positions;
    const int64_t piece = fitting<T>(depth, std::max<int64_t>(all, 1)), pieces = parts(all, piece);
    const int64_t slices = std::clamp<int64_t>(pieces, 1, kMaxSlices);
    auto sums = scratch<T>(g.groups * slices * count);
    const int64_t few = grain(1.0 * count * all / slices);
    pool::parallel_for(g.groups * slices, few, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        const int64_t slice = i % slices;
        weight_slice(i / slices, slice * pieces / slices, (slice + 1) * pieces / slices, piece, y,
                     x, sums.get() + i * count);
      }
    });
    for (int64_t group = 0; group < g.groups; group++) {
      const T* from = sums.get() + group * slices * count;
      T* to = filter(w, group);
      std::copy_n(from, count, to);
      for (int64_t i = count; i < slices * count; i++) to[i % count] += from[i];
    }
  }
};

template <class F>
void with_type(DType dtype, F f) {
  visit(dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
      f(zero);
    } else {
      fail(ErrorKind::internal, "convolution: got {}; expected a dtype that is computed in itself",
           name(dtype));
    }
  });
}

// Calls oneDNN for f32; false: it does not serve the sizes. Operands stay, the result is written.
bool by_onednn(ConvDirection direction, DType dtype, const ConvGeometry& g, const void* x,
               const void* w, const void* bias, const void* y) {
  auto floats = [](const void* data) { return static_cast<float*>(const_cast<void*>(data)); };
  return dtype == kFloat32 &&
         convolve_onednn(direction, g, floats(x), floats(w), floats(bias), floats(y));
}

}  // namespace

void convolve(DType dtype, const ConvGeometry& g, const void* x, const void* w, const void* bias,
              void* y) {
  if (by_onednn(ConvDirection::forward, dtype, g, x, w, bias, y)) return;
  with_type(dtype, [&]<class T>(T) {
    Convolution<T>{g}.forward(static_cast<const T*>(x), static_cast<const T*>(w),
                              static_cast<const T*>(bias), static_cast<T*>(y));
  });
}

void convolve_input(DType dtype, const ConvGeometry& g, const void* y, const void* w,
                    const void* bias, void* x) {
  if (by_onednn(ConvDirection::input, dtype, g, x, w, bias, y)) return;
  with_type(dtype, [&]<class T>(T) {
    Convolution<T>{g}.input(static_cast<const T*>(y), static_cast<const T*>(w),
                            static_cast<const T*>(bias), static_cast<T*>(x));
  });
}

void convolve_weight(DType dtype, const ConvGeometry& g, const void* y, const void* x, void* w) {
  if (by_onednn(ConvDirection::weight, dtype, g, x, w, nullptr, y)) return;
  with_type(dtype, [&]<class T>(T) {
    Convolution<T>{g}.weight(static_cast<const T*>(y), static_cast<const T*>(x),
                             static_cast<T*>(w));
  });
}

}  // namespace fg::kernels
