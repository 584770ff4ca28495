#include "ops/reduce/reduce.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/reduce/scan.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::number_of;
using ops::reduced_count;
using ops::restore_dims;
using ops::spread_over;
using ops::sum_over;

namespace {

// Integers and bools are summed as int64.
DType sum_dtype(const Tensor& self, OptDType dtype) {
  return dtype.value_or(is_floating(self.dtype()) ? self.dtype() : kInt64);
}
// Narrower integers wrap once at the end.
Tensor in_dtype(const Tensor& self, DType dtype,
                Tensor (*reduce)(const Tensor&, const OptDims&, bool), const OptDims& dim,
                bool keepdim) {
  if (is_floating(dtype) || dtype == kInt64) return reduce(to(self, dtype), dim, keepdim);
  return to(reduce(to(to(self, dtype), kInt64), dim, keepdim), dtype);
}

Samples over_all() {
  return {{{sample({2, 3})}},
          {{sample({})}, "zero-dim"},
          {{sample({0, 3})}, "empty"},
          {{sample({3, 171}).transpose(0, 1)}, "two blocks, strided"}};
}
Samples over_dims() {
  return {{{sample({2, 3}), Dims{1}, Scalar(true)}, "keepdim"},
          {{sample({2, 3, 2}), Dims{0, -1}}, "two dimensions"},
          {{sample({2, 17}), Dims{0}}, "columns"},
          {{sample({2, 3}), Value()}, "none is all"},
          {{sample({}), Dims{0}}, "zero-dim"},
          {{sample({0, 3}), Dims{0}}, "empty"}};
}

const auto sum_entry =
    define(sum.overload<0>(), "Sum of all elements.",
           [](const Tensor& self, OptDType dtype) {
             return in_dtype(self, sum_dtype(self, dtype), sum_over, {}, false);
           })
        .vjp("SumBackward0",
             wrt(0, saves::shape(0), [](const Vjp& v) { return expand(v.grad(), v.sizes(0)); }))
        .out()
        .samples(over_all);
const auto sum_dim_entry =
    define(sum.overload<1>(), "Sum over the given dimensions.",
           [](const Tensor& self, const OptDims& dim, bool keepdim, OptDType dtype) {
             return in_dtype(self, sum_dtype(self, dtype), sum_over, dim, keepdim);
           })
        .vjp("SumBackward1", wrt(0, saves::shape(0),
                                 [](const Vjp& v, const OptDims& dim, bool keepdim, OptDType) {
                                   return spread_over(v.grad(), v.sizes(0), dim, keepdim);
                                 }))
        .out()
        .samples(over_dims);

DType mean_dtype(const Tensor& self, OptDType dtype) {
  DType result = dtype.value_or(self.dtype());
  if (!is_floating(result)) {
    fail("mean: {} has no mean; convert the input to a float or pass dtype", name(result));
  }
  return result;
}
const auto mean_entry =
    define(mean.overload<0>(), "Mean of all elements.",
           [](const Tensor& self, OptDType dtype) {
             return ops::mean_over(to(self, mean_dtype(self, dtype)), {}, false);
           })
        .vjp("MeanBackward0", wrt(0, saves::shape(0),
                                  [](const Vjp& v) {
                                    return expand(v.grad(), v.sizes(0)) /
                                           number_of(product(v.sizes(0)));
                                  }))
        .out()
        .samples(over_all);
const auto mean_dim_entry =
    define(mean.overload<1>(), "Mean over the given dimensions.",
           [](const Tensor& self, const OptDims& dim, bool keepdim, OptDType dtype) {
             return ops::mean_over(to(self, mean_dtype(self, dtype)), dim, keepdim);
           })
        .vjp("MeanBackward1", wrt(0, saves::shape(0),
                                  [](const Vjp& v, const OptDims& dim, bool keepdim, OptDType) {
                                    return ops::mean_gradient(v.grad(), v.sizes(0), dim, keepdim);
                                  }))
        .out()
        .samples(over_dims);

const auto prod_entry =
    define(prod.overload<0>(), "Product of all elements.",
           [](const Tensor& self, OptDType dtype) {
             return in_dtype(self, sum_dtype(self, dtype), ops::prod_over, {}, false);
           })
        .vjp("ProdBackward0", wrt(0, saves::in(0),
                                  [](const Vjp& v) {
                                    Tensor self = to(v.in(0), v.grad().dtype());
                                    return ops::prod_gradient(v.grad(), self, {}, false);
                                  }))
        .out()
        .samples([] {
          return Samples{{{sample({2, 3})}},
                         {{tensor({2., 0., 3.}, kFloat64)}, "one zero"},
                         {{tensor({2., 0., 3., 0.}, kFloat64)}, "two zeros"},
                         {{sample({})}, "zero-dim"},
                         {{sample({0})}, "empty"}};
        });
const auto prod_dim_entry =
    define(prod.overload<1>(), "Product over a dimension.",
           [](const Tensor& self, int64_t dim, bool keepdim, OptDType dtype) {
             return in_dtype(self, sum_dtype(self, dtype), ops::prod_over, Dims{dim}, keepdim);
           })
        .vjp("ProdBackward1", wrt(0, saves::in(0),
                                  [](const Vjp& v, int64_t dim, bool keepdim, OptDType) {
                                    Tensor self = to(v.in(0), v.grad().dtype());
                                    return ops::prod_gradient(v.grad(), self, Dims{dim}, keepdim);
                                  }))
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}), Scalar(1)}},
                         {{sample({2, 3}), Scalar(0), Scalar(true)}, "keepdim"},
                         {{sample({}), Scalar(0)}, "zero-dim"}};
        });

const auto logsumexp_entry =
    define(logsumexp, "log of the sum of exp over the given dimensions, without overflow.",
           [](const Tensor& self, const Dims& dim, bool keepdim) {
             Tensor x = is_floating(self.dtype()) ? self : to(self, default_dtype());
             if (reduced_count(x.sizes(), dim, "logsumexp") == 0)
               return sum_over(x.exp(), dim, keepdim).log();
             Tensor largest = ops::max_over(x, dim, true);
             largest = largest.masked_fill(largest.isinf(), 0);
             Tensor total = sum_over((x - largest).exp(), dim, true).log() + largest;
             auto axes = axis_set(dim, x.sizes().size(), "logsumexp");
             return keepdim ? total : view(total, ops::reduced_sizes(x.sizes(), axes, false));
           })
        .also_named({"special.logsumexp"})
        .vjp("LogsumexpBackward0",
             wrt(0, saves::in(0) | saves::out(),
                 [](const Vjp& v, const Dims& dim, bool keepdim) {
                   Tensor self = v.in(0);
                   Tensor out = restore_dims(v.out(), self.sizes(), dim, keepdim);
                   return restore_dims(v.grad(), self.sizes(), dim, keepdim) * (self - out).exp();
                 }))
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}), Dims{1}}},
                         {{sample({2, 3}), Dims{0, 1}, Scalar(true)}, "keepdim"}};
        });

// As PyTorch: the result is a bool, except that uint8 stays uint8; an empty dim reduces nothing.
Tensor any_of(const Tensor& self, const OptDims& dim, bool keepdim) {
  Tensor result = self.ne(0);
  if (!dim || !dim->empty()) result = ops::max_over(result, dim, keepdim);
  return self.dtype() == kUInt8 ? to(result, kUInt8) : result;
}
Tensor all_of(const Tensor& self, const OptDims& dim, bool keepdim) {
  Tensor result = self.eq(0);
  if (!dim || !dim->empty()) result = ops::max_over(result, dim, keepdim);
  result = result.logical_not();
  return self.dtype() == kUInt8 ? to(result, kUInt8) : result;
}
Samples logical() { return {{{sample_mask({2, 3})}}, {{sample_mask({0})}, "empty"}}; }
Samples logical_dim() { return {{{sample_mask({2, 3}), Scalar(1), Scalar(true)}}}; }
Samples logical_dims() { return {{{sample_mask({2, 3}), Dims{0, 1}}}}; }

const auto any_entry = define(any.overload<0>(), "Whether any element is not zero.",
                              [](const Tensor& self) { return any_of(self, {}, false); })
                           .out()
                           .samples(logical);
const auto any_dim_entry = define(any.overload<1>(), "Whether any element along dim is not zero.",
                                  [](const Tensor& self, int64_t dim, bool keepdim) {
                                    return any_of(self, Dims{dim}, keepdim);
                                  })
                               .out()
                               .samples(logical_dim);
const auto any_dims_entry =
    define(any.overload<2>(), "Whether any element over the given dimensions is not zero.",
           [](const Tensor& self, const OptDims& dim, bool keepdim) {
             return any_of(self, dim, keepdim);
           })
        .out()
        .samples(logical_dims);
const auto all_entry = define(all.overload<0>(), "Whether no element is zero.",
                              [](const Tensor& self) { return all_of(self, {}, false); })
                           .out()
                           .samples(logical);
const auto all_dim_entry = define(all.overload<1>(), "Whether no element along dim is zero.",
                                  [](const Tensor& self, int64_t dim, bool keepdim) {
                                    return all_of(self, Dims{dim}, keepdim);
                                  })
                               .out()
                               .samples(logical_dim);
const auto all_dims_entry =
    define(all.overload<2>(), "Whether no element over the given dimensions is zero.",
           [](const Tensor& self, const OptDims& dim, bool keepdim) {
             return all_of(self, dim, keepdim);
           })
        .out()
        .samples(logical_dims);

const auto count_nonzero_entry =
    define(count_nonzero, "How many elements are not zero, as int64.",
           [](const Tensor& self, const OptDims& dim) {
             return sum_over(to(to(self, kBool), kInt64), dim, false);
           })
        .samples([] { return Samples{{{sample_mask({2, 3}), Dims{1}}}}; });

}  // namespace
}  // namespace fg

namespace fg {

Tensor Tensor::sum(const OptDims& dim, bool keepdim, OptDType dtype) const {
  return dim || keepdim ? fg::sum(*this, dim, keepdim, dtype) : fg::sum(*this, dtype);
}
Tensor Tensor::mean(const OptDims& dim, bool keepdim, OptDType dtype) const {
  return dim || keepdim ? fg::mean(*this, dim, keepdim, dtype) : fg::mean(*this, dtype);
}
Tensor Tensor::prod() const { return fg::prod(*this); }
Tensor Tensor::prod(int64_t dim, bool keepdim, OptDType dtype) const {
  return fg::prod(*this, dim, keepdim, dtype);
}
Tensor Tensor::logsumexp(const Dims& dim, bool keepdim) const {
  return fg::logsumexp(*this, dim, keepdim);
}
Tensor Tensor::any() const { return fg::any(*this); }
Tensor Tensor::any(int64_t dim, bool keepdim) const { return fg::any(*this, dim, keepdim); }
Tensor Tensor::any(const OptDims& dim, bool keepdim) const { return fg::any(*this, dim, keepdim); }
Tensor Tensor::all() const { return fg::all(*this); }
Tensor Tensor::all(int64_t dim, bool keepdim) const { return fg::all(*this, dim, keepdim); }
Tensor Tensor::all(const OptDims& dim, bool keepdim) const { return fg::all(*this, dim, keepdim); }
Tensor Tensor::count_nonzero(const OptDims& dim) const { return fg::count_nonzero(*this, dim); }

}  // namespace fg
