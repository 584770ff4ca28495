// Every function of math.h gives the same bits as vector lanes and as an expression. A new function
// needs one line.
#include "ir/both_worlds.h"
#include "ir/math_special.h"

namespace fg::ir {
namespace {

TEST(MathEquality, ExponentialsAgree) {
  check_floats("exp", [](auto x, auto, auto) { return exp(x); });
  check_floats("expm1", [](auto x, auto, auto) { return expm1(x); });
  check_floats("exp2", [](auto x, auto, auto) { return exp2(x); });
  check_floats("sigmoid", [](auto x, auto, auto) { return sigmoid(x); });
  check_floats("tanh", [](auto x, auto, auto) { return tanh(x); });
  check_floats("sinh", [](auto x, auto, auto) { return sinh(x); });
  check_floats("cosh", [](auto x, auto, auto) { return cosh(x); });
  check_both_worlds<Half>("exp", [](auto x, auto, auto) { return exp(x); });
  check_both_worlds<BFloat16>("tanh", [](auto x, auto, auto) { return tanh(x); });
}

TEST(MathEquality, LogarithmsAgree) {
  check_floats("log", [](auto x, auto, auto) { return log(x); });
  check_floats("log1p", [](auto x, auto, auto) { return log1p(x); });
  check_floats("log2", [](auto x, auto, auto) { return log2(x); });
  check_floats("log10", [](auto x, auto, auto) { return log10(x); });
  check_floats("pow", [](auto x, auto y, auto) { return pow(x, y); });
  check_floats("softplus", [](auto x, auto, auto) { return softplus(x); });
  check_floats("asinh", [](auto x, auto, auto) { return asinh(x); });
  check_floats("acosh", [](auto x, auto, auto) { return acosh(x); });
  check_floats("atanh", [](auto x, auto, auto) { return atanh(x); });
}

TEST(MathEquality, TrigonometryAgrees) {
  check_floats("sin", [](auto x, auto, auto) { return sin(x); });
  check_floats("cos", [](auto x, auto, auto) { return cos(x); });
  check_floats("tan", [](auto x, auto, auto) { return tan(x); });
  check_floats("asin", [](auto x, auto, auto) { return asin(x); });
  check_floats("acos", [](auto x, auto, auto) { return acos(x); });
  check_floats("atan", [](auto x, auto, auto) { return atan(x); });
  check_floats("atan2", [](auto x, auto y, auto) { return atan2(x, y); });
}

TEST(MathEquality, ErrorFunctionsAgree) {
  check_floats("erf", [](auto x, auto, auto) { return erf(x); });
  check_floats("erfc", [](auto x, auto, auto) { return erfc(x); });
  check_floats("erfinv", [](auto x, auto, auto) { return erfinv(x); });
  check_floats("lgamma", [](auto x, auto, auto) { return lgamma(x); });
  check_floats("digamma", [](auto x, auto, auto) { return digamma(x); });
  check_floats("rsqrt", [](auto x, auto, auto) { return rsqrt(x); });
}

TEST(MathEquality, SpecialFunctionsAgree) {
  check_floats("erfcx", [](auto x, auto, auto) { return erfcx(x); });
  check_floats("log_ndtr", [](auto x, auto, auto) { return log_ndtr(x); });
  check_floats("ndtri", [](auto x, auto, auto) { return ndtri(x); });
  check_floats("entr", [](auto x, auto, auto) { return entr(x); });
  check_floats("xlog1py", [](auto x, auto y, auto) { return xlog1py(x, y); });
  check_floats("logaddexp", [](auto x, auto y, auto) { return logaddexp(x, y); });
  check_floats("logaddexp2", [](auto x, auto y, auto) { return logaddexp2(x, y); });
  check_floats("sinc", [](auto x, auto, auto) { return sinc(x); });
  check_floats("i1e", [](auto x, auto, auto) { return at_runtime(Runtime::i1e, x); });
}

}  // namespace
}  // namespace fg::ir
