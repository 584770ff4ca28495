#include "ops/pooling/pooling.h"

#include <cmath>

#include "ops/elementwise/arithmetic.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

using Values = std::vector<double>;

TEST(Pooling, the_maximum_prefers_nan_and_the_first_of_equals) {
  Tensor x = tensor({{{1., std::nan(""), 3.}, {4., 5., 6.}}});
  auto [values, indices] = max_pool2d_with_indices(x, 2, 1);
  EXPECT_TRUE(std::isnan(values.to_vector<double>()[0]));
  EXPECT_EQ(indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 1}));
  auto [flat, at] = max_pool1d_with_indices(tensor({{1, 5, 5, 2, 7}}), 3, 2, 0, 1, true);
  EXPECT_EQ(flat.to_vector<int64_t>(), (std::vector<int64_t>{5, 7}));
  EXPECT_EQ(at.to_vector<int64_t>(), (std::vector<int64_t>{1, 4}));
}

TEST(Pooling, averages_count_padding_unless_told_otherwise) {
  Tensor x = counted({1, 1, 5}) + 1;
  EXPECT_EQ(avg_pool1d(x, 3, 2, 1, true, true).to_vector<double>(), (Values{1, 3, 3}));
  EXPECT_EQ(avg_pool1d(x, 3, 2, 1, true, false).to_vector<double>(), (Values{1.5, 3, 4.5}));
  // Elements beyond the padding, reached in ceil_mode, never count.
  EXPECT_EQ(avg_pool1d(counted({1, 1, 4}) + 1, 3, 2, 1, true).to_vector<double>(),
            (Values{1, 3, 2}));
  EXPECT_EQ(avg_pool2d(tensor({{{1, 2}, {3, 5}}}), 2).item<int64_t>(), 2);
}

TEST(Pooling, adaptive_windows_share_the_input) {
  EXPECT_EQ(adaptive_avg_pool1d(counted({1, 1, 5}), 3).to_vector<double>(), (Values{0.5, 2, 3.5}));
  auto [values, indices] = adaptive_max_pool1d(counted({1, 1, 5}), 3);
  EXPECT_EQ(values.to_vector<double>(), (Values{1, 3, 4}));
  EXPECT_EQ(indices.to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 4}));
}

TEST(Pooling, records_the_nodes_of_pytorch) {
  Tensor x = ones({1, 2, 4, 4}).requires_grad_();
  auto node = [](const Tensor& y) { return y.grad_fn()->name(); };
  EXPECT_EQ(node(max_pool2d(x, 2)), "MaxPool2DWithIndicesBackward0");
  EXPECT_EQ(node(avg_pool2d(x, 2)), "AvgPool2DBackward0");
  EXPECT_EQ(node(adaptive_avg_pool2d(x, 2)), "AdaptiveAvgPool2DBackward0");
  EXPECT_EQ(node(adaptive_avg_pool2d(x, 1)), "MeanBackward1");
  EXPECT_EQ(node(std::get<0>(adaptive_max_pool2d(x, 2))), "AdaptiveMaxPool2DBackward0");
  EXPECT_EQ(node(max_pool1d(ones({2, 4}).requires_grad_(), 2)), "SqueezeBackward1");
}

TEST(Pooling, errors_say_what_came_and_what_was_expected) {
  Tensor x = ones({2, 3, 8, 8});
  EXPECT_EQ(error_of([&] { max_pool2d(x, 3, {}, 2); }),
            "max_pool2d: padding [2, 2] must be at most half of the kernel [3, 3] with dilation "
            "[1, 1]");
  EXPECT_EQ(error_of([&] { max_pool2d(ones({2, 3, 2, 2}), 3); }),
            "max_pool2d: the kernel [3, 3] is larger than the padded input; the result would have "
            "size 0");
  EXPECT_EQ(error_of([&] { max_pool2d(ones({8, 8}), 3); }),
            "max_pool2d: expects an input of channels and planes, with or without a batch, where "
            "only the batch may be empty; got sizes [8, 8]");
  EXPECT_EQ(error_of([&] { avg_pool2d(x, 2, {}, 0, false, true, 0); }),
            "avg_pool2d: divisor_override must not be zero");
  EXPECT_EQ(error_of([&] { avg_pool2d(ones({1, 4, 4}, kInt32), 2); }),
            "avg_pool2d: not implemented for int32; convert to a floating dtype");
  EXPECT_EQ(max_pool2d(ones({0, 3, 8, 8}), 2).sizes(), (Dims{0, 3, 4, 4}));
}

}  // namespace
}  // namespace fg
