// Random numbers whose distribution depends on the elements of another tensor.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/kernels/strided.h"
#include "ops/random/random_draws.h"
#include "ops/random/random_kernel.h"

namespace fg::kernels {
namespace {

constexpr int64_t kGrain = 1024;

// Small rates multiply uniform numbers until they fall below exp(-rate) (Knuth); large ones use
// the transformed rejection PTRS (Hoermann, 1993).
double poisson(double rate, Draws draws) {
  if (rate == 0) return 0;
  if (rate < 10) {
    double limit = std::exp(-rate), product = 1;
    for (int64_t count = 0;; count++) {
      product *= draws.next().radius;
      if (product <= limit) return static_cast<double>(count);
    }
  }
  double log_rate = std::log(rate), b = 0.931 + 2.53 * std::sqrt(rate);
  double a = -0.059 + 0.02483 * b, inverse = 1.1239 + 1.1328 / (b - 3.4);
  double fast = 0.9277 - 3.6224 / (b - 2);
  for (;;) {
    auto [v, angle] = draws.next();
    double u = angle - 0.5, us = 0.5 - std::fabs(u);
    double k = std::floor((2 * a / us + b) * u + rate + 0.43);
    if (us >= 0.07 && v <= fast) return k;
    if (k < 0 || (us < 0.013 && v > us)) continue;
    if (std::log(v) + std::log(inverse) - std::log(a / (us * us) + b) <=
        k * log_rate - rate - std::lgamma(k + 1)) {
      return k;
    }
  }
}

// out[j] = the first i whose running sum of weights exceeds u * total, u uniform in [0, 1).
void choose_with_replacement(std::span<const double> weights, std::span<int64_t> out, PhiloxKey key,
                             int64_t first) {
  std::vector<double> sums(weights.size());
  std::partial_sum(weights.begin(), weights.end(), sums.begin());
  for (size_t j = 0; j < out.size(); j++) {
    double at = uniform_double(
                    random_bits(philox(key.seed, key.offset + static_cast<uint64_t>(first) + j))) *
                sums.back();
    auto found = std::upper_bound(sums.begin(), sums.end(), at);
    // Rounding may put `at` behind the last weight that counts.
    while (found == sums.end() || weights[static_cast<size_t>(found - sums.begin())] == 0) --found;
    out[j] = found - sums.begin();
  }
}

// out = the places of the largest weight / e, e exponential: a draw without replacement.
void choose_without_replacement(std::span<const double> weights, std::span<int64_t> out,
                                PhiloxKey key, int64_t first) {
  std::vector<double> score(weights.size());
  for (size_t j = 0; j < weights.size(); j++) {
    double radius = Draws(key, first + static_cast<int64_t>(j)).next().radius;
    score[j] = weights[j] / std::max(-std::log(radius), 0x1p-54);
  }
  std::vector<int64_t> order(weights.size());
  std::iota(order.begin(), order.end(), 0);
  auto better = [&](int64_t a, int64_t b) {
    double x = score[static_cast<size_t>(a)], y = score[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  };
  auto middle = order.begin() + static_cast<int64_t>(out.size());
  std::partial_sort(order.begin(), middle, order.end(), better);
  std::copy(order.begin(), middle, out.begin());
}

template <class F>
void fill_from(const Tensor& out, const Tensor& source, PhiloxKey key, F value) {
  Tensor from = as_contiguous(source, kFloat64);
  const double* in = from.data_ptr<double>();
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = out.data_ptr<T>();
    pool::parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        data[i] = Scalar(value(in[i], Draws(key, i))).template to<T>();
      }
    });
  });
}

}  // namespace

void fill_bernoulli(const Tensor& out, const Tensor& p, PhiloxKey key) {
  Tensor from = as_contiguous(p, kFloat64);
  const double* in = from.data_ptr<double>();
  for (int64_t i = 0; i < from.numel(); i++) {
    if (!(in[i] >= 0 && in[i] <= 1))
      fail("bernoulli: element {} of p is {}; expected a probability in [0, 1]", i, in[i]);
  }
  fill_from(out, p, key,
            [](double chance, Draws draws) { return draws.next().radius - 0x1p-53 < chance; });
}

void fill_normal(const Tensor& out, const Tensor& mean, const Tensor& std, PhiloxKey key) {
  for (double value : std.to_vector<double>()) {
    if (!(value >= 0)) fail("normal: found the std {}; expected 0 or more everywhere", value);
  }
  fill_random(out, Distribution::normal, 0, 1, key);
  Tensor centre = empty_tensor(out.sizes(), kFloat64), scale = empty_tensor(out.sizes(), kFloat64);
  copy_elements(centre, mean);
  copy_elements(scale, std);
  const double *m = centre.data_ptr<double>(), *s = scale.data_ptr<double>();
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = out.data_ptr<T>();
    for (int64_t i = 0; i < out.numel(); i++) {
      data[i] = Scalar(m[i] + s[i] * static_cast<double>(data[i])).template to<T>();
    }
  });
}

void fill_poisson(const Tensor& out, const Tensor& rate, PhiloxKey key) {
  for (double value : rate.to_vector<double>()) {
    if (!(value >= 0)) fail("poisson: got the rate {}; expected rates of 0 or more", value);
  }
  fill_from(out, rate, key, poisson);
}

void fill_permutation(const Tensor& out, PhiloxKey key) {
  int64_t n = out.numel();
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (int64_t i = 0; i + 1 < n; i++) {
    auto block = philox(key.seed, key.offset + static_cast<uint64_t>(i));
    std::swap(order[static_cast<size_t>(i)],
              order[static_cast<size_t>(uniform_integer(block, i, n))]);
  }
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = out.data_ptr<T>();
    for (int64_t i = 0; i < n; i++) data[i] = Scalar(order[static_cast<size_t>(i)]).to<T>();
  });
}

void fill_multinomial(const Tensor& out, const Tensor& weights, int64_t samples, bool replacement,
                      PhiloxKey key) {
  Tensor from = as_contiguous(weights, kFloat64);
  auto categories = static_cast<size_t>(weights.sizes().back().value());
  int64_t rows = out.numel() / samples;
  auto row = [&](int64_t r) {
    return std::span<const double>(from.data_ptr<double>() + r * static_cast<int64_t>(categories),
                                   categories);
  };
  for (int64_t r = 0; r < rows; r++) {
    double sum = 0;
    for (double weight : row(r)) {
      if (!(weight >= 0) || std::isinf(weight))
        fail("multinomial: got the weight {}; expected finite numbers of 0 or more", weight);
      sum += weight;
    }
    if (sum <= 0) fail("multinomial: the weights of row {} sum to zero; none can be drawn", r);
  }
  int64_t draws = replacement ? samples : static_cast<int64_t>(categories);
  auto choose = replacement ? choose_with_replacement : choose_without_replacement;
  pool::parallel_for(rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; r++) {
      std::span<int64_t> to(out.data_ptr<int64_t>() + r * samples, static_cast<size_t>(samples));
      choose(row(r), to, key, r * draws);
    }
  });
}

}  // namespace fg::kernels
