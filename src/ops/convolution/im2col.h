// Convolution as matrix products: the inputs that each output position reads, written as the
// columns of a matrix, and back. Up to three spatial dimensions; missing ones have size 1.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace fg::kernels {

using Spatial = std::array<int64_t, 3>;

inline int64_t volume(const Spatial& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

struct ConvGeometry {
  int64_t batch, groups;
  int64_t in_channels, out_channels;  // of one group
  Spatial input, kernel, output;
  Spatial stride, padding, dilation;

  bool operator==(const ConvGeometry&) const = default;
  int64_t depth() const { return in_channels * volume(kernel); }  // rows of the column matrix
  int64_t positions() const { return volume(output); }            // its columns, of one image
  // The column matrix is the image itself.
  bool is_pointwise() const {
    return volume(kernel) == 1 && stride == Spatial{1, 1, 1} && padding == Spatial{};
  }
};

// Calls f(position, column, count, input_row) for the runs of output positions [begin, end) that
// lie in one row of the output; input_row is the row of the image that `tap` sees there, or -1 in
// the padding.
template <class F>
void each_output_row(const ConvGeometry& g, const Spatial& tap, int64_t begin, int64_t end, F f) {
  const int64_t width = g.output[2], height = g.output[1];
  for (int64_t position = begin; position < end;) {
    const int64_t column = position % width, row = position / width;
    const int64_t count = std::min(width - column, end - position);
    const int64_t d = row / height * g.stride[0] - g.padding[0] + tap[0] * g.dilation[0];
    const int64_t h = row % height * g.stride[1] - g.padding[1] + tap[1] * g.dilation[1];
    const bool inside = d >= 0 && d < g.input[0] && h >= 0 && h < g.input[1];
    f(position, column, count, inside ? d * g.input[1] + h : -1);
    position += count;
  }
}

// The range [first, last) of `count` output columns from `column` on that `tap` sees inside the
// image, and the input column `at` of the first.
struct Reach {
  int64_t first, last, at;
};
inline Reach reach(const ConvGeometry& g, int64_t tap, int64_t column, int64_t count) {
  const int64_t stride = g.stride[2];
  const int64_t at = column * stride - g.padding[2] + tap * g.dilation[2];
  auto steps_to = [&](int64_t bound) {  // until at + i * stride >= bound
    return at >= bound ? 0 : std::min(count, (bound - at + stride - 1) / stride);
  };
  const int64_t first = steps_to(0), last = steps_to(g.input[2]);
  return {first, std::max(first, last), at + first * stride};
}

template <class F>
void each_row_of_columns(const ConvGeometry& g, int64_t channels, F f) {
  int64_t row = 0;
  for (int64_t c = 0; c < channels; c++) {
    Spatial tap;
    for (tap[0] = 0; tap[0] < g.kernel[0]; tap[0]++) {
      for (tap[1] = 0; tap[1] < g.kernel[1]; tap[1]++) {
        for (tap[2] = 0; tap[2] < g.kernel[2]; tap[2]++) f(row++, c, tap);
      }
    }
  }
}

// columns[(channel, tap)][position - begin] = image[channel][the input of position at tap].
template <class T>
void im2col(const ConvGeometry& g, const T* image, int64_t channels, int64_t begin, int64_t end,
            T* columns, int64_t row_stride) {
  const int64_t plane = volume(g.input), stride = g.stride[2];
  each_row_of_columns(g, channels, [&](int64_t row, int64_t channel, const Spatial& tap) {
    auto copy = [&](int64_t position, int64_t column, int64_t count, int64_t input_row) {
      T* to = columns + row * row_stride + position - begin;
      if (input_row < 0) return void(std::fill_n(to, count, T{}));
      const Reach r = reach(g, tap[2], column, count);
      const T* from = image + channel * plane + input_row * g.input[2] + r.at;
      std::fill_n(to, r.first, T{});
      if (stride == 1) {
        std::copy_n(from, r.last - r.first, to + r.first);
      } else {
        for (int64_t i = r.first; i < r.last; i++, from += stride) to[i] = *from;
      }
      std::fill_n(to + r.last, count - r.last, T{});
    };
    each_output_row(g, tap, begin, end, copy);
  });
}

// image[channel][the input of position at tap] += columns[(channel, tap)][position]. Rows are added
// in order, so the bits do not depend on threads.
template <class T>
void col2im(const ConvGeometry& g, const T* columns, int64_t channels, T* image) {
  const int64_t plane = volume(g.input), stride = g.stride[2], positions = g.positions();
  each_row_of_columns(g, channels, [&](int64_t row, int64_t channel, const Spatial& tap) {
    auto add = [&](int64_t position, int64_t column, int64_t count, int64_t input_row) {
      if (input_row < 0) return;
      const Reach r = reach(g, tap[2], column, count);
      const T* from = columns + row * positions + position;
      T* to = image + channel * plane + input_row * g.input[2] + r.at;
      if (stride == 1) {
        for (int64_t i = r.first; i < r.last; i++) to[i - r.first] += from[i];
      } else {
        for (int64_t i = r.first; i < r.last; i++, to += stride) *to += from[i];
      }
    };
    each_output_row(g, tap, 0, positions, add);
  });
}

}  // namespace fg::kernels
