#include "ops/reduce/reduce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/pool.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/reduce/reduce_order.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/view/views.h"

namespace fg {
namespace {

// The canonical order, written as plainly as it can be.
template <class T, class F>
T canonical(std::vector<T> row, T identity, F combine) {
  if (row.empty()) return identity;
  while (true) {
    std::vector<T> next;
    for (size_t begin = 0; begin < row.size(); begin += 512) {
      T lanes[16];
      std::fill(lanes, lanes + 16, identity);
      for (size_t i = begin; i < std::min(begin + 512, row.size()); i++)
        lanes[(i - begin) % 16] = combine(lanes[(i - begin) % 16], row[i]);
      for (int half = 8; half > 0; half /= 2) {
        for (int j = 0; j < half; j++) lanes[j] = combine(lanes[j], lanes[j + half]);
      }
      next.push_back(lanes[0]);
    }
    if (next.size() == 1) return next[0];
    row = next;
  }
}
float canonical_sum(const std::vector<float>& row) {
  return canonical<float>(row, 0.0f, [](float a, float b) { return a + b; });
}

Tensor noise(const Dims& sizes, DType dtype = kFloat32) {
  Tensor result = empty_tensor(sizes, kFloat32);
  float* data = result.data_ptr<float>();
  uint32_t state = 12345;
  for (int64_t i = 0; i < result.numel(); i++) {
    state = state * 1664525u + 1013904223u;
    data[i] = (static_cast<float>(state >> 8) / 8388608.0f - 1) * static_cast<float>(1 + i % 5);
  }
  return result.to(dtype);
}

ErrorKind kind_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.kind();
  }
  return ErrorKind::internal;
}

TEST(Reduce, SumsRowsInTheCanonicalOrder) {
  for (int64_t n : {0, 1, 15, 16, 17, 511, 512, 513, 1024, 2600, 512 * 512 + 700}) {
    Tensor x = noise({n});
    EXPECT_EQ(sum(x).item<float>(), canonical_sum(x.to_vector<float>())) << n;
  }
}

TEST(Reduce, TheOrderDoesNotDependOnTheLayout) {
  for (auto [rows, columns] :
       {std::pair<int64_t, int64_t>{5, 40}, {600, 33}, {1500, 16}, {700, 5}, {9, 8}, {1300, 8}}) {
    Tensor x = noise({rows, columns});
    Tensor turned = x.transpose(0, 1).contiguous();
    EXPECT_EQ(sum(x, {0}).to_vector<float>(), sum(turned, {1}).to_vector<float>());
    EXPECT_EQ(sum(x.transpose(0, 1), {1}).to_vector<float>(), sum(turned, {1}).to_vector<float>());
  }
  Tensor x = noise({7, 3, 200});
  Tensor moved = x.permute({1, 0, 2}).contiguous();
  EXPECT_EQ(sum(x, Dims{0, 2}).to_vector<float>(), sum(moved, Dims{1, 2}).to_vector<float>());
}

// Images in blocks of channels, and what has eight columns otherwise.
TEST(Reduce, EightColumnsAreReducedInTheSameOrder) {
  for (const Dims& sizes : {Dims{4, 3, 16, 16, 8}, Dims{7, 3, 5, 9, 8}, Dims{33, 1, 8, 8, 8},
                            Dims{2, 2, 40, 40, 8}, Dims{3, 1, 1, 3, 8}}) {
    for (DType dtype : {kFloat32, kFloat64, kFloat16, kInt64}) {
      Tensor x = (noise(sizes) * 100).to(dtype);
      Tensor plain = x.permute({1, 4, 0, 2, 3}).contiguous();
      for (const Dims& spatial : {Dims{0, 2, 3}, Dims{2, 3}}) {
        Dims in_plain = spatial.size() == 3 ? Dims{2, 3, 4} : Dims{3, 4};
        for (auto reduce : {+[](const Tensor& t, const Dims& d) { return sum(t, d); },
                            +[](const Tensor& t, const Dims& d) { return amax(t, d); }}) {
          Tensor expected = reduce(plain, in_plain);
          if (spatial.size() == 2) expected = expected.permute({2, 0, 1});
          EXPECT_EQ(reduce(x, spatial).to_vector<double>(), expected.to_vector<double>());
        }
      }
    }
  }
}

TEST(Reduce, TheOrderDoesNotDependOnTheThreads) {
  Tensor x = noise({3, 5000}), y = noise({1300, 80});
  auto results = [&] {
    std::vector<float> all = sum(x, {1}).to_vector<float>();
    for (float value : sum(y, {0}).to_vector<float>()) all.push_back(value);
    all.push_back(sum(x).item<float>());
    return all;
  };
  auto expected = results();
  int before = pool::num_threads();
  pool::force_grain(1);
  for (int threads : {1, 2, 3}) {
    pool::set_num_threads(threads);
    EXPECT_EQ(results(), expected) << threads;
  }
  pool::force_grain(0);
  pool::set_num_threads(before);
}

TEST(Reduce, SixteenBitFloatsAreRoundedOnce) {
  Tensor x = noise({700}, kBFloat16);
  EXPECT_EQ(sum(x).dtype(), kBFloat16);
  float exact = canonical_sum(x.to_vector<float>());
  EXPECT_EQ(sum(x).item<float>(), static_cast<float>(BFloat16(exact)));
}

TEST(Reduce, IntegersAndBoolsSumAsInt64) {
  EXPECT_EQ(sum(tensor({true, true, false})).dtype(), kInt64);
  EXPECT_EQ(sum(full({300}, 100, kInt8)).item<int64_t>(), 30000);
  EXPECT_EQ(sum(full({300}, 100, kInt8), kInt8).item<int64_t>(), static_cast<int8_t>(30000));
  EXPECT_EQ(prod(full({3}, 100, kInt8)).item<int64_t>(), 1000000);
}

TEST(Reduce, NothingSumsToZeroAndMultipliesToOne) {
  Tensor nothing = zeros({0, 3});
  EXPECT_EQ(sum(nothing, {0}).to_vector<float>(), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(prod(nothing).item<float>(), 1);
  EXPECT_TRUE(std::isnan(mean(nothing).item<float>()));
  EXPECT_TRUE(all(nothing).item<bool>());
  EXPECT_FALSE(any(nothing).item<bool>());
  EXPECT_EQ(amax(nothing, {1}).numel(), 0);
  EXPECT_EQ(kind_of([&] { amax(nothing, {0}); }), ErrorKind::index);
  EXPECT_EQ(kind_of([&] { argmax(nothing); }), ErrorKind::index);
}

TEST(Reduce, RefusesWrongDimensions) {
  Tensor x = zeros({2, 3});
  EXPECT_EQ(kind_of([&] { sum(x, {2}); }), ErrorKind::index);
  EXPECT_EQ(kind_of([&] { sum(x, Dims{0, -2}); }), ErrorKind::runtime);
  EXPECT_EQ(kind_of([&] { mean(tensor({1, 2})); }), ErrorKind::runtime);
  EXPECT_EQ(kind_of([&] { var(tensor({1, 2})); }), ErrorKind::runtime);
}

TEST(Reduce, NanWinsAndTheFirstOfEqualsIsFound) {
  float nan = std::nanf("");
  Tensor x = tensor<float>({1, 3, nan, 3, nan});
  EXPECT_TRUE(std::isnan(max(x).item<float>()));
  EXPECT_TRUE(std::isnan(amin(x).item<float>()));
  EXPECT_EQ(argmax(x).item<int64_t>(), 2);
  EXPECT_EQ(argmin(x).item<int64_t>(), 2);
  EXPECT_EQ(argmax(tensor({1, 3, 3})).item<int64_t>(), 1);
  auto [values, indices] = max(tensor({{1, 5}, {7, 2}}), 0, true);
  EXPECT_EQ(values.to_vector<int64_t>(), (std::vector<int64_t>{7, 5}));
  EXPECT_EQ(indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(indices.sizes(), (Dims{1, 2}));
}

TEST(Reduce, TheGradientOfTheLargestIsSharedByTies) {
  Tensor x = tensor<double>({1, 4, 4, 2}).requires_grad_();
  max(x).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{0, 0.5, 0.5, 0}));
}

TEST(Reduce, VarianceTakesACorrection) {
  Tensor x = tensor({{1., 2., 4.}, {3., 3., 3.}}, kFloat64);
  EXPECT_NEAR(var(x, {1}).to_vector<double>()[0], 7. / 3, 1e-12);
  EXPECT_NEAR(var(x, {1}, false).to_vector<double>()[0], 14. / 9, 1e-12);
  EXPECT_NEAR(x.std(Dims{1}, 0).to_vector<double>()[0], std::sqrt(14. / 9), 1e-12);
  EXPECT_TRUE(std::isnan(var(tensor({1.})).item<double>()));
}

TEST(Reduce, NormsOfEveryOrder) {
  Tensor x = tensor({3., -4., 0.}, kFloat64);
  double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(norm(x).item<double>(), 5);
  EXPECT_EQ(norm(x, 1).item<double>(), 7);
  EXPECT_EQ(norm(x, 0).item<double>(), 2);
  EXPECT_EQ(norm(x, infinity).item<double>(), 4);
  EXPECT_EQ(norm(x, -infinity).item<double>(), 0);
  EXPECT_NEAR(norm(x, 3).item<double>(), std::cbrt(91), 1e-12);
}

TEST(Reduce, a_correction_beyond_the_count_gives_the_gradient_of_pytorch) {
  Tensor x = tensor({1., 2., 4.}, kFloat64).requires_grad_();
  fg::std(x, OptDims(), OptScalar(Scalar(300))).backward();  // infinite
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace fg
