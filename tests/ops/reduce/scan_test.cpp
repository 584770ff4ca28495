#include "ops/reduce/scan.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "ops/create/create.h"
#include "ops/reduce/reduce.h"

namespace fg {
namespace {

TEST(Scan, RunsAlongADimension) {
  Tensor x = tensor({{1, 2, 3}, {4, 5, 6}});
  EXPECT_EQ(cumsum(x, 1).to_vector<int64_t>(), (std::vector<int64_t>{1, 3, 6, 4, 9, 15}));
  EXPECT_EQ(cumprod(x, 0).to_vector<int64_t>(), (std::vector<int64_t>{1, 2, 3, 4, 10, 18}));
  EXPECT_EQ(cumsum(tensor({true, true}), 0).dtype(), kInt64);
  EXPECT_EQ(cumsum(tensor(3.0), 0).item<double>(), 3);
  EXPECT_THROW(cumsum(x, 2), Error);
}

TEST(Scan, ProductsWithZerosHaveAGradient) {
  Tensor x = tensor({2., 0., 3.}, kFloat64).requires_grad_();
  sum(cumprod(x, 0)).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{1, 2 + 6, 0}));
  Tensor y = tensor({2., 0., 3.}, kFloat64).requires_grad_();
  prod(y).backward();
  EXPECT_EQ(y.grad().to_vector<double>(), (std::vector<double>{0, 6, 0}));
}

}  // namespace
}  // namespace fg
