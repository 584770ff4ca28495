#include "ops/matmul/matmul.h"

#include <gtest/gtest.h>

#include <limits>

#include "autograd/node.h"
#include "base/error.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/view/views.h"
#include "tests/error_of.h"

namespace fg {
namespace {

Tensor leaf(const Dims& sizes) { return ones(sizes).requires_grad_(); }
std::string node(const Tensor& x) { return x.grad_fn()->name(); }

TEST(Matmul, errors_say_what_came_and_what_was_expected) {
  EXPECT_EQ(error_of([] { matmul(ones({2, 3, 4}), ones({5, 6})); }),
            "matmul: inner sizes differ: got [2, 3, 4] x [5, 6]; the last axis of a must equal the "
            "first of b");
  EXPECT_EQ(error_of([] { mm(ones({2, 3}), ones({4, 5})); }),
            "mm: inner sizes differ: got [2, 3] x [4, 5]; the last axis of a must equal the first "
            "of b");
  EXPECT_EQ(error_of([] { mm(ones({3}), ones({3, 4})); }),
            "mm: expected tensors of 2 and 2 dimensions, got [3] x [3, 4]");
  EXPECT_EQ(error_of([] { mm(ones({2, 2}), ones({2, 2}, kFloat64)); }),
            "mm: expected operands of the same dtype, got float32 and float64; convert one with "
            "to()");
  EXPECT_EQ(error_of([] { bmm(ones({2, 3, 4}), ones({3, 4, 5})); }),
            "bmm: batch sizes differ: got [2, 3, 4] x [3, 4, 5]; use matmul to broadcast");
  EXPECT_EQ(error_of([] { matmul(ones({}), ones({3})); }),
            "matmul: expected at least one dimension each, got [] x [3]; use mul for numbers");
  EXPECT_EQ(error_of([] { dot(ones({2}), ones({3})); }),
            "dot: expected vectors of equal sizes, got [2] and [3]");
  EXPECT_EQ(
      error_of([] { linear(ones({2, 3}), ones({4, 5})); }),
      "linear: got an input of sizes [2, 3] and a weight of sizes [4, 5]; the last sizes must "
      "be equal, and the weight a matrix");
  EXPECT_EQ(error_of([] { addmm(ones({3}), ones({2, 3}), ones({3, 4})); }),
            "addmm: self has sizes [3], which do not expand to the sizes [2, 4] of the product");
}

TEST(Matmul, bool_is_not_implemented_and_integers_wrap) {
  try {
    mm(ones({2, 2}, kBool), ones({2, 2}, kBool));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::not_implemented);
  }
  Tensor x = full({1, 2}, 100, kInt8);
  EXPECT_EQ(mm(x, t(x)).item<int64_t>(), 32);
  EXPECT_EQ(mm(x, t(x)).dtype(), kInt8);
  EXPECT_EQ(dot(full({2}, 100, kInt8), full({2}, 100, kInt8)).item<int64_t>(), 32);
}

TEST(Matmul, records_the_nodes_of_pytorch) {
  Tensor v = leaf({3}), m = leaf({3, 2}), batch = leaf({4, 2, 3});
  EXPECT_EQ(node(matmul(v, v)), "DotBackward0");
  EXPECT_EQ(node(matmul(t(m), v)), "MvBackward0");
  EXPECT_EQ(node(matmul(leaf({2, 3}), m)), "MmBackward0");
  EXPECT_EQ(node(matmul(batch, m)), "UnsafeViewBackward0");
  EXPECT_EQ(matmul(batch, m).grad_fn()->next_edge(0).node->name(), "MmBackward0");
  Tensor pairs = matmul(batch, leaf({4, 3, 2}));
  EXPECT_EQ(node(pairs), "UnsafeViewBackward0");
  EXPECT_EQ(pairs.grad_fn()->next_edge(0).node->name(), "BmmBackward0");
  EXPECT_EQ(node(linear(leaf({2, 3}), leaf({4, 3}), leaf({4}))), "AddmmBackward0");
  EXPECT_EQ(node(linear(batch, leaf({4, 3}), leaf({4}))), "ViewBackward0");
  EXPECT_EQ(node(linear(leaf({2, 3}), leaf({4, 3}))), "MmBackward0");
  EXPECT_EQ(node(outer(v, v)), "MulBackward0");
}

TEST(Matmul, results_can_be_written_into) {
  Tensor y = matmul(leaf({4, 2, 3}), leaf({3, 2}));
  EXPECT_FALSE(y.is_view());
  y.add_(1);
  EXPECT_EQ(node(y), "AddBackward0");
}

TEST(Matmul, addmm_does_not_read_self_with_a_beta_of_zero) {
  Tensor nan = full({2, 2}, std::numeric_limits<double>::quiet_NaN());
  Tensor y = addmm(nan, ones({2, 3}), ones({3, 2}), 0, 2);
  EXPECT_EQ(y.to_vector<double>(), std::vector<double>(4, 6));
  EXPECT_EQ(addmm(full({2, 2}, 3, kInt32), ones({2, 2}, kInt32), ones({2, 2}, kInt32), 2, 1.5)
                .to_vector<int64_t>(),
            std::vector<int64_t>(4, 8));
}

TEST(Matmul, half_precision_rounds_once) {
  // 2048 + 1 is not an f16, but 2048 + 1 + 1 is.
  Tensor a = full({1, 2}, 1, kFloat16), b = ones({2, 1}, kFloat16);
  EXPECT_EQ(addmm(full({1}, 2048, kFloat16), a, b).item<double>(), 2050);
  EXPECT_EQ(dot(tensor({2048, 1, 1}, kFloat16), ones({3}, kFloat16)).item<double>(), 2050);
}

TEST(Matmul, nothing_to_sum_gives_zeros) {
  for (auto [m, n] : {std::pair{2, 3}, std::pair{3, 2}, std::pair{40, 2}}) {
    Tensor y = mm(ones({m, 0}), ones({0, n}));
    EXPECT_EQ(y.to_vector<double>(), std::vector<double>(static_cast<size_t>(m * n), 0));
  }
}

TEST(Matmul, batches_with_any_strides_need_no_copy_and_give_the_same_bits) {
  Tensor a = reshape(arange(120, kFloat32), {2, 3, 4, 5});
  Tensor b = reshape(arange(60, kFloat32), {2, 3, 5, 2});
  Tensor swapped = transpose(contiguous(transpose(a, 1, 2)), 1, 2);
  EXPECT_FALSE(swapped.is_contiguous());
  EXPECT_EQ(matmul(swapped, b).to_vector<float>(), matmul(a, b).to_vector<float>());
  Tensor first = select(select(matmul(a, b), 0, 1), 0, 2);
  EXPECT_EQ(first.to_vector<float>(),
            mm(select(select(a, 0, 1), 0, 2), select(select(b, 0, 1), 0, 2)).to_vector<float>());
}

}  // namespace
}  // namespace fg
