// Positions among all elements, those of broadcast indices, and the elements where a mask is true.
#include <algorithm>
#include <cstring>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/index/index.h"
#include "ops/index/index_rows.h"
#include "ops/kernels/strided.h"
#include "ops/rearrange/join.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

// ---- nonzero

int64_t count_true(const bool* mask, int64_t count) {
  int64_t total = 0;
  for (int64_t i = 0; i < count; i++) total += mask[i];
  return total;
}

void infer_nonzero(Operands inputs, const NoParams&, Meta* out) {
  const Tensor& mask = *inputs[0];
  if (mask.is_abstract()) {
    fail(
        "nonzero: how many elements are true depends on the data, which are not known here; use "
        "where or masked_fill, whose sizes do not depend on them");
  }
  Tensor dense = kernels::as_contiguous(mask);
  out[0].sizes = {count_true(dense.data_ptr<bool>(), dense.numel()), mask.dim()};
  out[0].dtype = kInt64;
}

// Writes the index of each true element in [begin, end), one row each.
void write_positions(const bool* mask, int64_t begin, int64_t end,
                     const std::vector<int64_t>& sizes, int64_t* out) {
  size_t rank = sizes.size();
  for (int64_t i = begin; i < end; i++) {
    if (!mask[i]) continue;
    int64_t rest = i;
    for (size_t d = rank; d-- > 0;) {
      out[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    out += rank;
  }
}

// Blocks count first, so that each knows where its positions go.
void evaluate_nonzero(Operands inputs, const NoParams&, Tensor* out) {
  constexpr int64_t kBlock = 64 * 1024;
  Tensor dense = kernels::as_contiguous(*inputs[0]);
  const bool* mask = dense.data_ptr<bool>();
  int64_t count = dense.numel(), blocks = (count + kBlock - 1) / kBlock;
  std::vector<int64_t> start(static_cast<size_t>(blocks) + 1, 0);
  for (int64_t b = 0; b < blocks; b++) {
    start[b + 1] = start[b] + count_true(mask + b * kBlock, std::min(kBlock, count - b * kBlock));
  }
  std::vector<int64_t> sizes = values(dense.sizes());
  auto* positions = out[0].data_ptr<int64_t>();
  pool::parallel_for(blocks, 1, [&](int64_t first, int64_t last) {
    for (int64_t b = first; b < last; b++) {
      write_positions(mask, b * kBlock, std::min(count, (b + 1) * kBlock), sizes,
                      positions + start[b] * dense.dim());
    }
  });
}

const Registered nonzero_p =
    plain_primitive<NoParams, infer_nonzero, evaluate_nonzero>("nonzero", Kind::gather, "t")
        .without_gradient("its results are positions");
const auto nonzero_entry =
    define(nonzero, "The indices of the elements that are not zero, one row each.",
           [](const Tensor& self) { return nonzero_p(to(detach(self), kBool)); })
        .out()
        .samples([] {
          return Samples{{{sample_mask({3, 2})}}, {{sample({2, 2})}, "floats", false, false}};
        });
const auto nonzero_numpy_entry =
    define(nonzero_numpy,
           "The indices of the elements that are not zero, one vector per dimension.",
           [](const Tensor& self) {
             Tensor one_more = self.dim() == 0 ? unsqueeze(self, 0) : self;
             return unbind(nonzero(one_more), 1);
           })
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample_mask({3, 2})}}}; });
const auto argwhere_entry =
    define(argwhere, "The indices of the elements that are not zero.", [](const Tensor& self) {
      return nonzero(self);
    }).samples([] { return Samples{{{sample_mask({3, 2})}}}; });

// ---- one_hot

int64_t largest(const Tensor& positions) {
  int64_t most = -1;
  Tensor dense = kernels::as_contiguous(positions);
  for (int64_t i = 0; i < dense.numel(); i++) most = std::max(most, dense.data_ptr<int64_t>()[i]);
  return most;
}

const auto one_hot_entry =
    define(one_hot, "Zeros with a one at each class number, in a new last dimension.",
           [](const Tensor& self, int64_t num_classes) {
             if (self.dtype() != kInt64) {
               fail("one_hot: expects class numbers of int64, got {}", name(self.dtype()));
             }
             int64_t classes = num_classes;
             if (classes == -1) {
               if (self.impl()->numel == 0) {
                 fail(
                     "one_hot: the number of classes cannot be read from no elements; give "
                     "num_classes");
               }
               if (!self.is_known()) {
                 fail(
                     "one_hot: the number of classes depends on data that are not known here; give "
                     "num_classes");
               }
               classes = (Dim(largest(self)) + 1).value();
             }
             if (classes < 0 || (classes == 0 && !(self.impl()->numel == 0))) {
               fail("one_hot: num_classes must be positive, got {}", classes);
             }
             Dims sizes = self.sizes();
             sizes.push_back(classes);
             return scatter_value(zeros(sizes, kInt64), -1, unsqueeze(self, -1), Scalar(1));
           })
        .shown(Shown::in_nn)
        .samples([] {
          return Samples{{{sample_indices({3}, 4)}}, {{sample_indices({2, 2}, 3), Scalar(5)}}};
        });

// ---- take, put: positions among all elements

Tensor long_index(const Tensor& index, const char* who) {
  if (index.dtype() != kInt64) {
    fail("{}: expected an int64 index, got {}", who, name(index.dtype()));
  }
  return index;
}

const auto take_entry =
    define(take, "The elements at positions counted over all elements.",
           [](const Tensor& self, const Tensor& index) {
             return ops::take_rows(reshape(self, {-1}), {long_index(index, "take")}, {0});
           })
        .vjp("TakeBackward0", wrt(0, saves::shape(0) | saves::in(1),
                                  [](const Vjp& v) {
                                    return put(zeros(v.sizes(0), v.grad().dtype()), v.in(1),
                                               v.grad(), true);
                                  }))
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}), sample_indices({2, 2}, 6)}},
                         {{sample({2, 3}), tensor({-1, 0})}, "negative"}};
        });
const auto put_entry =
    define(put, "Self with source written, or added, at positions counted over all elements.",
           [](const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
             if (self.dtype() != source.dtype()) {
               fail("put: self is {}, but source is {}; they must be equal", name(self.dtype()),
                    name(source.dtype()));
             }
             if (!(source.impl()->numel == index.impl()->numel)) {
               fail(ErrorKind::index,
                    "put: source of sizes {} and index of sizes {} must have equally many elements",
                    text(source.sizes()), text(index.sizes()));
             }
             Tensor at = reshape(long_index(index, "put"), {-1});
             Tensor flat =
                 ops::put_rows(reshape(self, {-1}), {at}, reshape(source, {-1}), {{0}, accumulate});
             return _unsafe_view(flat, self.sizes());
           })
        .shown(Shown::as_method)
        .vjp("PutBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, bool accumulate) {
                   if (accumulate) return v.grad();
                   return put(v.grad(), v.in(1), zeros(v.in(1).sizes(), v.grad().dtype()), false);
                 }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, bool) { return reshape(take(v.grad(), v.in(1)), v.sizes(2)); }))
        .inplace()
        .samples([] {
          return Samples{{{sample({2, 3}), tensor({5, 0}), sample({2}), Scalar(false)}},
                         {{sample({2, 3}), tensor({1, 1}), sample({2}), Scalar(true)}, "adds"}};
        });

// ---- take_along_dim

// Negative ones count from the back. (Of a symbolic size they are refused when they are used.)
Tensor counted_from_the_front(const Tensor& indices, Dim size) {
  if (!size.is_constant()) return indices;
  return where(indices < 0, indices + Tensor(size.value()), indices);
}

// Both with the sizes they have together, except along the axis.
const auto take_along_dim_entry =
    define(take_along_dim,
           "As gather, with index and self broadcast outside of dim; without dim, "
           "of all elements, counted from the front.",
           [](const Tensor& self, const Tensor& indices, OptInt dim) {
             if (indices.dtype() != kInt64) {
               fail("take_along_dim: indices must be int64, got {}", name(indices.dtype()));
             }
             if (!dim) {
               return gather(reshape(self, {-1}), 0, reshape(indices, {-1}));
             }
             if (self.dim() != indices.dim()) {
               fail("take_along_dim: self has {} dimensions but indices {}; they must be equal",
                    self.dim(), indices.dim());
             }
             int64_t axis = wrap_axis(*dim, self.sizes().size(), "take_along_dim");
             Dims around = self.sizes(), of_index = indices.sizes();
             if (around.empty()) return gather(self, 0, counted_from_the_front(indices, 1));
             around[axis] = of_index[axis];
             Dims common = broadcast(around, of_index, "take_along_dim");
             Dims self_sizes = common;
             self_sizes[axis] = self.sizes()[axis];
             Tensor at = counted_from_the_front(indices, self.sizes()[axis]);
             return gather(expand(self, self_sizes), axis, expand(at, common));
           })
        .samples([] {
          return Samples{{{sample({4, 3}), sample_indices({1, 3}, 4), Scalar(0)}},
                         {{sample({4, 1}), sample_indices({1, 3}, 4), Scalar(0)}, "broadcast"},
                         {{sample({2, 3}), sample_indices({4}, 6)}, "all elements"}};
        });

// ---- masks

void check_mask(const Tensor& mask, const char* who) {
  if (mask.dtype() != kBool) fail("{}: mask must be bool, got {}", who, name(mask.dtype()));
}
Tensor true_positions(const Tensor& mask, const Dims& sizes) {
  return squeeze(nonzero(reshape(expand(mask, sizes), {-1})), 1);
}

const auto masked_select_entry =
    define(masked_select, "The elements where mask is true, as a vector.",
           [](const Tensor& self, const Tensor& mask) {
             check_mask(mask, "masked_select");
             Dims sizes = broadcast(self.sizes(), mask.sizes(), "masked_select");
             return ops::take_rows(reshape(expand(self, sizes), {-1}),
                                   {true_positions(mask, sizes)}, {0});
           })
        .vjp("MaskedSelectBackward0",
             wrt(0, saves::shape(0) | saves::in(1),
                 [](const Vjp& v) {
                   Tensor mask = v.in(1);
                   Dims sizes = broadcast(v.sizes(0), mask.sizes(), "masked_select");
                   return masked_scatter(zeros(sizes, v.grad().dtype()), mask, v.grad());
                 }))
        .out()
        .samples([] {
          return Samples{{{sample({3, 2}), sample_mask({3, 2})}},
                         {{sample({3, 2}), sample_mask({2})}, "mask broadcasts"},
                         {{sample({2}), sample_mask({3, 2})}, "self broadcasts"}};
        });

const auto masked_scatter_entry =
    define(masked_scatter, "Self with the elements of source, in order, where mask is true.",
           [](const Tensor& self, const Tensor& mask, const Tensor& source) {
             check_mask(mask, "masked_scatter");
             if (self.dtype() != source.dtype()) {
               fail("masked_scatter: self is {}, but source is {}; they must be equal",
                    name(self.dtype()), name(source.dtype()));
             }
             Dims sizes = broadcast(self.sizes(), mask.sizes(), "masked_scatter");
             Tensor at = true_positions(mask, sizes);
             Dim count = at.sizes()[0];
             if (source.impl()->numel < count) {
               fail("masked_scatter: source has {} elements, but {} elements of the mask are true",
                    source.impl()->numel.text(), count.text());
             }
             Tensor flat = ops::put_rows(reshape(expand(self, sizes), {-1}), {at},
                                         slice(reshape(source, {-1}), 0, Dim(0), count), {{0}});
             return _unsafe_view(flat, sizes);
           })
        .vjp("MaskedScatterBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v) {
                   return masked_fill(v.grad(), v.in(1), zeros({}, v.grad().dtype()));
                 }),
             wrt(2, saves::in(1) | saves::shape(2),
                 [](const Vjp& v) {
                   return masked_scatter_backward(v.grad(), v.in(1), v.sizes(2));
                 }))
        .inplace()
        .samples([] {
          return Samples{{{sample({3, 2}), sample_mask({3, 2}), sample({6})}},
                         {{sample({3, 2}), sample_mask({2}), sample({2, 3})}, "broadcast"}};
        });
const auto masked_scatter_backward_entry =
    define(masked_scatter_backward, "The gradient of the source of masked_scatter.",
           [](const Tensor& grad, const Tensor& mask, const Dims& sizes) {
             Tensor used = masked_select(grad, expand(mask, grad.sizes()));
             Tensor all = zeros({product(sizes)}, grad.dtype());
             Tensor unused = slice(all, 0, used.sizes()[0]);
             return reshape(cat({used, unused}), sizes);
           })
        .shown(Shown::nowhere)
        .samples([] { return Samples{{{sample({3, 2}), sample_mask({3, 2}), Dims{6}}}}; });

}  // namespace

Tensor Tensor::masked_select(const Tensor& mask) const { return fg::masked_select(*this, mask); }
Tensor Tensor::nonzero() const { return fg::nonzero(*this); }
Tensor Tensor::take_along_dim(const Tensor& indices, OptInt dim) const {
  return fg::take_along_dim(*this, indices, dim);
}

}  // namespace fg
