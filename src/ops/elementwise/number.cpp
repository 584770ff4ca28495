#include "ops/elementwise/number.h"

#include <cmath>

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/view/view_kind.h"

namespace fg::ops {

namespace {

using ir::Registered;

template <auto compute>
ir::Primitive<ir::NoParams> float_primitive(const char* name, const char* operands = "tt") {
  return plain_primitive<ir::NoParams,
                         [](ir::Operands, const ir::NoParams&, ir::Meta* out) {
                           out[0] = {{}, kFloat64, {}};
                         },
                         [](ir::Operands inputs, const ir::NoParams&, Tensor* out) {
                           double a = inputs[0]->item().to_double(), b = 0;
                           if (inputs.size() == 2) b = inputs[1]->item().to_double();
                           *out[0].data_ptr<double>() = compute(a, b);
                         }>(name, ir::Kind::extern_call, operands)
      .without_gradient("it computes numbers of Python, which have none");
}

double divide(double a, double b) {
  if (b == 0) fail("float division by zero (ZeroDivisionError)");
  return a / b;
}

double power(double a, double b) {
  if (a == 0 && b < 0) fail("0.0 cannot be raised to a negative power (ZeroDivisionError)");
  bool finite = std::isfinite(a) && std::isfinite(b);
  if (finite && a < 0 && b != std::floor(b)) {
    fail("a negative float to a fractional power is complex, which is not captured");
  }
  double result = std::pow(a, b);
  if (finite && !std::isfinite(result)) fail("float power is too large (OverflowError)");
  return result;
}

const Registered add_p = float_primitive<[](double a, double b) { return a + b; }>("float_add");
const Registered sub_p = float_primitive<[](double a, double b) { return a - b; }>("float_sub");
const Registered mul_p = float_primitive<[](double a, double b) { return a * b; }>("float_mul");
const Registered div_p = float_primitive<divide>("float_div").raising();
const Registered pow_p = float_primitive<power>("float_pow").raising();
const Registered neg_p = float_primitive<[](double a, double) { return -a; }>("float_neg", "t");
const Registered abs_p =
    float_primitive<[](double a, double) { return std::abs(a); }>("float_abs", "t");

struct Fit {
  DType dtype;
  bool operator==(const Fit&) const = default;
};
const Registered fitting_p = checked<Fit, [](const Tensor& number, const Fit& p) {
  check_fits(number.item(), p.dtype, "fill");
}>("fitting");

}  // namespace

Scalar negative(const Scalar& number) {
  return number.is_known() ? -number : number_in(neg_p(Tensor(number)));
}

Scalar one_minus(const Scalar& number) {
  if (number.is_known()) return 1 - number.to_double();
  return number_in(sub_p(Tensor(Scalar(1.0)), Tensor(number)));
}

Scalar fitting(const Scalar& number, DType dtype, const char* who) {
  if (!number.is_known()) return number_in(fitting_p.with({dtype}, Tensor(number)));
  check_fits(number, dtype, who);
  return number;
}

Tensor float_operation(std::string_view name, const Tensor& a, const Tensor* b) {
  if (!b) {
    if (name == "neg") return neg_p(a);
    if (name == "abs") return abs_p(a);
    return {};
  }
  if (name == "add") return add_p(a, *b);
  if (name == "sub") return sub_p(a, *b);
  if (name == "mul") return mul_p(a, *b);
  if (name == "div") return div_p(a, *b);
  return name == "pow" ? pow_p(a, *b) : Tensor();
}

}  // namespace fg::ops
