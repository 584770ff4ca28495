// Functions on tensors that they write into, and on undefined tensors.
#include <gtest/gtest.h>

#include "foregrad.h"
#include "tests/error_of.h"

namespace fg {
namespace {

TEST(Out, results_go_into_the_given_tensors) {
  Tensor a = tensor({1., 2.}), b = tensor({3., 4.}), result = empty({0});
  out(result, add)(a, b);
  EXPECT_EQ(result.to_vector<double>(), (std::vector<double>{4, 6}));
  Tensor memory = empty({2});
  void* before = memory.data_ptr();
  out(memory, add)(a, b, 2);
  EXPECT_EQ(memory.data_ptr(), before);
  EXPECT_EQ(memory.to_vector<double>(), (std::vector<double>{7, 10}));
}

TEST(Out, functions_of_several_results_take_several_tensors) {
  Tensor x = tensor({{1., 5.}, {7., 3.}});
  Tensors found{empty({0}), empty({0}, kInt64)};
  out(found, max)(x, 1, false);
  EXPECT_EQ(found[0].to_vector<double>(), (std::vector<double>{5, 7}));
  EXPECT_EQ(found[1].to_vector<int64_t>(), (std::vector<int64_t>{1, 0}));
}

TEST(Out, a_refused_call_writes_nothing) {
  Tensor x = tensor({{1., 5.}, {7., 3.}});
  Tensors found{zeros({2}), zeros({2}, kBool)};  // the second cannot hold indices
  EXPECT_EQ(error_of([&] { out(found, max)(x, 1, false); }),
            "max: the result is int64 and can't be cast to the bool of out");
  EXPECT_EQ(found[0].to_vector<double>(), (std::vector<double>{0, 0}));
  EXPECT_EQ(error_of([&] { out(x, max)(x, 1, false); }),
            "max: out has 1 tensors; expected 2, one per result");
  EXPECT_EQ(error_of([&] { out(x, relu)(Tensor(x).requires_grad_()); }).substr(0, 5), "relu:");
}

TEST(Arguments, undefined_tensors_are_refused_by_name) {
  Tensor x = ones({2}), nothing;
  EXPECT_EQ(error_of([&] { add(x, nothing); }),
            "add: argument 'other' (position 2) must be a tensor but got an undefined one");
  EXPECT_EQ(error_of([&] { add_(nothing, x); }),
            "add: argument 'self' (position 1) must be a tensor but got an undefined one");
  EXPECT_EQ(error_of([&] { exp(nothing); }),
            "exp: argument 'self' (position 1) must be a tensor but got an undefined one");
  EXPECT_EQ(error_of([&] { stack({x, nothing}); }),
            "stack: argument 'tensors' (position 1) must be a tensor but got an undefined one");
  EXPECT_EQ(layer_norm(x, {2}, nothing).numel(), 2) << "optional ones may be undefined";
}

TEST(Numbers, must_fit_where_they_are_stored) {
  Tensor bytes = zeros({2}, kUInt8), at = tensor({0});
  EXPECT_EQ(error_of([] { full({2}, 300, kUInt8); }),
            "full: the value 300 does not fit into uint8; choose a wider dtype");
  EXPECT_EQ(error_of([&] { bytes.masked_fill(bytes.eq(0), 1e9); }),
            "masked_fill: the value 1000000000 does not fit into uint8; choose a wider dtype");
  EXPECT_EQ(error_of([&] { bytes.scatter(0, at, -300); }),
            "scatter: the value -300 does not fit into uint8; choose a wider dtype");
  EXPECT_EQ(full({1}, -1, kUInt8).item<int64_t>(), 255) << "as PyTorch";
  EXPECT_EQ(full({1}, INT64_MAX, kInt64).item<int64_t>(), INT64_MAX);
}

TEST(Inplace, comparisons_pass_zeros_to_both_sides) {
  Tensor x = tensor({1., 2.}).requires_grad_(), y = tensor({1., 3.}).requires_grad_();
  Tensor z = x.clone();
  eq_(z, y);
  EXPECT_EQ(z.to_vector<double>(), (std::vector<double>{1, 0}));
  EXPECT_EQ(z.grad_fn()->name(), "EqBackward1");
  z.sum().backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{0, 0}));
  EXPECT_EQ(y.grad().to_vector<double>(), (std::vector<double>{0, 0}));
  EXPECT_FALSE(eq(x, y).requires_grad());
}

TEST(Inplace, a_tensor_of_integers_takes_no_history) {
  Tensor whole = zeros({2}, kInt64), x = tensor({1., 2.}).requires_grad_();
  whole.copy_(x);
  EXPECT_FALSE(whole.requires_grad());
  EXPECT_EQ(whole.to_vector<int64_t>(), (std::vector<int64_t>{1, 2}));
}

}  // namespace
}  // namespace fg
