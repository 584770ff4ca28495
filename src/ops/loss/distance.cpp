#include "ops/loss/distance.h"

#include <cmath>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/index/index.h"
#include "ops/index/index_rows.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;

namespace {

// ---- cosine_similarity

// The lengths along a dimension, at least eps. As in PyTorch the gradient is that of the length
// itself, also below eps.
Tensor lengths(const Tensor& x, int64_t dim, double eps) {
  Tensor length = linalg_vector_norm(x, 2, Dims{dim}, true);
  return where(length < eps, length - length.detach() + eps, length);
}

const auto cosine_similarity_entry =
    define(cosine_similarity, "The cosines of the angles between vectors along a dimension.",
           [](const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
             DType common = promote(x1.dtype(), x2.dtype());
             if (!is_floating(common)) {
               fail("cosine_similarity: got {} and {}; convert them to a floating dtype",
                    name(x1.dtype()), name(x2.dtype()));
             }
             Dims sizes = broadcast(x1.sizes(), x2.sizes(), "cosine_similarity");
             Tensor a = expand(to(x1, common), sizes), b = expand(to(x2, common), sizes);
             return sum(a / lengths(a, dim, eps) * (b / lengths(b, dim, eps)), Dims{dim});
           })
        .shown(Shown::as_function)
        .samples([] {
          return Samples{{{sample({2, 3}), sample({2, 3}, -1, 3)}},
                         {{sample({2, 3}), sample({3}, -1, 3), Scalar(0)}, "broadcast"}};
        });

// ---- pairwise_distance

const auto pairwise_distance_entry =
    define(pairwise_distance, "The p-norms of x1 - x2 + eps over the last dimension.",
           [](const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
             Tensor apart = x1 - x2 + eps;
             bool number = apart.dim() == 0;
             return norm(apart, Scalar(p), number ? OptDims() : OptDims(Dims{-1}), keepdim);
           })
        .shown(Shown::as_function)
        .samples([] {
          Samples all;
          for (double p : {2.0, 1.0, 3.0}) {
            all.push_back({{sample({2, 3}), sample({2, 3}, -1, 3), Scalar(p)}, Scalar(p).text()});
          }
          all.push_back(
              {{sample({2, 3}), sample({3}, -1, 3), Scalar(2.0), Scalar(0.1), Scalar(true)},
               "broadcast"});
          return all;
        });

// ---- pdist

// The rows of pair k of n: i counts the rows whose pairs come before, the root solves for it.
struct Pairs {
  Tensor first, second;
};
Pairs pairs_of(Dim n) {
  Dim count = n * (n - 1) / 2;
  Tensor k = to(ops::numbered({count}) - 1, kFloat64),
         half = to(ops::number_of(n), kFloat64, true) - 0.5;
  Tensor i = floor(half - sqrt(half * half - 2 * k - 1));
  Tensor j = k - to(ops::number_of(n), kFloat64, true) * i + i * (i + 1) / 2 + i + 1;
  return {to(i, kInt64), to(j, kInt64)};
}

// The derivative of the norm of d at `distance`, times grad; 0 where the rows are equal.
Tensor distance_slope(const Tensor& grad, const Tensor& d, const Tensor& distance, double p) {
  if (p == 0) return zeros_like(d);
  if (p == 1) return grad * sign(d);
  if (std::isinf(p)) return where(abs(d) == distance, grad * sign(d), 0);
  if (p == 2) return where(distance == 0, 0, grad * d / distance);
  Tensor slope = grad * sign(d) * pow(abs(d) / distance, p - 1);
  return where(logical_or(distance == 0, d == 0), 0, slope);
}

const auto pdist_entry =
    define(pdist, "The p-norms of the differences of all pairs of rows.",
           [](const Tensor& self, double p) {
             if (self.dim() != 2) {
               fail("pdist: expected a matrix of rows, got sizes {}", text(self.sizes()));
             }
             if (!is_floating(self.dtype())) {
               fail("pdist: got {}; convert to a floating dtype", name(self.dtype()));
             }
             if (!(p >= 0)) fail("pdist: p must not be negative, but is {}", p);
             if (self.sizes()[0] < 2) return zeros({0}, self.dtype());
             Pairs pairs = pairs_of(self.sizes()[0]);
             Tensor d = index_select(self, 0, pairs.first) - index_select(self, 0, pairs.second);
             return linalg_vector_norm(d, p, Dims{1});
           })
        .shown(Shown::as_function)
        .vjp("PdistBackward0",
             wrt(0, saves::in(0) | saves::out(),
                 [](const Vjp& v, double p) {
                   Tensor x = v.in(0);
                   if (x.sizes()[0] < 2) return zeros_like(x);
                   Pairs pairs = pairs_of(x.sizes()[0]);
                   Tensor d = index_select(x, 0, pairs.first) - index_select(x, 0, pairs.second);
                   Tensor slope =
                       distance_slope(unsqueeze(v.grad(), 1), d, unsqueeze(v.out(), 1), p);
                   Tensor result = index_add(zeros_like(x), 0, pairs.first, slope);
                   return index_add(result, 0, pairs.second, -slope);
                 }))
        .samples([] {
          Samples all;
          for (double p : {2.0, 1.0, 3.0, 1.5}) {
            all.push_back({{sample({4, 3}), Scalar(p)}, Scalar(p).text()});
          }
          // Without equal differences, which would all get the gradient.
          Tensor uneven = sample({4, 3}) * sample({3}, 0.5, 2);
          all.push_back({{uneven, Scalar(__builtin_inf())}, "largest difference"});
          all.push_back({{sample({1, 3})}, "one row"});
          return all;
        });

}  // namespace
}  // namespace fg
