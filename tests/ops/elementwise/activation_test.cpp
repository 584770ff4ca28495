// Activations: special points, node names and errors as in PyTorch.
#include "ops/elementwise/activation.h"

#include <cmath>

#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Activation, gradients_at_the_bends_are_those_of_pytorch) {
  EXPECT_EQ(gradient(relu, {0, 1, -1, NAN}), (Numbers{0, 1, 0, 1}));
  EXPECT_EQ(gradient([](const Tensor& x) { return hardtanh(x); }, {-1, 1, 0, 2}),
            (Numbers{0, 0, 1, 0}));
  EXPECT_EQ(gradient([](const Tensor& x) { return leaky_relu(x); }, {-1, 0, 1}),
            (Numbers{0.01, 0.01, 1}));
  EXPECT_EQ(gradient([](const Tensor& x) { return elu(x); }, {0, 1}), (Numbers{1, 1}));
  EXPECT_EQ(gradient([](const Tensor& x) { return softplus(x); }, {0, 21}), (Numbers{0.5, 1}));
  EXPECT_EQ(gradient([](const Tensor& x) { return threshold(x, 0.5, 2); }, {0.5, 1}),
            (Numbers{0, 1}));
}

TEST(Activation, each_is_one_node) {
  EXPECT_EQ(node_of(relu(leaf({1}))), "ReluBackward0");
  EXPECT_EQ(node_of(relu6(leaf({1}))), "HardtanhBackward0");
  EXPECT_EQ(node_of(selu(leaf({1}))), "EluBackward0");
  EXPECT_EQ(node_of(silu(leaf({1}))), "SiluBackward0");
  EXPECT_EQ(node_of(mish(leaf({1}))), "MishBackward0");
  EXPECT_EQ(node_of(gelu(leaf({1}))), "GeluBackward0");
  EXPECT_EQ(node_of(log_sigmoid(leaf({1}))), "LogSigmoidBackward0");
}

TEST(Activation, large_inputs_do_not_overflow) {
  Tensor x = tensor({1000.0, -1000.0}, kFloat64);
  EXPECT_EQ(values(softplus(x)), (Numbers{1000, 0}));
  EXPECT_EQ(values(log_sigmoid(x)), (Numbers{0, -1000}));
  EXPECT_EQ(values(gelu(x)), (Numbers{1000, 0}));
}

TEST(Activation, integers_only_where_the_pieces_are_whole) {
  EXPECT_EQ(values(relu(tensor({-1, 2}))), (Numbers{0, 2}));
  EXPECT_THROW(gelu(tensor({1})), Error);
  EXPECT_THROW(silu(tensor({1})), Error);
  EXPECT_THROW(relu(tensor({true})), Error);
}

TEST(Activation, unknown_choices_are_refused) {
  EXPECT_THROW(gelu(tensor({1.0}), "fast"), Error);
  EXPECT_THROW(hardtanh(tensor({1.0}), 2, 1), Error);
}

TEST(Activation, relu_in_place_needs_only_its_result) {
  Tensor x = tensor({-1.0, 2.0}).requires_grad_(), y = x.clone();
  y.relu_();
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), (Numbers{0, 1}));
}

TEST(Activation, hardtanh_of_bytes_needs_limits_that_fit) {
  EXPECT_EQ(error_of([] { hardtanh(tensor({5}, kUInt8)); }),
            "hardtanh: uint8 has no negative limits, got -1 and 1; convert the input");
}

}  // namespace
}  // namespace fg
