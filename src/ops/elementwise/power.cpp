// Powers, and the functions of two operands that belong to them.
#include "base/fail.h"
#include "ops/copy/copy.h"
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

// By repeated squaring, over every bit that an exponent can have. A negative exponent leaves
// something only of 1 and -1.
template <FormulaValue V>
FG_INLINE V integer_power(const V& base, const V& exponent) {
  V result = like(base, 1), square = base, rest = exponent;
  const int bits = lane_width(base) - (is_signed_lane(base) ? 1 : 0);
#pragma GCC unroll 1
  for (int bit = 0; bit < bits; bit++) {
    result = select((rest & 1) != 0, result * square, result);
    square = square * square;
    rest = rest >> 1;
  }
  V sign = select((exponent & 1) != 0, like(base, -1), like(base, 1));
  V inverse = select(base == 1, like(base, 1), select(base == -1, sign, like(base, 0)));
  return select(exponent < 0, inverse, result);
}

constexpr auto of_base = wrt(0, saves::in(0) | saves::in(1), [](const Vjp& v) {
  Tensor exponent = ops::without_number(v.in(1), v.grad().dtype());
  if (exponent.dtype() == kBool) exponent = to(exponent, v.grad().dtype());
  Tensor slope = exponent * pow(v.in(0), exponent - 1);
  return where(exponent == 0, 0.0, v.grad() * slope);
});
constexpr auto of_exponent = wrt(1, saves::in(0) | saves::in(1) | saves::out(), [](const Vjp& v) {
  Tensor self = ops::without_number(v.in(0), v.grad().dtype());
  Tensor vanishes = logical_and(self == 0, v.in(1) >= 0);
  return v.grad() * where(vanishes, 0.0, v.out() * log(self));
});
const Registered pow_p =
    elementwise<Types::numeric, 2>("pow", [](auto a, auto b) FG_INLINED {
      return if_float([](const auto& a, const auto& b) FG_INLINED { return ir::pow(a, b); },
                      [](const auto& a, const auto& b) FG_INLINED { return integer_power(a, b); },
                      a, b);
    }).vjp("PowBackward1", of_base, of_exponent);

Scalar one_less(const Scalar& exponent) {
  if (exponent.is_floating()) return Scalar(exponent.to_double() - 1);
  return Scalar(static_cast<int64_t>(static_cast<uint64_t>(exponent.to_int()) - 1));  // may wrap
}
Tensor power_gradient(const Tensor& grad, const Tensor& self, const Scalar& exponent) {
  if (exponent.equal(0)) return zeros_like(grad);
  if (exponent.equal(1)) return grad;
  if (exponent.equal(2)) return grad * (self * 2);
  return grad * (pow(self, Tensor(one_less(exponent))) * Tensor(exponent));
}
const Registered cube_p = elementwise<Types::floating_only, 1>("cube", [](auto x) FG_INLINED {
                            return x * x * x;
                          }).vjp("PowBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return power_gradient(v.grad(), v.in(0), 3);
                                 }));
// power() of floats whose exponent is known only when it runs.
struct Exponent {
  Scalar exponent;
  bool operator==(const Exponent&) const = default;
};
const Registered any_power_p = [] {
  auto primitive = elementwise<Types::floating_only, 1, Exponent>(
      "any_power", [](auto x, const Exponent& p) FG_INLINED {
        if (p.exponent.equal(2)) return x * x;
        if (p.exponent.equal(3)) return x * x * x;
        if (p.exponent.equal(0.5)) return ir::sqrt(x);
        if (p.exponent.equal(-0.5)) return ir::rsqrt(x);
        if (p.exponent.equal(-1)) return 1 / x;
        return ir::pow(x, number(x, p.exponent));
      });
  primitive.formula = nullptr;  // there is none before the exponent is known
  return std::move(primitive).vjp("PowBackward0",
                                  wrt(0, saves::in(0), [](const Vjp& v, const Exponent& p) {
                                    return power_gradient(v.grad(), v.in(0), p.exponent);
                                  }));
}();

Tensor power(const Tensor& self, const Scalar& exponent) {
  if (is_integral_or_bool(self.dtype()) && !exponent.is_floating() && exponent.to_int() < 0) {
    fail(
        "pow: integers to negative integer powers are not allowed: got {} to the power {}; convert "
        "the base to a floating dtype",
        name(self.dtype()), exponent.text());
  }
  // bool ** bool exists only with a number as exponent.
  if (self.dtype() == kBool && exponent.dtype() == kBool) {
    return exponent.equal(0) ? ones_like(self) : clone(self);
  }
  if (self.is_floating_point() && !exponent.is_known()) {
    if (item_size(self.dtype()) < 4) (void)exponent.to_double();  // rounds otherwise
    return any_power_p.with({exponent}, self);
  }
  if (self.is_floating_point()) {
    if (exponent.equal(2)) return mul(self, self);
    if (exponent.equal(3)) return cube_p(self);
    if (exponent.equal(0.5)) return sqrt(self);
    if (exponent.equal(-0.5)) return rsqrt(self);
    if (exponent.equal(-1)) return reciprocal(self);
  }
  return pow_p(self, Tensor(exponent));
}

constexpr Function<"pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor"> pow_number;
constexpr Function<"pow.Scalar(Scalar self, Tensor exponent) -> Tensor"> number_pow;

const auto pow_entry =
    define(entries::pow, "Self to the power exponent.",
           [](const Tensor& self, const Tensor& exponent) { return pow_p(self, exponent); })
        .vjp("PowBackward1", of_base, of_exponent)
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}, 0.3, 2), sample({3})}},
                         {{sample({3}, 0.3, 2), Scalar(2.5)}, "number"},
                         {{Scalar(2.5), sample({3})}, "number as base"},
                         {{tensor({2, -1, 3}), tensor({3, -3, 2})}, "integers"},
                         {{tensor({0.0, 0.0, -2.0}, kFloat64), tensor({0.0, 2.0, 3.0}, kFloat64)},
                          "extremes",
                          false}};
        });
const auto pow_number_entry =
    define(pow_number, "Self to the power of a number.",
           [](const Tensor& self, const Scalar& exponent) { return power(self, exponent); })
        .vjp("PowBackward0", wrt(0, saves::in(0),
                                 [](const Vjp& v, const Scalar& exponent) {
                                   return power_gradient(v.grad(), v.in(0), exponent);
                                 }))
        .inplace()
        .out()
        .samples([] {
          Samples all;
          for (double exponent : {2.5, 3.0, 2.0, 1.0, 0.5, 0.0, -0.5, -1.0, -2.0}) {
            all.push_back({{sample({3}, 0.3, 2), Scalar(exponent)}});
          }
          all.push_back({{sample({3}), Scalar(3)}, "negative base"});
          return all;
        });
const auto number_pow_entry =
    define(number_pow, "A number to the power exponent.",
           [](const Scalar& self, const Tensor& exponent) { return pow_p(Tensor(self), exponent); })
        .vjp("PowBackward2", wrt(0, saves::in(0) | saves::out(),
                                 [](const Vjp& v, const Scalar& base) {
                                   Tensor slope = v.out() * Tensor(std::log(base.to_double()));
                                   if (base.equal(0)) slope = where(v.in(0) >= 0, 0.0, slope);
                                   return v.grad() * slope;
                                 }))
        .out()
        .samples([] { return Samples{{{Scalar(2.5), sample({3})}}}; });
const bool base_route =
    ops::reroute(entries::pow, number_pow,
                 [](const Tensor& self,
                    const Tensor& exponent) -> std::optional<std::tuple<Scalar, const Tensor&>> {
                   if (!ops::is_number(self) || ops::is_number(exponent)) return std::nullopt;
                   return std::tuple<Scalar, const Tensor&>(number_in(self), exponent);
                 });
const bool exponent_route = ops::reroute(
    entries::pow, pow_number,
    [](const Tensor& self, const Tensor& exponent) { return ops::with_number(self, exponent); });

const auto square_entry =
    define(square, "Each element times itself.", [](const Tensor& self) { return pow(self, 2); })
        .out()
        .samples([] { return Samples{{{sample({3})}}}; });

// ---- two operands

// Scaled by the larger operand, so that squares neither overflow nor vanish.
const Registered hypot_p =
    elementwise<Types::floating_only, 2>(
        "hypot",
        [](auto a, auto b) FG_INLINED {
          auto x = ir::float_abs(a), y = ir::float_abs(b);
          auto large = select(x < y, y, x), ratio = select(x < y, x, y) / large;
          auto usual = large * ir::sqrt(ratio * ratio + 1);
          auto infinite = (x == __builtin_inf()) | (y == __builtin_inf());
          auto finite = select(large == 0, large, usual);
          auto number = select((x == x) & (y == y), finite, x + y);  // NaN stays NaN
          return select(infinite, __builtin_inf(), number);
        })
        .vjp("HypotBackward0",
             wrt(0, saves::in(0) | saves::out(),
                 [](const Vjp& v) { return v.grad() * (v.in(0) / v.out()); }),
             wrt(1, saves::in(1) | saves::out(),
                 [](const Vjp& v) { return v.grad() * (v.in(1) / v.out()); }));
const auto hypot_entry =
    define_as<hypot_p>(entries::hypot, "The square root of self^2 + other^2.")
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}), sample({3})}},
                         {{tensor({0.0, 1e300}, kFloat64), tensor({0.0, 1e300}, kFloat64)},
                          "extremes",
                          false}};
        });

Tensor inverse_square_radius(const Tensor& y, const Tensor& x) {
  Tensor square = y * y + x * x;
  return masked_fill(reciprocal(square), square == 0, 0.0);
}
const Registered atan2_p =
    elementwise<Types::floating, 2>("atan2",
                                    [](auto y, auto x) FG_INLINED { return ir::atan2(y, x); })
        .vjp("Atan2Backward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   return v.grad() * (v.in(1) * inverse_square_radius(v.in(0), v.in(1)));
                 }),
             wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
               return v.grad() * (-v.in(0) * inverse_square_radius(v.in(0), v.in(1)));
             }));
const auto atan2_entry =
    define_as<atan2_p>(entries::atan2, "The angle of the point (other, self) in (-pi, pi].")
        .also_named({"arctan2"})
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({2, 3}), sample({3}, 0.5, 2)}}}; });

const Registered xlogy_p =
    elementwise<Types::floating, 2>(
        "xlogy",
        [](auto x, auto y) FG_INLINED { return select((x == 0) & (y == y), 0, x * ir::log(y)); })
        .vjp("XlogyBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   Tensor nothing = logical_and(v.in(0) == 0, v.in(1) <= 0);
                   return masked_fill(xlogy(v.grad(), v.in(1)), nothing, 0.0);
                 }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() * v.in(0) / v.in(1); }));
const auto xlogy_entry =
    define_as<xlogy_p>(xlogy, "Self * log(other), and 0 where self is 0.")
        .also_named({"special.xlogy"})
        .inplace_as_function()
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({2, 3}), sample({3}, 0.5, 2)}}}; });

}  // namespace

Tensor Tensor::pow(const Tensor& exponent) const { return fg::pow(*this, exponent); }
Tensor Tensor::square() const { return fg::square(*this); }
Tensor Tensor::atan2(const Tensor& other) const { return fg::atan2(*this, other); }
Tensor& Tensor::pow_(const Tensor& exponent) const { return fg::pow_(*this, exponent); }

}  // namespace fg
