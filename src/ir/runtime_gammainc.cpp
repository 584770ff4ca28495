// Incomplete gamma functions, and the slopes of gamma- and beta-distributed values by their shape.
// Values and derivatives by a shape are carried together, as pairs, through one series.
#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/runtime_special.h"

namespace fg::ir::special {
namespace {

using Real = long double;  // sums of many terms, whose results are rounded to double
constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan("");
constexpr double kEpsilon = 0x1p-58;
constexpr Real kTwoPi = 6.28318530717958647692528676655900577L;
constexpr int kMostTerms = 200000;  // a series takes about 8 sqrt(a) of them
constexpr double kLargeShape = 1e8;

// A value with its derivative by one shape.
struct Pair {
  Real value, slope;
  friend Pair operator+(Pair a, Pair b) { return {a.value + b.value, a.slope + b.slope}; }
  friend Pair operator*(Pair a, Pair b) {
    return {a.value * b.value, a.value * b.slope + a.slope * b.value};
  }
  friend Pair operator/(Pair a, Pair b) {
    Real ratio = a.value / b.value;
    return {ratio, (a.slope - ratio * b.slope) / b.value};
  }
};
// Whether one more factor changed neither the product nor its relative derivative.
bool is_settled(Pair factor) {
  return std::fabs(factor.value - 1) < kEpsilon * 4 && std::fabs(factor.slope) < kEpsilon * 4;
}
Real away_from_zero(Real x) { return std::fabs(x) < 1e-300L ? 1e-300L : x; }

// A continued fraction b0 + a1 / (b1 + a2 / (b2 + ...)) by Lentz's method: term(n) gives (an, bn).
template <class Term>
Pair continued_fraction(Pair b0, const Term& term) {
  Pair f = b0, c = b0, d = {0, 0};
  f.value = c.value = away_from_zero(b0.value);
  for (int n = 1; n < kMostTerms; n++) {
    auto [a, b] = term(n);
    d = b + a * d;
    d.value = away_from_zero(d.value);
    c = b + a / c;
    c.value = away_from_zero(c.value);
    d = Pair{1, 0} / d;
    Pair factor = c * d;
    f = f * factor;
    if (is_settled(factor)) break;
  }
  return f;
}

// ---- the gamma functions

// sum over n of x^n / ((a + 1) ... (a + n)), for x <= a + 1.
Pair lower_series(Real a, Real x) {
  Pair term{1, 0}, sum{1, 0};
  for (int n = 1; n < kMostTerms; n++) {
    Real step = a + n;
    term = term * Pair{x / step, -x / (step * step)};
    sum = sum + term;
    if (term.value < kEpsilon * sum.value &&
        std::fabs(term.slope) <= kEpsilon * std::fabs(sum.slope))
      break;
  }
  return sum;
}
// Gamma(a, x) x^-a e^x, for x > a + 1: 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - ...)).
Pair upper_fraction(Real a, Real x) {
  Pair fraction = continued_fraction({x + 1 - a, -1}, [&](int n) {
    Pair numerator{n * (a - n), static_cast<Real>(n)}, denominator{x + 2 * n + 1 - a, -1};
    return std::pair{numerator, denominator};
  });
  return Pair{1, 0} / fraction;
}

Real long_log_gamma(Real a) {
  int sign;
  return ::lgammal_r(a, &sign);
}
// log Gamma(a + 1) - (a log a - a + log(2 pi a) / 2).
Real stirling_error(Real a) {
  if (a < 30)
    return long_log_gamma(a + 1) - (a + 0.5) * std::log(a) + a -
           0.918938533204672741780329736405617640L;
  Real z = 1 / (a * a);
  return (1.0L / 12 -
          z * (1.0L / 360 -
               z * (1.0L / 1260 - z * (1.0L / 1680 - z * (1.0L / 1188 - z * 691.0L / 360360))))) /
         a;
}
// a (r - 1 - log r) for r = x / a, without cancellation where x is close to a.
Real deviance(Real a, Real x) {
  Real d = (x - a) / a;
  if (std::fabs(d) > 0.1) return x - a - a * std::log(x / a);
  Real v = (x - a) / (x + a), v2 = v * v, sum = 0, power = 2 * v * v2;
  for (int k = 3; k < 60; k += 2, power *= v2) {  // log r = 2 (v + v^3 / 3 + ...)
    Real next = sum + power / k;
    if (next == sum) break;
    sum = next;
  }
  return a * (d * v - sum);  // d - 2 v = d v
}
// x^a e^-x / Gamma(a + 1).
Real gamma_weight(Real a, Real x) {
  if (x == 0) return 0;
  if (a < 1) return std::exp(a * std::log(x) - x - long_log_gamma(a + 1));
  return std::exp(-deviance(a, x) - stirling_error(a)) / std::sqrt(kTwoPi * a);
}

// Shapes beyond those of the series: erfc of a root of the deviance, and the next term (Temme).
Real upper_of_large_shape(Real a, Real x) {
  Real share = deviance(a, x) / a, eta = std::copysign(std::sqrt(2 * share), x - a);
  Real d = (x - a) / a;
  Real correction = std::fabs(d) < 1e-5 ? -1.0L / 3 + eta / 12 : 1 / d - 1 / eta;
  return 0.5 * std::erfc(eta * std::sqrt(a / 2)) +
         std::exp(-a * share) / std::sqrt(kTwoPi * a) * correction;
}

bool is_edge(double a, double x) {
  return !(a >= 0 && x >= 0) || a == 0 || x == 0 || a == kInf || x == kInf;
}
// P(a, x) where a or x is at an end of its range.
double lower_edge(double a, double x) {
  if (!(a >= 0 && x >= 0)) return kNaN;
  if (a == 0) return x > 0 ? 1 : kNaN;
  if (x == 0) return 0;
  if (a == kInf) return x == kInf ? kNaN : 0;
  return 1;
}
bool takes_series(double a, double x) { return a <= kLargeShape && x <= a + 1; }
Real lower_part(Real a, Real x) { return gamma_weight(a, x) * lower_series(a, x).value; }
Real upper_part(Real a, Real x) {
  if (a > kLargeShape) return upper_of_large_shape(a, x);
  return gamma_weight(a, x) * a * upper_fraction(a, x).value;
}

}  // namespace

double gammainc(double a, double x) {
  if (is_edge(a, x)) return lower_edge(a, x);
  return static_cast<double>(takes_series(a, x) ? lower_part(a, x) : 1 - upper_part(a, x));
}

double gammaincc(double a, double x) {
  if (is_edge(a, x)) return 1 - lower_edge(a, x);
  return static_cast<double>(takes_series(a, x) ? 1 - lower_part(a, x) : upper_part(a, x));
}

// With the density f: P / f = x S / a for the series S, and Q / f = x h for the fraction h. A
// derivative of P or Q is it times that of its logarithm.
double gamma_slope(double a, double x) {
  if (!(a > 0 && x >= 0) || a == kInf) return kNaN;
  if (x == 0) return 0;
  if (x == kInf) return kInf;
  if (a > kLargeShape) return 0.5 + 0.5 * x / a;  // of a + sqrt(a) z, to the first order
  if (takes_series(a, x)) {
    Pair s = lower_series(a, x);
    Real slope = s.value * (std::log(Real{x}) - long_digamma(Real{a} + 1)) + s.slope;
    return static_cast<double>(-(x / Real{a}) * slope);
  }
  Pair h = upper_fraction(a, x);
  Real slope = h.value * (std::log(Real{x}) - long_digamma(a)) + h.slope;
  return static_cast<double>(x * slope);
}

// ---- the beta function

namespace {

// The fraction of I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) / fraction, with its derivative by a or
// b.
Pair beta_fraction(Real x, Real a, Real b, bool by_a) {
  Real da = by_a ? 1 : 0, db = by_a ? 0 : 1;
  return continued_fraction({1, 0}, [&](int n) {
    Real m = n / 2;
    Pair first{a + n - 1, da}, second{a + n, da}, top;
    if (n % 2) {
      top = Pair{-(a + m), -da} * Pair{a + b + m, 1} * Pair{x, 0};
    } else {
      top = Pair{m * (b - m), m * db} * Pair{x, 0};
    }
    return std::pair{top / first / second, Pair{1, 0}};
  });
}

}  // namespace

double beta_slope(double x, double a, double b) {
  if (!(x >= 0 && x <= 1 && a > 0 && b > 0)) return kNaN;
  if (x == 0 || x == 1) return 0;
  Real y = 1 - Real{x}, sum = Real{a} + b;
  Real common = std::log(Real{x}) + long_digamma(sum) - long_digamma(a);
  if (x * (a + b + 2) <= a + 1) {
    Pair f = Pair{1, 0} / beta_fraction(x, a, b, true);
    return static_cast<double>(-x * y / a * (f.value * (common - 1 / Real{a}) + f.slope));
  }
  Pair f = Pair{1, 0} / beta_fraction(y, b, a, false);
  return static_cast<double>(x * y / b * (f.value * common + f.slope));
}

}  // namespace fg::ir::special
