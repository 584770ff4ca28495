// Fields of parameters that name dimensions. The type of a field tells code without knowledge of
// the primitive how it changes when all tensors of a call get more dimensions in front: shift_axes
// in ir/params.h. A field with the name of an axis has one of these types; ParamsOf refuses others.
#pragma once

#include <string_view>

#include "tensor/dims.h"

namespace fg::ir {

// One dimension; a negative number counts from the end.
class Axis {
 public:
  constexpr Axis(int64_t axis = 0) : axis_(axis) {}     // NOLINT: a number is what it holds
  constexpr operator int64_t() const { return axis_; }  // NOLINT: comparisons too

 private:
  int64_t axis_;
};

// Some dimensions.
struct Axes : Dims {
  using Dims::Dims;
  Axes(Dims dims) : Dims(std::move(dims)) {}  // NOLINT: the same list
};

// Some dimensions; none or an empty list are all of them.
struct OptAxes : OptDims {
  using OptDims::OptDims;
  OptAxes(OptDims dims) : OptDims(std::move(dims)) {}  // NOLINT: the same list
};

// Every dimension once, in another order.
struct AxisOrder : Dims {
  using Dims::Dims;
  AxisOrder(Dims dims) : Dims(std::move(dims)) {}  // NOLINT: the same list
};

// Dimensions of which a shift is no rule: the place of other dimensions in the result depends on
// all of them.
struct FixedAxes : Dims {
  using Dims::Dims;
  FixedAxes(Dims dims) : Dims(std::move(dims)) {}  // NOLINT: the same list
};

// The sizes of a whole tensor, whose dimensions the axes beside it count. Empty: there are none.
struct Shape : Dims {
  using Dims::Dims;
  Shape(Dims dims) : Dims(std::move(dims)) {}  // NOLINT: the same list
};

// More dimensions in front of all tensors of a call: their sizes, and the number of dimensions that
// the axes count before.
struct Front {
  Dims sizes;
  size_t rank;
};

void shift_axis(Axis& axis, const Front& front);
void shift_axis(Axes& axes, const Front& front);
void shift_axis(OptAxes& axes, const Front& front);
void shift_axis(AxisOrder& order, const Front& front);
void shift_axis(Shape& sizes, const Front& front);

template <class T>
constexpr bool is_shifted = requires(T& field, const Front& front) { shift_axis(field, front); };
template <class T>
constexpr bool is_shifted_axes = is_shifted<T> && !std::is_same_v<T, Shape>;
template <class T>
constexpr bool is_axes = is_shifted_axes<T> || std::is_same_v<T, FixedAxes>;

// Whether a name is that of a field with axes: dim, dims, dim1, axis, axes, dimension, start_dim.
constexpr bool names_axis(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  for (std::string_view word : {"dim", "dims", "dimension", "dimensions", "axis", "axes"}) {
    if (name == word) return true;
    if (name.ends_with(word) && name[name.size() - word.size() - 1] == '_') return true;
  }
  return false;
}

}  // namespace fg::ir
