// References of special functions, from sums, integrals and bisection, and of triangular systems.
#include <cmath>
#include <map>

#include "tests/ops/reference/reference_array.h"

namespace fg::table {
namespace {

using Unary = double (*)(double);
using Binary = double (*)(double, double);

Compute each(Unary f) {
  return [f](const Call& call) {
    Array x = call.first();
    for (double& value : x.data) value = f(value);
    return x;
  };
}
Compute each(Binary f) {
  return [f](const Call& call) { return combine(call.first(), call.second(), f); };
}

// ---- the gamma function

constexpr int kTerms = 200000;

// Upwards until log x - 1 / (2 x) - 1 / (12 x^2) is precise.
double digamma(double x) {
  if (x == 0) return std::copysign(INFINITY, -x);
  if (std::isnan(x) || x == -INFINITY || (x < 0 && x == std::floor(x))) return NAN;
  if (x == INFINITY) return x;
  long double sum = 0, at = x;
  for (; at < 3000; at += 1) sum -= 1 / at;
  return static_cast<double>(sum + std::log(at) - 0.5L / at - 1 / (12 * at * at));
}
// Terms one by one, and the integral of the rest.
double zeta(double s, double q) {
  if (std::isnan(q) || !(s >= 1)) return NAN;
  if (s == 1 || (q <= 0 && q == std::floor(q))) return INFINITY;
  if (q == INFINITY) return 0;
  if (q < 0 && s != std::floor(s)) return NAN;
  long double sum = 0;
  const long double power = s, first = q;
  for (int k = kTerms - 1; k >= 0; k--) {
    bool negative = first + k < 0 && std::fmod(s, 2) == 1;
    long double term = std::pow(std::fabs(first + k), -power);
    sum += negative ? -term : term;
  }
  return static_cast<double>(sum + std::pow(first + kTerms - 0.5L, 1 - power) / (power - 1));
}
Array polygamma(const Call& call) {
  double n = call.number("n", 0), sign = std::fmod(n, 2) == 0 ? -1 : 1;
  Array x = call.array("self");
  for (double& value : x.data) value = sign * std::tgamma(n + 1) * zeta(n + 1, value);
  return x;
}
Array multi_log_gamma(const Call& call) {
  int64_t p = call.integer("p", 1);
  Array x = call.first();
  for (double& value : x.data) {
    double sum = static_cast<double>(p * (p - 1)) / 4 * std::log(M_PI);
    for (int64_t i = 0; i < p; i++) sum += std::lgamma(value - static_cast<double>(i) / 2);
    value = sum;
  }
  return x;
}
// x^a e^-x times the sum of x^n / Gamma(a + n + 1).
double lower_gamma(double a, double x) {
  if (!(a >= 0 && x >= 0) || (a == 0 && x == 0)) return NAN;
  if (a == 0 || x == INFINITY) return a == INFINITY ? NAN : 1;
  if (x == 0 || a == INFINITY) return 0;
  long double sum = 0;
  for (int n = 0; n < 400; n++) {
    sum += std::exp((a + n) * std::log(static_cast<long double>(x)) - x -
                    std::lgamma(static_cast<long double>(a) + n + 1));
  }
  return static_cast<double>(sum);
}

// ---- the normal distribution

// The x with f(x) = y of a growing function.
double inverse(Unary f, double y, double low, double high) {
  for (int step = 0; step < 200; step++) {
    double middle = 0.5 * (low + high);
    (f(middle) < y ? low : high) = middle;
  }
  return 0.5 * (low + high);
}
double erfinv(double y) {
  if (!(std::fabs(y) <= 1)) return NAN;
  if (std::fabs(y) == 1) return y * INFINITY;
  return std::copysign(inverse(std::erf, std::fabs(y), 0, 6), y);
}
double normal_cdf(double x) { return 0.5 * std::erfc(-x * M_SQRT1_2); }
double normal_quantile(double p) {
  if (!(p >= 0 && p <= 1)) return NAN;
  if (p == 0 || p == 1) return p == 0 ? -INFINITY : INFINITY;
  return inverse(normal_cdf, p, -40, 9);
}
double scaled_erfc(double x) {
  if (x > 20) return 1 / (x * std::sqrt(M_PI));
  return std::exp(x * x) * std::erfc(x);
}

// ---- others

double entropy_term(double x) { return x < 0 ? -INFINITY : x == 0 ? 0 : -x * std::log(x); }
double x_log1p_y(double x, double y) { return x == 0 && !std::isnan(y) ? 0 : x * std::log1p(y); }
double log_add_exp(double a, double b) {
  if (a == b && std::isinf(a)) return a;
  double top = std::isnan(a) || a > b ? a : b;
  return top + std::log1p(std::exp(-std::fabs(a - b)));
}
double log_add_exp2(double a, double b) { return log_add_exp(a * M_LN2, b * M_LN2) / M_LN2; }
double sinc(double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); }

// 1 / pi times the integral of exp(x (cos t - 1)) cos(n t), by the trapezoidal rule.
double scaled_bessel(double x, int n) {
  if (std::isinf(x)) return n == 1 ? std::copysign(0.0, x) : 0;
  const int steps = 400;
  double a = std::fabs(x), sum = 0;
  for (int i = 0; i <= steps; i++) {
    double t = M_PI * i / steps, weight = i == 0 || i == steps ? 0.5 : 1;
    sum += weight * std::exp(a * (std::cos(t) - 1)) * std::cos(n * t);
  }
  return (n == 1 && x < 0 ? -sum : sum) / steps;
}
double bessel(double x, int n) {
  if (std::isinf(x)) return n == 1 ? x : INFINITY;
  return scaled_bessel(x, n) * std::exp(std::fabs(x));
}

// ---- triangular matrices

struct Matrices {
  Array all;
  int64_t rows, columns;
  explicit Matrices(Array array)
      : all(std::move(array)), rows(all.sizes[all.sizes.size() - 2]), columns(all.sizes.back()) {}
  int64_t count() const {
    auto elements = static_cast<int64_t>(all.data.size());
    return rows * columns == 0 ? 0 : elements / (rows * columns);
  }
  double& at(int64_t k, int64_t i, int64_t j) {
    return all.data[static_cast<size_t>((k * rows + i) * columns + j)];
  }
};
Array lower_factor(const Call& call) {
  Matrices a(call.first()), out(call.first());
  bool upper = call.number("upper", 0) != 0;
  for (int64_t k = 0; k < a.count(); k++) {
    for (int64_t i = 0; i < a.rows; i++) {
      for (int64_t j = 0; j < a.rows; j++) {
        double sum = upper ? a.at(k, j, i) : a.at(k, i, j);
        for (int64_t l = 0; l < j && j <= i; l++) sum -= out.at(k, i, l) * out.at(k, j, l);
        out.at(k, i, j) = i < j ? 0 : i == j ? std::sqrt(sum) : sum / out.at(k, j, j);
      }
    }
  }
  if (!upper) return out.all;
  Matrices turned = out;
  for (int64_t k = 0; k < a.count(); k++) {
    for (int64_t i = 0; i < a.rows; i++) {
      for (int64_t j = 0; j < a.rows; j++) turned.at(k, i, j) = out.at(k, j, i);
    }
  }
  return turned.all;
}

}  // namespace

const std::map<std::string, Compute>& special_references() {
  static const std::map<std::string, Compute> kReferences = {
      {"digamma", each(digamma)},
      {"polygamma", polygamma},
      {"mvlgamma", multi_log_gamma},
      {"igamma", each(lower_gamma)},
      {"igammac", each([](double a, double x) { return 1 - lower_gamma(a, x); })},
      {"special_zeta", each(zeta)},
      {"erfinv", each(erfinv)},
      {"special_erfcx", each(scaled_erfc)},
      {"special_ndtr", each(normal_cdf)},
      {"special_ndtri", each(normal_quantile)},
      {"special_log_ndtr", each([](double x) { return std::log(normal_cdf(x)); })},
      {"special_entr", each(entropy_term)},
      {"special_xlog1py", each(x_log1p_y)},
      {"logaddexp", each(log_add_exp)},
      {"logaddexp2", each(log_add_exp2)},
      {"sinc", each(sinc)},
      {"i0", each([](double x) { return bessel(x, 0); })},
      {"special_i0e", each([](double x) { return scaled_bessel(x, 0); })},
      {"special_i1", each([](double x) { return bessel(x, 1); })},
      {"special_i1e", each([](double x) { return scaled_bessel(x, 1); })},
      {"linalg_cholesky", lower_factor},
      {"linalg_cholesky_ex", lower_factor},
      {"cholesky", lower_factor},
  };
  return kReferences;
}

}  // namespace fg::table
