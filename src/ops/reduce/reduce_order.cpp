#include "ops/reduce/reduce_order.h"

#include <algorithm>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::restore_dims;
using ops::to_equal;

namespace {

// ---- values with their place

struct WithIndexParams {
  Axis dim = 0;
  bool keepdim = false;
  bool operator==(const WithIndexParams&) const = default;
};

// Whether x takes the place of the best so far: the first of equal ones stays, NaN beats all.
template <bool largest, class T>
bool is_better(T x, T best) {
  if (x != x) return best == best;
  return largest ? x > best : x < best;
}

// Contiguous elements seen as (outer, n, inner), for some of the outer indices.
template <bool largest, class T>
void find_range(const T* x, T* values, int64_t* indices, int64_t n, int64_t inner, int64_t begin,
                int64_t end) {
  for (int64_t outer = begin; outer < end; outer++) {
    const T* block = x + outer * n * inner;
    T* value = values + outer * inner;
    int64_t* index = indices + outer * inner;
    std::copy(block, block + inner, value);
    std::fill(index, index + inner, 0);
    for (int64_t k = 1; k < n; k++) {
      const T* row = block + k * inner;
      for (int64_t c = 0; c < inner; c++) {
        if (!is_better<largest>(row[c], value[c])) continue;
        value[c] = row[c];
        index[c] = k;
      }
    }
  }
}

template <bool largest>
void evaluate_with_index(Operands inputs, const WithIndexParams& p, Tensor* out) {
  Tensor self = kernels::as_contiguous(*inputs[0]);
  if (self.numel() == 0) return;
  int64_t axis = wrap_axis(p.dim, self.sizes().size(), "max");
  int64_t n = self.dim() ? self.sizes()[axis].value() : 1, inner = 1;
  for (int64_t i = axis + 1; i < self.dim(); i++) inner *= self.sizes()[i].value();
  visit(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* x = reinterpret_cast<const T*>(self.data_ptr());
    T* values = reinterpret_cast<T*>(out[0].data_ptr());
    int64_t* indices = out[1].data_ptr<int64_t>();
    int64_t outer = self.numel() / n / inner;
    pool::parallel_for(outer, 16384 / (n * inner) + 1, [&](int64_t begin, int64_t end) {
      find_range<largest>(x, values, indices, n, inner, begin, end);
    });
  });
}

// As PyTorch: what has no largest element is an error, unless there is nothing to find at all.
void check_not_empty(const Dims& sizes, const std::vector<bool>& axes, const char* who) {
  for (size_t i = 0; i < sizes.size(); i++) {
    if (axes[i] && sizes[i] == 0) {
      fail(ErrorKind::index, "{}: dimension {} of {} is empty; reduce dimensions with elements",
           who, i, text(sizes));
    }
  }
}

template <Text who>
void infer_with_index(Operands inputs, const WithIndexParams& p, Meta* out) {
  const Dims& sizes = inputs[0]->sizes();
  auto axes = axis_set(Dims(int64_t{p.dim}), sizes.size(), who.chars);
  check_not_empty(sizes, axes, who.chars);
  out[0].sizes = out[1].sizes = ops::reduced_sizes(sizes, axes, p.keepdim);
  out[0].dtype = inputs[0]->dtype();
  out[1].dtype = kInt64;
}

// The gradient goes to where the value came from.
constexpr auto to_index = [](const Vjp& v, int64_t dim, bool keepdim) {
  const Dims& sizes = v.sizes(0);
  if (sizes.empty()) return v.grad();
  Tensor grad = restore_dims(v.grad(), sizes, Dims{dim}, keepdim);
  Tensor index = restore_dims(v.out(1), sizes, Dims{dim}, keepdim);
  return zeros(sizes, v.grad().dtype()).scatter(dim, index, grad);
};
constexpr auto of_found =
    wrt(0, saves::shape(0) | saves::out(1),
        [](const Vjp& v, const WithIndexParams& p) { return to_index(v, p.dim, p.keepdim); });
const Registered max_index_p =
    ops::plain_primitive<WithIndexParams, infer_with_index<"max">, evaluate_with_index<true>>(
        "max_with_index", Kind::reduce, "t", 2)
        .vjp("MaxBackward0", of_found);
const Registered min_index_p =
    ops::plain_primitive<WithIndexParams, infer_with_index<"min">, evaluate_with_index<false>>(
        "min_with_index", Kind::reduce, "t", 2)
        .vjp("MinBackward0", of_found);

template <const auto& primitive>
std::tuple<Tensor, Tensor> with_index(const Tensor& self, int64_t dim, bool keepdim) {
  auto [values, indices] = primitive.template all<2>({dim, keepdim}, self);
  return {values, indices};
}

// The place alone has no gradient: nothing is recorded.
template <const auto& primitive>
Tensor index_along(const Tensor& self, int64_t dim, bool keepdim) {
  NoGradGuard below;
  return std::get<1>(with_index<primitive>(self, dim, keepdim));
}

template <const auto& primitive>
Tensor index_of(const Tensor& self, OptInt dim, bool keepdim, const char* who) {
  if (!is_real(self.dtype())) {
    fail("{}: {} is not supported; convert the input", who, name(self.dtype()));
  }
  if (dim) return index_along<primitive>(self, *dim, keepdim);
  if (self.impl()->numel == 0) {
    fail(ErrorKind::index, "{}: the input {} is empty; pass a dim that has elements", who,
         text(self.sizes()));
  }
  Tensor flat = reshape(self, {product(self.sizes())});
  Tensor index = index_along<primitive>(flat, 0, false);
  return keepdim ? view(index, Dims(self.sizes().size(), 1)) : index;
}

// ---- values alone

// As in PyTorch, max() and min() of all elements give their gradient to NaNs, amax() and amin() do
// not.
template <Tensor (*reduce)(const Tensor&, const OptDims&, bool)>
Tensor extreme(const Tensor& self, const Dims& dim, bool keepdim, const char* who) {
  if (dim.empty() && self.impl()->numel == 0) {
    fail("{}: the input {} is empty; pass a dim that has elements", who, text(self.sizes()));
  }
  check_not_empty(self.sizes(), axis_set(dim, self.sizes().size(), who), who);
  return reduce(self, dim, keepdim);
}

Samples over_dims() {
  return {{{sample({2, 3}), Dims{1}}},
          {{sample({2, 3}), Dims{}, Scalar(true)}, "keepdim"},
          {{sample({2, 17, 2}), Dims{0, 2}}, "two dimensions"},
          {{sample({}), Dims{0}}, "zero-dim"}};
}
Samples over_all() { return {{{sample({2, 3})}}, {{sample({})}, "zero-dim"}}; }
Samples over_dim() {
  return {{{sample({2, 3}), Scalar(1)}},
          {{sample({2, 3, 2}), Scalar(1), Scalar(true)}, "keepdim"},
          {{sample({}), Scalar(0)}, "zero-dim"}};
}
Samples pairs() { return {{{sample({2, 3}), sample({3})}}}; }

const auto amax_entry =
    define(amax, "The largest element over the given dimensions, or of all.",
           [](const Tensor& self, const Dims& dim, bool keepdim) {
             return extreme<ops::max_over>(self, dim, keepdim, "amax");
           })
        .vjp("AmaxBackward0", wrt(0, saves::in(0) | saves::out(),
                                  [](const Vjp& v, const Dims& dim, bool keepdim) {
                                    return to_equal(v.grad(), v.in(0), v.out(), dim, keepdim);
                                  }))
        .out()
        .samples(over_dims);
const auto amin_entry =
    define(amin, "The smallest element over the given dimensions, or of all.",
           [](const Tensor& self, const Dims& dim, bool keepdim) {
             return extreme<ops::min_over>(self, dim, keepdim, "amin");
           })
        .vjp("AminBackward0", wrt(0, saves::in(0) | saves::out(),
                                  [](const Vjp& v, const Dims& dim, bool keepdim) {
                                    return to_equal(v.grad(), v.in(0), v.out(), dim, keepdim);
                                  }))
        .out()
        .samples(over_dims);

const auto max_entry =
    define(max.overload<0>(), "The largest element.",
           [](const Tensor& self) { return extreme<ops::max_over>(self, {}, false, "max"); })
        .vjp("MaxBackward1", wrt(0, saves::in(0) | saves::out(),
                                 [](const Vjp& v) {
                                   return to_equal(v.grad(), v.in(0), v.out(), {}, false, true);
                                 }))
        .out()
        .samples(over_all);
const auto min_entry =
    define(min.overload<0>(), "The smallest element.",
           [](const Tensor& self) { return extreme<ops::min_over>(self, {}, false, "min"); })
        .vjp("MinBackward1", wrt(0, saves::in(0) | saves::out(),
                                 [](const Vjp& v) {
                                   return to_equal(v.grad(), v.in(0), v.out(), {}, false, true);
                                 }))
        .out()
        .samples(over_all);
const auto max_dim_entry =
    define(max.overload<1>(), "The largest elements along dim and where they are.",
           [](const Tensor& self, int64_t dim, bool keepdim) {
             return with_index<max_index_p>(self, dim, keepdim);
           })
        .vjp("MaxBackward0", wrt(0, saves::shape(0) | saves::out(1), to_index))
        .out()
        .samples(over_dim);
const auto min_dim_entry =
    define(min.overload<1>(), "The smallest elements along dim and where they are.",
           [](const Tensor& self, int64_t dim, bool keepdim) {
             return with_index<min_index_p>(self, dim, keepdim);
           })
        .vjp("MinBackward0", wrt(0, saves::shape(0) | saves::out(1), to_index))
        .out()
        .samples(over_dim);
const auto max_other_entry =
    define(max.overload<2>(), "The larger of two elements, as maximum.",
           [](const Tensor& self, const Tensor& other) { return self.maximum(other); })
        .out()
        .samples(pairs);
const auto min_other_entry =
    define(min.overload<2>(), "The smaller of two elements, as minimum.",
           [](const Tensor& self, const Tensor& other) { return self.minimum(other); })
        .out()
        .samples(pairs);

const auto argmax_entry =
    define(argmax, "The index of the largest element: the first of equal ones.",
           [](const Tensor& self, OptInt dim, bool keepdim) {
             return index_of<max_index_p>(self, dim, keepdim, "argmax");
           })
        .out()
        .samples(over_dim);
const auto argmin_entry =
    define(argmin, "The index of the smallest element: the first of equal ones.",
           [](const Tensor& self, OptInt dim, bool keepdim) {
             return index_of<min_index_p>(self, dim, keepdim, "argmin");
           })
        .out()
        .samples(over_dim);

}  // namespace
}  // namespace fg

namespace fg {

Tensor Tensor::amax(const Dims& dim, bool keepdim) const { return fg::amax(*this, dim, keepdim); }
Tensor Tensor::amin(const Dims& dim, bool keepdim) const { return fg::amin(*this, dim, keepdim); }
Tensor Tensor::max() const { return fg::max(*this); }
Tensor Tensor::min() const { return fg::min(*this); }
std::tuple<Tensor, Tensor> Tensor::max(int64_t dim, bool keepdim) const {
  return fg::max(*this, dim, keepdim);
}
std::tuple<Tensor, Tensor> Tensor::min(int64_t dim, bool keepdim) const {
  return fg::min(*this, dim, keepdim);
}
Tensor Tensor::argmax(OptInt dim, bool keepdim) const { return fg::argmax(*this, dim, keepdim); }
Tensor Tensor::argmin(OptInt dim, bool keepdim) const { return fg::argmin(*this, dim, keepdim); }

}  // namespace fg
