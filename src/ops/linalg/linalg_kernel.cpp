#include "ops/linalg/linalg_kernel.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/fail.h"
#include "base/pool.h"

namespace fg::kernels {
namespace {

template <class F>
void visit_real(DType dtype, F f) {
  if (dtype == kFloat64)
    f(double{});
  else if (dtype == kFloat32)
    f(float{});
  else
    fail(ErrorKind::internal, "linalg: got {}; expected float32 or float64", name(dtype));
}

// f(index, begin of the matrix) for every matrix of n x m elements.
template <class F>
void each_matrix(int64_t count, int64_t work, F f) {
  int64_t grain = std::max<int64_t>(1, 4096 / std::max<int64_t>(1, work));
  pool::parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) f(i);
  });
}
int64_t rows_of(const Tensor& matrices) {
  return matrices.sizes()[matrices.sizes().size() - 2].value();
}
int64_t columns_of(const Tensor& matrices) { return matrices.sizes().back().value(); }
int64_t count_of(const Tensor& matrices, int64_t elements) {
  return elements == 0 ? 0 : matrices.numel() / elements;
}

// to -= factor * from over n elements.
template <class T>
void subtract(T* __restrict to, const T* __restrict from, T factor, int64_t n) {
  for (int64_t j = 0; j < n; j++) to[j] -= factor * from[j];
}

// Column by column: with column k done, the rows below lose their share of it.
//   l_kk = sqrt(a_kk), l_ik = a_ik / l_kk, a_ij -= l_ik l_jk for k < j <= i.
template <class T>
int32_t factor_one(const T* a, T* l, int64_t n, std::vector<T>& column) {
  for (int64_t i = 0; i < n; i++) {
    std::copy_n(a + i * n, i + 1, l + i * n);
    std::fill_n(l + i * n + i + 1, n - i - 1, T(0));
  }
  for (int64_t k = 0; k < n; k++) {
    T pivot = l[k * n + k];
    if (!(pivot > 0)) return static_cast<int32_t>(k + 1);
    T root = std::sqrt(pivot);
    l[k * n + k] = root;
    for (int64_t i = k + 1; i < n; i++) column[static_cast<size_t>(i)] = l[i * n + k] /= root;
    for (int64_t i = k + 1; i < n; i++) {
      subtract(l + i * n + k + 1, column.data() + k + 1, column[static_cast<size_t>(i)], i - k);
    }
  }
  return 0;
}

// Row by row from the end where all else is known: x_i = (b_i - sum of a_ik x_k) / a_ii.
template <class T>
void solve_one(const T* a, T* b, int64_t n, int64_t m, bool upper, bool unit) {
  for (int64_t step = 0; step < n; step++) {
    int64_t i = upper ? n - 1 - step : step;
    T* row = b + i * m;
    for (int64_t past = 0; past < step; past++) {
      int64_t k = upper ? n - 1 - past : past;
      subtract(row, b + k * m, a[i * n + k], m);
    }
    if (unit) continue;
    T pivot = a[i * n + i];
    for (int64_t j = 0; j < m; j++) row[j] /= pivot;
  }
}

// A rotation of rows and columns p, q that makes a_pq zero, and the same of the vectors.
void rotate(double* a, double* v, int64_t n, int64_t p, int64_t q) {
  double off = a[p * n + q];
  if (off == 0) return;
  double theta = (a[q * n + q] - a[p * n + p]) / (2 * off);
  double t = std::copysign(1 / (std::fabs(theta) + std::sqrt(theta * theta + 1)), theta);
  double c = 1 / std::sqrt(t * t + 1), s = t * c;
  auto turn = [&](double& x, double& y) {
    double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  };
  for (int64_t k = 0; k < n; k++) turn(a[k * n + p], a[k * n + q]);
  for (int64_t k = 0; k < n; k++) turn(a[p * n + k], a[q * n + k]);
  a[p * n + q] = a[q * n + p] = 0;
  for (int64_t k = 0; k < n; k++) turn(v[k * n + p], v[k * n + q]);
}
double off_diagonal(const std::vector<double>& a, int64_t n) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++) {
      double value = a[static_cast<size_t>(i * n + j)];
      sum += value * value;
    }
  }
  return sum;
}

template <class T>
void decompose_one(const T* matrix, T* values, T* vectors, int64_t n) {
  std::vector<double> a(static_cast<size_t>(n * n)), v(a.size(), 0);
  double scale = 0;
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < n; j++) {
      double value = matrix[std::max(i, j) * n + std::min(i, j)];
      a[static_cast<size_t>(i * n + j)] = value;
      scale += value * value;
    }
    v[static_cast<size_t>(i * n + i)] = 1;
  }
  for (int sweep = 0; sweep < 60 && off_diagonal(a, n) > 1e-34 * scale; sweep++) {
    for (int64_t p = 0; p < n; p++) {
      for (int64_t q = p + 1; q < n; q++) rotate(a.data(), v.data(), n, p, q);
    }
  }
  std::vector<int64_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  auto value = [&](int64_t i) { return a[static_cast<size_t>(i * n + i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t i, int64_t j) { return value(i) < value(j); });
  for (int64_t k = 0; k < n; k++) {
    int64_t from = order[static_cast<size_t>(k)];
    values[k] = static_cast<T>(value(from));
    for (int64_t i = 0; i < n; i++)
      vectors[i * n + k] = static_cast<T>(v[static_cast<size_t>(i * n + from)]);
  }
}

}  // namespace

void factor_cholesky(const Tensor& matrices, const Tensor& out, const Tensor& info) {
  int64_t n = columns_of(matrices), count = info.numel();
  auto* problems = info.data_ptr<int32_t>();
  visit_real(matrices.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = matrices.data_ptr<T>();
    T* to = out.data_ptr<T>();
    each_matrix(count, n * n * n, [&](int64_t i) {
      std::vector<T> column(static_cast<size_t>(n));
      problems[i] = factor_one(from + i * n * n, to + i * n * n, n, column);
    });
  });
}

void solve_triangular(const Tensor& a, const Tensor& b, bool upper, bool unit) {
  int64_t n = rows_of(b), m = columns_of(b);
  visit_real(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = a.data_ptr<T>();
    T* to = b.data_ptr<T>();
    each_matrix(count_of(b, n * m), n * n * m,
                [&](int64_t i) { solve_one(from + i * n * n, to + i * n * m, n, m, upper, unit); });
  });
}

void decompose_symmetric(const Tensor& matrices, const Tensor& values, const Tensor& vectors) {
  int64_t n = columns_of(matrices);
  visit_real(matrices.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = matrices.data_ptr<T>();
    T *roots = values.data_ptr<T>(), *to = vectors.data_ptr<T>();
    each_matrix(count_of(matrices, n * n), n * n * n * 10, [&](int64_t i) {
      decompose_one(from + i * n * n, roots + i * n, to + i * n * n, n);
    });
  });
}

}  // namespace fg::kernels
