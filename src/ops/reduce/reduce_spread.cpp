#include "ops/reduce/reduce_spread.h"

#include <cmath>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::number_of;
using ops::reduced_count;
using ops::restore_dims;

namespace {

// 16-bit floats compute in f32 and are rounded once.
DType wide(DType dtype) { return is_half(dtype) ? kFloat32 : dtype; }

// ---- variance

double correction_of(const OptScalar& correction) {
  return correction ? correction->to_double() : 1;
}

// variance = sum((x - mean)^2) / (n - correction); the mean first, so that no digits are lost.
std::tuple<Tensor, Tensor> moments(const Tensor& self, const OptDims& dim, double correction,
                                   bool keepdim, const char* who) {
  if (!is_floating(self.dtype())) {
    fail("{}: {} is not supported; convert the input to a float", who, name(self.dtype()));
  }
  Tensor x = to(self, wide(self.dtype()));
  Tensor mean = ops::mean_over(x, dim, true), rest = x - mean;
  Tensor variance = ops::sum_over(rest * rest, dim, keepdim) /
                    number_of(reduced_count(x.sizes(), dim, who), correction);
  return {variance, keepdim ? mean : view(mean, variance.sizes())};
}

// grad * 2 * (x - mean) / (n - correction); `grad` broadcasts with self.
Tensor var_gradient(const Tensor& grad, const Tensor& self, const OptDims& dim, double correction) {
  Tensor degrees = number_of(reduced_count(self.sizes(), dim, "var")) - correction;
  return grad * 2 / degrees * (self - fg::mean(self, dim, true));
}
Tensor std_gradient(const Tensor& grad, const Tensor& result) {
  return (grad / (result * 2)).masked_fill(result.eq(0), 0);
}

Samples spreads() {
  return {{{sample({2, 3})}},
          {{sample({2, 3}), Dims{1}, Scalar(0), Scalar(true)}, "keepdim, no correction"},
          {{sample({2, 3, 4}), Dims{0, 2}, Scalar(2)}, "two dimensions"}};
}
Samples spreads_unbiased() { return {{{sample({2, 3}), Dims{1}, Scalar(false)}}}; }
Samples spreads_of_all() {
  return {{{sample({2, 3}), Scalar(false)}}, {{sample({2, 3}), Scalar(true)}, "unbiased"}};
}
OptScalar correction_of(bool unbiased) { return OptScalar(unbiased ? 1 : 0); }

const auto var_entry =
    define(var.overload<0>(), "The variance over the given dimensions, or of all elements.",
           [](const Tensor& self, const OptDims& dim, const OptScalar& correction, bool keepdim) {
             auto [result, mean] = moments(self, dim, correction_of(correction), keepdim, "var");
             return to(result, self.dtype());
           })
        .vjp("VarBackward0",
             wrt(0, saves::in(0),
                 [](const Vjp& v, const OptDims& dim, const OptScalar& correction, bool keepdim) {
                   Tensor self = v.in(0);
                   Tensor grad = restore_dims(v.grad(), self.sizes(), dim, keepdim);
                   return var_gradient(grad, self, dim, correction_of(correction));
                 }))
        .out()
        .samples(spreads);
const auto var_dim_entry =
    define(var.overload<1>(), "The variance with correction 1 (unbiased) or 0.",
           [](const Tensor& self, const OptDims& dim, bool unbiased, bool keepdim) {
             return var(self, dim, correction_of(unbiased), keepdim);
           })
        .out()
        .samples(spreads_unbiased);
const auto var_all_entry =
    define(var.overload<2>(), "The variance of all elements with correction 1 (unbiased) or 0.",
           [](const Tensor& self, bool unbiased) {
             return var(self, OptDims(), correction_of(unbiased), false);
           })
        .out()
        .samples(spreads_of_all);

const auto std_entry =
    define(fg::std.overload<0>(), "The standard deviation over the given dimensions, or of all.",
           [](const Tensor& self, const OptDims& dim, const OptScalar& correction, bool keepdim) {
             auto [result, mean] = moments(self, dim, correction_of(correction), keepdim, "std");
             return to(result.sqrt(), self.dtype());
           })
        .vjp("StdBackward0",
             wrt(0, saves::in(0) | saves::out(),
                 [](const Vjp& v, const OptDims& dim, const OptScalar& correction, bool keepdim) {
                   Tensor self = v.in(0);
                   Tensor grad =
                       restore_dims(std_gradient(v.grad(), v.out()), self.sizes(), dim, keepdim);
                   return var_gradient(grad, self, dim, correction_of(correction));
                 }))
        .out()
        .samples(spreads);
const auto std_dim_entry =
    define(fg::std.overload<1>(), "The standard deviation with correction 1 (unbiased) or 0.",
           [](const Tensor& self, const OptDims& dim, bool unbiased, bool keepdim) {
             return fg::std(self, dim, correction_of(unbiased), keepdim);
           })
        .out()
        .samples(spreads_unbiased);
const auto std_all_entry =
    define(fg::std.overload<2>(),
           "The standard deviation of all elements with correction 1 (unbiased) or 0.",
           [](const Tensor& self, bool unbiased) {
             return fg::std(self, OptDims(), correction_of(unbiased), false);
           })
        .out()
        .samples(spreads_of_all);

// The part of a gradient that came through the mean; absent parts count as zero.
Tensor add_mean_gradient(const Tensor& gradient, const Tensor& grad, const Tensor& self,
                         const OptDims& dim, bool keepdim) {
  if (!grad.defined()) return gradient;
  Tensor part = restore_dims(grad, self.sizes(), dim, keepdim) /
                number_of(reduced_count(self.sizes(), dim, "mean"));
  return gradient.defined() ? gradient + part : expand(part, self.sizes());
}

const auto var_mean_entry =
    define(
        var_mean.overload<0>(), "Variance and mean over the given dimensions, or of all elements.",
        [](const Tensor& self, const OptDims& dim, const OptScalar& correction, bool keepdim) {
          auto [result, mean] = moments(self, dim, correction_of(correction), keepdim, "var_mean");
          return std::tuple(to(result, self.dtype()), to(mean, self.dtype()));
        })
        .shown(Shown::as_function)
        .vjp("VarMeanBackward0",
             wrt(0, saves::in(0),
                 [](const Vjp& v, const OptDims& dim, const OptScalar& correction, bool keepdim) {
                   Tensor self = v.in(0), gradient;
                   if (v.grad(0).defined()) {
                     Tensor grad = restore_dims(v.grad(0), self.sizes(), dim, keepdim);
                     gradient = var_gradient(grad, self, dim, correction_of(correction));
                   }
                   return add_mean_gradient(gradient, v.grad(1), self, dim, keepdim);
                 }))
        .samples(spreads);
const auto var_mean_dim_entry =
    define(var_mean.overload<1>(), "Variance and mean with correction 1 (unbiased) or 0.",
           [](const Tensor& self, const OptDims& dim, bool unbiased, bool keepdim) {
             return var_mean(self, dim, correction_of(unbiased), keepdim);
           })
        .samples(spreads_unbiased);
const auto var_mean_all_entry =
    define(var_mean.overload<2>(),
           "Variance and mean of all elements with correction 1 (unbiased) or 0.",
           [](const Tensor& self, bool unbiased) {
             return var_mean(self, OptDims(), correction_of(unbiased), false);
           })
        .samples(spreads_of_all);
const auto std_mean_entry =
    define(std_mean.overload<0>(),
           "Standard deviation and mean over the given dimensions, or of all elements.",
           [](const Tensor& self, const OptDims& dim, const OptScalar& correction, bool keepdim) {
             auto [result, mean] =
                 moments(self, dim, correction_of(correction), keepdim, "std_mean");
             return std::tuple(to(result.sqrt(), self.dtype()), to(mean, self.dtype()));
           })
        .shown(Shown::as_function)
        .vjp("StdMeanBackward0",
             wrt(0, saves::in(0) | saves::out(0),
                 [](const Vjp& v, const OptDims& dim, const OptScalar& correction, bool keepdim) {
                   Tensor self = v.in(0), gradient;
                   if (v.grad(0).defined()) {
                     Tensor grad = restore_dims(std_gradient(v.grad(0), v.out(0)), self.sizes(),
                                                dim, keepdim);
                     gradient = var_gradient(grad, self, dim, correction_of(correction));
                   }
                   return add_mean_gradient(gradient, v.grad(1), self, dim, keepdim);
                 }))
        .samples(spreads);
const auto std_mean_dim_entry =
    define(std_mean.overload<1>(), "Standard deviation and mean with correction 1 (unbiased) or 0.",
           [](const Tensor& self, const OptDims& dim, bool unbiased, bool keepdim) {
             return std_mean(self, dim, correction_of(unbiased), keepdim);
           })
        .samples(spreads_unbiased);
const auto std_mean_all_entry =
    define(std_mean.overload<2>(),
           "Standard deviation and mean of all elements with correction 1 (unbiased) or 0.",
           [](const Tensor& self, bool unbiased) {
             return std_mean(self, OptDims(), correction_of(unbiased), false);
           })
        .samples(spreads_of_all);

// ---- norms

void check_norm(const Tensor& self, double p, const OptDims& dim, DType result) {
  if (!is_floating(result) || promote(self.dtype(), result) != result) {
    fail(
        "linalg.vector_norm: {} does not go into dtype {}; choose a float that is as wide or wider",
        name(self.dtype()), name(result));
  }
  if (!is_floating(self.dtype())) {
    fail("linalg.vector_norm: {} is not supported; convert the input to a float",
         name(self.dtype()));
  }
  if ((p < 0 || std::isinf(p)) && reduced_count(self.sizes(), dim, "linalg.vector_norm") == 0) {
    fail("linalg.vector_norm: the {} norm of no elements does not exist; got sizes {}", p,
         text(self.sizes()));
  }
}

// (sum |x|^p)^(1/p); p = 0 counts the nonzeros, infinite p takes the largest or smallest |x|.
Tensor norm_of(const Tensor& x, double p, const OptDims& dim, bool keepdim) {
  if (p == 0) return to(ops::sum_over(to(x.ne(0), kInt64), dim, keepdim), x.dtype());
  if (p == 1) return ops::sum_over(x.abs(), dim, keepdim);
  if (p == 2) return ops::sum_over(x * x, dim, keepdim).sqrt();
  if (std::isinf(p)) return (p > 0 ? ops::max_over : ops::min_over)(x.abs(), dim, keepdim);
  return ops::sum_over(x.abs().pow(p), dim, keepdim).pow(1 / p);
}

// grad * sign(x) (|x| / norm)^(p - 1) for finite p, 0 where the norm is 0; both broadcast with x.
Tensor norm_gradient(const Tensor& grad, const Tensor& self, const Tensor& norm, double p,
                     const OptDims& dim) {
  if (p == 0) return {};  // a count
  if (p == 1) return self.sign() * grad;
  if (p == 2) return grad * (self / norm).masked_fill(norm.eq(0), 0);
  if (std::isinf(p)) {
    Tensor mask = self.abs().eq(norm).logical_or(self.isnan().logical_and(norm.isnan()));
    return self.sign() * (mask.to(grad.dtype()) / fg::sum(mask, dim, true)) * grad;
  }
  if (p < 1) {
    Tensor scaled = self.sign() * self.abs().pow(p - 1).masked_fill(self.eq(0), 0);
    return scaled * grad * norm.pow(1 - p);
  }
  Tensor scale = (grad / norm.pow(p - 1)).masked_fill(norm.eq(0), 0);
  if (p < 2) return self.sign() * self.abs().pow(p - 1) * scale;
  return self * self.abs().pow(p - 2) * scale;
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
Samples norms() {
  Samples all{{{sample({2, 3})}},
              {{sample({2, 3}), Scalar(2), Dims{1}, Scalar(true)}, "keepdim"},
              {{sample({2, 3}), Scalar(0)}, "count"}};
  for (double p : {1.0, 1.5, 3.0, 0.5, kInfinity, -kInfinity}) {
    all.push_back({{sample({2, 3}), Scalar(p), Dims{1}}, "p = " + Scalar(p).text()});
  }
  return all;
}

const auto vector_norm_entry =
    define(linalg_vector_norm, "The norm of order ord over the given dimensions, or of all.",
           [](const Tensor& self, const Scalar& ord, const OptDims& dim, bool keepdim,
              OptDType dtype) {
             double p = ord.to_double();
             DType result = dtype.value_or(self.dtype());
             check_norm(self, p, dim, result);
             return to(norm_of(to(self, wide(result)), p, dim, keepdim), result);
           })
        .also_named({"linalg.vector_norm"})
        .shown(Shown::as_function)
        .vjp("LinalgVectorNormBackward0",
             wrt(0, saves::in(0) | saves::out(),
                 [](const Vjp& v, const Scalar& ord, const OptDims& dim, bool keepdim, OptDType) {
                   Tensor self = v.in(0);
                   return norm_gradient(restore_dims(v.grad(), self.sizes(), dim, keepdim), self,
                                        restore_dims(v.out(), self.sizes(), dim, keepdim),
                                        ord.to_double(), dim);
                 }))
        .out()
        .samples(norms);
const auto norm_entry =
    define(
        norm, "The p-norm over the given dimensions, or of all elements.",
        [](const Tensor& self, const OptScalar& p, const OptDims& dim, bool keepdim,
           OptDType dtype) { return linalg_vector_norm(self, p.value_or(2), dim, keepdim, dtype); })
        .out()
        .samples(norms);

}  // namespace
}  // namespace fg

namespace fg {

Tensor Tensor::var(bool unbiased) const { return fg::var(*this, unbiased); }
Tensor Tensor::var(int64_t dim) const { return fg::var(*this, dim); }
Tensor Tensor::var(const OptDims& dim, bool unbiased, bool keepdim) const {
  return fg::var(*this, dim, unbiased, keepdim);
}
Tensor Tensor::var(const OptDims& dim, const OptScalar& correction, bool keepdim) const {
  return fg::var(*this, dim, correction, keepdim);
}
Tensor Tensor::std(bool unbiased) const { return fg::std(*this, unbiased); }
Tensor Tensor::std(int64_t dim) const { return fg::std(*this, dim); }
Tensor Tensor::std(const OptDims& dim, bool unbiased, bool keepdim) const {
  return fg::std(*this, dim, unbiased, keepdim);
}
Tensor Tensor::std(const OptDims& dim, const OptScalar& correction, bool keepdim) const {
  return fg::std(*this, dim, correction, keepdim);
}
Tensor Tensor::norm(const Scalar& p, const OptDims& dim, bool keepdim) const {
  return fg::norm(*this, OptScalar(p), dim, keepdim);
}

}  // namespace fg
