// Matrix products against their definition: the bits of every element are those of a sum over k in
// order, whatever the layout, the neighbours and the threads.
#include "ops/matmul/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "base/error.h"
#include "base/pool.h"

namespace fg::kernels {
namespace {

std::vector<Level> levels() {
  std::vector<Level> all{Level::baseline, Level::v3, Level::v4};
  all.resize(static_cast<size_t>(level()) + 1);
  return all;
}

// A matrix somewhere in a larger buffer.
template <class S>
struct Matrix {
  std::vector<S> memory;
  int64_t first, row_stride, col_stride;

  S& at(int64_t i, int64_t j) { return memory[first + i * row_stride + j * col_stride]; }
  const S& at(int64_t i, int64_t j) const {
    return memory[first + i * row_stride + j * col_stride];
  }
  MatrixView view() const { return {memory.data() + first, row_stride, col_stride}; }
};

enum class Layout { rows, columns, wide_rows, wide_columns, every_third, reversed };
constexpr Layout kLayouts[] = {Layout::rows,         Layout::columns,     Layout::wide_rows,
                               Layout::wide_columns, Layout::every_third, Layout::reversed};

template <class S>
Matrix<S> empty(int64_t rows, int64_t cols, Layout layout) {
  auto memory = [&](int64_t count) { return std::vector<S>(count); };
  switch (layout) {
    case Layout::rows:
      return {memory(rows * cols), 0, cols, 1};
    case Layout::columns:
      return {memory(rows * cols), 0, 1, rows};
    case Layout::wide_rows:
      return {memory(rows * (cols + 5)), 3, cols + 5, 1};
    case Layout::wide_columns:
      return {memory((rows + 7) * cols), 2, 1, rows + 7};
    case Layout::every_third:
      return {memory(3 * rows * cols), 0, 3 * cols, 3};
    case Layout::reversed:
      return {memory(rows * cols), rows * cols - 1, -cols, -1};
  }
  __builtin_unreachable();
}

template <class S>
S random_value(std::mt19937_64& random) {
  if constexpr (std::is_integral_v<S>) {
    return static_cast<S>(random());
  } else {
    return static_cast<S>(static_cast<float>(std::normal_distribution<double>()(random)));
  }
}

template <class S>
Matrix<S> random_matrix(int64_t rows, int64_t cols, uint64_t seed, Layout layout = Layout::rows) {
  std::mt19937_64 random(seed);
  Matrix<S> result = empty<S>(rows, cols, layout);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) result.at(i, j) = random_value<S>(random);
  }
  return result;
}

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// The definition, word for word.
template <class T>
T canonical_sum(Level level, int64_t k, const auto& a, const auto& b) {
  const int64_t blocks = (k + 383) / 384;
  const int64_t length = k <= 384 ? k : round_up((k + blocks - 1) / blocks, 8);
  T total{};
  for (int64_t begin = 0; begin < k; begin += length) {
    T sum{};
    for (int64_t i = begin; i < std::min(begin + length, k); ++i) {
      if constexpr (std::is_floating_point_v<T>) {
        sum = level >= Level::v3 ? std::fma(T(a(i)), T(b(i)), sum) : sum + T(a(i)) * T(b(i));
      } else {
        sum += T(a(i)) * T(b(i));
      }
    }
    total = begin == 0 ? sum : total + sum;
  }
  return total;
}

template <class S, class T>
Matrix<S> reference(Level level, const Matrix<S>& a, const Matrix<S>& b, int64_t m, int64_t n,
                    int64_t k) {
  Matrix<S> c = empty<S>(m, n, Layout::rows);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      c.at(i, j) = static_cast<S>(canonical_sum<T>(
          level, k, [&](int64_t x) { return a.at(i, x); }, [&](int64_t x) { return b.at(x, j); }));
    }
  }
  return c;
}

template <class S>
Matrix<S> product(Level level, const Matrix<S>& a, const Matrix<S>& b, int64_t m, int64_t n,
                  int64_t k, Layout layout = Layout::rows) {
  Matrix<S> c = empty<S>(m, n, layout);
  gemm(DTypeOf<S>::value, {m, n, k, a.view(), b.view(), &c.at(0, 0), c.row_stride}, {}, level);
  return c;
}

template <class S>
bool same_bits(const Matrix<S>& x, const Matrix<S>& y, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < cols; ++j) {
      if (std::memcmp(&x.at(i, j), &y.at(i, j), sizeof(S)) != 0) return false;
    }
  }
  return true;
}

struct Size {
  int64_t m, n, k;
};
constexpr Size kSizes[] = {{1, 1, 1},     {1, 1, 1000},   {1, 100, 70},  {100, 1, 70}, {3, 5, 7},
                           {2, 33, 385},  {7, 17, 9},     {6, 16, 384},  {13, 4, 50},  {4, 70, 3},
                           {50, 31, 770}, {97, 70, 100},  {12, 129, 20}, {40, 3, 500}, {5, 64, 400},
                           {32, 32, 32},  {101, 300, 40}, {200, 65, 33}};

template <class S, class T = S>
void expect_canonical(Level level, Size size, Layout a_layout, Layout b_layout) {
  const auto [m, n, k] = size;
  const auto a = random_matrix<S>(m, k, 1, a_layout), b = random_matrix<S>(k, n, 2, b_layout);
  EXPECT_TRUE(same_bits(product(level, a, b, m, n, k), reference<S, T>(level, a, b, m, n, k), m, n))
      << name(DTypeOf<S>::value) << " " << name(level) << " " << m << "x" << n << "x" << k
      << " layouts " << int(a_layout) << " " << int(b_layout);
}

template <class S>
class GemmFloat : public testing::Test {};
using Floats = testing::Types<float, double>;
TYPED_TEST_SUITE(GemmFloat, Floats);

TYPED_TEST(GemmFloat, EveryElementIsTheSumInOrder) {
  for (Level level : levels()) {
    for (Size size : kSizes) {
      for (Layout layout : kLayouts) {
        expect_canonical<TypeParam>(level, size, layout, Layout::rows);
        expect_canonical<TypeParam>(level, size, layout, Layout::columns);
        expect_canonical<TypeParam>(level, size, Layout::rows, layout);
      }
    }
  }
}

TYPED_TEST(GemmFloat, LargerThanOnePart) {
  for (Level level : levels()) {
    for (Size size : {Size{801, 40, 50}, Size{20, 1100, 30}, Size{3, 4200, 10}, Size{1, 2, 2000},
                      Size{25, 130, 2000}, Size{130, 25, 2000}}) {
      expect_canonical<TypeParam>(level, size, Layout::rows, Layout::rows);
      expect_canonical<TypeParam>(level, size, Layout::columns, Layout::columns);
    }
  }
}

TYPED_TEST(GemmFloat, ManyRowsOrColumns) {
  for (Level level : levels()) {
    for (Layout a : {Layout::rows, Layout::columns, Layout::every_third}) {
      for (Layout b : {Layout::rows, Layout::columns}) {
        expect_canonical<TypeParam>(level, {205, 67, 400}, a, b);
        expect_canonical<TypeParam>(level, {30, 410, 450}, a, b);
        expect_canonical<TypeParam>(level, {400, 270, 50}, a, b);
      }
    }
  }
}

// More of b than is packed at once, over columns and over k.
TYPED_TEST(GemmFloat, RowsOfALargeProductEqualTheRowsAlone) {
  using S = TypeParam;
  for (Size size : {Size{200, 700, 2500}, Size{200, 3000, 400}}) {
    const auto [m, n, k] = size;
    const auto a = random_matrix<S>(m, k, 1), b = random_matrix<S>(k, n, 2);
    const auto whole = product(level(), a, b, m, n, k);
    for (int64_t i = 0; i < m; i += 33) {
      std::vector<S> row(n);
      gemm(DTypeOf<S>::value, {1, n, k, {&a.at(i, 0), k, 1}, b.view(), row.data(), n});
      EXPECT_EQ(std::memcmp(row.data(), &whole.at(i, 0), n * sizeof(S)), 0) << i;
    }
  }
}

TYPED_TEST(GemmFloat, ThreadsDoNotChangeBits) {
  using S = TypeParam;
  const int before = pool::num_threads();
  pool::force_grain(1);
  for (Size size : {Size{150, 150, 400}, Size{1, 5000, 50}, Size{300, 2, 90}, Size{64, 700, 9},
                    Size{500, 100, 400}}) {
    const auto [m, n, k] = size;
    const auto a = random_matrix<S>(m, k, 1), b = random_matrix<S>(k, n, 2);
    pool::set_num_threads(1);
    const auto expected = product(level(), a, b, m, n, k);
    for (int threads : {2, 3, 7}) {
      pool::set_num_threads(threads);
      EXPECT_TRUE(same_bits(product(level(), a, b, m, n, k), expected, m, n)) << threads;
    }
  }
  pool::force_grain(0);
  pool::set_num_threads(before);
}

TYPED_TEST(GemmFloat, ARowOrAColumnAloneEqualsTheWhole) {
  using S = TypeParam;
  const int64_t m = 40, n = 90, k = 500;
  const auto a = random_matrix<S>(m, k, 1), b = random_matrix<S>(k, n, 2);
  for (Level level : levels()) {
    const auto whole = product(level, a, b, m, n, k);
    for (int64_t i = 0; i < m; ++i) {
      std::vector<S> row(n);
      gemm(DTypeOf<S>::value, {1, n, k, {&a.at(i, 0), k, 1}, b.view(), row.data(), n}, {}, level);
      for (int64_t j = 0; j < n; ++j) ASSERT_EQ(row[j], whole.at(i, j)) << i << " " << j;
    }
    for (int64_t j = 0; j < n; ++j) {
      std::vector<S> col(m);
      gemm(DTypeOf<S>::value, {m, 1, k, a.view(), {&b.at(0, j), n, 1}, col.data(), 1}, {}, level);
      for (int64_t i = 0; i < m; ++i) ASSERT_EQ(col[i], whole.at(i, j)) << i << " " << j;
    }
  }
}

TYPED_TEST(GemmFloat, ZeroStridesRepeatARowOrAColumn) {
  using S = TypeParam;
  const int64_t m = 20, n = 40, k = 50;
  for (Level level : levels()) {
    auto a = random_matrix<S>(m, k, 1), b = random_matrix<S>(k, n, 2);
    a.row_stride = 0;
    b.col_stride = 0;
    EXPECT_TRUE(
        same_bits(product(level, a, b, m, n, k), reference<S, S>(level, a, b, m, n, k), m, n));
    a.col_stride = 0;
    EXPECT_TRUE(
        same_bits(product(level, a, b, m, n, k), reference<S, S>(level, a, b, m, n, k), m, n));
  }
}

TYPED_TEST(GemmFloat, InfinityAndNanStayInTheirRowAndColumn) {
  using S = TypeParam;
  const int64_t m = 14, n = 35, k = 20;
  for (Level level : levels()) {
    auto a = random_matrix<S>(m, k, 1), b = random_matrix<S>(k, n, 2);
    a.at(m - 1, 3) = NAN;
    b.at(4, n - 1) = INFINITY;
    const auto c = product(level, a, b, m, n, k);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        EXPECT_EQ(std::isnan(c.at(i, j)), i == m - 1);
        EXPECT_EQ(std::isinf(c.at(i, j)), i < m - 1 && j == n - 1);
      }
    }
  }
}

TYPED_TEST(GemmFloat, SelfIsAddedToTheFinishedSums) {
  using S = TypeParam;
  for (Level level : levels()) {
    for (Size size : {Size{2, 3, 4}, Size{20, 50, 400}, Size{3, 5, 0}, Size{50, 3, 70},
                      Size{205, 67, 400}, Size{30, 410, 450}, Size{200, 700, 2500}}) {
      const auto [m, n, k] = size;
      const auto a = random_matrix<S>(m, k, 1), b = random_matrix<S>(k, n, 2, Layout::columns);
      const auto self = random_matrix<S>(m, n, 3, Layout::wide_columns);
      const auto sums = product(level, a, b, m, n, k);
      const int64_t rows = self.row_stride, cols = self.col_stride;
      for (auto [row, col] : {std::pair{rows, cols},
                              {int64_t{0}, cols},
                              {rows, int64_t{0}},
                              {int64_t{0}, int64_t{1}}}) {
        auto c = empty<S>(m, n, Layout::rows);
        gemm(DTypeOf<S>::value,
             {m, n, k, a.view(), b.view(), &c.at(0, 0), n, {&self.at(0, 0), row, col}}, {}, level);
        bool same = true;
        for (int64_t i = 0; i < m; ++i) {
          for (int64_t j = 0; j < n; ++j) {
            same &= c.at(i, j) == sums.at(i, j) + (&self.at(0, 0))[i * row + j * col];
          }
        }
        EXPECT_TRUE(same) << m << "x" << n << "x" << k << " strides " << row << " " << col;
      }
    }
  }
}

TEST(Gemm, HalvesAreComputedInFloatAndRoundedOnce) {
  for (Level level : levels()) {
    for (Size size : kSizes) {
      for (Layout layout : kLayouts) {
        expect_canonical<Half, float>(level, size, layout, Layout::rows);
        expect_canonical<Half, float>(level, size, Layout::columns, layout);
        expect_canonical<BFloat16, float>(level, size, layout, Layout::rows);
        expect_canonical<BFloat16, float>(level, size, Layout::columns, layout);
      }
    }
  }
}

#ifdef __x86_64__
TEST(Gemm, CountsFloatsBelowTheNormalNumbersAsZeroAndOnlyInside) {
  volatile float least = std::numeric_limits<float>::min();
  for (Level level : levels()) {
    for (Size size : {Size{1, 1, 1}, Size{5, 40, 7}, Size{300, 300, 20}}) {
      std::vector<float> a(size.m * size.k, least / 4), b(size.k * size.n, 1),
          c(size.m * size.n, 1);
      Product product{size.m,   size.n, size.k, {a.data(), size.k, 1}, {b.data(), size.n, 1},
                      c.data(), size.n};
      gemm(DType::f32, product, {}, level);
      EXPECT_EQ(c, std::vector<float>(c.size(), 0)) << name(level);
      EXPECT_GT(least / 4, 0);  // this thread has them as before
    }
  }
}
#endif

TEST(Gemm, IntegersWrap) {
  for (Level level : levels()) {
    for (Size size : kSizes) {
      for (Layout layout : {Layout::rows, Layout::columns, Layout::every_third}) {
        expect_canonical<uint8_t, uint64_t>(level, size, layout, Layout::rows);
        expect_canonical<int8_t, uint64_t>(level, size, Layout::rows, layout);
        expect_canonical<int16_t, uint64_t>(level, size, layout, Layout::columns);
        expect_canonical<int32_t, uint64_t>(level, size, Layout::columns, layout);
        expect_canonical<int64_t, uint64_t>(level, size, layout, layout);
      }
    }
  }
}

TEST(Gemm, WritesOnlyTheElementsOfC) {
  for (Level level : levels()) {
    for (Size size : kSizes) {
      const auto [m, n, k] = size;
      const auto a = random_matrix<float>(m, k, 1), b = random_matrix<float>(k, n, 2);
      std::vector<float> memory(m * (n + 3) + 1, 42.f);
      gemm(DType::f32, {m, n, k, a.view(), b.view(), memory.data() + 1, n + 3}, {}, level);
      EXPECT_EQ(memory[0], 42.f);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = n; j < n + 3; ++j) EXPECT_EQ(memory[1 + i * (n + 3) + j], 42.f);
      }
    }
  }
}

TEST(Gemm, ABatchIsItsProductsOneByOne) {
  const int64_t m = 9, n = 20, k = 30, outer = 3, inner = 4;
  const auto a = random_matrix<float>(inner * m, k, 1), b = random_matrix<float>(outer * k, n, 2);
  const std::vector<int64_t> sizes{outer, inner}, a_strides{0, m * k}, b_strides{k * n, 0},
      c_strides{inner * m * n, m * n};
  for (int threads : {1, 3}) {
    pool::force_grain(1);
    pool::set_num_threads(threads);
    std::vector<float> c(outer * inner * m * n);
    gemm(DType::f32, {m, n, k, a.view(), b.view(), c.data(), n},
         {sizes, a_strides, b_strides, c_strides});
    for (int64_t i = 0; i < outer * inner; ++i) {
      Matrix<float> one_a = a, one_b = b;
      one_a.first = i % inner * m * k;
      one_b.first = i / inner * k * n;
      const auto expected = product(level(), one_a, one_b, m, n, k);
      EXPECT_EQ(std::memcmp(expected.memory.data(), &c[i * m * n], m * n * sizeof(float)), 0) << i;
    }
  }
  pool::force_grain(0);
}

TEST(Gemm, NoKGivesZerosAndNoRowsGiveNothing) {
  std::vector<float> c(6, 42.f);
  gemm(DType::f32, {2, 2, 0, {nullptr, 0, 1}, {nullptr, 2, 1}, c.data(), 3});
  EXPECT_EQ(c, (std::vector<float>{0, 0, 42, 0, 0, 42}));
  gemm(DType::f32, {0, 2, 3, {nullptr, 3, 1}, {nullptr, 2, 1}, c.data(), 2});
  gemm(DType::f32, {2, 0, 3, {nullptr, 3, 1}, {nullptr, 0, 1}, c.data(), 0});
  const std::vector<int64_t> none{0}, stride{0};
  gemm(DType::f32, {2, 2, 3, {nullptr, 3, 1}, {nullptr, 2, 1}, c.data(), 2},
       {none, stride, stride, stride});
  EXPECT_EQ(c, (std::vector<float>{0, 0, 42, 0, 0, 42}));
}

TEST(Gemm, RefusesBool) {
  bool x = true;
  EXPECT_THROW(gemm(DType::boolean, {1, 1, 1, {&x, 1, 1}, {&x, 1, 1}, &x, 1}), Error);
}

}  // namespace
}  // namespace fg::kernels
