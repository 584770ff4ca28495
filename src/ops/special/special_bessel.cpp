// Modified Bessel functions of the first kind.
#include "ir/math_special.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/special/special.h"

namespace fg {

using namespace ops::entry;
using ir::Runtime;

namespace {

constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan("");

Samples anywhere() {
  return {{{sample({2, 3}, -9, 9)}},
          {{tensor({0.0, -0.0, 1.0, -1.0, 100.0, kInf, -kInf, kNaN}, kFloat64)}, "extremes", false},
          {{tensor({1, 2, 0})}, "integers", false}};
}
// y / x, and `limit` at x = 0, without a NaN that a second derivative would meet.
Tensor ratio(const Tensor& y, const Tensor& x, double limit) {
  Tensor zero = x == 0;
  return where(zero, limit, y / where(zero, 1.0, x));
}

const Registered i0_p = elementwise<Types::floating, 1>("i0", [](auto x) FG_INLINED {
                          return ir::at_runtime(Runtime::i0, x);
                        }).vjp("I0Backward0", wrt(0, saves::in(0), [](const Vjp& v) {
                                 return v.grad() * special_i1(v.in(0));
                               }));
const auto i0_entry =
    define_as<i0_p>(i0, "The modified Bessel function of the first kind and order 0.")
        .also_named({"special.i0"})
        .inplace()
        .out()
        .samples(anywhere);

const Registered i0e_p =
    elementwise<Types::floating, 1>("i0e", [](auto x) FG_INLINED {
      return ir::at_runtime(Runtime::i0e, x);
    }).vjp("SpecialI0EBackward0", wrt(0, saves::in(0) | saves::out(), [](const Vjp& v) {
             return v.grad() * (special_i1e(v.in(0)) - sgn(v.in(0)) * v.out());
           }));
const auto i0e_entry = define_as<i0e_p>(special_i0e, "exp(-|self|) i0(self).")
                           .also_named({"special.i0e"})
                           .shown(Shown::nowhere)
                           .out()
                           .samples(anywhere);

const Registered i1_p =
    elementwise<Types::floating, 1>("i1", [](auto x) FG_INLINED {
      return ir::at_runtime(Runtime::i1, x);
    }).vjp("SpecialI1Backward0", wrt(0, saves::in(0) | saves::out(), [](const Vjp& v) {
             return v.grad() * (i0(v.in(0)) - ratio(v.out(), v.in(0), 0.5));
           }));
const auto i1_entry =
    define_as<i1_p>(special_i1, "The modified Bessel function of the first kind and order 1.")
        .also_named({"special.i1"})
        .shown(Shown::nowhere)
        .out()
        .samples(anywhere);

const Registered i1e_p =
    elementwise<Types::floating, 1>("i1e", [](auto x) FG_INLINED {
      return ir::at_runtime(Runtime::i1e, x);
    }).vjp("SpecialI1EBackward0", wrt(0, saves::in(0) | saves::out(), [](const Vjp& v) {
             Tensor x = v.in(0), share = ratio(v.out(), x, 0.5);
             return v.grad() * (special_i0e(x) - sgn(x) * v.out() - share);
           }));
const auto i1e_entry = define_as<i1e_p>(special_i1e, "exp(-|self|) i1(self).")
                           .also_named({"special.i1e"})
                           .shown(Shown::nowhere)
                           .out()
                           .samples(anywhere);

}  // namespace
}  // namespace fg
