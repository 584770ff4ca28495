// The primitives of pooling and the arguments that they take: windows over the last two or three
// dimensions. `spatial` is their number; one dimension is two with a height of 1.
#pragma once

#include <tuple>

#include "ir/primitive.h"

namespace fg::ops {

struct PoolParams {
  Dims input{}, output{};  // sizes of the last dimensions
  // As many entries each; empty for adaptive windows, which share the input evenly.
  Dims kernel{}, stride{}, padding{}, dilation{};
  bool count_include_pad = true;
  int64_t divisor_override = 0;  // 0: none
  bool operator==(const PoolParams&) const = default;
};

struct WindowArguments {
  const Dims &kernel, &stride, &padding, &dilation;
  bool ceil_mode;
};
struct AverageArguments {
  const Dims &kernel, &stride, &padding;
  bool ceil_mode, count_include_pad;
  OptInt divisor_override{};
};

// The largest element of each window, and its index among the last dimensions.
std::tuple<Tensor, Tensor> largest(const char* who, const Tensor& self,
                                   const WindowArguments& arguments, size_t spatial);
std::tuple<Tensor, Tensor> largest_adaptive(const char* who, const Tensor& self,
                                            const Dims& output_size, size_t spatial);
Tensor averaged(const char* who, const Tensor& self, const AverageArguments& arguments,
                size_t spatial);
Tensor averaged_adaptive(const char* who, const Tensor& self, const Dims& output_size,
                         size_t spatial);

// The gradient of largest elements goes where they were: indices into volumes of these sizes.
Tensor to_largest(const Tensor& grad, const Tensor& index, const Dims& volume);

}  // namespace fg::ops
