// Other sizes over the same elements.
#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/view/view_gradients.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;
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
std::optional<Dims> strides_for(const Tensor& self, const Dims& sizes) {
  if (self.is_contiguous()) {  // a tensor without elements is, whatever its strides
    bool unchanged = self.impl()->numel == 0 && sizes == self.sizes();
    return unchanged ? self.strides() : contiguous_strides(sizes);
  }
  const Dims &old_sizes = self.sizes(), &old_strides = self.strides();
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

constexpr auto infer_view = [](const Tensor& self, const ViewParams& p, Meta& out) {
  out.sizes = complete_sizes(self, p.size, "view");
  auto strides = strides_for(self, out.sizes);
  if (!strides) {
    fail(
        "view: sizes {} do not fit the input's sizes {} and strides {} (a dimension would span two "
        "memory regions); use reshape",
        text(out.sizes), text(self.sizes()), text(self.strides()));
  }
  out.strides = *strides;
};
constexpr auto view_gradient = [](const Vjp& v) { return reshape(v.grad(), v.sizes(0)); };
const Registered view_p = view_primitive<ViewParams>("view", infer_view)
                              .vjp("ViewBackward0", wrt(0, saves::shape(0), view_gradient));
const auto view_entry =
    define(view.overload<0>(), "The same elements under other sizes; one size may be -1.",
           StandsFor<view_p>{})
        .stands_for(view_p)
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{3, 2}}}, {{sample({2, 3}), Dims{-1}}, "inferred"}};
        });

const auto view_as_entry =
    define(view_as, "The same elements under the sizes of other.",
           [](const Tensor& self, const Tensor& other) { return view(self, other.sizes()); })
        .shown(Shown::as_method)
        .samples([] { return Samples{{{sample({2, 3}), sample({3, 2})}}}; });

// ---- reshape: a view where possible

// Not a view to autograd: its input is a fresh copy that no other tensor shares.
const Registered unsafe_view_p =
    plain_primitive<ViewParams,
                    [](Operands inputs, const ViewParams& p, Meta* out) {
                      out[0].sizes = complete_sizes(*inputs[0], p.size, "_unsafe_view");
                      out[0].dtype = inputs[0]->dtype();
                      if (!inputs[0]->is_contiguous())
                        fail("_unsafe_view: expects a contiguous tensor; use reshape");
                    },
                    [](Operands inputs, const ViewParams&, Tensor* out) {
                      const Tensor& self = *inputs[0];
                      out[0] = alias(self, out[0].sizes(), out[0].strides(), self.impl()->offset);
                    }>("unsafe_view", Kind::gather, "t")
        .sharing_input()
        .linear_in({0})
        .vjp("UnsafeViewBackward0", wrt(0, saves::shape(0), view_gradient));
const auto unsafe_view_entry =
    define_as<unsafe_view_p>(_unsafe_view, "As view, of a tensor that nothing else will use.")
        .shown(Shown::as_function)
        .samples([] { return Samples{{{sample({2, 3}), Dims{3, -1}}}}; });

// The function that reshape records where the input is not contiguous.
constexpr Function<"_reshape_alias(Tensor(a) self, int[] size) -> Tensor(a)"> reshape_alias;
const Registered reshape_alias_p =
    view_primitive<ViewParams>("reshape_alias", infer_view)
        .vjp("ReshapeAliasBackward0", wrt(0, saves::shape(0), view_gradient));
const auto reshape_alias_entry =
    define_as<reshape_alias_p>(reshape_alias, "As view, of a tensor that is not contiguous.")
        .samples([] { return Samples{{{transpose(sample({2, 4}), 0, 1), Dims{2, 2, 2}}}}; });

const auto reshape_entry =
    define(reshape, "As view where possible, else a copy with those sizes.",
           [](const Tensor& self, const Dims& shape) {
             Dims sizes = complete_sizes(self, shape, "reshape");
             if (self.is_contiguous()) return view(self, sizes);
             return strides_for(self, sizes) ? reshape_alias(self, sizes)
                                             : _unsafe_view(contiguous(self), sizes);
           })
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{3, 2}}},
                         {{transpose(sample({2, 3}), 0, 1), Dims{6}}, "copies"},
                         {{sample({}), Dims{1, 1}}, "zero-dim"}};
        });
const auto reshape_as_entry =
    define(reshape_as, "As view_as where possible, else a copy with the sizes of other.",
           [](const Tensor& self, const Tensor& other) { return reshape(self, other.sizes()); })
        .shown(Shown::as_method)
        .samples([] { return Samples{{{sample({2, 3}), sample({3, 2})}}}; });

const auto flatten_entry =
    define(flatten, "Joins the dimensions start_dim to end_dim into one.",
           [](const Tensor& self, int64_t start_dim, int64_t end_dim) {
             size_t rank = self.sizes().size();
             int64_t start = wrap_axis(start_dim, rank, "flatten");
             int64_t end = wrap_axis(end_dim, rank, "flatten");
             if (start > end) {
               fail("flatten: start_dim {} comes after end_dim {}; exchange them", start_dim,
                    end_dim);
             }
             if (rank == 0) return reshape(self, {1});
             if (start == end) return self;
             Dims sizes;
             Dim joined = 1;
             for (int64_t i = 0; i < self.dim(); i++) {
               if (i >= start && i <= end) joined *= self.sizes()[i];
               if (i < start || i > end) sizes.push_back(self.sizes()[i]);
               if (i == end) sizes.push_back(joined);
             }
             return reshape(self, sizes);
           })
        .samples([] {
          return Samples{{{sample({2, 3})}},
                         {{sample({2, 3, 4}), Scalar(1)}, "tail"},
                         {{transpose(sample({2, 3}), 0, 1)}, "copies"},
                         {{sample({})}, "zero-dim"}};
        });
const auto ravel_entry = define(ravel, "All elements in one dimension.", [](const Tensor& self) {
                           return reshape(contiguous(self), {-1});
                         }).samples([] { return Samples{{{sample({2, 3})}}}; });
const auto unflatten_entry =
    define(unflatten, "Splits one dimension into several; one size may be -1.",
           [](const Tensor& self, int64_t dim, const Dims& sizes) {
             int64_t axis = wrap_axis(dim, self.sizes().size(), "unflatten");
             if (self.dim() == 0) fail("unflatten: a zero-dim tensor has no dimension to split");
             if (sizes.empty()) fail("unflatten: sizes must not be empty");
             Dim known = 1;
             bool inferred = false;
             for (Dim size : sizes) {
               if (size == -1 && inferred)
                 fail("unflatten: only one size can be inferred, but {} has several -1",
                      text(sizes));
               if (size == -1) inferred = true;
               if (!(size == -1)) known *= size;
             }
             Dim whole = self.sizes()[axis];
             if (inferred ? known == 0 || !(whole % known == 0) : !(known == whole)) {
               fail("unflatten: sizes {} do not multiply to the size {} of dimension {}",
                    text(sizes), whole.text(), axis);
             }
             Dims all(std::span(self.sizes().begin(), static_cast<size_t>(axis)));
             for (Dim size : sizes) all.push_back(size == -1 ? whole / known : size);
             for (int64_t i = axis + 1; i < self.dim(); i++) all.push_back(self.sizes()[i]);
             return view(self, all);
           })
        .samples([] {
          return Samples{{{sample({4, 3}), Scalar(0), Dims{2, 2}}},
                         {{sample({3, 6}), Scalar(-1), Dims{-1, 3}}, "inferred"}};
        });

// ---- unsqueeze, squeeze, expand

struct AxisParams {
  Axis dim;
  bool operator==(const AxisParams&) const = default;
};
const Registered unsqueeze_p =
    view_primitive<AxisParams>("unsqueeze", [](const Tensor& self, const AxisParams& p, Meta& out) {
      int64_t axis = wrap_axis(p.dim, self.sizes().size() + 1, "unsqueeze");
      out.sizes = self.sizes();
      out.strides = self.strides();
      bool last = axis >= self.dim();
      Dim stride = last ? Dim(1) : ops::stepped_stride(out.strides[axis], out.sizes[axis]);
      out.sizes.insert(axis, 1);
      out.strides.insert(axis, stride);
    }).vjp("UnsqueezeBackward0", wrt(0, saves::nothing, [](const Vjp& v, const AxisParams& p) {
             return squeeze(v.grad(), p.dim);
           }));
const auto unsqueeze_entry =
    define_as<unsqueeze_p>(unsqueeze, "A dimension of size one more.").samples([] {
      return Samples{{{sample({3}), Scalar(0)}}, {{sample({3}), Scalar(-1)}}};
    });

// Drops the chosen dimensions that have size one.
void squeeze_into(const Tensor& self, const std::vector<bool>& chosen, Meta& out) {
  for (size_t i = 0; i < chosen.size(); i++) {
    if (chosen[i] && self.sizes()[i] == 1) continue;
    out.sizes.push_back(self.sizes()[i]);
    out.strides.push_back(self.strides()[i]);
  }
}
Tensor squeeze_backward(const Vjp& v) { return reshape(v.grad(), v.sizes(0)); }

const Registered squeeze_p =
    view_primitive<NoParams>("squeeze", [](const Tensor& self, const NoParams&, Meta& out) {
      squeeze_into(self, std::vector<bool>(self.sizes().size(), true), out);
    }).vjp("SqueezeBackward0", wrt(0, saves::shape(0), [](const Vjp& v) {
             return squeeze_backward(v);
           }));
const auto squeeze_entry =
    define(squeeze.overload<0>(), "Without the dimensions of size one.", StandsFor<squeeze_p>{})
        .stands_for(squeeze_p)
        .samples([] { return Samples{{{sample({1, 3})}}, {{sample({})}, "zero-dim"}}; });

const Registered squeeze_dim_p =
    view_primitive<AxisParams>("squeeze_dim", [](const Tensor& self, const AxisParams& p,
                                                 Meta& out) {
      squeeze_into(self, axis_set(Dims(int64_t{p.dim}), self.sizes().size(), "squeeze"), out);
    }).vjp("SqueezeBackward1", wrt(0, saves::shape(0), [](const Vjp& v) {
             return squeeze_backward(v);
           }));
const auto squeeze_dim_entry =
    define(squeeze.overload<1>(), "Without that dimension if its size is one.",
           StandsFor<squeeze_dim_p>{})
        .stands_for(squeeze_dim_p)
        .samples([] {
          return Samples{{{sample({1, 3}), Scalar(0)}}, {{sample({1, 3}), Scalar(-1)}, "kept"}};
        });

struct AxesParams {
  Axes dim;
  bool operator==(const AxesParams&) const = default;
};
const Registered squeeze_dims_p =
    view_primitive<AxesParams>("squeeze_dims", [](const Tensor& self, const AxesParams& p,
                                                  Meta& out) {
      size_t rank = self.sizes().size();
      std::vector<bool> none(rank, false);
      squeeze_into(self, p.dim.empty() ? none : axis_set(p.dim, rank, "squeeze"), out);
    }).vjp("SqueezeBackward2", wrt(0, saves::shape(0), [](const Vjp& v) {
             return squeeze_backward(v);
           }));
const auto squeeze_dims_entry =
    define(squeeze.overload<2>(), "Without those of the named dimensions whose size is one.",
           StandsFor<squeeze_dims_p>{})
        .stands_for(squeeze_dims_p)
        .samples([] { return Samples{{{sample({1, 3, 1}), Dims{0, 1, -1}}}}; });

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
    define_as<expand_p>(expand, "Dimensions of size one repeated without a copy.")
        .shown(Shown::as_method)
        .samples(
            [] { return Samples{{{sample({2, 1}), Dims{2, 3}}}, {{sample({2}), Dims{3, -1}}}}; });

const auto expand_as_entry =
    define(expand_as, "Expanded to the sizes of other.",
           [](const Tensor& self, const Tensor& other) { return expand(self, other.sizes()); })
        .shown(Shown::as_method)
        .samples([] { return Samples{{{sample({2, 1}), sample({2, 3})}}}; });

}  // namespace

Tensor Tensor::view(const Dims& size) const { return fg::view(*this, size); }
Tensor Tensor::view_as(const Tensor& other) const { return fg::view_as(*this, other); }
Tensor Tensor::reshape(const Dims& shape) const { return fg::reshape(*this, shape); }
Tensor Tensor::reshape_as(const Tensor& other) const { return fg::reshape_as(*this, other); }
Tensor Tensor::flatten(int64_t start_dim, int64_t end_dim) const {
  return fg::flatten(*this, start_dim, end_dim);
}
Tensor Tensor::unsqueeze(int64_t dim) const { return fg::unsqueeze(*this, dim); }
Tensor Tensor::squeeze(const OptDims& dim) const {
  if (!dim) return fg::squeeze(*this);
  return dim->size() == 1 ? fg::squeeze(*this, dim->front().value()) : fg::squeeze(*this, *dim);
}
Tensor Tensor::expand(const Dims& size) const { return fg::expand(*this, size); }
Tensor Tensor::expand_as(const Tensor& other) const { return fg::expand_as(*this, other); }

}  // namespace fg
