// The larger and the smaller of two, and limits.
#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/reroute.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"

namespace fg {

using namespace ops::entry;

namespace {

// On a tie both get half of the gradient; NaN leaves it to both.
Tensor half_on_ties(const Tensor& grad, const Tensor& a, const Tensor& b, const Tensor& loses) {
  return masked_fill(where(a == b, grad / 2, grad), loses, 0);
}

const Registered maximum_p =
    elementwise<Types::all, 2>("maximum",
                               [](auto a, auto b) FG_INLINED { return ir::maximum(a, b); })
        .vjp("MaximumBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   return half_on_ties(v.grad(), v.in(0), v.in(1), v.in(0) < v.in(1));
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               return half_on_ties(v.grad(), v.in(0), v.in(1), v.in(0) > v.in(1));
             }));
const Registered minimum_p =
    elementwise<Types::all, 2>("minimum",
                               [](auto a, auto b) FG_INLINED { return ir::minimum(a, b); })
        .vjp("MinimumBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   return half_on_ties(v.grad(), v.in(0), v.in(1), v.in(0) > v.in(1));
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               return half_on_ties(v.grad(), v.in(0), v.in(1), v.in(0) < v.in(1));
             }));

// As C's: a NaN loses against any number. A tie goes to the first.
Tensor first_wins(const Tensor& wins, const Tensor& other) {
  return logical_or(wins, isnan(other));
}
const Registered fmax_p =
    elementwise<Types::all, 2>(
        "fmax", [](auto a, auto b) FG_INLINED { return ir::select((b <= a) | (b != b), a, b); })
        .vjp("FmaxBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   return where(first_wins(v.in(0) >= v.in(1), v.in(1)), v.grad(), 0);
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               return where(first_wins(v.in(0) >= v.in(1), v.in(1)), 0, v.grad());
             }));
const Registered fmin_p =
    elementwise<Types::all, 2>(
        "fmin", [](auto a, auto b) FG_INLINED { return ir::select((a <= b) | (b != b), a, b); })
        .vjp("FminBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   return where(first_wins(v.in(0) <= v.in(1), v.in(1)), v.grad(), 0);
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               return where(first_wins(v.in(0) <= v.in(1), v.in(1)), 0, v.grad());
             }));

Samples pairs() {
  double nan = __builtin_nan("");
  return {
      {{sample({2, 3}), sample({3})}},
      {{tensor({1, 5}), tensor({2, 3})}, "integers"},
      {{tensor({1.0, nan, 1.0}, kFloat64), tensor({1.0, 1.0, nan}, kFloat64)}, "extremes", false}};
}
const auto maximum_entry =
    define_as<maximum_p>(maximum, "The larger of two; NaN if one is NaN.").out().samples(pairs);
const auto minimum_entry =
    define_as<minimum_p>(minimum, "The smaller of two; NaN if one is NaN.").out().samples(pairs);
const auto fmax_entry =
    define_as<fmax_p>(entries::fmax, "The larger of two; a number wins over NaN.")
        .out()
        .samples(pairs);
const auto fmin_entry =
    define_as<fmin_p>(entries::fmin, "The smaller of two; a number wins over NaN.")
        .out()
        .samples(pairs);

// ---- limits by numbers

struct Limits {
  OptScalar min, max;
  bool operator==(const Limits&) const = default;
};
constexpr Function<"clamp_backward(Tensor grad, Tensor self, Scalar? min, Scalar? max) -> Tensor">
    clamp_backward;
// A NaN stays, a NaN limit spreads, and of crossed limits the upper one wins.
const Registered clamp_p =
    elementwise<Types::numeric, 1, Limits>("clamp", [](auto x, const Limits& p) FG_INLINED {
      if (p.min) x = ir::maximum(number(x, *p.min), x);
      if (p.max) x = ir::minimum(number(x, *p.max), x);
      return x;
    }).vjp("ClampBackward1", wrt(0, saves::in(0), [](const Vjp& v, const Limits& p) {
             return clamp_backward(v.grad(), v.in(0), p.min, p.max);
           }));
constexpr auto of_limited =
    wrt(1, saves::nothing, [](const Vjp& v) { return zeros_like(v.grad()); });
const Registered clamp_backward_p =
    elementwise<Types::floating_only, 2, Limits>(
        "clamp_backward",
        [](auto grad, auto x, const Limits& p) FG_INLINED {
          auto zero = like(x, 0);
          if (p.min) grad = ir::select(x >= number(x, *p.min), grad, zero);
          if (p.max) grad = ir::select(x <= number(x, *p.max), grad, zero);
          return grad;
        })
        .linear_in({0})
        .vjp("ClampBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const Limits& p) {
                   return clamp_backward(v.grad(), v.in(1), p.min, p.max);
                 }),
             of_limited);

const auto clamp_backward_entry =
    define(clamp_backward, "The gradient of clamp: zero outside the limits.",
           [](const Tensor& grad, const Tensor& self, const OptScalar& min, const OptScalar& max) {
             return clamp_backward_p.with({min, max}, grad, self);
           })
        .shown(Shown::nowhere)
        .vjp("ClampBackwardBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const OptScalar& min, const OptScalar& max) {
                   return clamp_backward(v.grad(), v.in(1), min, max);
                 }),
             of_limited)
        .samples([] { return Samples{{{sample({5}), sample({5}), Scalar(-1), Scalar(1)}}}; });

// A limit of a higher category lifts the result: integers clamped to 0.5 are floats.
DType lifted(const Tensor& self, const OptScalar& min, const OptScalar& max) {
  Tensor low(min.value_or(Scalar(false))), high(max.value_or(Scalar(false)));
  Operand operands[] = {self, low, high};
  return ops::common_dtype(operands);
}
Tensor clamp_to(const Tensor& self, const OptScalar& min, const OptScalar& max) {
  if (!min && !max) fail("clamp: at least one of min and max must be given");
  DType dtype = lifted(self, min, max);
  for (const OptScalar& limit : {min, max}) {
    if (limit && limit->is_known()) ops::check_fits(*limit, dtype, "clamp");
  }
  return clamp_p.with({min, max}, self.to(dtype));
}

constexpr Function<"clamp.Scalar(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor">
    clamp_number;
constexpr Function<"clamp_min.Scalar(Tensor self, Scalar min) -> Tensor"> clamp_min_number;
constexpr Function<"clamp_max.Scalar(Tensor self, Scalar max) -> Tensor"> clamp_max_number;

const auto clamp_number_entry =
    define(clamp_number, "Self with what lies outside two numbers set to the nearer one.",
           [](const Tensor& self, const OptScalar& min, const OptScalar& max) {
             return clamp_to(self, min, max);
           })
        .vjp("ClampBackward1", wrt(0, saves::in(0),
                                   [](const Vjp& v, const OptScalar& min, const OptScalar& max) {
                                     return clamp_backward(v.grad(), v.in(0), min, max);
                                   }))
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({5}), Scalar(-1), Scalar(1)}},
                         {{sample({5}), ir::Value(), Scalar(0.5)}, "max only"},
                         {{tensor({1, 2, 3}), Scalar(2)}, "integers"},
                         {{sample({5}), Scalar(1), Scalar(-1)}, "crossed", false}};
        });
const auto clamp_min_number_entry =
    define(clamp_min_number, "Self with what is below a number set to it.",
           [](const Tensor& self, const Scalar& min) { return clamp_to(self, min, {}); })
        .vjp("ClampMinBackward0", wrt(0, saves::in(0),
                                      [](const Vjp& v, const Scalar& min) {
                                        return clamp_backward(v.grad(), v.in(0), min, {});
                                      }))
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({5}), Scalar(0.5)}}}; });
const auto clamp_max_number_entry =
    define(clamp_max_number, "Self with what is above a number set to it.",
           [](const Tensor& self, const Scalar& max) { return clamp_to(self, {}, max); })
        .vjp("ClampMaxBackward0", wrt(0, saves::in(0),
                                      [](const Vjp& v, const Scalar& max) {
                                        return clamp_backward(v.grad(), v.in(0), {}, max);
                                      }))
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({5}), Scalar(0.5)}}}; });

// ---- limits by tensors; PyTorch's gradients: self keeps ties, crossed limits give it to max

Tensor inside(const Tensor& self, const Tensor& min, const Tensor& max) {
  if (!min.defined()) return self <= max;
  if (!max.defined()) return self >= min;
  return logical_and(self >= min, self <= max);
}
const auto clamp_entry =
    define(clamp, "Self with what lies outside min and max set to the nearer one.",
           [](const Tensor& self, const Tensor& min, const Tensor& max) {
             if (!min.defined() && !max.defined()) {
               fail("clamp: at least one of min and max must be given");
             }
             Tensor result = self;
             if (min.defined() && max.defined()) {  // all three have a say
               const Tensor* all[] = {&self, &min, &max};
               result = self.to(result_type(all));
             }
             if (min.defined()) result = maximum_p(result, min);
             return max.defined() ? minimum_p(result, max) : result;
           })
        .also_named({"clip", "clip_"})
        .inplace_as_function()
        .vjp(
            "ClampBackward0",
            wrt(0, saves::in(0) | saves::in(1) | saves::in(2),
                [](const Vjp& v) { return where(inside(v.in(0), v.in(1), v.in(2)), v.grad(), 0); }),
            wrt(1, saves::in(0) | saves::in(1) | saves::in(2),
                [](const Vjp& v) {
                  Tensor self = v.in(0), min = v.in(1), max = v.in(2);
                  Tensor limited = self < min;
                  if (max.defined()) limited = logical_and(min < max, limited);
                  return where(limited, v.grad(), 0);
                }),
            wrt(2, saves::in(0) | saves::in(1) | saves::in(2),
                [](const Vjp& v) {
                  Tensor self = v.in(0), min = v.in(1), max = v.in(2);
                  Tensor limited = self > max;
                  if (min.defined()) limited = logical_or(limited, max < min);
                  return where(limited, v.grad(), 0);
                }))
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}), sample({3}, -1, 0), sample({2, 1}, 0, 1)}},
                         {{sample({5}), Scalar(-1), Scalar(1)}, "numbers"},
                         {{sample({5}), ir::Value(), sample({5})}, "max only"}};
        });
const auto clamp_min_entry =
    define(clamp_min, "Self with what is below min set to it.",
           [](const Tensor& self, const Tensor& min) { return maximum_p(self, min); })
        .inplace_as_function()
        .vjp("ClampMinBackward1",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return where(v.in(0) >= v.in(1), v.grad(), 0); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return where(v.in(0) < v.in(1), v.grad(), 0); }))
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({2, 3}), sample({3})}}}; });
const auto clamp_max_entry =
    define(clamp_max, "Self with what is above max set to it.",
           [](const Tensor& self, const Tensor& max) { return minimum_p(self, max); })
        .inplace_as_function()
        .vjp("ClampMaxBackward1",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return where(v.in(0) <= v.in(1), v.grad(), 0); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return where(v.in(0) > v.in(1), v.grad(), 0); }))
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({2, 3}), sample({3})}}}; });

using ClampArguments = std::tuple<const Tensor&, OptScalar, OptScalar>;
const bool clamp_route = ops::reroute(
    clamp, clamp_number,
    [](const Tensor& self, const Tensor& min, const Tensor& max) -> std::optional<ClampArguments> {
      auto is_limit = [](const Tensor& t) { return !t.defined() || ops::is_number(t); };
      auto limit = [](const Tensor& t) {
        return t.defined() ? OptScalar(number_in(t)) : OptScalar();
      };
      if (!is_limit(min) || !is_limit(max)) return std::nullopt;
      return ClampArguments(self, limit(min), limit(max));
    });
constexpr auto number_form = [](const Tensor& self, const Tensor& limit) {
  return ops::with_number(self, limit);
};
const bool clamp_min_route = ops::reroute(clamp_min, clamp_min_number, number_form);
const bool clamp_max_route = ops::reroute(clamp_max, clamp_max_number, number_form);

Tensor as_limit(const OptScalar& limit) { return limit ? Tensor(*limit) : Tensor(); }

}  // namespace

Tensor Tensor::maximum(const Tensor& other) const { return fg::maximum(*this, other); }
Tensor Tensor::minimum(const Tensor& other) const { return fg::minimum(*this, other); }
Tensor Tensor::clamp(const OptScalar& min, const OptScalar& max) const {
  return fg::clamp(*this, as_limit(min), as_limit(max));
}
Tensor Tensor::clamp_min(const Scalar& min) const { return fg::clamp_min(*this, min); }
Tensor Tensor::clamp_max(const Scalar& max) const { return fg::clamp_max(*this, max); }
Tensor& Tensor::clamp_(const OptScalar& min, const OptScalar& max) const {
  return fg::clamp_(*this, as_limit(min), as_limit(max));
}

}  // namespace fg
