#include "ir/runtime.h"

#include <cmath>

namespace fg::ir {
namespace {

double digamma(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (x < 0) {
    double whole, fraction = std::modf(x, &whole);
    if (fraction == 0) return NAN;
    return digamma(1 - x) - M_PI / std::tan(M_PI * fraction);
  }
  double shifted = 0;
  for (; x < 10; x += 1) shifted -= 1 / x;
  if (x == 10) return shifted + 2.25175258906672110764;
  double z = 1 / (x * x);  // asymptotic series; beyond 1e17 its terms vanish
  double series =
      z * (1.0 / 12 - z * (1.0 / 120 -
                           z * (1.0 / 252 -
                                z * (1.0 / 240 - z * (1.0 / 132 - z * (691.0 / 32760 - z / 12))))));
  return std::log(x) - 0.5 / x - series + shifted;
}

// lgamma writes the global signgam; this form does not.
double log_gamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

struct NamedFunction {
  const char* name;
  RuntimeFunction function;
};
constexpr NamedFunction kFunctions[] = {
    {"sin", [](double x, double) { return std::sin(x); }},
    {"cos", [](double x, double) { return std::cos(x); }},
    {"tan", [](double x, double) { return std::tan(x); }},
    {"fmod", [](double x, double y) { return std::fmod(x, y); }},
    {"lgamma", [](double x, double) { return log_gamma(x); }},
    {"digamma", [](double x, double) { return digamma(x); }},
};
static_assert(sizeof(kFunctions) / sizeof(NamedFunction) == static_cast<int>(Runtime::count));

}  // namespace

RuntimeFunction runtime_function(Runtime which) {
  return kFunctions[static_cast<int>(which)].function;
}
const char* name(Runtime which) { return kFunctions[static_cast<int>(which)].name; }

}  // namespace fg::ir
