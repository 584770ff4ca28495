#include "ops/convolution/convolution.h"

#include "autograd/autograd.h"
#include "base/pool.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/reduce/reduce.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Convolution, agrees_with_pytorch) {
  Tensor y = conv2d(counted({1, 2, 3, 3}), counted({2, 1, 2, 2}) - 3, tensor({10, 20}, kFloat64),
                    {1, 2}, 1, 1, 2);
  EXPECT_EQ(y.sizes(), (Dims{1, 2, 4, 2}));
  EXPECT_EQ(y.to_vector<double>(), (std::vector<double>{10, 9, 10, -1, 4, -19, -2, -27, 56, 94, 86,
                                                        147, 104, 177, 50, 70}));
  EXPECT_EQ(
      conv_transpose1d(counted({1, 2, 2}), counted({2, 1, 2}) + 1, {}, 2, 0, 1).to_vector<double>(),
      (std::vector<double>{6, 8, 10, 14, 0}));
  EXPECT_EQ(conv1d_padding(counted({1, 1, 4}) + 1, counted({1, 1, 2}) + 1, {}, 1, "same")
                .to_vector<double>(),
            (std::vector<double>{5, 8, 11, 4}));
}

TEST(Convolution, output_padding_beyond_a_kernel_of_one_is_zero) {
  // The dilation allows a padding of 1 although the kernel has one tap.
  Tensor y = conv_transpose1d(ones({1, 1, 3}), ones({1, 2, 1}), tensor({5., 6.}), 1, 0, 1, 1, 2);
  EXPECT_EQ(y.to_vector<double>(), (std::vector<double>{6, 6, 6, 5, 7, 7, 7, 6}));
}

TEST(Convolution, empty_kernels_are_refused) {
  EXPECT_EQ(
      error_of([] { conv_transpose1d(ones({1, 1, 3}), ones({1, 2, 0})); }),
      "conv_transpose1d: the weight of sizes [1, 2, 0] has an empty kernel; its sizes must be "
      "positive");
}

TEST(Convolution, works_on_integers_and_rounds_halves_once) {
  EXPECT_EQ(conv1d(counted({1, 1, 3}, kInt32), ones({1, 1, 2}, kInt32)).to_vector<int64_t>(),
            (std::vector<int64_t>{1, 3}));
  Tensor x = tensor({{{2048, 1, 1}}}, kBFloat16), w = ones({1, 1, 3}, kBFloat16);
  EXPECT_EQ(conv1d(x, w, full({1}, 14, kBFloat16)).item<double>(), 2064);
}

TEST(Convolution, errors_say_what_came_and_what_was_expected) {
  Tensor x = ones({2, 3, 8, 8}), w = ones({4, 3, 3, 3});
  EXPECT_EQ(error_of([&] { conv2d(x, ones({4, 2, 3, 3})); }),
            "conv2d: the weight of sizes [4, 2, 3, 3] with groups 1 expects 2 channels, got an "
            "input of sizes [2, 3, 8, 8]");
  EXPECT_EQ(error_of([&] { conv2d(ones({2, 3}), w); }),
            "conv2d: expects an input of 4 dimensions, or 3 without a batch, got sizes [2, 3]");
  EXPECT_EQ(error_of([&] { conv2d(ones({2, 3, 2, 2}), w); }),
            "conv2d: the kernel of weight [4, 3, 3, 3] with dilation [1, 1] is larger than the "
            "input [2, 3, 2, 2] with padding [0, 0]");
  EXPECT_EQ(error_of([&] { conv2d(x, w, ones({5})); }),
            "conv2d: the weight of sizes [4, 3, 3, 3] expects a bias of 4 values, got sizes [5]");
  EXPECT_EQ(error_of([&] { conv2d(x, w, {}, 0); }), "conv2d: stride [0] must not be less than 1");
  EXPECT_EQ(error_of([&] { conv2d(x, w, {}, {1, 2, 3}); }),
            "conv2d: stride [1, 2, 3] must be one number or 2, one per spatial dimension");
  EXPECT_EQ(
      error_of([&] { conv_transpose2d(x, ones({3, 4, 3, 3}), {}, 2, 0, 2); }),
      "conv_transpose2d: output_padding [2, 2] must be smaller than stride [2, 2] or dilation "
      "[1, 1]");
  EXPECT_EQ(error_of([&] { conv2d_padding(x, w, {}, 2, "same"); }),
            "conv2d: padding 'same' needs a stride of 1, got [2]; give the padding as numbers");
}

TEST(Convolution, is_one_node) {
  Tensor x = ones({2, 3, 5}).requires_grad_(), w = ones({4, 3, 2}).requires_grad_();
  EXPECT_EQ(conv1d(x, w).grad_fn()->name(), "ConvolutionBackward0");
  EXPECT_EQ(conv_transpose1d(x, ones({3, 2, 2})).grad_fn()->name(), "ConvolutionBackward0");
}

TEST(Convolution, has_the_same_bits_on_any_number_of_threads) {
  auto run = [](int threads) {
    pool::set_num_threads(threads);
    Tensor x = (counted({6, 8, 17, 13}, kFloat32) * 0.37).requires_grad_();
    Tensor w = (counted({12, 4, 3, 3}, kFloat32) * -0.11).requires_grad_();
    Tensor y = conv2d(x, w, ones({12}), 2, 1, 1, 2);
    sum(y * y).backward();
    return std::array{y.to_vector<float>(), x.grad().to_vector<float>(),
                      w.grad().to_vector<float>()};
  };
  int before = pool::num_threads();
  pool::force_grain(1);
  EXPECT_EQ(run(1), run(3));
  pool::force_grain(0);
  pool::set_num_threads(before);
}

}  // namespace
}  // namespace fg
