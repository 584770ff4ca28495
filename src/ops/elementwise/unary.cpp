// Signs, tests and rounding; the rest of unary.h is in unary_exp.cpp and unary_trig.cpp.
#include "ops/elementwise/unary.h"

#include <algorithm>

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/reroute.h"
#include "ops/entry.h"

namespace fg {

using namespace ops::entry;

namespace {

constexpr double kInf = __builtin_inf();

Samples numbers() {
  return {{{sample({2, 3})}},
          {{tensor({3, -2, 0})}, "integers"},
          {{tensor({0.0, -0.0, kInf, -kInf, __builtin_nan("")}, kFloat64)}, "extremes", false}};
}
Tensor no_gradient(const Vjp& v) { return zeros_like(v.grad()); }

// ---- signs

const Registered abs_p = elementwise<Types::numeric, 1>("abs", [](auto x) FG_INLINED {
                           return ir::abs(x);
                         }).vjp("AbsBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                  return v.grad() * sgn(v.in(0));
                                }));
const Registered sign_p =
    elementwise<Types::all, 1>("sign", [](auto x) FG_INLINED {
      return ir::sign(x);
    }).vjp("SignBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));
const Registered sgn_p =
    elementwise<Types::all, 1>("sgn", [](auto x) FG_INLINED {
      return ir::sign(x);
    }).vjp("SgnBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));

const auto abs_entry = define_as<abs_p>(entries::abs, "The absolute value.")
                           .also_named({"absolute"})
                           .inplace_as_function()
                           .inplace()
                           .out()
                           .samples(numbers);
const auto sign_entry =
    define_as<sign_p>(sign, "-1, 0 or 1, as self is below, equal to or above zero; 0 for NaN.")
        .inplace()
        .out()
        .samples(numbers);
const auto sgn_entry =
    define_as<sgn_p>(sgn, "The same as sign for real numbers.").inplace().out().samples(numbers);
const auto positive_entry =
    define(positive, "Self itself.", [](const Tensor& self) {
      if (self.dtype() == kBool) {
        fail("positive: bool has no sign; convert self to an integer dtype");
      }
      return self;
    }).samples(numbers);

// ---- tests: integers and bools are always finite

constexpr ops::ElementwiseOptions kTest{.bool_result = true};

const Registered isnan_p =
    elementwise<Types::all, 1>("isnan", [](auto x) FG_INLINED { return x != x; }, kTest);
const Registered isinf_p = elementwise<Types::all, 1>(
    "isinf",
    [](auto x) FG_INLINED {
      return if_float([](const auto& x) FG_INLINED { return ir::isinf(x); },
                      [](const auto& x) FG_INLINED { return x != x; }, x);
    },
    kTest);
const Registered isfinite_p = elementwise<Types::all, 1>(
    "isfinite",
    [](auto x) FG_INLINED {
      return if_float([](const auto& x) FG_INLINED { return ir::isfinite(x); },
                      [](const auto& x) FG_INLINED { return x == x; }, x);
    },
    kTest);

const auto isnan_entry =
    define_as<isnan_p>(entries::isnan, "Tests whether self is not a number.").samples(numbers);
const auto isinf_entry =
    define_as<isinf_p>(entries::isinf, "Tests whether self is infinite.").samples(numbers);
const auto isfinite_entry =
    define_as<isfinite_p>(entries::isfinite, "Tests whether self is neither infinite nor NaN.")
        .samples(numbers);

struct Replacements {
  double nan, positive, negative;
  bool operator==(const Replacements&) const = default;
};
Tensor of_finite(const Vjp& v) { return v.grad() * isfinite(v.in(0)); }
const Registered nan_to_num_p =
    elementwise<Types::all, 1, Replacements>("nan_to_num", [](auto x,
                                                              const Replacements& p) FG_INLINED {
      return if_float(
          [&](const auto& x) FG_INLINED {
            auto finite = ir::select(x == kInf, p.positive, ir::select(x == -kInf, p.negative, x));
            return ir::select(x != x, p.nan, finite);
          },
          [](const auto& x) FG_INLINED { return x; }, x);
    }).vjp("NanToNumBackward0", wrt(0, saves::in(0), [](const Vjp& v) { return of_finite(v); }));
double largest(DType dtype) {
  switch (dtype) {
    case kFloat64:
      return std::numeric_limits<double>::max();
    case kFloat16:
      return 65504;
    case kBFloat16:
      return 0x1.fep127;
    default:
      return std::numeric_limits<float>::max();
  }
}
const auto nan_to_num_entry =
    define(nan_to_num,
           "NaN and infinities replaced by numbers: 0 and the largest if none is given.",
           [](const Tensor& self, OptFloat nan, OptFloat posinf, OptFloat neginf) {
             double limit = largest(self.dtype());
             return nan_to_num_p.with(
                 {nan.value_or(0), posinf.value_or(limit), neginf.value_or(-limit)}, self);
           })
        .inplace_as_function()
        .vjp("NanToNumBackward0",
             wrt(0, saves::in(0),
                 [](const Vjp& v, OptFloat, OptFloat, OptFloat) { return of_finite(v); }))
        .inplace()
        .out()
        .samples(numbers);

// ---- rounding: integers are whole already

const Registered floor_p =
    elementwise<Types::numeric, 1>("floor", [](auto x) FG_INLINED {
      return if_float([](const auto& x) FG_INLINED { return ir::floor(x); },
                      [](const auto& x) FG_INLINED { return x; }, x);
    }).vjp("FloorBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));
const Registered ceil_p =
    elementwise<Types::numeric, 1>("ceil", [](auto x) FG_INLINED {
      return if_float([](const auto& x) FG_INLINED { return ir::ceil(x); },
                      [](const auto& x) FG_INLINED { return x; }, x);
    }).vjp("CeilBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));
const Registered trunc_p =
    elementwise<Types::numeric, 1>("trunc", [](auto x) FG_INLINED {
      return if_float([](const auto& x) FG_INLINED { return ir::trunc(x); },
                      [](const auto& x) FG_INLINED { return x; }, x);
    }).vjp("TruncBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));
const Registered round_p =
    elementwise<Types::numeric, 1>("round", [](auto x) FG_INLINED {
      return if_float([](const auto& x) FG_INLINED { return ir::round(x); },
                      [](const auto& x) FG_INLINED { return x; }, x);
    }).vjp("RoundBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));
// Negative decimals divide, so that powers of ten stay exact.
struct Decimals {
  double unit;
  bool negative;
  bool operator==(const Decimals&) const = default;
};
const Registered round_decimals_p =
    elementwise<Types::floating_only, 1, Decimals>("round_decimals", [](auto x, const Decimals&
                                                                                    p) FG_INLINED {
      auto unit = like(x, p.unit);
      return p.negative ? ir::round(x / unit) * unit : ir::round(x * unit) / unit;
    }).vjp("RoundBackward1", wrt(0, saves::nothing, [](const Vjp& v) { return no_gradient(v); }));
const Registered frac_p =
    elementwise<Types::floating_only, 1>("frac", [](auto x) FG_INLINED {
      return x - ir::trunc(x);
    }).vjp("FracBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));

const auto floor_entry =
    define_as<floor_p>(entries::floor, "The largest whole number not above self.")
        .inplace_as_function()
        .inplace()
        .out()
        .samples(numbers);
const auto ceil_entry =
    define_as<ceil_p>(entries::ceil, "The smallest whole number not below self.")
        .inplace_as_function()
        .inplace()
        .out()
        .samples(numbers);
const auto trunc_entry = define_as<trunc_p>(entries::trunc, "Self without its fraction.")
                             .also_named({"fix", "fix_"})
                             .inplace_as_function()
                             .inplace()
                             .out()
                             .samples(numbers);
const auto frac_entry = define_as<frac_p>(frac, "The fraction of self, with its sign.")
                            .inplace_as_function()
                            .inplace()
                            .out()
                            .samples([] { return Samples{{{sample({2, 3})}}}; });
const auto round_entry =
    define(entries::round, "The nearest number with so many decimals; ties go to the even one.",
           [](const Tensor& self, int64_t) { return round_p(self); })
        .also_named({"special.round"})
        .inplace_as_function()
        .vjp("RoundBackward0",
             wrt(0, saves::nothing, [](const Vjp& v, int64_t) { return no_gradient(v); }))
        .inplace()
        .out()
        .samples([] {
          Samples all = numbers();
          all.push_back({{sample({3}), Scalar(1)}, "decimals"});
          return all;
        });
constexpr Function<"round.decimals(Tensor self, *, int decimals) -> Tensor"> round_decimals;
const auto round_decimals_entry =
    define(round_decimals, "The nearest number with so many decimals, which may be negative.",
           [](const Tensor& self, int64_t decimals) {
             double unit = 1;  // infinite after some 300 powers
             int64_t powers = std::clamp<int64_t>(decimals, -400, 400);
             for (int64_t i = 0; i < std::abs(powers); i++) unit *= 10;
             return round_decimals_p.with({unit, decimals < 0}, self);
           })
        .vjp("RoundBackward1",
             wrt(0, saves::nothing, [](const Vjp& v, int64_t) { return no_gradient(v); }))
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({3}), Scalar(1)}}, {{sample({3}, -2000, 2000), Scalar(-2)}}};
        });
const bool round_route = ops::reroute(
    entries::round, round_decimals,
    [](const Tensor& self, int64_t decimals) -> std::optional<std::tuple<const Tensor&, int64_t>> {
      if (decimals == 0) return std::nullopt;
      return std::tuple<const Tensor&, int64_t>(self, decimals);
    });

}  // namespace

Tensor Tensor::abs() const { return fg::abs(*this); }
Tensor Tensor::sign() const { return fg::sign(*this); }
Tensor Tensor::floor() const { return fg::floor(*this); }
Tensor Tensor::ceil() const { return fg::ceil(*this); }
Tensor Tensor::round() const { return fg::round(*this); }
Tensor Tensor::trunc() const { return fg::trunc(*this); }
Tensor Tensor::frac() const { return fg::frac(*this); }
Tensor Tensor::isnan() const { return fg::isnan(*this); }
Tensor Tensor::isinf() const { return fg::isinf(*this); }
Tensor Tensor::isfinite() const { return fg::isfinite(*this); }
Tensor& Tensor::abs_() const { return fg::abs_(*this); }

}  // namespace fg
