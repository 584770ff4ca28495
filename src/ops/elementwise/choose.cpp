// By a mask: where, masked_fill. And lerp, the way between two values.
#include "ops/elementwise/choose.h"

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/number.h"
#include "ops/elementwise/reroute.h"
#include "ops/entry.h"
#include "ops/reduce/reduce.h"

namespace fg {

using namespace ops::entry;

namespace {

constexpr auto of_chosen =
    wrt(1, saves::in(0), [](const Vjp& v) { return where(v.in(0), v.grad(), 0); });
constexpr auto of_other =
    wrt(2, saves::in(0), [](const Vjp& v) { return where(v.in(0), 0, v.grad()); });
const Registered where_p =
    ops::masked_elementwise<Types::all, 3>(
        "where", [](auto mask, auto a, auto b) FG_INLINED { return ir::select(mask, a, b); })
        .linear_in({1, 2})
        .vjp("WhereBackward0", of_chosen, of_other);

// A number takes the dtype of the result: integers must hold it, floats may become infinite.
void check_numbers(const Tensor& self, const Tensor& other) {
  if (!self.impl()->wrapped_number && !other.impl()->wrapped_number) return;
  Operand operands[] = {self, other};
  DType dtype = ops::common_dtype(operands);
  if (!is_integral_or_bool(dtype)) return;
  for (const Tensor& one : {self, other}) {
    if (!one.impl()->wrapped_number) continue;
    if (Scalar number = number_in(one); number.is_known()) ops::check_fits(number, dtype, "where");
  }
}

const auto where_entry =
    define(where, "Elements of self where condition is true, of other elsewhere.",
           [](const Tensor& condition, const Tensor& self, const Tensor& other) {
             if (condition.dtype() != kBool && condition.dtype() != kUInt8) {
               fail("where: the condition is {}; expected bool: use condition != 0",
                    name(condition.dtype()));
             }
             check_numbers(self, other);
             return where_p(condition, self, other);
           })
        .vjp("WhereBackward0", of_chosen, of_other)
        .out()
        .samples([] {
          return Samples{{{sample_mask({2, 3}), sample({2, 3}), sample({3})}},
                         {{sample_mask({3}), sample({2, 3}), Scalar(1.5)}, "number"},
                         {{sample_mask({3}), tensor({1, 2, 3}), Scalar(0)}, "integers"}};
        });

// ---- masked_fill

Tensor filled(const Tensor& self, const Tensor& mask, const Tensor& value) {
  if (mask.dtype() != kBool) {
    fail("masked_fill: the mask is {}; expected bool: use mask != 0", name(mask.dtype()));
  }
  if (value.dim() != 0) {
    fail("masked_fill: the value has sizes {}; expected a number or a tensor without dimensions",
         text(value.sizes()));
  }
  return where_p(mask, value.dtype() == self.dtype() ? value : to(value, self.dtype()), self);
}
Samples fills() {
  return {{{sample({2, 3}), sample_mask({3}), Scalar(1.5)}},
          {{sample({3}), sample_mask({2, 3}), Scalar(0)}, "the mask has more dimensions"}};
}

constexpr Function<"masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor">
    masked_fill_number;
const auto masked_fill_entry =
    define(masked_fill, "Self with value where the mask is true.",
           [](const Tensor& self, const Tensor& mask, const Tensor& value) {
             return filled(self, mask, value);
           })
        .vjp("MaskedFillBackward1",
             wrt(0, saves::in(1), [](const Vjp& v) { return masked_fill(v.grad(), v.in(1), 0); }),
             wrt(2, saves::in(1), [](const Vjp& v) { return sum(where(v.in(1), v.grad(), 0)); }))
        .inplace()
        .samples([] {
          Samples all = fills();
          all.push_back({{sample({2, 3}), sample_mask({3}), sample({})}, "tensor"});
          return all;
        });
const auto masked_fill_number_entry =
    define(masked_fill_number, "Self with a number where the mask is true.",
           [](const Tensor& self, const Tensor& mask, const Scalar& value) {
             return filled(self, mask, Tensor(ops::fitting(value, self.dtype(), "masked_fill")));
           })
        .vjp("MaskedFillBackward0",
             wrt(0, saves::in(1), [](const Vjp& v) { return masked_fill(v.grad(), v.in(1), 0); }))
        .inplace()
        .samples(fills);
using FillArguments = std::tuple<const Tensor&, const Tensor&, Scalar>;
constexpr auto number_form = [](const Tensor& self, const Tensor& other,
                                const Tensor& number) -> std::optional<FillArguments> {
  if (!ops::is_number(number)) return std::nullopt;
  return FillArguments(self, other, number_in(number));
};
const bool fill_route = ops::reroute(masked_fill, masked_fill_number, number_form);

// ---- lerp, from whichever end is nearer, so that weight 1 gives the end exactly

constexpr auto of_start = wrt(0, saves::in(2), [](const Vjp& v) {
  return v.grad() * (1 - ops::without_number(v.in(2), v.grad().dtype()));
});
constexpr auto of_end = wrt(1, saves::in(2), [](const Vjp& v) { return v.grad() * v.in(2); });
constexpr auto of_weight = wrt(2, saves::in(0) | saves::in(1),
                               [](const Vjp& v) { return v.grad() * (v.in(1) - v.in(0)); });
const Registered lerp_p =
    elementwise<Types::floating_only, 3>("lerp",
                                         [](auto start, auto end, auto weight) FG_INLINED {
                                           auto near = ir::float_abs(weight) < 0.5;
                                           auto way = ir::select(near, weight, weight - 1),
                                                base = ir::select(near, start, end);
                                           return mad(way, end - start, base);
                                         })
        .linear_in({0, 1})
        .vjp("LerpBackward1", of_start, of_end, of_weight);

Tensor between(const Tensor& self, const Tensor& end, const Tensor& weight) {
  for (const Tensor* other : {&end, &weight}) {
    bool single = ops::is_number(*other) || (other == &weight && weight.dim() == 0);
    if (other->dtype() != self.dtype() && !single) {
      fail("lerp: self is {} but end is {} and weight is {}; all must have one dtype",
           name(self.dtype()), name(end.dtype()), name(weight.dtype()));
    }
  }
  return lerp_p(self, end, weight);
}

constexpr Function<"lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor"> lerp_number;
const auto lerp_entry = define(lerp, "Self + weight * (end - self).",
                               [](const Tensor& self, const Tensor& end, const Tensor& weight) {
                                 return between(self, end, weight);
                               })
                            .vjp("LerpBackward1", of_start, of_end, of_weight)
                            .inplace()
                            .out()
                            .samples([] {
                              return Samples{{{sample({2, 3}), sample({3}), sample({2, 1}, 0, 1)}},
                                             {{sample({3}), sample({3}), Scalar(0.25)}, "number"}};
                            });
const auto lerp_number_entry =
    define(lerp_number, "Self + weight * (end - self) with a number as weight.",
           [](const Tensor& self, const Tensor& end, const Scalar& weight) {
             return between(self, end, Tensor(weight));
           })
        .vjp("LerpBackward0",
             wrt(0, saves::nothing,
                 [](const Vjp& v, const Scalar& weight) {
                   return v.grad() * Tensor(ops::one_minus(weight));
                 }),
             wrt(1, saves::nothing,
                 [](const Vjp& v, const Scalar& weight) { return v.grad() * Tensor(weight); }))
        .inplace()
        .out()
        .samples([] { return Samples{{{sample({2, 3}), sample({3}), Scalar(0.75)}}}; });
const bool lerp_route = ops::reroute(lerp, lerp_number, number_form);

}  // namespace

Tensor Tensor::where(const Tensor& condition, const Tensor& other) const {
  return fg::where(condition, *this, other);
}
Tensor Tensor::masked_fill(const Tensor& mask, const Tensor& value) const {
  return fg::masked_fill(*this, mask, value);
}
Tensor Tensor::lerp(const Tensor& end, const Tensor& weight) const {
  return fg::lerp(*this, end, weight);
}
Tensor& Tensor::masked_fill_(const Tensor& mask, const Tensor& value) const {
  return fg::masked_fill_(*this, mask, value);
}
Tensor& Tensor::lerp_(const Tensor& end, const Tensor& weight) const {
  return fg::lerp_(*this, end, weight);
}

}  // namespace fg
