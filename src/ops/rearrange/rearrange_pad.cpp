// Padding: constant, reflected, replicated, circular.
#include <algorithm>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/kernels/strided.h"
#include "ops/rearrange/join.h"
#include "ops/rearrange/rearrange.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

// The pads before and after dimension `axis`; pairs are listed from the last dimension on.
std::pair<Dim, Dim> pads_of(const Dims& pad, size_t rank, size_t axis) {
  size_t at = 2 * (rank - 1 - axis);
  return at < pad.size() ? std::pair(pad[at], pad[at + 1]) : std::pair(Dim(0), Dim(0));
}

void check_pads(const Tensor& self, const Dims& pad) {
  if (pad.size() % 2 != 0) fail("pad: pads come in pairs, got {} of them", pad.size());
  if (pad.size() > 2 * self.sizes().size()) {
    fail("pad: {} pads are more than two for each of the {} dimensions", pad.size(), self.dim());
  }
}

// ---- constant

struct PadParams {
  Dims pad;
  Scalar value;
  bool operator==(const PadParams&) const = default;
};

void infer_pad(Operands inputs, const PadParams& p, Meta* out) {
  const Tensor& self = *inputs[0];
  check_pads(self, p.pad);
  out[0].sizes = self.sizes();
  out[0].dtype = self.dtype();
  for (size_t i = 0; i < self.sizes().size(); i++) {
    auto [before, after] = pads_of(p.pad, self.sizes().size(), i);
    out[0].sizes[i] += before + after;
    if (out[0].sizes[i] < 0) {
      fail("pad: pads {} and {} leave the negative size {} of dimension {} of size {}",
           before.text(), after.text(), out[0].sizes[i].text(), i, self.sizes()[i].text());
    }
  }
}

// The part of `tensor` that lies `before` after its start, cut to what a shared area allows.
Tensor shared_part(const Tensor& tensor, const Dims& other_sizes, const Dims& pad, int sign) {
  size_t rank = tensor.sizes().size();
  Dims sizes = tensor.sizes();
  Dim offset = tensor.impl()->offset;
  for (size_t i = 0; i < rank; i++) {
    Dim shift = pads_of(pad, rank, i).first * sign, start = max(shift, 0);
    sizes[i] = max(min(sizes[i], other_sizes[i] + shift) - start, 0);
    if (!(sizes[i] == 0)) offset += start * tensor.strides()[i];
  }
  return alias(tensor, sizes, tensor.strides(), product(sizes) == 0 ? Dim(0) : offset);
}

void evaluate_pad(Operands inputs, const PadParams& p, Tensor* out) {
  const Tensor& self = *inputs[0];
  if (out[0].numel() == 0) return;
  visit(out[0].dtype(), [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(static_cast<T*>(out[0].data_ptr()), out[0].numel(), p.value.to<T>());
  });
  kernels::copy_elements(shared_part(out[0], self.sizes(), p.pad, 1),
                         shared_part(self, out[0].sizes(), p.pad, -1));
}

const Registered constant_pad_p =
    plain_primitive<PadParams, infer_pad, evaluate_pad>("constant_pad", Kind::gather, "t")
        .linear_in({0})
        .linear_where<[](const PadParams& p) {
          return p.value.is_known() && p.value.real() == 0;
        }>()
        .vjp("ConstantPadNdBackward0", wrt(0, saves::nothing, [](const Vjp& v, const PadParams& p) {
               Dims back = p.pad;
               for (Dim& pad : back) pad = -pad;
               return constant_pad_nd(v.grad(), back, Scalar(0));
             }));
struct ConstantPadBody : StandsFor<constant_pad_p> {
  Tensor operator()(const Tensor& self, const Dims& pad, const Scalar& value) const {
    if (value.is_known()) ops::check_fits(value, self.dtype(), "pad");
    return StandsFor<constant_pad_p>::operator()(self, pad, value);
  }
};
const auto constant_pad_entry =
    define(constant_pad_nd, "Pads dimensions, the last first, with one value.", ConstantPadBody{})
        .shown(Shown::as_function)
        .stands_for(constant_pad_p)
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{1, 2}, Scalar(1.5)}},
                         {{sample({2, 3}), Dims{-1, 1, 0, -1}}, "cuts"},
                         {{sample({2, 2}), Dims{0, 0, 2, 1}}, "rows"},
                         {{sample({2}), Dims{3, -4}}, "cut in the padding"}};
        });

// ---- reflect, replicate, circular: one dimension at a time, from parts of itself

Tensor reflected(const Tensor& x, int64_t axis, Dim before, Dim after) {
  Dim size = x.dim_size(axis);
  if (before >= size || after >= size) {
    fail("pad: reflect pads ({}, {}) must be less than the size {} of dimension {}", before.text(),
         after.text(), size.text(), axis);
  }
  Tensors parts;
  if (before > 0) parts.push_back(flip(slice(x, axis, Dim(1), before + 1), {axis}));
  parts.push_back(x);
  if (after > 0) parts.push_back(flip(slice(x, axis, size - after - 1, size - 1), {axis}));
  return cat(parts, axis);
}

Tensor replicated(const Tensor& x, int64_t axis, Dim before, Dim after) {
  Dim size = x.dim_size(axis);
  if (size == 0) fail("pad: replicate needs at least one element in dimension {}", axis);
  auto edge = [&](Dim at, Dim times) {
    Dims sizes = x.sizes();
    sizes[axis] = times;
    return expand(slice(x, axis, at, at + 1), sizes);
  };
  Tensors parts;
  if (before > 0) parts.push_back(edge(0, before));
  parts.push_back(x);
  if (after > 0) parts.push_back(edge(size - 1, after));
  return cat(parts, axis);
}

Tensor circular(const Tensor& x, int64_t axis, Dim before, Dim after) {
  Dim size = x.dim_size(axis);
  if (before > size || after > size) {
    fail("pad: circular pads ({}, {}) wrap around dimension {} of size {} more than once",
         before.text(), after.text(), axis, size.text());
  }
  Tensors parts;
  if (before > 0) parts.push_back(slice(x, axis, size - before));
  parts.push_back(x);
  if (after > 0) parts.push_back(slice(x, axis, Dim(0), after));
  return cat(parts, axis);
}

using PadAlong = Tensor (*)(const Tensor&, int64_t, Dim, Dim);
PadAlong pad_mode(const std::string& mode) {
  if (mode == "reflect") return reflected;
  if (mode == "replicate") return replicated;
  if (mode == "circular") return circular;
  fail(ErrorKind::not_implemented,
       "pad: unknown mode '{}'; use 'constant', 'reflect', 'replicate' or 'circular'", mode);
}

// Negative pads cut: first, so that the borders are those of what remains.
Tensor pad_by_mode(const Tensor& self, const Dims& pad, PadAlong along) {
  size_t rank = self.sizes().size();
  Tensor result = self;
  Dims cut = pad, grow = pad;
  for (Dim& each : cut) each = min(each, 0);
  for (Dim& each : grow) each = max(each, 0);
  if (std::any_of(cut.begin(), cut.end(), [](Dim each) { return each < 0; })) {
    result = constant_pad_nd(result, cut);
  }
  for (size_t i = rank; i-- > rank - pad.size() / 2;) {
    auto [before, after] = pads_of(grow, rank, i);
    if (before > 0 || after > 0) {
      result = along(result, static_cast<int64_t>(i), before, after);
    }
  }
  return result;
}

const auto pad_entry =
    define(pad, "Pads dimensions, the last first: constant, reflect, replicate or circular.",
           [](const Tensor& self, const Dims& pad, const std::string& mode, OptFloat value) {
             check_pads(self, pad);
             if (mode == "constant") return constant_pad_nd(self, pad, Scalar(value.value_or(0)));
             if (value && *value != 0) {
               fail("pad: mode '{}' takes no value, got {}", mode, *value);
             }
             PadAlong along = pad_mode(mode);
             int64_t padded = static_cast<int64_t>(pad.size()) / 2, rank = self.dim();
             if (padded < 1 || padded > 3 || rank < padded + 1 || rank > padded + 2) {
               fail(ErrorKind::not_implemented,
                    "pad: mode '{}' pads the last 1 to 3 dimensions of tensors with one or two "
                    "more, got {} pads for {} dimensions",
                    mode, pad.size(), rank);
             }
             return pad_by_mode(self, pad, along);
           })
        .shown(Shown::in_nn)
        .samples([] {
          auto mode = [](const char* name) { return std::string(name); };
          return Samples{{{sample({2, 3}), Dims{1, 1}}},
                         {{sample({2, 4}), Dims{2, 1}, mode("reflect")}, "reflect"},
                         {{sample({2, 3, 3}), Dims{1, 1, 2, 0}, mode("reflect")}, "reflect 2-d"},
                         {{sample({1, 2, 3}), Dims{3, 1}, mode("replicate")}, "replicate"},
                         {{sample({1, 3, 3}), Dims{1, -1, 1, 2}, mode("circular")}, "circular"}};
        });

}  // namespace
}  // namespace fg
