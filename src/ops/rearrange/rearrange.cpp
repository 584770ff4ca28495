#include "ops/rearrange/rearrange.h"

#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/kernels/strided.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

// ---- repeat

// Each dimension as two, [repeats, size]: [2, 3] four times over is a copy of [4, 2, 1, 3].
Dims interleaved(const Dims& repeats, const Dims& sizes) {
  Dims out;
  size_t fresh = repeats.size() - sizes.size();
  for (size_t i = 0; i < repeats.size(); i++) {
    out.push_back(repeats[i]);
    out.push_back(i < fresh ? Dim(1) : sizes[i - fresh]);
  }
  return out;
}

void check_repeats(const Dims& repeats, const Dims& sizes) {
  if (repeats.size() < sizes.size()) {
    fail("repeat: {} repeats for a tensor of {} dimensions; give at least as many", repeats.size(),
         sizes.size());
  }
  for (Dim repeat : repeats) {
    if (repeat < 0) fail("repeat: repeats must be 0 or more, got {}", text(repeats));
  }
}

const auto repeat_entry =
    define(repeat, "Copies of self, side by side, that many times in each dimension.",
           [](const Tensor& self, const Dims& repeats) {
             check_repeats(repeats, self.sizes());
             Dims result(repeats.size(), 0);
             Dims pairs = interleaved(repeats, self.sizes());
             for (size_t i = 0; i < result.size(); i++) result[i] = pairs[2 * i] * pairs[2 * i + 1];
             Dims single = interleaved(Dims(repeats.size(), 1), self.sizes());
             Tensor all = expand(reshape(self, single), pairs);
             all = all.is_contiguous() ? clone(all) : contiguous(all);
             return _unsafe_view(all, result);
           })
        .shown(Shown::as_method)
        .vjp("RepeatBackward0", wrt(0, saves::shape(0),
                                    [](const Vjp& v, const Dims& repeats) {
                                      if (repeats.empty()) return v.grad();
                                      Dims copies;
                                      for (size_t i = 0; i < repeats.size(); i++) {
                                        copies.push_back(static_cast<int64_t>(2 * i));
                                      }
                                      Dims pairs = interleaved(repeats, v.sizes(0));
                                      Tensor total = sum(reshape(v.grad(), pairs), copies, false);
                                      return reshape(total, v.sizes(0));
                                    }))
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{2, 1}}},
                         {{sample({2}), Dims{3, 2}}, "new dimension"},
                         {{sample({2, 2}), Dims{0, 2}}, "none"},
                         {{sample({2}), Dims{1}}, "once"}};
        });
const auto tile_entry =
    define(tile, "As repeat; missing leading counts are one.",
           [](const Tensor& self, const Dims& dims) {
             Dims repeats;
             for (int64_t i = static_cast<int64_t>(dims.size()); i < self.dim(); i++) {
               repeats.push_back(1);
             }
             for (Dim dim : dims) repeats.push_back(dim);
             return repeat(self, repeats);
           })
        .samples([] { return Samples{{{sample({2, 3}), Dims{2}}}}; });

const auto repeat_interleave_entry =
    define(repeat_interleave.overload<0>(), "Each element that many times in a row.",
           [](const Tensor& self, int64_t repeats, OptInt dim) {
             if (repeats < 0) fail("repeat_interleave: repeats must be 0 or more, got {}", repeats);
             Tensor from = dim ? self : flatten(self);
             int64_t axis = wrap_axis(dim.value_or(0), from.sizes().size(), "repeat_interleave");
             if (from.dim() == 0) from = reshape(from, {1});
             Dims expanded = from.sizes(), result = from.sizes();
             expanded.insert(axis + 1, repeats);
             result[axis] *= repeats;
             return reshape(clone(expand(unsqueeze(from, axis + 1), expanded)), result);
           })
        .samples([] {
          return Samples{{{sample({2, 3}), Scalar(2), Scalar(0)}},
                         {{sample({2, 3}), Scalar(3), Scalar(-1)}, "columns"},
                         {{sample({2, 2}), Scalar(2)}, "flat"}};
        });

// Position i, counts[i] times.
Tensor repeated_positions(const Tensor& counts) {
  Tensor dense = kernels::as_contiguous(counts, kInt64);
  std::span times(dense.data_ptr<int64_t>(), static_cast<size_t>(dense.numel()));
  Dim total = 0;
  for (int64_t each : times) {
    if (each < 0) fail("repeat_interleave: repeats must be 0 or more, got {}", each);
    total += each;
  }
  Tensor positions = empty_tensor({total}, kInt64);
  int64_t* at = positions.data_ptr<int64_t>();
  for (size_t i = 0; i < times.size(); i++) at = std::fill_n(at, times[i], i);
  return positions;
}

const auto repeat_interleave_tensor_entry =
    define(repeat_interleave.overload<1>(), "Each element as often as repeats says.",
           [](const Tensor& self, const Tensor& repeats, OptInt dim) {
             if (repeats.dtype() != kInt64 && repeats.dtype() != kInt32) {
               fail("repeat_interleave: repeats must be int64 or int32, got {}",
                    name(repeats.dtype()));
             }
             if (!repeats.is_known()) {
               fail("repeat_interleave: the result's size depends on data that are not known here");
             }
             Tensor from = dim ? self : flatten(self);
             int64_t axis = wrap_axis(dim.value_or(0), from.sizes().size(), "repeat_interleave");
             Dim size = from.dim() == 0 ? Dim(1) : from.dim_size(axis);
             bool one_for_all = repeats.numel() == 1 && repeats.dim() < 2;
             if (!one_for_all && (repeats.dim() != 1 || !(repeats.sizes()[0] == size))) {
               fail(
                   "repeat_interleave: repeats of sizes {} must have one entry for each of the {} "
                   "elements of dimension {}",
                   text(repeats.sizes()), size.text(), axis);
             }
             Tensor each = one_for_all ? expand(reshape(repeats, {1}), {size}) : repeats;
             if (from.dim() == 0) from = reshape(from, {1});
             return index_select(from, axis, repeated_positions(each));
           })
        .samples([] { return Samples{{{sample({3, 2}), tensor({2, 0, 1}), Scalar(0)}}}; });

// ---- roll, flip

Tensor roll_along(const Tensor& self, Dim shift, int64_t axis) {
  Dim size = self.dim_size(axis);
  if (size == 0) return clone(self);
  Dim start = (size - shift % size) % size;
  if (start == 0) return clone(self);
  return cat({slice(self, axis, start), slice(self, axis, Dim(0), start)}, axis);
}

// The shifts that undo others; within the sizes, because the least number has no negative.
Dims shifted_back(const Tensor& self, const Dims& shifts, const Dims& dims) {
  Dims back = shifts;
  for (size_t i = 0; i < back.size(); i++) {
    bool flat = dims.empty();
    Dim size = flat ? self.impl()->numel
                    : self.sizes()[wrap_axis(dims[i].value(), self.sizes().size(), "roll")];
    back[i] = size == 0 ? Dim(0) : -(back[i] % size);
  }
  return back;
}

const auto roll_entry =
    define(roll, "The elements moved along dimensions, those that leave enter at the other end.",
           [](const Tensor& self, const Dims& shifts, const Dims& dims) {
             if (dims.empty() && shifts.size() == 1) {
               if (self.impl()->numel == 0) return clone(self);
               return _unsafe_view(roll_along(reshape(self, {-1}), shifts[0], 0), self.sizes());
             }
             if (shifts.empty() || shifts.size() != dims.size()) {
               fail("roll: got {} shifts for {} dims; give one shift per dimension", shifts.size(),
                    dims.size());
             }
             Tensor result = self;
             for (size_t i = 0; i < dims.size(); i++) {
               int64_t axis = wrap_axis(dims[i].value(), self.sizes().size(), "roll");
               result = roll_along(result, shifts[i], axis);
             }
             return result;
           })
        .vjp("RollBackward0", wrt(0, saves::nothing,
                                  [](const Vjp& v, const Dims& shifts, const Dims& dims) {
                                    return roll(v.grad(), shifted_back(v.grad(), shifts, dims),
                                                dims);
                                  }))
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{1}, Dims{1}}},
                         {{sample({2, 3}), Dims{1}}, "flat"},
                         {{sample({3, 3}), Dims{4, -1}, Dims{0, 1}}, "two dims"}};
        });

struct FlipParams {
  Axes dims;
  bool operator==(const FlipParams&) const = default;
};
// Reversed dimensions are read backwards: from the last element, with negative strides.
const Registered flip_p =
    plain_primitive<FlipParams,
                    [](Operands inputs, const FlipParams& p, Meta* out) {
                      const Dims& sizes = inputs[0]->sizes();
                      if (!p.dims.empty()) axis_set(p.dims, sizes.size(), "flip");
                      out[0].sizes = sizes;
                      out[0].strides = ops::preserved_strides(*inputs[0]);
                      out[0].dtype = inputs[0]->dtype();
                    },
                    [](Operands inputs, const FlipParams& p, Tensor* out) {
                      const Tensor& self = *inputs[0];
                      if (self.numel() == 0) return;
                      Dims strides = self.strides();
                      Dim offset = self.impl()->offset;
                      for (Dim dim : p.dims) {
                        if (strides.empty()) break;
                        int64_t axis = wrap_axis(dim.value(), strides.size(), "flip");
                        offset += (self.sizes()[axis] - 1) * strides[axis];
                        strides[axis] = -strides[axis];
                      }
                      kernels::copy_elements(out[0], alias(self, self.sizes(), strides, offset));
                    }>("flip", Kind::gather, "t")
        .linear_in({0})
        .vjp("FlipBackward0", wrt(0, saves::nothing, [](const Vjp& v, const FlipParams& p) {
               return flip(v.grad(), p.dims);
             }));
const auto flip_entry =
    define_as<flip_p>(flip, "The elements in reverse order along dimensions.").samples([] {
      return Samples{{{sample({2, 3}), Dims{1}}},
                     {{sample({2, 3, 2}), Dims{0, -1}}, "two dims"},
                     {{sample({3}), Dims{}}, "none"}};
    });
const auto fliplr_entry = define(fliplr, "The columns in reverse order.", [](const Tensor& self) {
                            if (self.dim() < 2)
                              fail("fliplr: expects at least 2 dimensions, got {}", self.dim());
                            return flip(self, {1});
                          }).samples([] { return Samples{{{sample({2, 3})}}}; });
const auto flipud_entry = define(flipud, "The rows in reverse order.", [](const Tensor& self) {
                            if (self.dim() < 1) fail("flipud: expects at least 1 dimension, got 0");
                            return flip(self, {0});
                          }).samples([] { return Samples{{{sample({2, 3})}}}; });

}  // namespace

Tensor Tensor::repeat(const Dims& repeats) const { return fg::repeat(*this, repeats); }
Tensor Tensor::roll(const Dims& shifts, const Dims& dims) const {
  return fg::roll(*this, shifts, dims);
}
Tensor Tensor::flip(const Dims& dims) const { return fg::flip(*this, dims); }

}  // namespace fg
