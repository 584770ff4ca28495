// The gamma function's logarithm and its derivatives, the Hurwitz zeta function.
#include <cmath>

#include "ir/runtime_special.h"

namespace fg::ir::special {
namespace {

using Real = long double;  // sums whose results are rounded to double
constexpr double kInf = __builtin_inf(), kNaN = __builtin_nan("");
constexpr Real kLongPi = 3.14159265358979323846264338327950288L;

// The terms j = 1 ... 12 of Euler and Maclaurin: B_2j / (2 j)!.
constexpr Real kBernoulli[] = {
    1.0L / 12,
    -1.0L / 720,
    1.0L / 30240,
    -1.0L / 1209600.0L,
    1.0L / 47900160.0L,
    -691.0L / 1307674368000.0L,
    1.0L / 74724249600.0L,
    -3617.0L / 10670622842880000.0L,
    43867.0L / 5109094217170944000.0L,
    -174611.0L / 802857662698291200000.0L,
    77683.0L / 14101100039391805440000.0L,
    -236364091.0L / 1693824136731743669452800000.0L,
};

// q > 0: terms are added one by one up to 10 (those of large s vanish before), the rest is
//   a^(1-s) / (s-1) + a^-s / 2 + sum over j of B_2j / (2j)! s (s+1) ... (s+2j-2) a^(-s-2j+1).
Real zeta_of_positive(Real s, Real q) {
  Real sum = 0, a = q;
  for (int k = 0; k < 10 || a < 10; k++, a += 1) {
    Real term = std::pow(a, -s);
    sum += term;
    if (term * (a + s) < 0x1p-60 * sum * (s - 1)) return sum;  // the terms left are below that
  }
  Real power = std::pow(a, -s);
  sum += power * a / (s - 1) + 0.5 * power;
  Real factor = s * power / a;  // s ... (s + 2j - 2) a^(-s - 2j + 1)
  for (int j = 0; j < 12; j++) {
    Real term = kBernoulli[j] * factor;
    sum += term;
    if (std::fabs(term) < 0x1p-60 * std::fabs(sum)) break;
    factor *= (s + 2 * j + 1) / a * ((s + 2 * j + 2) / a);
  }
  return sum;
}

}  // namespace

// lgamma writes the global signgam; this form does not.
double log_gamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

// Shifted up to 20, then the asymptotic series; beyond 1e17 its terms vanish.
long double long_digamma(long double x) {
  Real shifted = 0;
  for (; x < 20; x += 1) shifted -= 1 / x;
  Real z = 1 / (x * x), tail = 691.0L / 32760 - z * (1.0L / 12 - z * 3617.0L / 8160);
  Real series =
      z * (1.0L / 12 -
           z * (1.0L / 120 - z * (1.0L / 252 - z * (1.0L / 240 - z * (1.0L / 132 - z * tail)))));
  return std::log(x) - 0.5L / x - series + shifted;
}
double digamma(double x) {
  if (x == 0) return std::copysign(kInf, -x);
  if (x > 0) return x == kInf ? x : static_cast<double>(long_digamma(x));
  double fraction = x - std::nearbyint(x);  // exact, of tiny x too
  if (fraction == 0 || !(x < 0) || std::isinf(x)) return kNaN;
  return static_cast<double>(long_digamma(1 - Real{x}) - kLongPi / std::tan(kLongPi * fraction));
}

namespace {

// Negative q only with whole s: the sum over all integers, without that below q.
Real long_zeta(double s, double q) {
  if (std::isnan(s) || std::isnan(q)) return kNaN;
  if (s == 1) return kInf;
  if (s < 1) return kNaN;
  if (q > 0) return q == kInf ? 0 : zeta_of_positive(s, q);
  Real above = Real{q} - std::floor(Real{q}), below = std::ceil(Real{q}) - Real{q};
  if (above == 0 || std::isinf(q)) return kInf;
  if (s != std::floor(s)) return kNaN;
  Real sign = std::fmod(s, 2) == 0 ? 1 : -1;
  return zeta_of_positive(s, above) +
         sign * (zeta_of_positive(s, below) - zeta_of_positive(s, 1 - Real{q}));
}

}  // namespace

double zeta(double s, double q) { return static_cast<double>(long_zeta(s, q)); }

double polygamma(double order, double x) {
  if (order == 0) return digamma(x);
  Real sign = std::fmod(order, 2) == 0 ? -1 : 1, sum = long_zeta(order + 1, x);
  return static_cast<double>(sign * std::tgamma(Real{order} + 1) * sum);
}

}  // namespace fg::ir::special
