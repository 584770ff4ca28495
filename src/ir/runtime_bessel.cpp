// Modified Bessel functions of the first kind: power series up to 30, beyond it the asymptotic one,
// whose smallest term is then below 1e-25.
#include <cmath>

#include "ir/runtime_special.h"

namespace fg::ir::special {
namespace {

using Real = long double;
constexpr double kSeriesLimit = 30;
constexpr Real kTwoPi = 6.28318530717958647692528676655900577L;

// sum over k of (x^2 / 4)^k / (k! (k + order)!).
Real power_series(Real x, int order) {
  Real square = 0.25 * x * x, term = 1, sum = 1;
  for (int k = 1; k < 200; k++) {
    term *= square / (static_cast<Real>(k) * (k + order));
    sum += term;
    if (term < 0x1p-60 * sum) break;
  }
  return sum;
}
// exp(-x) I_order(x): 1 / sqrt(2 pi x) (1 - (m - 1) / (8 x) + (m - 1) (m - 9) / (2! (8 x)^2) - ...)
// for m = 4 order^2.
Real asymptotic(Real x, int order) {
  if (std::isinf(x)) return 0;
  Real m = 4 * order * order, term = 1, sum = 1;
  for (int k = 1; k < 60; k++) {
    Real odd = 2 * k - 1;
    term *= -(m - odd * odd) / (8 * x * k);
    sum += term;
    if (std::fabs(term) < 0x1p-60 * sum) break;
  }
  return sum / std::sqrt(kTwoPi * x);
}
// exp(-|x|) I_order(x), which is I_order(x) where `scale` is false.
double bessel(double x, int order, bool scale) {
  Real a = std::fabs(x), result;
  if (a > kSeriesLimit) {
    result = scale ? asymptotic(a, order) : asymptotic(a, order) * std::exp(a);
    if (std::isinf(x) && !scale) result = a;
  } else {
    result = power_series(a, order) * (order == 1 ? a / 2 : 1) * (scale ? std::exp(-a) : 1);
  }
  return static_cast<double>(order == 1 && x < 0 ? -result : result);
}

}  // namespace

double i0(double x) { return bessel(x, 0, false); }
double i0e(double x) { return bessel(x, 0, true); }
double i1(double x) { return bessel(x, 1, false); }
double i1e(double x) { return bessel(x, 1, true); }

}  // namespace fg::ir::special
