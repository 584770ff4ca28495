// Parts of a tensor.
#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/view/view_gradients.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::view_primitive;

// Bounds as Python's: negative counts from the end, out of range is clipped.
static Dim clip_bound(std::optional<Dim> bound, Dim absent, Dim size) {
  if (!bound) return absent;
  Dim at = *bound < 0 ? *bound + size : *bound;
  return at < 0 ? Dim(0) : at > size ? size : at;
}

Dim ops::slice_start(std::optional<Dim> start, Dim size) { return clip_bound(start, 0, size); }

Dim ops::slice_length(std::optional<Dim> start, std::optional<Dim> end, Dim step, Dim size) {
  Dim first = clip_bound(start, 0, size), last = clip_bound(end, size, size);
  if (last < first) return 0;
  Dim count = last - first;
  bool plain = count.is_constant() && step.is_constant();
  if (plain && step > count) return min(count, 1);  // also where the sum below has no number
  return (count + step - 1) / step;
}

Dim ops::stepped_stride(Dim stride, Dim step) {
  if (!stride.is_constant() || !step.is_constant()) return stride * step;
  int64_t product;
  return __builtin_mul_overflow(stride.value(), step.value(), &product) ? stride : Dim(product);
}

Dim ops::diagonal_length(Dim rows, Dim columns, int64_t offset) {
  if (offset == 0) return min(rows, columns);
  Dim distance = offset > 0 ? Dim(offset) : -Dim::bound(offset);
  if (distance >= (offset > 0 ? columns : rows)) return 0;
  return offset > 0 ? min(rows, columns - distance) : min(rows - distance, columns);
}

namespace {

// ---- select, slice

struct SelectParams {
  Axis dim;
  int64_t index;
  bool operator==(const SelectParams&) const = default;
};
const Registered select_p =
    view_primitive<SelectParams>("select", [](const Tensor& self, const SelectParams& p,
                                              Meta& out) {
      if (self.dim() == 0)
        fail(ErrorKind::index, "select: a zero-dim tensor has no dimension to select");
      int64_t axis = wrap_axis(p.dim, self.sizes().size(), "select");
      Dim size = self.sizes()[axis];
      if (Dim::bound(p.index) < -size || Dim::bound(p.index) >= size) {
        fail(ErrorKind::index, "select: index {} is out of bounds for dimension {} with size {}",
             p.index, axis, size.text());
      }
      out.sizes = self.sizes();
      out.strides = self.strides();
      Dim index = p.index < 0 ? size + p.index : Dim(p.index);
      out.offset = self.impl()->offset + index * out.strides[axis];
      out.sizes.erase(axis);
      out.strides.erase(axis);
    }).vjp("SelectBackward0", wrt(0, saves::shape(0), [](const Vjp& v, const SelectParams& p) {
             return select_backward(v.grad(), v.sizes(0), p.dim, p.index);
           }));
const auto select_entry =
    define_as<select_p>(entries::select, "The part of self at one index.").samples([] {
      return Samples{{{sample({2, 3}), Scalar(1), Scalar(-1)}}};
    });

struct SliceParams {
  Axis dim;
  std::optional<Dim> start, end;
  Dim step;
  bool operator==(const SliceParams&) const = default;
};

const Registered slice_p =
    view_primitive<SliceParams>("slice", [](const Tensor& self, const SliceParams& p, Meta& out) {
      if (self.dim() == 0) fail("slice: a zero-dim tensor has no dimension to slice");
      if (!(p.step > 0)) {
        fail("slice: step must be positive, got {}; use flip to reverse", p.step.text());
      }
      int64_t axis = wrap_axis(p.dim, self.sizes().size(), "slice");
      Dim size = self.sizes()[axis];
      out.sizes = self.sizes();
      out.strides = self.strides();
      out.offset = self.impl()->offset + ops::slice_start(p.start, size) * out.strides[axis];
      out.sizes[axis] = ops::slice_length(p.start, p.end, p.step, size);
      out.strides[axis] = ops::stepped_stride(out.strides[axis], p.step);
    }).vjp("SliceBackward0", wrt(0, saves::shape(0), [](const Vjp& v, const SliceParams& p) {
             return slice_backward(v.grad(), v.sizes(0), p.dim, p.start, p.end, p.step);
           }));
const auto slice_entry =
    define_as<slice_p>(slice, "Elements start to end of one dimension, every step-th.")
        .shown(Shown::nowhere)
        .samples([] {
          return Samples{{{sample({2, 3}), Scalar(1), Scalar(1), Scalar(3)}},
                         {{sample({5}), Scalar(0), Value(), Value(), Scalar(2)}, "step"}};
        });

// ---- as_strided

struct StridedParams {
  Dims size, stride;
  Dim offset;
  Dims input_sizes, input_strides;  // the gradient needs the geometry of the input, not its values
  Dim input_offset;
  bool operator==(const StridedParams&) const = default;
};
const Registered as_strided_p =
    view_primitive<StridedParams>("as_strided",
                                  [](const Tensor& self, const StridedParams& p, Meta& out) {
                                    ops::check_strided(self, p.size, p.stride, p.offset);
                                    out.sizes = p.size;
                                    out.strides = p.stride;
                                    out.offset = p.offset;
                                  })
        .of_storage()
        .vjp("AsStridedBackward0", wrt(0, saves::nothing, [](const Vjp& v, const StridedParams& p) {
               return as_strided_backward(v.grad(), p.input_sizes, p.input_strides, p.input_offset,
                                          p.size, p.stride, p.offset);
             }));
const auto as_strided_entry =
    define(as_strided, "Any sizes, strides and offset over the memory of self.",
           [](const Tensor& self, const Dims& size, const Dims& stride, std::optional<Dim> offset) {
             Dim own = self.impl()->offset;
             return as_strided_p.with(
                 {size, stride, offset.value_or(own), self.sizes(), self.strides(), own}, self);
           })
        .samples([] {
          return Samples{{{sample({6}), Dims{2, 2}, Dims{3, 1}, Scalar(1)}},
                         {{sample({4}), Dims{3, 2}, Dims{1, 1}}, "overlapping"}};
        });

const auto narrow_entry =
    define(narrow, "`length` elements of one dimension, from `start` on.",
           [](const Tensor& self, int64_t dim, Dim start, Dim length) {
             if (self.dim() == 0) fail("narrow: a zero-dim tensor has no dimension to narrow");
             int64_t axis = wrap_axis(dim, self.sizes().size(), "narrow");
             Dim size = self.sizes()[axis];
             if (length < 0) fail("narrow: length must be 0 or more, got {}", length.text());
             if (start < -size || start > size) {
               fail(ErrorKind::index,
                    "narrow: start {} is out of range for dimension {} of size {}", start.text(),
                    axis, size.text());
             }
             Dim from = start < 0 ? start + size : start;
             if (length > size - from) {
               fail("narrow: start {} + length {} exceeds the size {} of dimension {}", from.text(),
                    length.text(), size.text(), axis);
             }
             return slice(self, axis, from, from + length, 1);
           })
        .samples([] {
          return Samples{{{sample({2, 4}), Scalar(1), Scalar(1), Scalar(2)}},
                         {{sample({4}), Scalar(0), Scalar(-3), Scalar(2)}, "negative"},
                         {{sample({4}), Scalar(0), Scalar(4), Scalar(0)}, "empty"}};
        });

// ---- diagonal, unfold

struct DiagonalParams {
  int64_t offset;
  Axis dim1, dim2;
  bool operator==(const DiagonalParams&) const = default;
};
const Registered diagonal_p =
    view_primitive<DiagonalParams>("diagonal", [](const Tensor& self, const DiagonalParams& p,
                                                  Meta& out) {
      size_t rank = self.sizes().size();
      int64_t row = wrap_axis(p.dim1, rank, "diagonal"),
              column = wrap_axis(p.dim2, rank, "diagonal");
      if (row == column || rank < 2) {
        fail("diagonal: dim1 and dim2 must be two different dimensions, got {} and {} of {}",
             p.dim1, p.dim2, rank);
      }
      Dim rows = self.sizes()[row], columns = self.sizes()[column];
      Dim length = ops::diagonal_length(rows, columns, p.offset);
      out.sizes = self.sizes();
      out.strides = self.strides();
      Dim step = out.strides[row] + out.strides[column];
      if (length > 0) {
        out.offset = self.impl()->offset + (p.offset >= 0 ? out.strides[column] * p.offset
                                                          : out.strides[row] * -p.offset);
      }
      for (int64_t axis : {std::max(row, column), std::min(row, column)}) {
        out.sizes.erase(axis);
        out.strides.erase(axis);
      }
      out.sizes.push_back(length);
      out.strides.push_back(step);
    }).vjp("DiagonalBackward0", wrt(0, saves::shape(0), [](const Vjp& v, const DiagonalParams& p) {
             return diagonal_backward(v.grad(), v.sizes(0), p.offset, p.dim1, p.dim2);
           }));
const auto diagonal_entry =
    define_as<diagonal_p>(diagonal, "The diagonal of two dimensions, as the last dimension.")
        .samples([] {
          return Samples{{{sample({3, 3})}},
                         {{sample({2, 4}), Scalar(1)}, "above"},
                         {{sample({2, 3, 4}), Scalar(-1), Scalar(-1), Scalar(0)}, "other dims"},
                         {{sample({2, 2}), Scalar(5)}, "empty"}};
        });

struct UnfoldParams {
  Axis dimension;
  int64_t size, step;
  bool operator==(const UnfoldParams&) const = default;
};
const Registered unfold_p =
    view_primitive<UnfoldParams>("unfold", [](const Tensor& self, const UnfoldParams& p,
                                              Meta& out) {
      int64_t axis = wrap_axis(p.dimension, self.sizes().size(), "unfold");
      bool number = self.dim() == 0;
      Dim size = number ? Dim(1) : self.sizes()[axis];
      if (p.size < 0 || Dim(p.size) > size) {
        fail("unfold: windows of size {} do not fit dimension {} of size {}", p.size, axis,
             size.text());
      }
      if (p.step <= 0) fail("unfold: step must be positive, got {}", p.step);
      out.sizes = self.sizes();
      out.strides = self.strides();
      out.sizes.push_back(p.size);
      out.strides.push_back(number ? Dim(1) : self.strides()[axis]);
      if (number) return;
      out.sizes[axis] = (size - p.size) / p.step + 1;
      out.strides[axis] = ops::stepped_stride(out.strides[axis], p.step);
    }).vjp("UnfoldBackward0", wrt(0, saves::shape(0), [](const Vjp& v, const UnfoldParams& p) {
             return unfold_backward(v.grad(), v.sizes(0), p.dimension, p.size, p.step);
           }));
const auto unfold_entry =
    define_as<unfold_p>(unfold, "Windows of `size` elements, every `step`, as a last dimension.")
        .shown(Shown::as_method)
        .samples([] {
          return Samples{{{sample({5}), Scalar(0), Scalar(3), Scalar(1)}},
                         {{sample({2, 6}), Scalar(1), Scalar(2), Scalar(3)}, "gaps"},
                         {{sample({5, 2}), Scalar(0), Scalar(3), Scalar(2)}, "first"}};
        });

// ---- alias, detach

const Registered alias_p =
    view_primitive<NoParams>("alias", [](const Tensor& self, const NoParams&, Meta& out) {
      out.sizes = self.sizes();
      out.strides = self.strides();
    }).vjp("AliasBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));
const auto alias_entry =
    define_as<alias_p>(alias_of, "A view of everything.").shown(Shown::nowhere).samples([] {
      return Samples{{{sample({2, 3})}}};
    });
const auto detach_entry =
    define(detach, "The same memory without history.",
           [](const Tensor& self) { return self.detach(); })
        .shown(Shown::as_method)
        .samples([] { return Samples{{{sample({2, 3})}, "no gradient", false, false}}; });

}  // namespace

Tensor Tensor::select(int64_t dim, int64_t index) const { return fg::select(*this, dim, index); }
Tensor Tensor::slice(int64_t dim, OptInt start, OptInt end, int64_t step) const {
  auto bound = [](OptInt at) { return at ? std::optional(Dim::bound(*at)) : std::nullopt; };
  return fg::slice(*this, dim, bound(start), bound(end), step);
}
Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  return fg::narrow(*this, dim, start, length);
}
Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const {
  return fg::diagonal(*this, offset, dim1, dim2);
}
Tensor Tensor::as_strided(const Dims& size, const Dims& stride, OptInt storage_offset) const {
  std::optional<Dim> offset;
  if (storage_offset) offset = *storage_offset;
  return fg::as_strided(*this, size, stride, offset);
}

}  // namespace fg
