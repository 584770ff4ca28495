// Quotients and remainders, the rounding of PyTorch and Python.
#include <algorithm>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/reroute.h"
#include "ops/entry.h"
#include "ops/kernels/strided.h"
#include "ops/view/view_kind.h"

namespace fg {

using namespace ops::entry;
using Rounding = std::optional<std::string>;

namespace {

// Rules of the primitives and of the functions that are these but for their checks.
constexpr auto of_dividend = wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() / v.in(1); });
constexpr auto of_divisor = wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
  return -v.grad() * ((v.in(0) / v.in(1)) / v.in(1));
});
constexpr auto zeros_of = [](const Vjp& v) { return zeros_like(v.grad()); };
constexpr auto of_rounded_dividend = wrt(0, saves::nothing, zeros_of);
constexpr auto of_rounded_divisor = wrt(1, saves::nothing, zeros_of);
constexpr auto of_rest = wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); });
constexpr auto of_floor_rest = wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
  return -v.grad() * div(v.in(0), v.in(1), "floor");
});
constexpr auto of_trunc_rest = wrt(1, saves::in(0) | saves::in(1), [](const Vjp& v) {
  return -v.grad() * div(v.in(0), v.in(1), "trunc");
});

const Registered div_p =
    elementwise<Types::floating, 2>("div", [](auto a, auto b) FG_INLINED { return a / b; })
        .linear_in({0})
        .vjp("DivBackward0", of_dividend, of_divisor);
const Registered trunc_div_p =
    elementwise<Types::numeric, 2>("trunc_div", [](auto a, auto b) FG_INLINED {
      return ir::trunc_div(a, b);
    }).vjp("DivBackward2", of_rounded_dividend, of_rounded_divisor);
const Registered floor_div_p =
    elementwise<Types::numeric, 2>("floor_div", [](auto a, auto b) FG_INLINED {
      return ir::floor_div(a, b);
    }).vjp("DivBackward2", of_rounded_dividend, of_rounded_divisor);
const Registered fmod_p = elementwise<Types::numeric, 2>("fmod", [](auto a, auto b) FG_INLINED {
                            return ir::fmod(a, b);
                          }).vjp("FmodBackward1", of_rest, of_trunc_rest);
const Registered remainder_p =
    elementwise<Types::numeric, 2>("remainder", [](auto a, auto b) FG_INLINED {
      return ir::remainder(a, b);
    }).vjp("RemainderBackward1", of_rest, of_floor_rest);

void refuse_zero(const char* who, const Tensor& other) {
  Tensor divisors = kernels::as_contiguous(other);
  visit(other.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* first = reinterpret_cast<const T*>(divisors.data_ptr());
    if (std::find(first, first + divisors.numel(), zero) != first + divisors.numel()) {
      fail("{}: integer division by zero (ZeroDivisionError); use a floating dtype for infinities",
           who);
    }
  });
}
const Registered nonzero_divisor_p =
    ops::checked<ir::NoParams, [](const Tensor& x, const ir::NoParams&) {
      refuse_zero("division", x);
    }>("nonzero_divisor");

// Integers have no infinity: a zero among the divisors is an error, as in PyTorch.
Tensor divisor(const char* who, const Tensor& self, const Tensor& other) {
  if (self.is_floating_point() || other.is_floating_point()) return other;
  if (self.impl()->numel.is_constant() && self.numel() == 0) return other;  // nothing is divided
  if (!other.is_known()) return nonzero_divisor_p(other);
  refuse_zero(who, other);
  return other;
}

Samples pairs() {
  return {{{sample({3}), sample({3}, 0.5, 2)}, "same shape"},
          {{sample({2, 3}), sample({3}, -2, -0.5)}, "broadcast"},
          {{sample({3}), Scalar(0.7)}, "number"}};
}
Samples whole_pairs() {
  Samples all = pairs();
  all.push_back({{tensor({7, -7, 3, 0}), tensor({2, 2, -2, 5})}, "integers"});
  return all;
}

const auto div_entry =
    define(
        entries::div, "Divides self by other; rounding_mode is None, 'trunc' or 'floor'.",
        [](const Tensor& self, const Tensor& other, const Rounding&) { return div_p(self, other); })
        .also_named({"divide", "true_divide"})
        .vjp("DivBackward0", of_dividend, of_divisor)
        .inplace()
        .out()
        .samples([] {
          Samples all = pairs();
          all.push_back({{sample({3}), sample({3}, 0.5, 2), std::string("floor")}, "floor"});
          all.push_back({{sample({3}), sample({3}, 0.5, 2), std::string("trunc")}, "trunc"});
          return all;
        });

constexpr Function<"div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor">
    rounded_div;
const auto rounded_div_entry =
    define(rounded_div,
           "Divides self by other and rounds towards zero ('trunc') or down ('floor').",
           [](const Tensor& self, const Tensor& other, const Rounding& mode) {
             if (!mode) return div_p(self, other);
             if (*mode != "trunc" && *mode != "floor") {
               fail("div: rounding_mode '{}' is not known; use None, 'trunc' or 'floor'", *mode);
             }
             Tensor by = divisor("div", self, other);
             return *mode == "trunc" ? trunc_div_p(self, by) : floor_div_p(self, by);
           })
        .vjp("DivBackward2", of_rounded_dividend, of_rounded_divisor)
        .inplace()
        .out()
        .samples([] {
          return Samples{{{sample({3}), sample({3}, 0.5, 2), std::string("floor")}},
                         {{tensor({7, -7}), tensor({2, 2}), std::string("trunc")}, "integers"}};
        });
const bool div_route = ops::reroute(
    entries::div, rounded_div,
    [](const Tensor& self, const Tensor& other, const Rounding& mode)
        -> std::optional<std::tuple<const Tensor&, const Tensor&, const Rounding&>> {
      if (!mode) return std::nullopt;
      return std::tuple<const Tensor&, const Tensor&, const Rounding&>(self, other, mode);
    });

const bool unrounded_route = ops::reroute(
    rounded_div, entries::div,
    [](const Tensor& self, const Tensor& other, const Rounding& mode)
        -> std::optional<std::tuple<const Tensor&, const Tensor&, const Rounding&>> {
      if (mode) return std::nullopt;
      return std::tuple<const Tensor&, const Tensor&, const Rounding&>(self, other, mode);
    });

// PyTorch refuses gradients of floor_divide; the zero of div(..., 'floor') serves as well.
const auto floor_divide_entry =
    define(floor_divide, "Divides self by other and rounds down.",
           [](const Tensor& self, const Tensor& other) { return div(self, other, "floor"); })
        .inplace()
        .out()
        .samples(whole_pairs);

// ---- remainders

Tensor remainder_of(const Tensor& self, const Tensor& other) {
  return remainder_p(self, divisor("remainder", self, other));
}
Tensor fmod_of(const Tensor& self, const Tensor& other) {
  return fmod_p(self, divisor("fmod", self, other));
}

constexpr Function<"remainder.Scalar(Tensor self, Scalar other) -> Tensor"> remainder_number;
constexpr Function<"fmod.Scalar(Tensor self, Scalar other) -> Tensor"> fmod_number;

const auto remainder_entry =
    define(entries::remainder, "The rest of a division that rounds down: it has the sign of other.",
           [](const Tensor& self, const Tensor& other) { return remainder_of(self, other); })
        .vjp("RemainderBackward1", of_rest, of_floor_rest)
        .inplace()
        .out()
        .samples(whole_pairs);
const auto fmod_entry =
    define(entries::fmod,
           "The rest of a division that rounds towards zero: it has the sign of self.",
           [](const Tensor& self, const Tensor& other) { return fmod_of(self, other); })
        .vjp("FmodBackward1", of_rest, of_trunc_rest)
        .inplace()
        .out()
        .samples(whole_pairs);
Samples with_numbers() {
  return {{{sample({3}), Scalar(0.7)}}, {{tensor({7, -7}), Scalar(-3)}, "integers"}};
}
const auto remainder_number_entry =
    define(
        remainder_number, "The rest of a division by a number that rounds down.",
        [](const Tensor& self, const Scalar& other) { return remainder_of(self, Tensor(other)); })
        .vjp("RemainderBackward0", of_rest)
        .inplace()
        .out()
        .samples(with_numbers);
const auto fmod_number_entry =
    define(fmod_number, "The rest of a division by a number that rounds towards zero.",
           [](const Tensor& self, const Scalar& other) { return fmod_of(self, Tensor(other)); })
        .vjp("FmodBackward0", of_rest)
        .inplace()
        .out()
        .samples(with_numbers);
constexpr auto number_form = [](const Tensor& self, const Tensor& other) {
  return ops::with_number(self, other);
};
const bool remainder_route = ops::reroute(entries::remainder, remainder_number, number_form);
const bool fmod_route = ops::reroute(entries::fmod, fmod_number, number_form);

}  // namespace

Tensor Tensor::div(const Tensor& other, const Rounding& mode) const {
  return fg::div(*this, other, mode);
}
Tensor Tensor::remainder(const Tensor& other) const { return fg::remainder(*this, other); }
Tensor Tensor::fmod(const Tensor& other) const { return fg::fmod(*this, other); }
Tensor Tensor::floor_divide(const Tensor& other) const { return fg::floor_divide(*this, other); }
Tensor& Tensor::div_(const Tensor& other, const Rounding& mode) const {
  return fg::div_(*this, other, mode);
}
Tensor& Tensor::remainder_(const Tensor& other) const { return fg::remainder_(*this, other); }

}  // namespace fg
