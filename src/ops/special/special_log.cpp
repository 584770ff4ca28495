// Logarithms with their factors, sums of exponentials, sinc.
#include "ir/math_special.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/special/special.h"

namespace fg {

using namespace ops::entry;

namespace {

constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan(""), kPi = 3.14159265358979324;

const Registered entr_p = elementwise<Types::floating, 1>("entr", [](auto x) FG_INLINED {
                            return ir::entr(x);
                          }).vjp("SpecialEntrBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() * (-log(v.in(0)) - 1);
                                 }));
const auto entr_entry =
    define_as<entr_p>(special_entr, "-self log(self); 0 at 0 and -inf below.")
        .also_named({"special.entr"})
        .shown(Shown::nowhere)
        .out()
        .samples([] {
          return Samples{
              {{sample({2, 3}, 0.1, 3)}},
              {{tensor({0.0, -0.0, 1.0, -1.0, kInf, kNaN}, kFloat64)}, "extremes", false},
              {{tensor({1, 2, 0})}, "integers", false}};
        });

const Registered xlog1py_p =
    elementwise<Types::floating, 2>("xlog1py",
                                    [](auto x, auto y) FG_INLINED { return ir::xlog1py(x, y); })
        .vjp("SpecialXlog1PyBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) {
                   Tensor x = v.in(0), y = v.in(1);
                   Tensor vanishes = logical_and(x == 0, y <= -1);
                   return v.grad() * where(vanishes, 0.0, log1p(y));
                 }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() * v.in(0) / (v.in(1) + 1); }));
const auto xlog1py_entry =
    define_as<xlog1py_p>(special_xlog1py, "self log(1 + other); 0 where self is 0.")
        .also_named({"special.xlog1py"})
        .shown(Shown::nowhere)
        .out()
        .samples([] {
          return Samples{{{sample({2, 3}, 0.1, 3), sample({3}, -0.5, 3)}},
                         {{tensor({0.0, 0.0, 0.0, 1.0, kNaN}, kFloat64),
                           tensor({-1.0, kNaN, -2.0, -1.0, 0.0}, kFloat64)},
                          "extremes",
                          false}};
        });

// ---- sums of exponentials: a gradient is the share of its argument

Samples exponents() {
  return {{{sample({2, 3}), sample({3}, -1, 3)}},
          {{tensor({kInf, -kInf, kInf, kNaN, 0.0}, kFloat64),
            tensor({kInf, -kInf, -kInf, 1.0, -kInf}, kFloat64)},
           "extremes",
           false}};
}
// Equal infinities have a half each.
Tensor difference(const Tensor& a, const Tensor& b) { return where(a == b, 0.0, a - b); }

const Registered logaddexp_p =
    elementwise<Types::floating_only, 2>(
        "logaddexp", [](auto a, auto b) FG_INLINED { return ir::logaddexp(a, b); })
        .vjp("LogaddexpBackward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() / (exp(difference(v.in(1), v.in(0))) + 1); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() / (exp(difference(v.in(0), v.in(1))) + 1); }));
const auto logaddexp_entry =
    define_as<logaddexp_p>(logaddexp, "log(exp(self) + exp(other)) without overflow.")
        .out()
        .samples(exponents);
const Registered logaddexp2_p =
    elementwise<Types::floating_only, 2>(
        "logaddexp2", [](auto a, auto b) FG_INLINED { return ir::logaddexp2(a, b); })
        .vjp("Logaddexp2Backward0",
             wrt(0, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() / (exp2(difference(v.in(1), v.in(0))) + 1); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return v.grad() / (exp2(difference(v.in(0), v.in(1))) + 1); }));
const auto logaddexp2_entry =
    define_as<logaddexp2_p>(logaddexp2, "The logarithm to base 2 of 2^self + 2^other.")
        .out()
        .samples(exponents);

// ---- sinc

// The quotient's derivative divides by x once more: near 0 its series takes over.
Tensor sinc_slope(const Tensor& x) {
  Tensor t = x * kPi, squared = t * t;
  Tensor near =
      t * (squared * (squared * (squared * (1.0 / 45360) - 1.0 / 840) + 1.0 / 30) - 1.0 / 3);
  Tensor far = (cos(t) - sinc(x)) / where(x == 0, 1.0, t);
  return where(abs(t) < 0.02, near, far) * kPi;
}
const Registered sinc_p = elementwise<Types::floating, 1>("sinc", [](auto x) FG_INLINED {
                            return ir::sinc(x);
                          }).vjp("SincBackward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                   return v.grad() * sinc_slope(v.in(0));
                                 }));
const auto sinc_entry =
    define_as<sinc_p>(sinc, "sin(pi self) / (pi self); 1 at 0.")
        .also_named({"special.sinc"})
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({2, 3})}},
                         {{tensor({0.0, -0.0, 1.0, -1.0, kNaN}, kFloat64)}, "extremes", false},
                         {{tensor({1, 2, 0})}, "integers", false}};
        });

}  // namespace
}  // namespace fg
