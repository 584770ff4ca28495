#include "ops/sort/sort.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/ops/values.h"

namespace fg {
namespace {

using Positions = std::vector<int64_t>;

TEST(Sort, puts_nan_last_and_keeps_the_order_of_equals) {
  Tensor x = tensor({0.5, NAN, -INFINITY, 0., -0., INFINITY});
  EXPECT_EQ(argsort(x).to_vector<int64_t>(), (Positions{2, 3, 4, 0, 5, 1}));
  EXPECT_EQ(argsort(x, -1, true).to_vector<int64_t>(), (Positions{1, 5, 0, 3, 4, 2}));
}

template <class T>
void expect_sorted_like_std(DType dtype, int64_t count) {
  std::vector<int64_t> numbers(static_cast<size_t>(count));
  uint64_t state = 1;
  for (int64_t& number : numbers) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    number = static_cast<int64_t>(state >> 33) % 1000 - 500;
  }
  Positions order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return T(numbers[size_t(a)]) < T(numbers[size_t(b)]);
  });
  auto [values, indices] = sort(tensor(numbers, dtype));
  EXPECT_EQ(indices.to_vector<int64_t>(), order) << name(dtype) << ", " << count;
}

TEST(Sort, is_stable_for_every_dtype_and_length) {
  for (int64_t count : {1, 2, 100, 511, 512, 5000}) {
    expect_sorted_like_std<double>(kFloat64, count);
    expect_sorted_like_std<float>(kFloat32, count);
    expect_sorted_like_std<int64_t>(kInt64, count);
    expect_sorted_like_std<int16_t>(kInt16, count);
    expect_sorted_like_std<uint8_t>(kUInt8, count);
  }
}

TEST(Sort, works_along_any_dimension_of_any_layout) {
  Tensor x = tensor({{3., 1.}, {2., 4.}});
  EXPECT_EQ(std::get<0>(sort(x, 0)).to_vector<double>(), (Numbers{2, 1, 3, 4}));
  EXPECT_EQ(std::get<0>(sort(t(x), 1, true)).to_vector<double>(), (Numbers{3, 2, 4, 1}));
}

TEST(Sort, topk_chooses_as_sort_would) {
  std::vector<double> numbers(3000);
  for (size_t i = 0; i < numbers.size(); i++) numbers[i] = double(i * 7919 % 1009);
  Tensor x = tensor(numbers);
  Positions order = argsort(x, -1, true).to_vector<int64_t>();
  for (int64_t k : {1, 20, 33, 700, 2999, 3000}) {
    auto [values, indices] = topk(x, k);
    EXPECT_EQ(indices.to_vector<int64_t>(), Positions(order.begin(), order.begin() + k));
  }
  EXPECT_EQ(std::get<0>(topk(tensor({1., NAN, 2.}), 2)).to_vector<double>()[1], 2);
}

TEST(Sort, refuses_too_many) {
  try {
    topk(ones({2, 3}), 4);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "topk: k = 4 is out of range for dimension 1 with size 3");
  }
}

}  // namespace
}  // namespace fg
