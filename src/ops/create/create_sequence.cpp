// Sequences and the identity: tensors whose elements follow from their index.
#include <cmath>

#include "base/fail.h"
#include "ir/define.h"
#include "ops/create/create.h"
#include "ops/view/view_kind.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

template <class P>
void one_dimension(Operands, const P& p, Meta* out) {
  out[0] = {Dims{p.size}, p.dtype};
}

// Element i = f(i), rounded once.
template <class F>
void fill_by_index(const Tensor& out, F f) {
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = out.data_ptr<T>();
    for (int64_t i = 0, n = out.numel(); i < n; i++) data[i] = Scalar(f(i)).template to<T>();
  });
}

struct ArangeParams {
  Scalar start, step;  // integers for integer dtypes
  Dim size;
  DType dtype;
  bool operator==(const ArangeParams&) const = default;
};
const Registered arange_p = plain_primitive<
    ArangeParams, one_dimension<ArangeParams>, [](Operands, const ArangeParams& p, Tensor* out) {
      if (is_floating(p.dtype)) {
        double start = p.start.to_double(), step = p.step.to_double();
        fill_by_index(out[0], [=](int64_t i) { return start + static_cast<double>(i) * step; });
      } else {
        // Unsigned, because a step may be longer than half of all integers.
        auto start = static_cast<uint64_t>(p.start.to_int());
        auto step = static_cast<uint64_t>(p.step.to_int());
        fill_by_index(out[0], [=](int64_t i) {
          return static_cast<int64_t>(start + static_cast<uint64_t>(i) * step);
        });
      }
    }>("arange", Kind::create, "");

double arange_length(const Scalar& start, const Scalar& end, const Scalar& step, DType dtype) {
  if (dtype != kInt64) return std::ceil((end.to_double() - start.to_double()) / step.to_double());
  __int128 by = step.to_int(), sign = by > 0 ? 1 : -1;  // exact where a double is not
  return static_cast<double>((__int128{end.to_int()} - start.to_int() + by - sign) / by);
}

Tensor range(const Scalar& start, const Scalar& end, const Scalar& step, OptDType given) {
  bool floating = start.is_floating() || end.is_floating() || step.is_floating();
  DType dtype = given.value_or(floating ? default_dtype() : kInt64);
  if (dtype == kBool)
    fail(ErrorKind::not_implemented,
         "arange: bool is not supported; choose an integer or float dtype");
  double from = start.to_double(), to = end.to_double(), by = step.to_double();
  bool zero = is_floating(dtype)                        ? by == 0
              : step.is_floating() && std::isfinite(by) ? std::trunc(by) == 0
                                                        : by == 0;
  if (zero) {
    fail(by == 0 ? ErrorKind::runtime : ErrorKind::value,
         "arange: step is zero in {}; expected a step that moves", name(dtype));
  }
  if (!std::isfinite(from) || !std::isfinite(to) || std::isnan(by)) {
    fail("arange: the range {} to {} by {} is not finite", start.text(), end.text(), step.text());
  }
  if (by > 0 ? to < from : to > from) {
    fail("arange: a step of {} leads from {} away from {}; change its sign", step.text(),
         start.text(), end.text());
  }
  double length = arange_length(start, end, step, dtype);
  if (!(length < 0x1p62)) fail("arange: {} elements are too many for one tensor", length);
  return arange_p.with({start, step, static_cast<int64_t>(length), dtype});
}

const auto arange_entry =
    define(arange.overload<0>(), "Numbers from 0 up to but without end, in steps of 1.",
           [](const Scalar& end, OptDType dtype) { return range(0, end, 1, dtype); })
        .out()
        .samples([] { return Samples{{{Scalar(5)}}, {{Scalar(2.5)}}, {{Scalar(3), kFloat64}}}; });
const auto arange_start_entry =
    define(arange.overload<1>(), "Numbers from start up to but without end, in steps of 1.",
           [](const Scalar& start, const Scalar& end, OptDType dtype) {
             return range(start, end, 1, dtype);
           })
        .samples([] { return Samples{{{Scalar(-2), Scalar(5)}}, {{Scalar(1), Scalar(1)}}}; });
const auto arange_step_entry =
    define(arange.overload<2>(), "Numbers from start up to but without end, step apart.",
           [](const Scalar& start, const Scalar& end, const Scalar& step, OptDType dtype) {
             return range(start, end, step, dtype);
           })
        .out()
        .samples([] {
          return Samples{{{Scalar(0), Scalar(2), Scalar(0.3)}},
                         {{Scalar(5), Scalar(-4), Scalar(-3), kInt8}}};
        });

// Both halves count from their own end, so that both ends are exact.
struct LinspaceParams {
  double start, end;
  Dim size;
  DType dtype;
  std::optional<double> base;  // logspace: powers of it
  bool operator==(const LinspaceParams&) const = default;
};
void fill_spaced(Operands, const LinspaceParams& p, Tensor* out) {
  int64_t n = out[0].numel();
  double step = n > 1 ? (p.end - p.start) / static_cast<double>(n - 1) : 0;
  fill_by_index(out[0], [&](int64_t i) {
    double x = n == 1 || i < n / 2 ? p.start + step * static_cast<double>(i)
                                   : p.end - step * static_cast<double>(n - 1 - i);
    return p.base ? std::pow(*p.base, x) : x;
  });
}
const Registered linspace_p =
    plain_primitive<LinspaceParams, one_dimension<LinspaceParams>, fill_spaced>("linspace",
                                                                                Kind::create, "");

Tensor spaced(const Scalar& start, const Scalar& end, Dim steps, std::optional<double> base,
              OptDType dtype, const char* who) {
  if (steps < 0) fail("{}: steps is {}; expected 0 or more", who, steps.text());
  DType type = dtype.value_or(default_dtype());
  auto in_type = [&](const Scalar& x) {  // the ends are numbers of the result
    return is_floating(type) || base ? x.to_double() : std::trunc(x.to_double());
  };
  return linspace_p.with({in_type(start), in_type(end), steps, type, base});
}

const auto linspace_entry =
    define(linspace, "Numbers from start to end, both included, evenly spaced.",
           [](const Scalar& start, const Scalar& end, Dim steps, OptDType dtype) {
             return spaced(start, end, steps, {}, dtype, "linspace");
           })
        .out()
        .samples([] {
          return Samples{{{Scalar(3), Scalar(-2), Scalar(4)}},
                         {{Scalar(0), Scalar(1), Scalar(1)}},
                         {{Scalar(0), Scalar(10), Scalar(5), kInt64}}};
        });
const auto logspace_entry =
    define(logspace, "Powers of base whose exponents go from start to end, evenly spaced.",
           [](const Scalar& start, const Scalar& end, Dim steps, double base, OptDType dtype) {
             return spaced(start, end, steps, base, dtype, "logspace");
           })
        .out()
        .samples([] { return Samples{{{Scalar(0), Scalar(2), Scalar(3)}}}; });

struct EyeParams {
  Dim rows, columns;
  DType dtype;
  bool operator==(const EyeParams&) const = default;
};
const Registered eye_p =
    plain_primitive<EyeParams,
                    [](Operands, const EyeParams& p, Meta* out) {
                      out[0] = {Dims{p.rows, p.columns}, p.dtype};
                    },
                    [](Operands, const EyeParams& p, Tensor* out) {
                      int64_t columns = p.columns.value();
                      fill_by_index(out[0], [=](int64_t i) { return i / columns == i % columns; });
                    }>("eye", Kind::create, "");

Tensor identity(Dim rows, Dim columns, OptDType dtype) {
  if (rows < 0 || columns < 0) {
    fail("eye: got {} rows and {} columns; expected 0 or more", rows.text(), columns.text());
  }
  return eye_p.with({rows, columns, dtype.value_or(default_dtype())});
}
const auto eye_entry = define(eye.overload<0>(), "The identity matrix.",
                              [](Dim n, OptDType dtype) { return identity(n, n, dtype); })
                           .out()
                           .samples([] { return Samples{{{Scalar(3)}}, {{Scalar(0)}, "empty"}}; });
const auto eye_m_entry = define(eye.overload<1>(), "A matrix with ones on the diagonal.",
                                [](Dim n, Dim m, OptDType dtype) { return identity(n, m, dtype); })
                             .out()
                             .samples([] { return Samples{{{Scalar(2), Scalar(3)}}}; });

}  // namespace
}  // namespace fg
