#include "ir/axes.h"

#include "base/fail.h"

namespace fg::ir {

// Negative axes count from the end, where nothing changes.
static int64_t shifted(int64_t axis, const Front& front) {
  return axis < 0 ? axis : axis + static_cast<int64_t>(front.sizes.size());
}

// A zero-dim tensor takes 0 and -1 for the dimension that it has not; with dimensions in front they
// would name one of those.
static void check_rank(const Front& front) {
  if (front.rank > 0) return;
  fail("shift_axes: a zero-dim tensor has no axis to shift; give it a dimension of size one first");
}

void shift_axis(Axis& axis, const Front& front) {
  check_rank(front);
  axis = shifted(axis, front);
}

void shift_axis(Axes& axes, const Front& front) {
  if (!axes.empty()) check_rank(front);
  for (Dim& axis : axes) axis = shifted(axis.value(), front);
}

void shift_axis(OptAxes& axes, const Front& front) {
  check_rank(front);
  Axes named = axes ? Axes(*axes) : Axes();
  if (named.empty()) {
    for (size_t i = 0; i < front.rank; i++) named.push_back(static_cast<int64_t>(i));
  }
  shift_axis(named, front);
  axes = OptDims(Dims(named));
}

void shift_axis(AxisOrder& order, const Front& front) {
  Dims all;
  for (size_t i = 0; i < front.sizes.size(); i++) all.push_back(static_cast<int64_t>(i));
  for (Dim axis : order) all.push_back(shifted(axis.value(), front));
  order = all;
}

void shift_axis(Shape& sizes, const Front& front) {
  if (sizes.empty()) return;
  Dims all = front.sizes;
  for (Dim size : sizes) all.push_back(size);
  sizes = all;
}

}  // namespace fg::ir
