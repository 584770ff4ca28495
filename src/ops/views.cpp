#include "ops/views.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy.h"
#include "ops/view_gradients.h"
#include "ops/view_kind.h"

namespace fg {

using namespace ir;
using ops::view_primitive;

namespace {

// ---- view: other sizes over the same elements

struct ViewParams {
  Dims size;
  bool operator==(const ViewParams&) const = default;
};

// Replaces a -1 by what the other sizes leave.
Dims complete_sizes(const Tensor& self, const Dims& wanted, const char* who) {
  Dims sizes = wanted;
  Dim known = 1;
  int64_t free = -1;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i].is_constant() && sizes[i].value() == -1) {
      if (free >= 0)
        fail("{}: only one size can be inferred, but {} has several -1", who, text(wanted));
      free = static_cast<int64_t>(i);
    } else if (sizes[i].is_constant() && sizes[i].value() < 0) {
      fail("{}: invalid size {} in {}; sizes are 0 or more, or one -1", who, sizes[i].text(),
           text(wanted));
    } else {
      known *= sizes[i];
    }
  }
  Dim numel = self.impl()->numel;
  if (free >= 0) {
    if (known == 0) {
      fail("{}: the -1 in {} is ambiguous because the other sizes hold no elements", who,
           text(wanted));
    }
    if (numel % known == 0) sizes[free] = numel / known;
  }
  if (!(product(sizes) == numel)) {
    fail("{}: sizes {} are invalid for an input of sizes {} with {} elements", who, text(wanted),
         text(self.sizes()), numel.text());
  }
  return sizes;
}

// Strides that show the same elements under other sizes, if there are any.
std::optional<Dims> strides_for(const Dims& old_sizes, const Dims& old_strides, const Dims& sizes) {
  if (is_contiguous(old_sizes, old_strides)) return contiguous_strides(sizes);
  Dims strides(sizes.size(), 1);
  int64_t at = static_cast<int64_t>(sizes.size()) - 1;
  Dim chunk_stride = old_strides.empty() ? Dim(1) : old_strides.back();
  Dim old_count = 1, new_count = 1;
  for (int64_t d = static_cast<int64_t>(old_sizes.size()) - 1; d >= 0; d--) {
    old_count *= old_sizes[d];
    bool chunk_ends =
        d == 0 || (!(old_sizes[d - 1] == 1) && !(old_strides[d - 1] == old_count * chunk_stride));
    if (!chunk_ends) continue;
    while (at >= 0 && (new_count < old_count || sizes[at] == 1)) {
      strides[at] = new_count * chunk_stride;
      new_count *= sizes[at];
      at--;
    }
    if (!(new_count == old_count)) return std::nullopt;
    if (d > 0) {
      chunk_stride = old_strides[d - 1];
      old_count = new_count = 1;
    }
  }
  return at < 0 ? std::optional(strides) : std::nullopt;
}

const Registered view_p =
    view_primitive<ViewParams>("view", [](const Tensor& self, const ViewParams& p, Meta& out) {
      out.sizes = complete_sizes(self, p.size, "view");
      auto strides = strides_for(self.sizes(), self.strides(), out.sizes);
      if (!strides) {
        fail(
            "view: sizes {} do not fit the input's sizes {} and strides {} (a dimension would span "
            "two "
            "memory regions); use reshape",
            text(out.sizes), text(self.sizes()), text(self.strides()));
      }
      out.strides = *strides;
    }).vjp("ViewBackward0", wrt(0, saves::shape(0), [](const Vjp& v) {
             return reshape(v.grad(), v.sizes(0));
           }));
const auto view_entry =
    define_as<view_p>(view, "The same elements under other sizes; one size may be -1.").samples([] {
      return Samples{{{sample({2, 3}), Dims{3, 2}}}, {{sample({2, 3}), Dims{-1}}, "inferred"}};
    });

const auto reshape_entry =
    define(reshape, "As view where possible, else a copy with those sizes.",
           [](const Tensor& self, const Dims& shape) {
             Dims sizes = complete_sizes(self, shape, "reshape");
             bool shareable = strides_for(self.sizes(), self.strides(), sizes).has_value();
             return view(shareable ? self : contiguous(self), sizes);
           })
        .samples([] { return Samples{{{sample({2, 3}), Dims{3, 2}}}}; });

// ---- permute, transpose

struct PermuteParams {
  Dims dims;
  bool operator==(const PermuteParams&) const = default;
};

Dims checked_permutation(const Tensor& self, const Dims& dims) {
  size_t rank = self.sizes().size();
  if (dims.size() != rank) {
    fail("permute: got {} dimensions {} for a tensor of {} dimensions; name each once", dims.size(),
         text(dims), rank);
  }
  Dims order = dims;
  std::vector<bool> seen(rank, false);
  for (Dim& dim : order) {
    int64_t axis = wrap_axis(dim.value(), rank, "permute");
    if (seen[axis]) fail("permute: dimension {} appears twice in {}", axis, text(dims));
    seen[axis] = true;
    dim = axis;
  }
  return order;
}

const Registered permute_p =
    view_primitive<PermuteParams>("permute", [](const Tensor& self, const PermuteParams& p,
                                                Meta& out) {
      for (Dim dim : checked_permutation(self, p.dims)) {
        out.sizes.push_back(self.sizes()[dim.value()]);
        out.strides.push_back(self.strides()[dim.value()]);
      }
    }).vjp("PermuteBackward0", wrt(0, saves::nothing, [](const Vjp& v, const PermuteParams& p) {
             Dims inverse(p.dims.size(), 0);
             for (size_t i = 0; i < p.dims.size(); i++) {
               inverse[wrap_axis(p.dims[i].value(), p.dims.size(), "permute")] =
                   static_cast<int64_t>(i);
             }
             return permute(v.grad(), inverse);
           }));
const auto permute_entry =
    define_as<permute_p>(permute, "The dimensions in another order.").samples([] {
      return Samples{{{sample({2, 3}), Dims{1, 0}}}};
    });

struct TransposeParams {
  int64_t dim0, dim1;
  bool operator==(const TransposeParams&) const = default;
};
const Registered transpose_p =
    view_primitive<TransposeParams>("transpose", [](const Tensor& self, const TransposeParams& p,
                                                    Meta& out) {
      size_t rank = self.sizes().size();
      int64_t a = wrap_axis(p.dim0, rank, "transpose"), b = wrap_axis(p.dim1, rank, "transpose");
      out.sizes = self.sizes();
      out.strides = self.strides();
      if (rank == 0) return;
      std::swap(out.sizes[a], out.sizes[b]);
      std::swap(out.strides[a], out.strides[b]);
    }).vjp("TransposeBackward0", wrt(0, saves::nothing, [](const Vjp& v, const TransposeParams& p) {
             return transpose(v.grad(), p.dim0, p.dim1);
           }));
const auto transpose_entry = define_as<transpose_p>(transpose, "Swaps two dimensions.").samples([] {
  return Samples{{{sample({2, 3}), Scalar(0), Scalar(1)}}};
});
const auto t_entry =
    define(t, "The transpose of a matrix; vectors and numbers stay as they are.",
           [](const Tensor& self) {
             if (self.dim() > 2) {
               fail("t: expects at most 2 dimensions, but self has sizes {}", text(self.sizes()));
             }
             return transpose_p.with({0, self.dim() < 2 ? 0 : 1}, self);
           })
        .vjp("TBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return t(v.grad()); }))
        .samples([] { return Samples{{{sample({2, 3})}}, {{sample({2})}, "vector"}}; });

// ---- select, slice

struct SelectParams {
  int64_t dim, index;
  bool operator==(const SelectParams&) const = default;
};
const Registered select_p =
    view_primitive<SelectParams>("select", [](const Tensor& self, const SelectParams& p,
                                              Meta& out) {
      if (self.dim() == 0)
        fail(ErrorKind::index, "select: a zero-dim tensor has no dimension to select");
      int64_t axis = wrap_axis(p.dim, self.sizes().size(), "select");
      Dim size = self.sizes()[axis];
      if (Dim(p.index) < -size || Dim(p.index) >= size) {
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
const auto select_entry = define_as<select_p>(select, "The part of self at one index.").samples([] {
  return Samples{{{sample({2, 3}), Scalar(1), Scalar(-1)}}};
});

struct SliceParams {
  int64_t dim;
  std::optional<Dim> start, end;
  Dim step;
  bool operator==(const SliceParams&) const = default;
};

// Bounds as Python's: negative counts from the end, out of range is clipped.
Dim clip_bound(std::optional<Dim> bound, Dim absent, Dim size) {
  if (!bound) return absent;
  Dim at = *bound < 0 ? *bound + size : *bound;
  return at < 0 ? Dim(0) : at > size ? size : at;
}

const Registered slice_p =
    view_primitive<SliceParams>("slice", [](const Tensor& self, const SliceParams& p, Meta& out) {
      if (self.dim() == 0) fail("slice: a zero-dim tensor has no dimension to slice");
      if (!(p.step > 0)) {
        fail(ErrorKind::value, "slice: step must be positive, got {}; use flip to reverse",
             p.step.text());
      }
      int64_t axis = wrap_axis(p.dim, self.sizes().size(), "slice");
      Dim size = self.sizes()[axis];
      Dim start = clip_bound(p.start, 0, size), end = clip_bound(p.end, size, size);
      if (end < start) end = start;
      out.sizes = self.sizes();
      out.strides = self.strides();
      out.offset = self.impl()->offset + start * out.strides[axis];
      out.sizes[axis] = (end - start + p.step - 1) / p.step;
      out.strides[axis] *= p.step;
    }).vjp("SliceBackward0", wrt(0, saves::shape(0), [](const Vjp& v, const SliceParams& p) {
             return slice_backward(v.grad(), v.sizes(0), p.dim, p.start, p.end, p.step);
           }));
const auto slice_entry =
    define_as<slice_p>(slice, "Elements start to end of one dimension, every step-th.").samples([] {
      return Samples{{{sample({2, 3}), Scalar(1), Scalar(1), Scalar(3)}},
                     {{sample({5}), Scalar(0), Value(), Value(), Scalar(2)}, "step"}};
    });

// ---- unsqueeze, squeeze, expand

struct AxisParams {
  int64_t dim;
  bool operator==(const AxisParams&) const = default;
};
const Registered unsqueeze_p =
    view_primitive<AxisParams>("unsqueeze", [](const Tensor& self, const AxisParams& p, Meta& out) {
      int64_t axis = wrap_axis(p.dim, self.sizes().size() + 1, "unsqueeze");
      out.sizes = self.sizes();
      out.strides = self.strides();
      bool last = axis >= self.dim();
      Dim stride = last ? Dim(1) : out.sizes[axis] * out.strides[axis];
      out.sizes.insert(axis, 1);
      out.strides.insert(axis, stride);
    }).vjp("UnsqueezeBackward0", wrt(0, saves::nothing, [](const Vjp& v, const AxisParams& p) {
             return squeeze(v.grad(), Dims{wrap_axis(p.dim, v.grad().sizes().size(), "unsqueeze")});
           }));
const auto unsqueeze_entry =
    define_as<unsqueeze_p>(unsqueeze, "A dimension of size one more.").samples([] {
      return Samples{{{sample({3}), Scalar(0)}}, {{sample({3}), Scalar(-1)}}};
    });

struct SqueezeParams {
  OptDims dim;
  bool operator==(const SqueezeParams&) const = default;
};
const Registered squeeze_p =
    view_primitive<SqueezeParams>("squeeze", [](const Tensor& self, const SqueezeParams& p,
                                                Meta& out) {
      size_t rank = self.sizes().size();
      std::vector<bool> chosen = p.dim && p.dim->empty() ? std::vector<bool>(rank, false)
                                                         : axis_set(p.dim, rank, "squeeze");
      for (size_t i = 0; i < rank; i++) {
        if (chosen[i] && self.sizes()[i] == 1) continue;
        out.sizes.push_back(self.sizes()[i]);
        out.strides.push_back(self.strides()[i]);
      }
    }).vjp("SqueezeBackward0", wrt(0, saves::shape(0), [](const Vjp& v) {
             return reshape(v.grad(), v.sizes(0));
           }));
const auto squeeze_entry =
    define_as<squeeze_p>(squeeze, "Without the dimensions of size one, or without the named ones.")
        .samples([] { return Samples{{{sample({1, 3})}}, {{sample({1, 3}), Dims{0}}}}; });

struct ExpandParams {
  Dims size;
  bool implicit;
  bool operator==(const ExpandParams&) const = default;
};
const Registered expand_p =
    view_primitive<ExpandParams>("expand", [](const Tensor& self, const ExpandParams& p,
                                              Meta& out) {
      size_t rank = p.size.size();
      if (rank < self.sizes().size()) {
        fail("expand: {} sizes for an input of {} dimensions; give at least as many", rank,
             self.dim());
      }
      size_t shift = rank - self.sizes().size();
      out.sizes = p.size;
      out.strides.resize(rank);
      for (size_t i = 0; i < rank; i++) {
        bool fresh = i < shift;
        Dim size = fresh ? Dim(1) : self.sizes()[i - shift];
        bool keep = p.size[i].is_constant() && p.size[i].value() == -1;
        if (keep && fresh) fail("expand: -1 is not allowed for the new dimension {}", i);
        if (keep) out.sizes[i] = size;
        bool broadcast = fresh || (size == 1 && !(out.sizes[i] == 1));
        if (!broadcast && !(out.sizes[i] == size)) {
          fail(
              "expand: size {} at dimension {} must match the existing size {}; only sizes of 1 "
              "expand",
              out.sizes[i].text(), i, size.text());
        }
        out.strides[i] = broadcast ? Dim(0) : self.strides()[i - shift];
        if (fresh && out.sizes[i] == 1) out.strides[i] = 0;
      }
    }).vjp("ExpandBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));
const auto expand_entry =
    define_as<expand_p>(expand, "Dimensions of size one repeated without a copy.").samples([] {
      return Samples{{{sample({2, 1}), Dims{2, 3}}}, {{sample({2}), Dims{3, -1}}}};
    });

// ---- as_strided

struct StridedParams {
  Dims size, stride;
  std::optional<Dim> offset;
  bool operator==(const StridedParams&) const = default;
};
const Registered as_strided_p =
    view_primitive<StridedParams>("as_strided", [](const Tensor& self, const StridedParams& p,
                                                   Meta& out) {
      ops::check_strided(self, p.size, p.stride, p.offset.value_or(self.impl()->offset));
      out.sizes = p.size;
      out.strides = p.stride;
      out.offset = p.offset.value_or(self.impl()->offset);
    }).vjp("AsStridedBackward0", wrt(0, saves::in(0), [](const Vjp& v, const StridedParams& p) {
             Tensor self = v.in(0);
             return as_strided_backward(v.grad(), self.sizes(), self.strides(), self.impl()->offset,
                                        p.size, p.stride, p.offset.value_or(self.impl()->offset));
           }));
const auto as_strided_entry =
    define_as<as_strided_p>(as_strided, "Any sizes, strides and offset over the memory of self.")
        .samples([] {
          return Samples{{{sample({6}), Dims{2, 2}, Dims{3, 1}, Scalar(1)}},
                         {{sample({4}), Dims{3, 2}, Dims{1, 1}}, "overlapping"}};
        });

}  // namespace
}  // namespace fg
