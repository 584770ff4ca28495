#include "ops/index/index.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/number.h"
#include "ops/index/index_rows.h"
#include "ops/rearrange/memory_order.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_gradients.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::as_positions;
using ops::put_rows;
using ops::take_rows;

namespace {

// ---- index, index_put: index tensors as positions, one per dimension

struct Positions {
  Tensors indices;
  Dims axes;
};

// A mask stands for the positions of its true elements, one index tensor per dimension of it.
void add_mask(const Tensor& mask, const Dims& sizes, size_t at, Positions& out) {
  for (size_t i = 0; i < mask.sizes().size(); i++) {
    if (at + i < sizes.size() && mask.sizes()[i] == sizes[at + i]) continue;
    fail(ErrorKind::index,
         "index: the mask of sizes {} does not match the sizes {} of the indexed tensor from "
         "dimension {} on",
         text(mask.sizes()), text(sizes), at);
  }
  for (const Tensor& column : unbind(nonzero(mask), 1)) {
    out.indices.push_back(column);
    out.axes.push_back(static_cast<int64_t>(at++));
  }
}

Positions positions(const Dims& sizes, const Tensors& indices) {
  Positions out;
  size_t at = 0;
  for (const Tensor& index : indices) {
    bool mask = index.defined() && (index.dtype() == kBool || index.dtype() == kUInt8);
    size_t width = mask ? index.sizes().size() : 1;
    if (at + width > sizes.size()) {
      fail(ErrorKind::index, "index: too many indices for a tensor of {} dimensions", sizes.size());
    }
    if (mask) {
      add_mask(index, sizes, at, out);
    } else if (index.defined()) {
      if (index.dtype() != kInt64 && index.dtype() != kInt32) {
        fail(ErrorKind::index,
             "index: tensors used as indices must be int64, int32, uint8 or bool, got {}",
             name(index.dtype()));
      }
      out.indices.push_back(to(index, kInt64));
      out.axes.push_back(static_cast<int64_t>(at));
    }
    at += width;
  }
  if (out.indices.empty()) fail(ErrorKind::index, "index: at least one index tensor must be given");
  return out;
}

Samples index_samples() {
  Tensor rows = sample_indices({3}, 4), columns = sample_indices({2, 1}, 3);
  return {{{sample({4, 3}), Tensors{rows}}},
          {{sample({4, 3}), Tensors{rows, columns}}, "broadcast"},
          {{sample({4, 3}), Tensors{Tensor(), columns}}, "second"},
          {{sample({4, 2, 3}), Tensors{rows, Tensor(), sample_indices({3}, 3)}}, "apart"},
          {{sample({4, 3}), Tensors{sample_mask({4, 3})}}, "mask"},
          {{sample({4, 3}), Tensors{sample_mask({4})}}, "row mask"}};
}

const auto index_entry =
    define(entries::index, "The elements at positions given by index tensors or masks, as x[i, j].",
           [](const Tensor& self, const Tensors& indices) {
             Positions at = positions(self.sizes(), indices);
             return take_rows(self, at.indices, {at.axes});
           })
        .shown(Shown::nowhere)
        .vjp("IndexBackward0",
             wrt(0, saves::shape(0) | saves::in(1),
                 [](const Vjp& v) { return index_backward(v.grad(), v.sizes(0), v.list(1)); }))
        .samples(index_samples);
const auto index_backward_entry =
    define(index_backward, "The gradient of index: zeros with grad added at the positions.",
           [](const Tensor& grad, const Dims& sizes, const Tensors& indices) {
             Positions at = positions(sizes, indices);
             ops::check_grad_sizes(grad, ops::rows_sizes(sizes, at.indices, at.axes),
                                   "index_backward");
             return put_rows({}, at.indices, grad, {{at.axes}, true, sizes});
           })
        .shown(Shown::nowhere)
        .vjp("IndexPutImplBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Dims&) { return index(v.grad(), v.list(1)); }))
        .samples([] {
          return Samples{{{sample({3, 2}), Dims{4, 2}, Tensors{sample_indices({3}, 2)}}}};
        });

// ---- index_put under one mask whose elements all get the same: no need to know which are true

struct MaskedPut {
  Tensor mask;        // with as many dimensions as self has from the mask on
  Dims values;        // sizes of the values, lined up with self
  int64_t at, width;  // the dimensions of self that the mask covers
};

// None: there are other indices, or each true element has a value of its own.
std::optional<MaskedPut> masked_put(const Dims& sizes, const Tensors& indices, const Dims& values) {
  size_t at = 0;
  while (at < indices.size() && !indices[at].defined()) at++;
  if (at + 1 != indices.size()) return {};
  const Tensor& mask = indices[at];
  size_t width = mask.sizes().size(), rest = sizes.size() - std::min(sizes.size(), at + width);
  if ((mask.dtype() != kBool && mask.dtype() != kUInt8) || width == 0) return {};
  if (at + width > sizes.size() || values.size() > at + 1 + rest) return {};
  Dims lined_up = values, mask_sizes = mask.sizes();
  for (size_t i = 0; i < width; i++) {
    if (!(mask_sizes[i] == sizes[at + i])) return {};
  }
  if (values.size() > rest) {  // one dimension of the values stands for those of the mask
    size_t own = values.size() - 1 - rest;
    if (!(values[own] == 1)) return {};
    for (size_t i = 1; i < width; i++) lined_up.insert(own, 1);
  }
  if (!can_broadcast(lined_up, sizes)) return {};
  for (size_t i = 0; i < rest; i++) mask_sizes.push_back(1);
  return MaskedPut{reshape(to(mask, kBool), mask_sizes), lined_up, static_cast<int64_t>(at),
                   static_cast<int64_t>(width)};
}

Tensor put_under_mask(const Tensor& self, const MaskedPut& put, const Tensor& values,
                      bool accumulate) {
  Tensor lined_up = reshape(to(values, self.dtype()), put.values);
  return accumulate ? self + where(put.mask, lined_up, 0) : where(put.mask, lined_up, self);
}

Tensor gradient_of_values(const Vjp& v) {
  auto put = masked_put(v.grad().sizes(), v.list(1), v.sizes(2));
  if (!put) return index(v.grad(), v.list(1));
  Tensor grad = where(put->mask, v.grad(), 0);
  if (put->width == 1 || put->values == v.sizes(2)) return grad;
  Dims covered, sizes;
  for (int64_t d = 0; d < grad.dim(); d++) {
    bool inside = d >= put->at && d < put->at + put->width;
    if (inside) covered.push_back(d);
    if (!inside || d == put->at)
      sizes.push_back(inside ? Dim(1) : grad.sizes()[static_cast<size_t>(d)]);
  }
  return reshape(sum(grad, covered, true), sizes);
}

const auto index_put_entry =
    define(index_put, "Self with values written, or added, at positions given by index tensors.",
           [](const Tensor& self, const Tensors& indices, const Tensor& values, bool accumulate) {
             auto put = masked_put(self.sizes(), indices, values.sizes());
             Positions at = put ? Positions{} : positions(self.sizes(), indices);
             if (values.dtype() != self.dtype() && !values.impl()->wrapped_number) {
               fail("index_put: values are {}, but self is {}; convert the values first",
                    name(values.dtype()), name(self.dtype()));
             }
             if (put) return put_under_mask(self, *put, values, accumulate);
             Dims sizes = ops::rows_sizes(self.sizes(), at.indices, at.axes);
             if (!can_broadcast(values.sizes(), sizes)) {
               fail(
                   "index_put: values of sizes {} do not broadcast to the indexed part of sizes {}",
                   text(values.sizes()), text(sizes));
             }
             Tensor result = put_rows(self, at.indices, expand(to(values, self.dtype()), sizes),
                                      {{at.axes}, accumulate});
             ops::MemoryOrder order(self);
             return order.given_back(contiguous(order.ordered(result)));
           })
        .inplace_as_function()
        .vjp("IndexPutBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, bool accumulate) {
                   return accumulate ? v.grad()
                                     : index_put(v.grad(), v.list(1), zeros({}, v.grad().dtype()));
                 }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, bool) { return gradient_of_values(v); }))
        .inplace()
        .samples([] {
          Tensor rows = tensor({2, 0}), twice = tensor({1, 1});
          return Samples{
              {{sample({4, 3}), Tensors{rows}, sample({2, 3})}},
              {{sample({4, 3}), Tensors{rows}, sample({3})}, "broadcast"},
              {{sample({4, 3}), Tensors{twice, tensor({0, 0})}, sample({2}), Scalar(true)}, "adds"},
              {{sample({4, 3}), Tensors{sample_mask({4})}, sample({}), Scalar(false)}, "mask"},
              {{sample({4, 3}), Tensors{Tensor(), sample_mask({3})}, sample({4, 1})}, "columns"},
              {{sample({2, 4, 3}), Tensors{Tensor(), sample_mask({4, 3})}, sample({2, 1}),
                Scalar(true)},
               "adds under a mask"}};
        });

// ---- positions in one dimension

// A vector of positions; a single one may have no dimension.
Tensor vector_of(const Tensor& index, const char* who) {
  if (index.dim() > 1) {
    fail(ErrorKind::index, "{}: index must be a vector, got sizes {}", who, text(index.sizes()));
  }
  return reshape(as_positions(index, who), {-1});
}

// A zero-dim tensor counts as a vector with one element; the result has no dimension either.
const auto index_select_entry =
    define(index_select, "The parts of self at the given indices of one dimension.",
           [](const Tensor& self, int64_t dim, const Tensor& index) {
             int64_t axis = wrap_axis(dim, self.sizes().size(), "index_select");
             Tensor at = vector_of(index, "index_select");
             if (self.dim() > 0) return take_rows(self, {at}, {axis, false});
             if (!(at.impl()->numel == 1)) {
               fail("index_select: a zero-dim tensor takes one index, got {}",
                    at.impl()->numel.text());
             }
             return squeeze(take_rows(unsqueeze(self, 0), {at}, {axis, false}), 0);
           })
        .vjp("IndexSelectBackward0", wrt(0, saves::shape(0) | saves::in(1),
                                         [](const Vjp& v, int64_t dim) {
                                           if (v.sizes(0).empty()) return v.grad();
                                           return index_add(zeros(v.sizes(0), v.grad().dtype()),
                                                            dim, v.in(1), v.grad());
                                         }))
        .out()
        .samples([] {
          return Samples{{{sample({4, 3}), Scalar(0), sample_indices({5}, 4)}},
                         {{sample({4, 3}), Scalar(-1), sample_indices({2}, 3)}, "columns"},
                         {{sample({4, 3}), Scalar(0), sample_indices({0}, 4)}, "none"}};
        });

// Checks what index_add and index_copy have in common; source with the sizes of the indexed part.
void check_source(const Tensor& self, int64_t axis, const Tensor& at, const Tensor& source,
                  const char* who, ErrorKind count = ErrorKind::runtime) {
  if (source.dtype() != self.dtype()) {
    fail("{}: self is {}, but source is {}; they must be equal", who, name(self.dtype()),
         name(source.dtype()));
  }
  Dims expected = self.sizes();
  if (!expected.empty()) expected[axis] = at.impl()->numel;
  bool number = source.dim() == 0 && product(expected) == 1;
  if (!number && !(source.sizes() == expected)) {
    fail(count, "{}: expected a source of sizes {} for {} indices along dimension {}, got {}", who,
         text(expected), at.impl()->numel.text(), axis, text(source.sizes()));
  }
}

Tensor put_along(const Tensor& self, int64_t axis, const Tensor& at, const Tensor& source,
                 const ops::PutRowsParams& params) {
  if (self.dim() == 0) {
    Tensor vector = put_along(unsqueeze(self, 0), axis, at, reshape(source, {-1}), params);
    return squeeze(vector, 0);
  }
  Dims sizes = self.sizes();
  sizes[axis] = at.impl()->numel;
  return put_rows(self, {at}, expand(source, sizes), params);
}

const auto index_add_entry =
    define(index_add, "Self with source, scaled by alpha, added at the indices of one dimension.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
              const Scalar& alpha) {
             int64_t axis = wrap_axis(dim, self.sizes().size(), "index_add");
             Tensor at = vector_of(index, "index_add");
             check_source(self, axis, at, source, "index_add");
             // As PyTorch: the factor is converted first, so that integers stay integers.
             Scalar factor = ops::fitting(alpha, self.dtype(), "index_add");
             if (is_integral_or_bool(self.dtype())) factor = Scalar(factor.to_int());
             Tensor scaled = factor.equal(1) ? source : mul(source, Tensor(factor));
             return put_along(self, axis, at, to(scaled, self.dtype()),
                              {{axis, false, true}, true});
           })
        .vjp("IndexAddBackward0",
             wrt(0, saves::nothing, [](const Vjp& v, int64_t, const Scalar&) { return v.grad(); }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, int64_t dim, const Scalar& alpha) {
                   Tensor part = index_select(v.grad(), dim, v.in(1));
                   if (v.sizes(2).empty()) part = reshape(part, {});
                   return alpha.equal(1) ? part : part * Tensor(alpha);
                 }))
        .inplace()
        .out()
        .samples([] {
          return Samples{
              {{sample({3, 2}), Scalar(0), tensor({1, 1, 0}), sample({3, 2})}},
              {{sample({3, 2}), Scalar(1), tensor({1}), sample({3, 1}), Scalar(2.5)}, "alpha"}};
        });

const auto index_copy_entry =
    define(index_copy, "Self with source written at the indices of one dimension.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
             int64_t axis = wrap_axis(dim, self.sizes().size(), "index_copy");
             Tensor at = vector_of(index, "index_copy");
             check_source(self, axis, at, source, "index_copy", ErrorKind::index);
             return put_along(self, axis, at, source, {{axis, false}});
           })
        .vjp("IndexCopyBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, int64_t dim) {
                   return index_fill_number(v.grad(), dim, v.in(1), Scalar(0));
                 }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, int64_t dim) {
                   Tensor part = index_select(v.grad(), dim, v.in(1));
                   return v.sizes(2).empty() ? reshape(part, {}) : part;
                 }))
        .inplace()
        .out()
        .samples(
            [] { return Samples{{{sample({3, 2}), Scalar(0), tensor({2, 0}), sample({2, 2})}}}; });

Tensor fill_along(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  int64_t axis = wrap_axis(dim, self.sizes().size(), "index_fill");
  if (value.dim() > 0) {
    fail("index_fill: value must be a number or a zero-dim tensor, got sizes {}",
         text(value.sizes()));
  }
  if (index.dim() > 1) fail("index_fill: index must be a vector, got {}", text(index.sizes()));
  if (index.dtype() != kInt64 && index.dtype() != kInt32) {
    fail(ErrorKind::index, "index_fill: expected indices of int64 or int32, got {}",
         name(index.dtype()));
  }
  Tensor at = vector_of(index, "index_fill"), fitting = to(value, self.dtype());
  ops::MemoryOrder order(self);
  axis = order.axis(axis);
  return order.given_back(put_along(order.ordered(self), axis, at, fitting, {{axis}}));
}

const auto index_fill_number_entry =
    define(index_fill_number, "Self with a number written at the indices of one dimension.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Scalar& value) {
             Scalar fitting = ops::fitting(value, self.dtype(), "index_fill");
             return fill_along(self, dim, index, Tensor(fitting));
           })
        .vjp("IndexFillBackward0", wrt(0, saves::in(1),
                                       [](const Vjp& v, int64_t dim, const Scalar&) {
                                         return index_fill_number(v.grad(), dim, v.in(1),
                                                                  Scalar(0));
                                       }))
        .inplace()
        .samples(
            [] { return Samples{{{sample({3, 2}), Scalar(0), tensor({2, -3}), Scalar(1.5)}}}; });
const auto index_fill_entry =
    define(index_fill, "Self with a value written at the indices of one dimension.",
           [](const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
             return fill_along(self, dim, index, value);
           })
        .vjp("IndexFillBackward1",
             wrt(0, saves::in(1),
                 [](const Vjp& v, int64_t dim) {
                   return index_fill_number(v.grad(), dim, v.in(1), Scalar(0));
                 }),
             wrt(2, saves::in(1),
                 [](const Vjp& v, int64_t dim) {
                   // Once per element, however often the index names it.
                   Tensor nowhere = zeros(v.grad().sizes(), kBool);
                   Tensor written = index_fill_number(nowhere, dim, v.in(1), Scalar(true));
                   return sum(where(written, v.grad(), 0));
                 }))
        .inplace()
        .samples([] {
          return Samples{{{sample({3, 2}), Scalar(0), tensor({2, 0}), sample({})}},
                         {{sample({3, 2}), Scalar(0), tensor({2, 2}), sample({})}, "twice"}};
        });

}  // namespace

Tensor Tensor::index_select(int64_t dim, const Tensor& index) const {
  return fg::index_select(*this, dim, index);
}
Tensor Tensor::index_add(int64_t dim, const Tensor& index, const Tensor& source,
                         const Scalar& alpha) const {
  return fg::index_add(*this, dim, index, source, alpha);
}
Tensor& Tensor::index_add_(int64_t dim, const Tensor& index, const Tensor& source,
                           const Scalar& alpha) const {
  return fg::index_add_(*this, dim, index, source, alpha);
}

}  // namespace fg
