#include "ops/arithmetic.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/elementwise.h"

namespace fg {

using namespace ir;
using ops::elementwise;
using ops::Types;

namespace {

const Registered add_p =
    elementwise<Types::all, 2>("add", [](auto a, auto b) { return a + b; })
        .vjp("AddBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return v.grad(); }));
const Registered sub_p =
    elementwise<Types::numeric, 2>("sub", [](auto a, auto b) { return a - b; })
        .vjp("SubBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return -v.grad(); }));
const Registered mul_p =
    elementwise<Types::all, 2>("mul", [](auto a, auto b) { return a * b; })
        .vjp("MulBackward0", wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() * v.in(1); }),
             wrt(1, saves::in(0), [](const Vjp& v) { return v.grad() * v.in(0); }));
const Registered div_p =
    elementwise<Types::floating, 2>("div", [](auto a, auto b) { return a / b; })
        .vjp("DivBackward0", wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() / v.in(1); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v) { return -v.grad() * ((v.in(0) / v.in(1)) / v.in(1)); }));
const Registered neg_p =
    elementwise<Types::numeric, 1>("neg", [](auto x) {
      return -x;
    }).vjp("NegBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return -v.grad(); }));

Samples pairs() {
  return {{{sample({3}), sample({3})}, "same shape"},
          {{sample({2, 3}), sample({3})}, "broadcast"},
          {{sample({3}), Scalar(2.5)}, "number"}};
}

const auto add_entry =
    define(add, "Adds other, scaled by alpha, to self.",
           [](const Tensor& self, const Tensor& other, const Scalar& alpha) {
             return alpha.equal(1) ? add_p(self, other) : add_p(self, mul_p(other, Tensor(alpha)));
           })
        .vjp("AddBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing,
                 [](const Vjp& v, const Scalar& alpha) {
                   return alpha.equal(1) ? v.grad() : v.grad() * Tensor(alpha);
                 }))
        .inplace()
        .out()
        .samples(pairs);
const auto sub_entry =
    define(sub, "Subtracts other, scaled by alpha, from self.",
           [](const Tensor& self, const Tensor& other, const Scalar& alpha) {
             return alpha.equal(1) ? sub_p(self, other) : sub_p(self, mul_p(other, Tensor(alpha)));
           })
        .vjp("SubBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing,
                 [](const Vjp& v, const Scalar& alpha) { return v.grad() * Tensor(-alpha); }))
        .inplace()
        .out()
        .samples(pairs);
const auto mul_entry =
    define_as<mul_p>(mul, "Multiplies self by other.").inplace().out().samples(pairs);
const auto neg_entry =
    define_as<neg_p>(neg, "The negative of each element.").inplace().out().samples([] {
      return Samples{{{sample({3})}}};
    });
const auto div_entry =
    define(div, "Divides self by other; rounding_mode is None, 'trunc' or 'floor'.",
           [](const Tensor& self, const Tensor& other, const std::optional<std::string>& mode) {
             if (mode)
               fail("div: rounding_mode '{}' is not known; use None, 'trunc' or 'floor'", *mode);
             return div_p(self, other);
           })
        .inplace()
        .out()
        .samples(pairs);

}  // namespace
}  // namespace fg

namespace fg {

Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const {
  return fg::add(*this, other, alpha);
}
Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const {
  return fg::sub(*this, other, alpha);
}
Tensor Tensor::mul(const Tensor& other) const { return fg::mul(*this, other); }
Tensor Tensor::div(const Tensor& other) const { return fg::div(*this, other); }
const Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) const {
  return fg::add_(*this, other, alpha), *this;
}
const Tensor& Tensor::sub_(const Tensor& other, const Scalar& alpha) const {
  return fg::sub_(*this, other, alpha), *this;
}
const Tensor& Tensor::mul_(const Tensor& other) const { return fg::mul_(*this, other), *this; }
const Tensor& Tensor::div_(const Tensor& other) const { return fg::div_(*this, other), *this; }

}  // namespace fg
