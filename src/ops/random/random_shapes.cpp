// Values of distributions that are sampled by rejection: gamma, Dirichlet, binomial, von Mises.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/runtime_special.h"
#include "ops/kernels/strided.h"
#include "ops/random/random_draws.h"
#include "ops/random/random_kernel.h"

namespace fg::kernels {
namespace {

constexpr int64_t kGrain = 256;

// The logarithm of a gamma value (Marsaglia and Tsang, 2000): d v for v = (1 + c x)^3, x normal. A
// shape below 1 takes that of the shape plus 1, times u^(1 / shape).
double log_gamma_value(double shape, Draws& draws) {
  if (!(shape > 0)) return shape == 0 ? -INFINITY : NAN;
  double boost = 0;
  if (shape < 1) {
    boost = std::log(draws.next().radius) / shape;
    shape += 1;
  }
  double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    auto [radius, angle] = draws.next();
    double x = std::sqrt(-2 * std::log(radius)) * std::cos(2 * M_PI * angle);
    double root = 1 + c * x, v = root * root * root, u = draws.next().radius;
    if (root <= 0) continue;
    if (std::log(u) < 0.5 * x * x + d * (1 - v + std::log(v))) return std::log(d * v) + boost;
  }
}

// The smallest normal number of a dtype: samples are positive.
double smallest(DType dtype) {
  if (dtype == kFloat64) return std::numeric_limits<double>::min();
  return dtype == kFloat16 ? 0x1p-14 : std::numeric_limits<float>::min();
}
// Rounded to the dtype first: what underflows there is raised.
double at_least(double value, double least) {
  return std::isnan(value) ? value : std::max(value, least);
}

// Small means: successes are as far apart as geometric numbers say.
double binomial_by_gaps(double count, double prob, Draws& draws) {
  double scale = 1 / std::log1p(-prob), passed = 0;
  for (double successes = 0;; successes++) {
    passed += std::max(1.0, std::ceil(std::log(draws.next().radius) * scale));
    if (passed > count) return successes;
  }
}
// The transformed rejection BTRS (Hoermann, 1993), for means of 10 and more and prob <= 1/2.
double binomial_by_rejection(double count, double prob, Draws& draws) {
  using ir::special::log_gamma;
  double deviation = std::sqrt(count * prob * (1 - prob));
  double b = 1.15 + 2.53 * deviation, a = -0.0873 + 0.0248 * b + 0.01 * prob;
  double centre = count * prob + 0.5, fast = 0.92 - 4.2 / b;
  double alpha = (2.83 + 5.1 / b) * deviation, mode = std::floor((count + 1) * prob);
  double log_odds = std::log(prob / (1 - prob));
  double top = log_gamma(mode + 1) + log_gamma(count - mode + 1);
  for (;;) {
    auto [v, angle] = draws.next();
    double u = angle - 0.5, us = 0.5 - std::fabs(u);
    double k = std::floor((2 * a / us + b) * u + centre);
    if (us >= 0.07 && v <= fast) return k;
    if (k < 0 || k > count) continue;
    double weight = top - log_gamma(k + 1) - log_gamma(count - k + 1) + (k - mode) * log_odds;
    if (std::log(v * alpha / (a / (us * us) + b)) <= weight) return k;
  }
}
double binomial(double count, double prob, Draws& draws) {
  if (std::isnan(count) || std::isnan(prob)) return NAN;
  if (count <= 0 || prob <= 0) return 0;
  if (prob >= 1) return count;
  if (prob > 0.5) return count - binomial(count, 1 - prob, draws);
  if (count * prob >= 10) return binomial_by_rejection(count, prob, draws);
  return binomial_by_gaps(count, prob, draws);
}

// An angle around 0 (Best and Fisher, 1979): proposals of a wrapped Cauchy distribution.
double von_mises(double kappa, Draws& draws) {
  if (!(kappa > 0)) return kappa == 0 ? (2 * draws.next().angle - 1) * M_PI : NAN;
  double tau = 1 + std::sqrt(1 + 4 * kappa * kappa);
  double rho = (tau - std::sqrt(2 * tau)) / (2 * kappa);
  double r = kappa < 1e-5 ? 1 / kappa + kappa : (1 + rho * rho) / (2 * rho);
  for (;;) {
    auto [v, angle] = draws.next();
    double z = std::cos(M_PI * angle), f = (1 + r * z) / (r + z), c = kappa * (r - f);
    if (c * (2 - c) <= v && std::log(c / v) + 1 - c < 0) continue;
    double side = draws.next().angle < 0.5 ? -1 : 1;
    return side * std::acos(std::clamp(f, -1.0, 1.0));
  }
}

// out[i] = value(i, draws of i), in double.
template <class F>
void fill_each(const Tensor& out, PhiloxKey key, F value) {
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = out.data_ptr<T>();
    pool::parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        Draws draws(key, i);
        data[i] = Scalar(value(i, draws)).template to<T>();
      }
    });
  });
}

// One row: exp of log gamma values, less their largest one, over the sum.
void share_row(double* row, int64_t n, int64_t first, PhiloxKey key, double least) {
  double top = -INFINITY, sum = 0;
  for (int64_t i = 0; i < n; i++) {
    Draws draws(key, first + i);
    row[i] = log_gamma_value(row[i], draws);
    top = std::max(top, row[i]);
  }
  for (int64_t i = 0; i < n; i++) sum += row[i] = std::exp(row[i] - top);
  for (int64_t i = 0; i < n; i++) row[i] = at_least(row[i] / sum, least);
}

}  // namespace

void fill_gamma(const Tensor& out, const Tensor& alpha, PhiloxKey key) {
  Tensor from = as_contiguous(alpha, kFloat64);
  const double* shape = from.data_ptr<double>();
  double least = smallest(out.dtype());
  fill_each(out, key, [=](int64_t i, Draws& draws) {
    return at_least(std::exp(log_gamma_value(shape[i], draws)), least);
  });
}

void fill_von_mises(const Tensor& out, const Tensor& concentration, PhiloxKey key) {
  Tensor from = as_contiguous(concentration, kFloat64);
  const double* kappa = from.data_ptr<double>();
  fill_each(out, key, [=](int64_t i, Draws& draws) { return von_mises(kappa[i], draws); });
}

void fill_dirichlet(const Tensor& out, const Tensor& alpha, PhiloxKey key) {
  int64_t n = alpha.sizes().back().value(), rows = n == 0 ? 0 : alpha.numel() / n;
  Tensor values = empty_tensor(alpha.sizes(), kFloat64);
  copy_elements(values, alpha);
  double *data = values.data_ptr<double>(), least = smallest(out.dtype());
  pool::parallel_for(rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, n)),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t r = begin; r < end; r++) {
                         share_row(data + r * n, n, r * n, key, least);
                       }
                     });
  copy_elements(out, values);
}

void fill_binomial(const Tensor& out, const Tensor& count, const Tensor& prob, PhiloxKey key) {
  Tensor counts = empty_tensor(out.sizes(), kFloat64),
         chances = empty_tensor(out.sizes(), kFloat64);
  copy_elements(counts, count);
  copy_elements(chances, prob);
  const double *n = counts.data_ptr<double>(), *p = chances.data_ptr<double>();
  fill_each(out, key, [=](int64_t i, Draws& draws) { return binomial(n[i], p[i], draws); });
}

}  // namespace fg::kernels
