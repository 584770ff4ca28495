#include "ops/reduce/scan.h"

#include <algorithm>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/kernels/strided.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

struct ScanParams {
  Axis dim = 0;
  bool reverse = false;
  bool operator==(const ScanParams&) const = default;
};

// Sums of f32 run in f64, as the terms come one by one; integers wrap.
template <class T>
using Running = std::conditional_t<
    std::is_floating_point_v<T>, double,
    std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>, uint64_t, float>>;

struct CumsumStep {
  static constexpr bool kTwoInputs = false;
  template <class A>
  static A start() {
    return A(0);
  }
  template <class A>
  static A next(A before, A x, A) {
    return before + x;
  }
};
struct CumprodStep {
  static constexpr bool kTwoInputs = false;
  template <class A>
  static A start() {
    return A(1);
  }
  template <class A>
  static A next(A before, A x, A) {
    return before * x;
  }
};
struct RecurrenceStep {
  static constexpr bool kTwoInputs = true;
  template <class A>
  static A start() {
    return A(0);
  }
  template <class A>
  static A next(A before, A a, A b) {
    return b + a * before;
  }
};

// out[k] = next(out[k - 1], a[k], b[k]) along n of (outer, n, inner), for some outer indices.
template <class Step, class T>
void scan_range(const T* a, const T* b, T* out, int64_t n, int64_t inner, bool reverse,
                int64_t begin, int64_t end) {
  using A = Running<T>;
  constexpr int64_t kStrip = 64;
  A running[kStrip];
  for (int64_t outer = begin; outer < end; outer++) {
    for (int64_t first = 0; first < inner; first += kStrip) {
      int64_t width = std::min(kStrip, inner - first);
      for (int64_t c = 0; c < width; c++) running[c] = Step::template start<A>();
      for (int64_t k = 0; k < n; k++) {
        int64_t at = (outer * n + (reverse ? n - 1 - k : k)) * inner + first;
        for (int64_t c = 0; c < width; c++) {
          A second = Step::kTwoInputs ? A(b[at + c]) : A(0);
          running[c] = Step::next(running[c], A(a[at + c]), second);
          out[at + c] = T(running[c]);
        }
      }
    }
  }
}

template <class Step>
void evaluate_scan(Operands inputs, const ScanParams& p, Tensor* out) {
  const Tensor& result = out[0];
  Tensor a = kernels::as_contiguous(*inputs[0]);
  Tensor b = Step::kTwoInputs ? kernels::as_contiguous(*inputs[inputs.size() - 1]) : a;
  if (result.numel() == 0) return;
  int64_t axis = wrap_axis(p.dim, result.sizes().size(), "scan");
  int64_t n = result.dim() ? result.sizes()[axis].value() : 1;
  int64_t inner = result.dim() ? result.strides()[axis].value() : 1,
          outer = result.numel() / n / inner;
  visit(result.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_same_v<T, bool>) {
      const T* first = reinterpret_cast<const T*>(a.data_ptr());
      const T* second = reinterpret_cast<const T*>(b.data_ptr());
      T* to = reinterpret_cast<T*>(result.data_ptr());
      pool::parallel_for(outer, 16384 / (n * inner) + 1, [&](int64_t begin, int64_t end) {
        scan_range<Step>(first, second, to, n, inner, p.reverse, begin, end);
      });
    }
  });
}

template <Text who>
void infer_scan(Operands inputs, const ScanParams& p, Meta* out) {
  wrap_axis(p.dim, inputs[0]->sizes().size(), who.chars);
  out[0].sizes = inputs[0]->sizes();
  out[0].dtype = inputs[0]->dtype();
}

void require_alike(Operands inputs, const ScanParams&) {
  const Tensor &first = *inputs[0], &last = *inputs[inputs.size() - 1];
  ops::demand(
      is_real(first.dtype()) && first.dtype() == last.dtype() && first.sizes() == last.sizes(),
      "a scan", "numbers of one dtype and sizes");
}

template <Text who, class Step>
Primitive<ScanParams> scan_primitive() {
  auto primitive = plain_primitive<ScanParams, infer_scan<who>, evaluate_scan<Step>>(
      who.chars, Kind::scan, Step::kTwoInputs ? "tt" : "t");
  return std::move(primitive).template requiring<require_alike>();
}

// The elements moved by one along dim, `fill` where none came: k takes k + 1, or k - 1.
Tensor shifted(const Tensor& self, int64_t dim, bool from_behind, const Scalar& fill) {
  Dim n = self.dim_size(dim);
  Tensor edge = full_like(slice(self, dim, 0, 1), fill);
  return from_behind ? cat({slice(self, dim, 1, n), edge}, dim)
                     : cat({edge, slice(self, dim, 0, n - 1)}, dim);
}
bool is_trivial(const Tensor& self, int64_t dim) {
  return self.sizes().empty() || self.dim_size(dim) == 0;
}

Tensors recurrence_gradients(const Vjp& v, int64_t dim, bool reverse) {
  Tensor a = v.in(0);
  if (is_trivial(a, dim)) return {zeros_like(a), v.grad()};
  Tensor adjoint = linear_recurrence(shifted(a, dim, !reverse, 0), v.grad(), dim, !reverse);
  return {adjoint * shifted(v.out(), dim, reverse, 0), adjoint};
}
const Registered recurrence_p =
    scan_primitive<"linear_recurrence", RecurrenceStep>().linear_in({1}).vjp(
        "LinearRecurrenceBackward0",
        wrt_all({0, 1}, saves::in(0) | saves::out(), [](const Vjp& v, const ScanParams& p) {
          return recurrence_gradients(v, p.dim, p.reverse);
        }));

Tensor cumprod_of(const Tensor& self, int64_t dim, bool reverse);
Tensor cumsum_of(const Tensor& self, int64_t dim, bool reverse);

// d out[i] / d x[k] is the product without x[k]: the product before k times a recurrence over the
// outputs from k on. No division, so zeros need no care.
Tensor cumprod_gradient(const Tensor& grad, const Tensor& self, int64_t dim, bool reverse) {
  if (is_trivial(self, dim)) return grad;
  Tensor rest = linear_recurrence(shifted(self, dim, !reverse, 1), grad, dim, !reverse);
  return rest * cumprod_of(shifted(self, dim, reverse, 1), dim, reverse);
}

const Registered cumsum_p = scan_primitive<"cumsum", CumsumStep>().linear_in({0}).vjp(
    "CumsumBackward0", wrt(0, saves::nothing, [](const Vjp& v, const ScanParams& p) {
      return cumsum_of(v.grad(), p.dim, !p.reverse);
    }));
const Registered cumprod_p = scan_primitive<"cumprod", CumprodStep>().vjp(
    "CumprodBackward0", wrt(0, saves::in(0), [](const Vjp& v, const ScanParams& p) {
      return cumprod_gradient(v.grad(), v.in(0), p.dim, p.reverse);
    }));

Tensor cumsum_of(const Tensor& self, int64_t dim, bool reverse) {
  return cumsum_p.with({dim, reverse}, self);
}
Tensor cumprod_of(const Tensor& self, int64_t dim, bool reverse) {
  return cumprod_p.with({dim, reverse}, self);
}

DType scan_dtype(const Tensor& self, OptDType dtype, const char* who) {
  DType result = dtype.value_or(is_floating(self.dtype()) ? self.dtype() : kInt64);
  if (!is_real(result)) {
    fail("{}: dtype {} is not supported; use an integer or a float", who, name(result));
  }
  return result;
}

Samples scans() {
  return {{{sample({4}), Scalar(0)}},
          {{sample({2, 3, 2}), Scalar(1)}, "middle"},
          {{sample({2, 3}).transpose(0, 1), Scalar(-1)}, "strided"},
          {{sample({}), Scalar(0)}, "zero-dim"},
          {{sample({2, 0}), Scalar(1)}, "empty"}};
}
Samples scans_with_zeros() {
  Samples all = scans();
  all.push_back({{tensor({2., 0., 3., -1., 0., 4.}, kFloat64), Scalar(0)}, "zeros"});
  return all;
}

const auto cumsum_entry =
    define(cumsum, "The sum of each element and those before it along dim.",
           [](const Tensor& self, int64_t dim, OptDType dtype) {
             return cumsum_of(to(self, scan_dtype(self, dtype, "cumsum")), dim, false);
           })
        .vjp("CumsumBackward0", wrt(0, saves::nothing,
                                    [](const Vjp& v, int64_t dim, OptDType) {
                                      return cumsum_of(v.grad(), dim, true);
                                    }))
        .inplace()
        .out()
        .samples(scans);
const auto cumprod_entry =
    define(cumprod, "The product of each element and those before it along dim.",
           [](const Tensor& self, int64_t dim, OptDType dtype) {
             return cumprod_of(to(self, scan_dtype(self, dtype, "cumprod")), dim, false);
           })
        .vjp("CumprodBackward0", wrt(0, saves::in(0),
                                     [](const Vjp& v, int64_t dim, OptDType) {
                                       Tensor self = to(v.in(0), v.grad().dtype());
                                       return cumprod_gradient(v.grad(), self, dim, false);
                                     }))
        .inplace()
        .out()
        .samples(scans_with_zeros);

const auto recurrence_entry =
    define(linear_recurrence, "s[k] = b[k] + a[k] * s[k - 1] along dim; with k + 1 when reverse.",
           [](const Tensor& a, const Tensor& b, int64_t dim, bool reverse) {
             if (!(a.sizes() == b.sizes()) || a.dtype() != b.dtype()) {
               fail("linear_recurrence: a is {} {}, b is {} {}; they must be alike",
                    text(a.sizes()), name(a.dtype()), text(b.sizes()), name(b.dtype()));
             }
             return recurrence_p.with({dim, reverse}, a, b);
           })
        .shown(Shown::nowhere)
        .vjp("LinearRecurrenceBackward0", wrt_all({0, 1}, saves::in(0) | saves::out(),
                                                  [](const Vjp& v, int64_t dim, bool reverse) {
                                                    return recurrence_gradients(v, dim, reverse);
                                                  }))
        .samples([] {
          return Samples{{{sample({4}), sample({4}), Scalar(0)}},
                         {{sample({2, 3}), sample({2, 3}), Scalar(1), Scalar(true)}, "reverse"}};
        });

}  // namespace

// `grad` has the reduced dimension, with size one.
static Tensor gradient_along(const Tensor& grad, const Tensor& self, int64_t dim) {
  if (is_trivial(self, dim)) return expand(grad, self.sizes());
  return grad * (cumprod_of(shifted(self, dim, false, 1), dim, false) *
                 cumprod_of(shifted(self, dim, true, 1), dim, true));
}

// Several dimensions are moved to the end and become one.
Tensor ops::prod_gradient(const Tensor& grad, const Tensor& self, const OptDims& dim,
                          bool keepdim) {
  if (!dim && !keepdim) {
    Tensor flat = reshape(self, {product(self.sizes())});
    return reshape(gradient_along(grad, flat, 0), self.sizes());
  }
  size_t rank = self.sizes().size();
  auto reduced = axis_set(dim, rank, "prod");
  Dims order, kept, inverse(rank, 0);
  for (bool last : {false, true}) {
    for (size_t i = 0; i < rank; i++) {
      if (reduced[i] == last) order.push_back(static_cast<int64_t>(i));
    }
  }
  size_t count = static_cast<size_t>(std::count(reduced.begin(), reduced.end(), true));
  Tensor spread = restore_dims(grad, self.sizes(), dim, keepdim);
  if (count <= 1) return gradient_along(spread, self, rank == 0 ? 0 : order.back().value());
  for (size_t i = 0; i < rank; i++) inverse[order[i].value()] = static_cast<int64_t>(i);
  auto flat = [&](const Tensor& x) {
    Tensor moved = permute(x, order);
    return flatten(moved, static_cast<int64_t>(rank - count));
  };
  Tensor result = gradient_along(flat(spread), flat(self), -1);
  return permute(reshape(result, permute(self, order).sizes()), inverse);
}

}  // namespace fg

namespace fg {

Tensor Tensor::cumsum(int64_t dim, OptDType dtype) const { return fg::cumsum(*this, dim, dtype); }
Tensor Tensor::cumprod(int64_t dim, OptDType dtype) const { return fg::cumprod(*this, dim, dtype); }

}  // namespace fg
