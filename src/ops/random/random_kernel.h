// Filling contiguous memory with random numbers. Element i draws from philox(seed, offset + i)
// (tensor/generator.h says which words), sixteen elements at a time; so the values are the same
// however the range is split over threads, and the same bits at either level up to the formulas of
// log, sin and exp, whose `mad` is fused at one level and not at the other.
#pragma once

#include "tensor/generator.h"
#include "tensor/tensor.h"

namespace fg::kernels {

// The numbers a and b of each distribution in brackets. u is uniform in [0, 1), r in (0, 1].
enum class Distribution : uint8_t {
  uniform,      // [from, to) from + u (to - from)
  normal,       // [mean, std] mean + std sqrt(-2 log r) cos(2 pi angle)
  log_normal,   // [mean, std] exp of a normal value
  exponential,  // [lambda] -log(r) / lambda
  cauchy,       // [median, sigma] median + sigma tan(pi (u - 1/2))
  geometric,    // [p] the first success: ceil(log(r) / log(1 - p)), at least 1
  bernoulli     // [p] 1 where the uniform double is below p
};

// Floating dtypes take every distribution; integers and bool bernoulli and geometric.
void fill_random(const Tensor& out, Distribution distribution, double a, double b, PhiloxKey key);
// Integers in [low, high).
void fill_integers(const Tensor& out, int64_t low, int64_t high, PhiloxKey key);
// Integers over all 64 bits.
void fill_bits(const Tensor& out, PhiloxKey key);
// 1 where a uniform number is below the element of p, else 0.
void fill_bernoulli(const Tensor& out, const Tensor& p, PhiloxKey key);
// mean + std * (a standard normal value), both broadcast; std must not be negative.
void fill_normal(const Tensor& out, const Tensor& mean, const Tensor& std, PhiloxKey key);
void fill_poisson(const Tensor& out, const Tensor& rate, PhiloxKey key);
// Gamma values of scale 1 with the shapes of `alpha`, at least the smallest normal number.
void fill_gamma(const Tensor& out, const Tensor& alpha, PhiloxKey key);
// Row by row a point of the simplex with these concentrations; numbers are drawn per element.
void fill_dirichlet(const Tensor& out, const Tensor& alpha, PhiloxKey key);
// Angles around 0 of the von Mises distribution.
void fill_von_mises(const Tensor& out, const Tensor& concentration, PhiloxKey key);
// Successes among `count` trials with the chance `prob`, element by element.
void fill_binomial(const Tensor& out, const Tensor& count, const Tensor& prob, PhiloxKey key);
// Fisher-Yates: 0 ... n - 1 in random order; element i is exchanged with one of [i, n).
void fill_permutation(const Tensor& out, PhiloxKey key);
// Row by row `samples` positions, drawn in proportion to the (finite, non-negative) weights.
void fill_multinomial(const Tensor& out, const Tensor& weights, int64_t samples, bool replacement,
                      PhiloxKey key);

}  // namespace fg::kernels
