#include "ops/view/views.h"

// Dimensions in another order.
#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/view/view_kind.h"

namespace fg {

using namespace ir;
using ops::view_primitive;

namespace {

// ---- permute, transpose

struct PermuteParams {
  AxisOrder dims;
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
  Axis dim0, dim1;
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
const auto swapaxes_entry =
    define(swapaxes, "Swaps two dimensions.", [](const Tensor& self, int64_t axis0, int64_t axis1) {
      return transpose(self, axis0, axis1);
    }).samples([] { return Samples{{{sample({2, 3}), Scalar(0), Scalar(1)}}}; });
const auto swapdims_entry =
    define(swapdims, "Swaps two dimensions.", [](const Tensor& self, int64_t dim0, int64_t dim1) {
      return transpose(self, dim0, dim1);
    }).samples([] { return Samples{{{sample({2, 3}), Scalar(0), Scalar(1)}}}; });

const Registered t_p =
    view_primitive<NoParams>("t", [](const Tensor& self, const NoParams&, Meta& out) {
      if (self.dim() > 2) {
        fail("t: expects at most 2 dimensions, but self has sizes {}; use transpose or permute",
             text(self.sizes()));
      }
      out.sizes = self.sizes();
      out.strides = self.strides();
      std::reverse(out.sizes.begin(), out.sizes.end());
      std::reverse(out.strides.begin(), out.strides.end());
    }).vjp("TBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return t(v.grad()); }));
const auto t_entry =
    define_as<t_p>(t, "The transpose of a matrix; vectors and numbers stay as they are.")
        .samples([] { return Samples{{{sample({2, 3})}}, {{sample({2})}, "vector"}}; });

const auto numpy_t_entry =
    define(numpy_T, "The dimensions in reverse order.",
           [](const Tensor& self) {
             Dims dims;
             for (int64_t i = self.dim(); i-- > 0;) dims.push_back(i);
             return permute(self, dims);
           })
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({2, 3})}}, {{sample({2, 3, 4})}, "3-d"}}; });
const auto mt_entry =
    define(mT, "The transpose of the last two dimensions.",
           [](const Tensor& self) {
             if (self.dim() < 2) {
               fail("mT: expects at least 2 dimensions, but self has sizes {}", text(self.sizes()));
             }
             return transpose(self, -2, -1);
           })
        .shown(Shown::as_method)
        .samples([] { return Samples{{{sample({2, 3})}}, {{sample({2, 3, 4})}, "batch"}}; });

// ---- movedim

// The axes of a list made non-negative; each may be named once.
Dims distinct_axes(const Dims& axes, size_t rank, const char* who) {
  Dims wrapped;
  for (Dim axis : axes) {
    Dim at = wrap_axis(axis.value(), rank, who);
    if (std::find(wrapped.begin(), wrapped.end(), at) != wrapped.end()) {
      fail("{}: dimension {} appears twice in {}; name each once", who, at.text(), text(axes));
    }
    wrapped.push_back(at);
  }
  return wrapped;
}

Tensor move_dims(const Tensor& self, const Dims& source, const Dims& destination) {
  if (source.size() != destination.size()) {
    fail("movedim: source {} and destination {} must name equally many dimensions", text(source),
         text(destination));
  }
  size_t rank = self.sizes().size();
  Dims from = distinct_axes(source, rank, "movedim");
  Dims to = distinct_axes(destination, rank, "movedim");
  if (rank == 0) return alias_of(self);
  Dims order(rank, -1);
  std::vector<bool> taken(rank, false);
  for (size_t i = 0; i < from.size(); i++) {
    order[to[i].value()] = from[i];
    taken[from[i].value()] = true;
  }
  size_t next = 0;  // unnamed dimensions keep their order
  for (Dim& dim : order) {
    if (!(dim == -1)) continue;
    while (taken[next]) next++;
    dim = static_cast<int64_t>(next++);
  }
  return permute(self, order);
}

Samples moves() {
  return {{{sample({2, 3, 4}), Dims{0, 1}, Dims{-1, 0}}}, {{sample({2, 3}), Dims{1}, Dims{0}}}};
}
Samples single_moves() { return {{{sample({2, 3, 4}), Scalar(0), Scalar(-1)}}}; }

const auto movedim_int_entry =
    define(movedim.overload<0>(), "Moves a dimension to another position.",
           [](const Tensor& self, int64_t source, int64_t destination) {
             return move_dims(self, source, destination);
           })
        .samples(single_moves);
const auto movedim_entry =
    define(movedim.overload<1>(), "Moves dimensions to other positions; the rest keeps its order.",
           [](const Tensor& self, const Dims& source, const Dims& destination) {
             return move_dims(self, source, destination);
           })
        .samples(moves);
const auto moveaxis_int_entry =
    define(moveaxis.overload<0>(), "Moves a dimension to another position.",
           [](const Tensor& self, int64_t source, int64_t destination) {
             return move_dims(self, source, destination);
           })
        .samples(single_moves);
const auto moveaxis_entry =
    define(moveaxis.overload<1>(), "Moves dimensions to other positions; the rest keeps its order.",
           [](const Tensor& self, const Dims& source, const Dims& destination) {
             return move_dims(self, source, destination);
           })
        .samples(moves);

}  // namespace

Tensor Tensor::permute(const Dims& dims) const { return fg::permute(*this, dims); }
Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  return fg::transpose(*this, dim0, dim1);
}
Tensor Tensor::t() const { return fg::t(*this); }
Tensor Tensor::movedim(const Dims& source, const Dims& destination) const {
  return fg::movedim(*this, source, destination);
}

}  // namespace fg
