#include "ops/create/create.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "ir/registry.h"
#include "ops/view/views.h"
#include "tests/error_of.h"

namespace fg {
namespace {

// More than one thread fills them, the last one less than the others.
TEST(Create, large_tensors_are_filled_to_their_end) {
  for (DType dtype : {kUInt8, kFloat64}) {
    int64_t count = 9'000'001;
    EXPECT_EQ(full({count}, 3, dtype).eq(3).sum().item<int64_t>(), count) << name(dtype);
  }
}

TEST(Create, numbers_decide_the_dtype) {
  EXPECT_EQ(full({2}, 1.5).dtype(), kFloat32);
  EXPECT_EQ(full({2}, 3).dtype(), kInt64);
  EXPECT_EQ(full({2}, true).dtype(), kBool);
  EXPECT_EQ(arange(5).dtype(), kInt64);
  EXPECT_EQ(arange(5.0).dtype(), kFloat32);
  EXPECT_EQ(arange(0, 1, 0.5).dtype(), kFloat32);
  EXPECT_EQ(arange(true).dtype(), kInt64);
  EXPECT_EQ(linspace(0, 1, 3).dtype(), kFloat32);
  EXPECT_EQ(new_full(zeros({1}, kFloat16), {2}, 3).dtype(), kFloat16);
}

TEST(Create, arange_has_the_length_of_pytorch) {
  using Ints = std::vector<int64_t>;
  EXPECT_EQ(arange(5).to_vector<int64_t>(), (Ints{0, 1, 2, 3, 4}));
  EXPECT_EQ(arange(1, 1).numel(), 0);
  EXPECT_EQ(arange(5, -4, -3).to_vector<int64_t>(), (Ints{5, 2, -1}));
  EXPECT_EQ(arange(0, 2, 0.3).numel(), 7);
  EXPECT_EQ(arange(0, 5, 2, kUInt8).to_vector<int64_t>(), (Ints{0, 2, 4}));
  int64_t large = 9007199254740993;  // no double
  EXPECT_EQ(arange(large, large + 2).to_vector<int64_t>(), (Ints{large, large + 1}));
}

TEST(Create, arange_refuses_ranges_without_end) {
  EXPECT_NE(error_of([] { arange(1, 5, 0); }).find("step is zero"), std::string::npos);
  EXPECT_NE(error_of([] { arange(0, 1, 0.1, kInt64); }).find("step is zero"), std::string::npos);
  EXPECT_NE(error_of([] { arange(5, 1); }).find("change its sign"), std::string::npos);
  EXPECT_NE(error_of([] { arange(0, HUGE_VAL); }).find("not finite"), std::string::npos);
  EXPECT_NE(error_of([] { arange(0, 5, 1, kBool); }).find("bool is not"), std::string::npos);
}

TEST(Create, linspace_meets_both_ends) {
  auto values = linspace(3, -2, 4, kFloat64).to_vector<double>();
  EXPECT_EQ(values.front(), 3);
  EXPECT_EQ(values.back(), -2);
  EXPECT_EQ(linspace(0, 10, 5, kInt64).to_vector<int64_t>(),
            (std::vector<int64_t>{0, 2, 5, 7, 10}));
  EXPECT_EQ(linspace(0.9, 2.9, 3, kInt64).to_vector<int64_t>(), (std::vector<int64_t>{0, 1, 2}))
      << "the ends are truncated first";
  EXPECT_EQ(linspace(2, 9, 1).item<double>(), 2);
  EXPECT_EQ(linspace(2, 9, 0).numel(), 0);
  EXPECT_EQ(logspace(0, 2, 3).to_vector<double>(), (std::vector<double>{1, 10, 100}));
  EXPECT_NE(error_of([] { linspace(0, 1, -1); }).find("steps is -1"), std::string::npos);
}

TEST(Create, eye_may_be_wide_or_tall) {
  EXPECT_EQ(eye(2, 3).to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(eye(3, 2, kBool).to_vector<int64_t>(), (std::vector<int64_t>{1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(eye(0).sizes(), (Dims{0, 0}));
}

TEST(Create, likes_keep_the_order_of_dimensions) {
  Tensor x = transpose(slice(zeros({4, 6}), 1, {}, {}, 2), 0, 1);
  EXPECT_EQ(zeros_like(x).strides(), (Dims{1, 3}));
  EXPECT_EQ(empty_like(x).strides(), (Dims{1, 3}));
  EXPECT_EQ(x.clone().strides(), (Dims{1, 3}));
  EXPECT_EQ(zeros_like(expand(zeros({1, 3}), {4, 3})).strides(), (Dims{3, 1}));
}

TEST(Create, values_must_fit) {
  EXPECT_NE(error_of([] { full({2}, 300, kUInt8); }).find("does not fit into uint8"),
            std::string::npos);
  EXPECT_NE(error_of([] { full({2}, 1e6, kFloat16); }).find("does not fit"), std::string::npos);
  EXPECT_EQ(full({1}, -1, kUInt8).item<int64_t>(), 255);
  EXPECT_EQ(full({1}, 2.7, kBool).item<int64_t>(), 1);
  EXPECT_EQ(full_like(zeros({1}, kInt64), 2.7).item<int64_t>(), 2);
  EXPECT_EQ(full({1}, HUGE_VAL, kFloat16).item<double>(), HUGE_VAL);
}

TEST(Create, sizes_must_be_possible) {
  EXPECT_THROW(zeros({-1}), Error);
  EXPECT_THROW(zeros({int64_t{1} << 40, int64_t{1} << 40}), Error);
  EXPECT_THROW(eye(-1), Error);
  EXPECT_NE(error_of([] { empty_strided({2, 2}, {1}); }).find("one stride per size"),
            std::string::npos);
  EXPECT_NE(error_of([] { empty_strided({2, 2}, {-1, 1}); }).find("negative"), std::string::npos);
}

TEST(Create, out_decides_the_dtype_where_none_is_given) {
  Tensor out = empty({0}, kInt64);
  std::vector<ir::Value> arguments{Dims{3}};
  ir::call_out(*ir::find_function("zeros"), arguments, {out});
  EXPECT_EQ(out.sizes(), (Dims{3}));
  EXPECT_EQ(out.dtype(), kInt64);
}

}  // namespace
}  // namespace fg
