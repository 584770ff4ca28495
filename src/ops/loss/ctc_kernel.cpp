#include "ops/loss/ctc_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace fg::kernels {

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

// The target with a blank before, between and after its labels.
template <class T>
struct Path {
  const CtcSample<T>& sample;
  int64_t length = 2 * sample.labels + 1;

  int64_t label(int64_t s) const { return s % 2 ? sample.target[s / 2] : sample.blank; }
  double log_prob(int64_t t, int64_t s) const {
    return static_cast<double>(sample.log_probs[t * sample.step + label(s)]);
  }
  // Whether the blank before s may be left out.
  bool skips(int64_t s) const { return s >= 2 && label(s) != label(s - 2) && s % 2; }
};

// rows[t][s]: log of the probability of all beginnings that are at s after time t.
template <class T>
std::vector<double> beginnings(const Path<T>& path) {
  const int64_t times = path.sample.times, length = path.length;
  std::vector<double> rows(static_cast<size_t>(times * length), kNever);
  for (int64_t s = 0; s < std::min<int64_t>(length, 2); s++) rows[s] = path.log_prob(0, s);
  for (int64_t t = 1; t < times; t++) {
    const double* before = rows.data() + (t - 1) * length;
    double* now = rows.data() + t * length;
    for (int64_t s = 0; s < length; s++) {
      double sum = before[s];
      if (s >= 1) sum = log_add(sum, before[s - 1]);
      if (path.skips(s)) sum = log_add(sum, before[s - 2]);
      now[s] = sum == kNever ? kNever : sum + path.log_prob(t, s);
    }
  }
  return rows;
}

double total(const std::vector<double>& rows, int64_t length) {
  const double last = rows.back();
  return length > 1 ? log_add(last, rows[rows.size() - 2]) : last;
}

}  // namespace

template <class T>
T ctc_loss(const CtcSample<T>& sample) {
  if (sample.times == 0) {
    return sample.labels == 0 ? T(0) : std::numeric_limits<T>::infinity();
  }
  Path<T> path{sample};
  return static_cast<T>(-total(beginnings(path), path.length));
}

template <class T>
void ctc_gradient(const CtcSample<T>& sample, T grad, T* out) {
  if (sample.times == 0) return;
  Path<T> path{sample};
  const int64_t length = path.length;
  const std::vector<double> begun = beginnings(path);
  const double all = total(begun, length);
  // ends[s]: log of the probability of all ends that are at s at time t, that time included.
  std::vector<double> ends(static_cast<size_t>(length), kNever), next = ends, sums;
  for (int64_t t = sample.times - 1; t >= 0; t--) {
    for (int64_t s = length - 1; s >= 0; s--) {
      double sum = next[s];
      if (s + 1 < length) sum = log_add(sum, next[s + 1]);
      if (s + 2 < length && path.skips(s + 2)) sum = log_add(sum, next[s + 2]);
      if (t == sample.times - 1) sum = s >= length - 2 ? 0 : kNever;
      ends[s] = sum == kNever ? kNever : sum + path.log_prob(t, s);
    }
    sums.assign(static_cast<size_t>(sample.classes), kNever);
    for (int64_t s = 0; s < length; s++) {
      double& sum = sums[path.label(s)];
      sum = log_add(sum, begun[t * length + s] + ends[s]);
    }
    for (int64_t c = 0; c < sample.classes; c++) {
      const auto log_prob = static_cast<double>(sample.log_probs[t * sample.step + c]);
      const double share =
          sums[c] == kNever && all != kNever ? 0 : std::exp(sums[c] - all - log_prob);
      out[t * sample.step + c] =
          static_cast<T>(static_cast<double>(grad) * (std::exp(log_prob) - share));
    }
    std::swap(ends, next);
  }
}

template float ctc_loss(const CtcSample<float>&);
template double ctc_loss(const CtcSample<double>&);
template void ctc_gradient(const CtcSample<float>&, float, float*);
template void ctc_gradient(const CtcSample<double>&, double, double*);

}  // namespace fg::kernels
