#include "ops/sort/sort.h"

#include <cmath>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/index/index.h"
#include "ops/rearrange/memory_order.h"
#include "ops/sort/sort_kernel.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

using Sorted = std::tuple<Tensor, Tensor>;

struct SortParams {
  Axis dim;
  bool descending;
  bool operator==(const SortParams&) const = default;
};
// Each value came from one place: its gradient goes back there.
Tensor back_to(const Vjp& v, int64_t dim) {
  if (!v.grad(0).defined()) return {};
  return scatter(zeros(v.sizes(0), v.grad(0).dtype()), dim, v.out(1), v.grad(0));
}

template <class P>
void require_axis(Operands inputs, const P& p) {
  ops::demand(p.dim >= 0 && p.dim < std::max<int64_t>(inputs[0]->dim(), 1), "sort",
              "a dimension that is there");
}
const Registered sort_p =
    plain_primitive<SortParams,
                    [](Operands inputs, const SortParams&, Meta* out) {
                      out[0].sizes = out[1].sizes = inputs[0]->sizes();
                      out[0].dtype = inputs[0]->dtype();
                      out[1].dtype = kInt64;
                    },
                    [](Operands inputs, const SortParams& p, Tensor* out) {
                      kernels::sort_lines(*inputs[0], p.dim, p.descending, out[0], out[1]);
                    }>("sort", Kind::sort, "t", 2)
        .requiring<require_axis<SortParams>>()
        .vjp("SortBackward0",
             wrt(0, saves::shape(0) | saves::out(1),
                 [](const Vjp& v, const SortParams& p) { return back_to(v, p.dim); }));

Sorted sorted(const Tensor& self, int64_t dim, bool descending) {
  int64_t axis = wrap_axis(dim, self.sizes().size(), "sort");
  ops::MemoryOrder order(self);
  auto [values, indices] = sort_p.all<2>({order.axis(axis), descending}, order.ordered(self));
  return {order.given_back(values), order.given_back(indices)};
}

Samples sort_samples() {
  return {{{sample({5})}},
          {{sample({3, 4}), Scalar(0), Scalar(true)}, "descending"},
          {{sample({})}, "zero-dim"},
          {{tensor({0.5, -INFINITY, NAN, 2., INFINITY, -0.}, kFloat64)}, "extremes", false, false}};
}

const auto sort_entry =
    define(sort.overload<0>(), "The elements in order along a dimension, and where they were.",
           [](const Tensor& self, int64_t dim, bool descending) {
             return sorted(self, dim, descending);
           })
        .vjp("SortBackward0", wrt(0, saves::shape(0) | saves::out(1),
                                  [](const Vjp& v, int64_t dim, bool) { return back_to(v, dim); }))
        .out()
        .samples(sort_samples);
const auto sort_stable_entry =
    define(sort.overload<1>(), "As sort; equal elements keep their order (they always do here).",
           [](const Tensor& self, OptBool, int64_t dim, bool descending) {
             return sorted(self, dim, descending);
           })
        .vjp("SortBackward1",
             wrt(0, saves::shape(0) | saves::out(1),
                 [](const Vjp& v, OptBool, int64_t dim, bool) { return back_to(v, dim); }))
        .out()
        .samples(
            [] { return Samples{{{sample({3, 4}), Scalar(true), Scalar(1), Scalar(false)}}}; });

const auto argsort_entry = define(argsort.overload<0>(), "The indices that sort a dimension.",
                                  [](const Tensor& self, int64_t dim, bool descending) {
                                    return std::get<1>(sort(self, dim, descending));
                                  })
                               .samples(sort_samples);
const auto argsort_stable_entry =
    define(argsort.overload<1>(), "As argsort; equal elements keep their order.",
           [](const Tensor& self, OptBool stable, int64_t dim, bool descending) {
             return std::get<1>(sort(self, stable, dim, descending));
           })
        .out()
        .samples([] { return Samples{{{sample({3, 4}), Scalar(true), Scalar(0)}}}; });
const auto msort_entry =
    define(msort, "The elements in order along the first dimension.", [](const Tensor& self) {
      return std::get<0>(sort(self, 0, false));
    }).samples([] { return Samples{{{sample({3, 2})}}}; });

// ---- topk

struct TopkParams {
  Dim k;
  Axis dim;
  bool largest;
  bool operator==(const TopkParams&) const = default;
};
void infer_topk(Operands inputs, const TopkParams& p, Meta* out) {
  Dims sizes = inputs[0]->sizes();
  Dim size = sizes.empty() ? Dim(1) : sizes[p.dim];
  if (p.k < 0 || p.k > size) {
    fail("topk: k = {} is out of range for dimension {} with size {}", p.k.text(), p.dim,
         size.text());
  }
  if (!sizes.empty()) sizes[p.dim] = p.k;
  out[0].sizes = out[1].sizes = sizes;
  out[0].dtype = inputs[0]->dtype();
  out[1].dtype = kInt64;
}
const Registered topk_p =
    plain_primitive<TopkParams, infer_topk,
                    [](Operands inputs, const TopkParams& p, Tensor* out) {
                      kernels::top_of_lines(*inputs[0], p.dim, p.largest, out[0], out[1]);
                    }>("topk", Kind::sort, "t", 2)
        .requiring<[](Operands inputs, const TopkParams& p) {
          require_axis(inputs, p);
          ops::demand(is_real(inputs[0]->dtype()), "topk", "numbers");
        }>()
        .vjp("TopkBackward0",
             wrt(0, saves::shape(0) | saves::out(1),
                 [](const Vjp& v, const TopkParams& p) { return back_to(v, p.dim); }));
const auto topk_entry =
    define(topk, "The k largest (or smallest) elements along a dimension, and where they were.",
           [](const Tensor& self, int64_t k, int64_t dim, bool largest, bool) -> Sorted {
             int64_t axis = wrap_axis(dim, self.sizes().size(), "topk");
             if (!is_real(self.dtype())) {
               fail("topk: not defined for {}; convert to uint8 first", name(self.dtype()));
             }
             auto [values, indices] = topk_p.all<2>({k, axis, largest}, self);
             return {values, indices};
           })
        .vjp("TopkBackward0",
             wrt(0, saves::shape(0) | saves::out(1),
                 [](const Vjp& v, int64_t, int64_t dim, bool, bool) { return back_to(v, dim); }))
        .out()
        .samples([] {
          return Samples{{{sample({6}), Scalar(2)}},
                         {{sample({4, 3}), Scalar(3), Scalar(0), Scalar(false)}, "smallest"}};
        });

}  // namespace

std::tuple<Tensor, Tensor> Tensor::sort(int64_t dim, bool descending) const {
  return fg::sort(*this, dim, descending);
}
std::tuple<Tensor, Tensor> Tensor::sort(OptBool stable, int64_t dim, bool descending) const {
  return fg::sort(*this, stable, dim, descending);
}
Tensor Tensor::argsort(int64_t dim, bool descending) const {
  return fg::argsort(*this, dim, descending);
}
std::tuple<Tensor, Tensor> Tensor::topk(int64_t k, int64_t dim, bool largest, bool sorted) const {
  return fg::topk(*this, k, dim, largest, sorted);
}

}  // namespace fg
