// Sums and products; quotients are in division.cpp, powers in power.cpp.
#include "ops/elementwise/arithmetic.h"

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/elementwise/number.h"
#include "ops/elementwise/reroute.h"
#include "ops/entry.h"

namespace fg {

using namespace ops::entry;

namespace {

struct Alpha {
  Scalar alpha;
  bool operator==(const Alpha&) const = default;
};

Tensor scaled(const Tensor& grad, const Scalar& alpha) {
  return alpha.equal(1) ? grad : grad * Tensor(alpha);
}

const Registered add_p =
    elementwise<Types::all, 2>("add", [](auto a, auto b) FG_INLINED { return a + b; })
        .linear_in({0, 1})
        .vjp("AddBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return v.grad(); }));
const Registered add_scaled_p =
    elementwise<Types::all, 2, Alpha>(
        "add_scaled",
        [](auto a, auto b, const Alpha& p) FG_INLINED {
          return if_float(
              [](const auto& a, const auto& b, const auto& k) FG_INLINED { return mad(b, k, a); },
              [](const auto& a, const auto& b, const auto& k) FG_INLINED { return b * k + a; }, a,
              b, number(b, p.alpha));
        })
        .linear_in({0, 1})
        .vjp("AddBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing,
                 [](const Vjp& v, const Alpha& p) { return scaled(v.grad(), p.alpha); }));
const Registered sub_p =
    elementwise<Types::numeric, 2>("sub", [](auto a, auto b) FG_INLINED { return a - b; })
        .linear_in({0, 1})
        .vjp("SubBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return -v.grad(); }));
const Registered mul_p =
    elementwise<Types::all, 2>("mul", [](auto a, auto b) FG_INLINED { return a * b; })
        .linear_in({0}, {1})
        .vjp("MulBackward0", wrt(0, saves::in(1), [](const Vjp& v) { return v.grad() * v.in(1); }),
             wrt(1, saves::in(0), [](const Vjp& v) { return v.grad() * v.in(0); }));
const Registered neg_p =
    elementwise<Types::numeric, 1>("neg", [](auto x) FG_INLINED { return -x; })
        .undoing_itself()
        .linear_in({0})
        .vjp("NegBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return -v.grad(); }));

// PyTorch's rules for the factor of add and sub.
void check_alpha(const char* who, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  Operand operands[] = {self, other};
  DType result = ops::common_dtype(operands);
  if (alpha.dtype() == kBool && result != kBool) {
    fail("{}: alpha is a bool but the result is {}; boolean alpha is only for boolean results", who,
         name(result));
  }
  if (alpha.is_floating() && is_integral_or_bool(result)) {
    fail("{}: alpha is {} but the result is {}; for integral tensors alpha must be an integer", who,
         alpha.text(), name(result));
  }
  if (alpha.is_known()) ops::check_fits(alpha, result, who);
}

// self - alpha * other
Tensor subtract(const char* who, const Tensor& self, const Tensor& other, const Scalar& alpha) {
  if (self.dtype() == kBool || other.dtype() == kBool) {
    fail(
        "{}: {} cannot be subtracted from {}; use logical_xor or logical_not, or convert the bools",
        who, name(other.dtype()), name(self.dtype()));
  }
  if (alpha.dtype() != kBool && alpha.equal(1)) return sub_p(self, other);
  check_alpha(who, self, other, alpha);
  return add_scaled_p.with({ops::negative(alpha)}, self, other);
}

Samples pairs() {
  return {{{sample({3}), sample({3})}, "same shape"},
          {{sample({2, 3}), sample({3})}, "broadcast"},
          {{sample({3}), Scalar(2.5)}, "number"}};
}
Samples scaled_pairs() {
  Samples all = pairs();
  all.push_back({{sample({2, 3}), sample({2, 1}), Scalar(-1.5)}, "alpha"});
  return all;
}

const auto add_entry =
    define(add, "Adds other, scaled by alpha, to self.",
           [](const Tensor& self, const Tensor& other, const Scalar& alpha) {
             if (alpha.dtype() != kBool && alpha.equal(1)) return add_p(self, other);
             check_alpha("add", self, other, alpha);
             return add_scaled_p.with({alpha}, self, other);
           })
        .vjp("AddBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing,
                 [](const Vjp& v, const Scalar& alpha) { return scaled(v.grad(), alpha); }))
        .inplace()
        .out()
        .samples(scaled_pairs);
const auto sub_entry =
    define(sub, "Subtracts other, scaled by alpha, from self.",
           [](const Tensor& self, const Tensor& other, const Scalar& alpha) {
             return subtract("sub", self, other, alpha);
           })
        .also_named({"subtract"})
        .vjp("SubBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::nothing,
                 [](const Vjp& v, const Scalar& alpha) { return -scaled(v.grad(), alpha); }))
        .inplace()
        .out()
        .samples(scaled_pairs);

constexpr Function<"rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"> rsub_number;
const auto rsub_entry =
    define(rsub, "Subtracts self, scaled by alpha, from other.",
           [](const Tensor& self, const Tensor& other, const Scalar& alpha) {
             return subtract("rsub", other, self, alpha);
           })
        .shown(Shown::as_function)
        .vjp("RsubBackward0",
             wrt(0, saves::nothing,
                 [](const Vjp& v, const Scalar& alpha) { return -scaled(v.grad(), alpha); }),
             wrt(1, saves::nothing, [](const Vjp& v) { return v.grad(); }))
        .samples(scaled_pairs);
const auto rsub_number_entry =
    define(rsub_number, "Subtracts self, scaled by alpha, from a number.",
           [](const Tensor& self, const Scalar& other, const Scalar& alpha) {
             return subtract("rsub", Tensor(other), self, alpha);
           })
        .vjp("RsubBackward1", wrt(0, saves::nothing,
                                  [](const Vjp& v, const Scalar&, const Scalar& alpha) {
                                    return -scaled(v.grad(), alpha);
                                  }))
        .samples([] { return Samples{{{sample({3}), Scalar(2.5), Scalar(2)}}}; });
const bool rsub_route = ops::reroute(
    rsub, rsub_number,
    [](const Tensor& self, const Tensor& other,
       const Scalar& alpha) -> std::optional<std::tuple<const Tensor&, Scalar, Scalar>> {
      if (!ops::is_number(other)) return std::nullopt;
      return std::tuple<const Tensor&, Scalar, Scalar>(self, number_in(other), alpha);
    });

const auto mul_entry = define_as<mul_p>(mul, "Multiplies self by other.")
                           .also_named({"multiply"})
                           .inplace()
                           .out()
                           .samples(pairs);
const auto neg_entry =
    define_as<neg_p>(neg, "The negative of each element.")
        .also_named({"negative", "negative_"})
        .inplace_as_function()
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({3})}}, {{tensor({1, -2})}, "integers"}}; });

// ---- three operands

struct Factor {
  Scalar value;
  bool operator==(const Factor&) const = default;
};
const Registered addcmul_p =
    elementwise<Types::numeric, 3, Factor>(
        "addcmul", [](auto x, auto a, auto b, const Factor& p)
                       FG_INLINED { return x + number(a, p.value) * a * b; })
        .linear_in({0, 1})
        .vjp("AddcmulBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::in(2),
                 [](const Vjp& v, const Factor& p) { return v.grad() * scaled(v.in(2), p.value); }),
             wrt(2, saves::in(1), [](const Vjp& v, const Factor& p) {
               return v.grad() * scaled(v.in(1), p.value);
             }));
const Registered addcdiv_p =
    elementwise<Types::floating, 3, Factor>(
        "addcdiv", [](auto x, auto a, auto b, const Factor& p)
                       FG_INLINED { return x + number(a, p.value) * a / b; })
        .linear_in({0, 1})
        .vjp("AddcdivBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }),
             wrt(1, saves::in(2),
                 [](const Vjp& v, const Factor& p) {
                   return v.grad() * (Tensor(p.value) / v.in(2));
                 }),
             wrt(2, saves::in(1) | saves::in(2), [](const Vjp& v, const Factor& p) {
               return -v.grad() * scaled(v.in(1), p.value) / (v.in(2) * v.in(2));
             }));

Samples triples() {
  return {{{sample({2, 3}), sample({2, 3}), sample({2, 3}, 0.5, 2)}},
          {{sample({2, 3}), sample({3}), sample({2, 1}, 0.5, 2), Scalar(-1.5)}, "broadcast"}};
}

struct AddcmulBody : StandsFor<addcmul_p> {
  Tensor operator()(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                    const Scalar& value) const {
    Operand operands[] = {self, tensor1, tensor2};
    DType dtype = ops::common_dtype(operands);
    if (value.is_known() && is_integral_or_bool(dtype)) ops::check_fits(value, dtype, "addcmul");
    return StandsFor<addcmul_p>::operator()(self, tensor1, tensor2, value);
  }
};
const auto addcmul_entry = define(addcmul, "Adds value * tensor1 * tensor2 to self.", AddcmulBody{})
                               .stands_for(addcmul_p)
                               .inplace()
                               .out()
                               .samples(triples);
struct AddcdivBody : StandsFor<addcdiv_p> {
  Tensor operator()(const Tensor& self, const Tensor& tensor1, const Tensor& tensor2,
                    const Scalar& value) const {
    if (is_integral_or_bool(tensor1.dtype()) && is_integral_or_bool(tensor2.dtype())) {
      fail("addcdiv: {} / {} is an integer division; convert one of them to a floating dtype",
           name(tensor1.dtype()), name(tensor2.dtype()));
    }
    return StandsFor<addcdiv_p>::operator()(self, tensor1, tensor2, value);
  }
};
const auto addcdiv_entry = define(addcdiv, "Adds value * tensor1 / tensor2 to self.", AddcdivBody{})
                               .stands_for(addcdiv_p)
                               .inplace()
                               .out()
                               .samples(triples);

}  // namespace

Tensor Tensor::add(const Tensor& other, const Scalar& alpha) const {
  return fg::add(*this, other, alpha);
}
Tensor Tensor::sub(const Tensor& other, const Scalar& alpha) const {
  return fg::sub(*this, other, alpha);
}
Tensor Tensor::mul(const Tensor& other) const { return fg::mul(*this, other); }
Tensor Tensor::neg() const { return fg::neg(*this); }
Tensor Tensor::addcmul(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return fg::addcmul(*this, a, b, value);
}
Tensor Tensor::addcdiv(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return fg::addcdiv(*this, a, b, value);
}
Tensor& Tensor::add_(const Tensor& other, const Scalar& alpha) const {
  return fg::add_(*this, other, alpha);
}
Tensor& Tensor::sub_(const Tensor& other, const Scalar& alpha) const {
  return fg::sub_(*this, other, alpha);
}
Tensor& Tensor::mul_(const Tensor& other) const { return fg::mul_(*this, other); }
Tensor& Tensor::neg_() const { return fg::neg_(*this); }
Tensor& Tensor::addcmul_(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return fg::addcmul_(*this, a, b, value);
}
Tensor& Tensor::addcdiv_(const Tensor& a, const Tensor& b, const Scalar& value) const {
  return fg::addcdiv_(*this, a, b, value);
}

}  // namespace fg
