// Assignment to what an expression returns writes into its elements, as in libtorch; assignment to
// a name makes the name refer to another tensor.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include <optional>

#include "tests/error_of.h"

namespace fg {
namespace {

std::vector<double> numbers(const Tensor& tensor) { return tensor.to_vector<double>(); }
using Numbers = std::vector<double>;

TEST(Assignment, OfANumberToAPartFillsThePart) {
  Tensor x = zeros({2, 3});
  x[0] = 5.0;
  EXPECT_EQ(numbers(x), (Numbers{5, 5, 5, 0, 0, 0}));
  x[1][2] = 7;
  x.index({1, 0}) = Scalar(2);
  x.select(0, 1).narrow(0, 1, 1) = true;
  EXPECT_EQ(numbers(x), (Numbers{5, 5, 5, 2, 1, 7}));
  x[0] = x.sizes()[0];
  EXPECT_EQ(numbers(x), (Numbers{2, 2, 2, 2, 1, 7}));
}

TEST(Assignment, OfATensorToAPartCopiesAndBroadcasts) {
  Tensor x = zeros({2, 3});
  x[0][1] = ones({});
  x.index({1}) = arange(3.);
  x.slice(1, 0, 3, 2) = tensor({8., 9.});
  EXPECT_EQ(numbers(x), (Numbers{8, 1, 9, 8, 1, 9}));
  x.narrow(1, 0, 1) = zeros({2, 1});
  x.t().select(0, 2) = tensor({-1, -2});
  EXPECT_EQ(numbers(x), (Numbers{0, 1, -1, 0, 1, -2}));
  Tensor value = ones({3});
  x.index({indexing::Slice(), indexing::Slice(0, 2)}) = value.slice(0, 0, 2) * 4;
  EXPECT_EQ(numbers(x), (Numbers{4, 4, -1, 4, 4, -2}));
}

TEST(Assignment, InALoopOverPartsWritesEachOfThem) {
  Tensor v = arange(4.), y = zeros({4});
  for (int64_t i = 0; i < v.size(0); i++) y[i] = v[i] * 2;
  EXPECT_EQ(numbers(y), (Numbers{0, 2, 4, 6}));
  y[0] = y[1] = 3;
  EXPECT_EQ(numbers(y), (Numbers{3, 3, 4, 6}));
}

TEST(Assignment, OfPartsCarriesGradients) {
  Tensor w = tensor({1., 2., 3.}).requires_grad_(), x = ones({2, 3}).requires_grad_();
  Tensor y = x * 2;
  y[0] = w * w;
  y[1][0] = 5.0;
  (y * y).sum().backward();
  EXPECT_EQ(numbers(w.grad()), (Numbers{4, 32, 108}));
  EXPECT_EQ(numbers(x.grad()), (Numbers{0, 0, 0, 0, 8, 8}));
  EXPECT_HAS(error_of([&] { x[0] = 1.0; }), "leaf");
}

TEST(Assignment, IsCapturedInACompiledFunction) {
  auto f = [](const Tensor& x, const Tensor& w) {
    Tensor y = x * 2;
    y[0] = w;
    y.slice(1, 0, 1) = 3.0;
    return y;
  };
  auto compiled = compile(f, {.fullgraph = true});
  int64_t before = compiler::counters().captured;
  Tensor x = ones({2, 3}), w = arange(3.).requires_grad_();
  EXPECT_TRUE(equal(compiled(x, w), f(x, w)));
  EXPECT_TRUE(equal(autograd::grad({compiled(x, w).sum()}, {w})[0], tensor({0., 1., 1.})));
  EXPECT_EQ(compiler::counters().captured - before, 1);
}

TEST(Assignment, ToANameLeavesTheOldTensorAlone) {
  Tensor x = zeros({2}), old = x;
  x = ones({2});
  Tensor& same = x;
  same = x * 3;
  EXPECT_EQ(numbers(old), (Numbers{0, 0}));
  Tensors list{old, old};
  list[0] = ones({2});
  std::optional<Tensor> maybe = old;
  maybe = ones({2});
  *maybe = ones({1});
  std::tie(x, list[1]) = tensor({{1., 2.}}).max(1);
  std::swap(x, list[0]);
  x = {};
  EXPECT_FALSE(x.defined());
  EXPECT_EQ(numbers(old), (Numbers{0, 0}));
  EXPECT_EQ(numbers(list[1]), (Numbers{1}));
}

// libtorch: a moved-from name is no name.
TEST(Assignment, ToAMovedNameWrites) {
  Tensor x = zeros({2}), old = x;
  std::move(x) = tensor({1., 2.});
  EXPECT_EQ(numbers(old), (Numbers{1, 2}));
}

TEST(Assignment, OfValuesThatDoNotFitIsRefused) {
  Tensor x = zeros({2, 3});
  EXPECT_NE(error_of([&] { x[0] = ones({2}); }), "no error");
  EXPECT_NE(error_of([&] { x[0] = Tensor(); }), "no error");
  EXPECT_NE(error_of([&] { x[2] = 1; }), "no error");
}

TEST(Assignment, InPlaceMethodsAndFunctionsReturnWhatTheyWroteTo) {
  Tensor x = zeros({2});
  Tensor& y = x.add_(1);
  Tensor& z = relu_(x).mul_(2);
  Tensor& plus = (x += 1);
  EXPECT_TRUE(&y == &x && &z == &x && &plus == &x);
  EXPECT_EQ(numbers(x), (Numbers{3, 3}));
}

}  // namespace
}  // namespace fg
