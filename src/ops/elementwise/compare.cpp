#include "ops/elementwise/compare.h"

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "ops/entry.h"
#include "ops/reduce/reduce.h"

namespace fg {

using namespace ops::entry;

namespace {

constexpr ops::ElementwiseOptions kTest{.bool_result = true};

// Written in place into floats, a comparison is a constant: no gradient comes through, but zeros
// do.
Tensor nothing_of(const Vjp& v, int input) { return zeros(v.sizes(input), v.grad().dtype()); }
ir::Primitive<> comparison(const char* node, ir::Primitive<> primitive) {
  return std::move(primitive).vjp(
      node, wrt(0, saves::shape(0), [](const Vjp& v) { return nothing_of(v, 0); }),
      wrt(1, saves::shape(1), [](const Vjp& v) { return nothing_of(v, 1); }));
}

const Registered eq_p = comparison(
    "EqBackward1",
    elementwise<Types::all, 2>("eq", [](auto a, auto b) FG_INLINED { return a == b; }, kTest));
const Registered ne_p = comparison(
    "NeBackward1",
    elementwise<Types::all, 2>("ne", [](auto a, auto b) FG_INLINED { return a != b; }, kTest));
const Registered lt_p = comparison(
    "LtBackward1",
    elementwise<Types::all, 2>("lt", [](auto a, auto b) FG_INLINED { return a < b; }, kTest));
const Registered le_p = comparison(
    "LeBackward1",
    elementwise<Types::all, 2>("le", [](auto a, auto b) FG_INLINED { return a <= b; }, kTest));
const Registered gt_p = comparison(
    "GtBackward1",
    elementwise<Types::all, 2>("gt", [](auto a, auto b) FG_INLINED { return a > b; }, kTest));
const Registered ge_p = comparison(
    "GeBackward1",
    elementwise<Types::all, 2>("ge", [](auto a, auto b) FG_INLINED { return a >= b; }, kTest));

Samples pairs() {
  return {{{sample({2, 3}), sample({3})}},
          {{tensor({1, 2, 3}), Scalar(2)}, "integers and a number"},
          {{sample_mask({4}), sample_mask({2, 1})}, "bools"}};
}

const auto eq_entry =
    define_as<eq_p>(eq, "Tests whether self equals other.").inplace().out().samples(pairs);
const auto ne_entry = define_as<ne_p>(ne, "Tests whether self differs from other.")
                          .also_named({"not_equal"})
                          .inplace()
                          .out()
                          .samples(pairs);
const auto lt_entry = define_as<lt_p>(lt, "Tests whether self is less than other.")
                          .also_named({"less"})
                          .inplace()
                          .out()
                          .samples(pairs);
const auto le_entry = define_as<le_p>(le, "Tests whether self is at most other.")
                          .also_named({"less_equal"})
                          .inplace()
                          .out()
                          .samples(pairs);
const auto gt_entry = define_as<gt_p>(gt, "Tests whether self is greater than other.")
                          .also_named({"greater"})
                          .inplace()
                          .out()
                          .samples(pairs);
const auto ge_entry = define_as<ge_p>(ge, "Tests whether self is at least other.")
                          .also_named({"greater_equal"})
                          .inplace()
                          .out()
                          .samples(pairs);

// ---- logic: anything but zero is true

const Registered logical_and_p = elementwise<Types::all, 2>(
    "logical_and", [](auto a, auto b) FG_INLINED { return (a != 0) & (b != 0); }, kTest);
const Registered logical_or_p = elementwise<Types::all, 2>(
    "logical_or", [](auto a, auto b) FG_INLINED { return (a != 0) | (b != 0); }, kTest);
const Registered logical_xor_p = elementwise<Types::all, 2>(
    "logical_xor", [](auto a, auto b) FG_INLINED { return (a != 0) ^ (b != 0); }, kTest);
const Registered logical_not_p = elementwise<Types::all, 1>(
                                     "logical_not", [](auto a) FG_INLINED { return a == 0; }, kTest)
                                     .undoing_itself();

const auto logical_and_entry =
    define_as<logical_and_p>(logical_and, "Tests whether both are true, that is, not zero.")
        .inplace()
        .out()
        .samples(pairs);
const auto logical_or_entry =
    define_as<logical_or_p>(logical_or, "Tests whether at least one is true.")
        .inplace()
        .out()
        .samples(pairs);
const auto logical_xor_entry =
    define_as<logical_xor_p>(logical_xor, "Tests whether exactly one is true.")
        .inplace()
        .out()
        .samples(pairs);
const auto logical_not_entry =
    define_as<logical_not_p>(logical_not, "Tests whether self is zero.")
        .inplace()
        .out()
        .samples([] {
          return Samples{{{tensor({0.0, 1.0, -2.0}, kFloat64)}}, {{sample_mask({3})}, "bools"}};
        });

// ---- bits

const Registered bitwise_and_p = elementwise<Types::integral_or_bool, 2>(
    "bitwise_and", [](auto a, auto b) FG_INLINED { return a & b; });
const Registered bitwise_or_p = elementwise<Types::integral_or_bool, 2>(
    "bitwise_or", [](auto a, auto b) FG_INLINED { return a | b; });
const Registered bitwise_xor_p = elementwise<Types::integral_or_bool, 2>(
    "bitwise_xor", [](auto a, auto b) FG_INLINED { return a ^ b; });
const Registered bitwise_not_p =
    elementwise<Types::integral_or_bool, 1>("bitwise_not", [](auto a) FG_INLINED {
      return ~a;
    }).undoing_itself();
const Registered left_shift_p = elementwise<Types::integral, 2>(
    "bitwise_left_shift", [](auto a, auto b) FG_INLINED { return ir::left_shift(a, b); });
const Registered right_shift_p = elementwise<Types::integral, 2>(
    "bitwise_right_shift", [](auto a, auto b) FG_INLINED { return ir::right_shift(a, b); });

Samples bit_pairs() {
  return {{{tensor({1, 6, -3}), tensor({3, 2, 1})}},
          {{tensor({1, 6, 3}, kUInt8), Scalar(2)}, "number"}};
}
Samples bit_and_bool_pairs() {
  Samples all = bit_pairs();
  all.push_back({{sample_mask({4}), sample_mask({2, 1})}, "bools"});
  return all;
}

const auto bitwise_and_entry =
    define_as<bitwise_and_p>(bitwise_and, "The bits that both have; of bools: and.")
        .inplace()
        .out()
        .samples(bit_and_bool_pairs);
const auto bitwise_or_entry =
    define_as<bitwise_or_p>(bitwise_or, "The bits that at least one has; of bools: or.")
        .inplace()
        .out()
        .samples(bit_and_bool_pairs);
const auto bitwise_xor_entry =
    define_as<bitwise_xor_p>(bitwise_xor, "The bits that exactly one has; of bools: differs.")
        .inplace()
        .out()
        .samples(bit_and_bool_pairs);
const auto bitwise_not_entry =
    define_as<bitwise_not_p>(bitwise_not, "Every bit inverted; of bools: not.")
        .inplace()
        .out()
        .samples([] { return Samples{{{tensor({1, 6, -3})}}, {{sample_mask({4})}, "bools"}}; });
const auto left_shift_entry =
    define_as<left_shift_p>(bitwise_left_shift, "Self times 2^other, by shifting bits.")
        .inplace()
        .out()
        .samples(bit_pairs);
const auto right_shift_entry =
    define_as<right_shift_p>(bitwise_right_shift,
                             "Self over 2^other rounded down, by shifting bits.")
        .inplace()
        .out()
        .samples(bit_pairs);

// ---- nearly and exactly equal

Tensor close_to(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  if (self.dtype() != other.dtype()) {
    fail("isclose: the dtypes differ: got {} and {}; convert one of them", name(self.dtype()),
         name(other.dtype()));
  }
  if (!(rtol >= 0 && atol >= 0)) {
    fail("isclose: rtol and atol must be greater than or equal to zero, but got {} and {}", rtol,
         atol);
  }
  Tensor close = eq(self, other);
  if (equal_nan && self.is_floating_point()) {
    close = logical_or(close, logical_and(isnan(self), isnan(other)));
  }
  if (rtol == 0 && atol == 0) return close;
  // bool and integers: differences and tolerances are computed as floats
  DType dtype = self.is_floating_point() ? self.dtype() : default_dtype();
  Tensor target = to(other, dtype);
  Tensor allowed = add(abs(mul(target, rtol)), atol);
  Tensor actual = abs(sub(to(self, dtype), target));
  return logical_or(close, logical_and(isfinite(actual), le(actual, allowed)));
}
bool all_true(const Tensor& mask) { return sum(logical_not(mask)).item<int64_t>() == 0; }

Samples close_pairs() {
  return {{{sample({2, 3}), sample({3})}},
          {{tensor({1.0, 2.0}, kFloat64), tensor({1.0 + 1e-9, 2.1}, kFloat64)}, "near"},
          {{tensor({1, 2}), tensor({1, 3})}, "integers"}};
}
const auto isclose_entry =
    define(isclose, "Tests whether |self - other| <= atol + rtol * |other|.",
           [](const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
             return close_to(self, other, rtol, atol, equal_nan);
           })
        .samples(close_pairs);
const auto allclose_entry =
    define(allclose, "Whether isclose holds for all elements.",
           [](const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
             return all_true(close_to(self, other, rtol, atol, equal_nan));
           })
        .samples(close_pairs);
const auto equal_entry =
    define(equal, "Whether both have the same sizes and the same elements.",
           [](const Tensor& self, const Tensor& other) {
             return self.sizes() == other.sizes() && all_true(eq_p(self, other));
           })
        .samples([] { return Samples{{{sample({2, 3}), sample({2, 3})}}}; });

}  // namespace

Tensor Tensor::eq(const Tensor& other) const { return fg::eq(*this, other); }
Tensor Tensor::ne(const Tensor& other) const { return fg::ne(*this, other); }
Tensor Tensor::lt(const Tensor& other) const { return fg::lt(*this, other); }
Tensor Tensor::le(const Tensor& other) const { return fg::le(*this, other); }
Tensor Tensor::gt(const Tensor& other) const { return fg::gt(*this, other); }
Tensor Tensor::ge(const Tensor& other) const { return fg::ge(*this, other); }
Tensor Tensor::logical_and(const Tensor& other) const { return fg::logical_and(*this, other); }
Tensor Tensor::logical_or(const Tensor& other) const { return fg::logical_or(*this, other); }
Tensor Tensor::logical_xor(const Tensor& other) const { return fg::logical_xor(*this, other); }
Tensor Tensor::logical_not() const { return fg::logical_not(*this); }
Tensor Tensor::bitwise_and(const Tensor& other) const { return fg::bitwise_and(*this, other); }
Tensor Tensor::bitwise_or(const Tensor& other) const { return fg::bitwise_or(*this, other); }
Tensor Tensor::bitwise_xor(const Tensor& other) const { return fg::bitwise_xor(*this, other); }
Tensor Tensor::bitwise_not() const { return fg::bitwise_not(*this); }
bool Tensor::equal(const Tensor& other) const { return fg::equal(*this, other); }
bool Tensor::allclose(const Tensor& other, double rtol, double atol, bool equal_nan) const {
  return fg::allclose(*this, other, rtol, atol, equal_nan);
}

}  // namespace fg
