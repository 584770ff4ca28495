#include "ops/norm/softmax.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "ops/create/create.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"

namespace fg {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST(Softmax, SumsToOneAlongAnyDimension) {
  Tensor x = ones({3, 20, 5});
  for (int64_t dim : {0, 1, 2}) {
    Tensor total = sum(softmax(x, dim), {dim});
    for (float value : total.to_vector<float>()) EXPECT_NEAR(value, 1, 1e-6);
  }
}

TEST(Softmax, EveryDimensionGivesTheSameBits) {
  Tensor x = empty_tensor({3, 700}, kFloat32);
  for (int64_t i = 0; i < x.numel(); i++) x.data_ptr<float>()[i] = std::sin(static_cast<float>(i));
  Tensor turned = x.transpose(0, 1).contiguous();
  EXPECT_EQ(softmax(x, 1).to_vector<float>(),
            softmax(turned, 0).transpose(0, 1).to_vector<float>());
}

TEST(Softmax, LargeInputsDoNotOverflow) {
  auto y = softmax(tensor<float>({1000, 1000, -kInf}), 0).to_vector<float>();
  EXPECT_EQ(y, (std::vector<float>{0.5, 0.5, 0}));
  auto z = log_softmax(tensor<float>({1000, -kInf}), 0).to_vector<float>();
  EXPECT_EQ(z, (std::vector<float>{0, -kInf}));
}

TEST(Softmax, NothingFiniteGivesNan) {
  for (float first : {-kInf, kInf, std::nanf("")}) {
    auto y = softmax(tensor<float>({first, -kInf}), 0).to_vector<float>();
    EXPECT_TRUE(std::isnan(y[0])) << first;
  }
  for (float value : softmax(tensor<float>({std::nanf(""), 1, 2}), 0).to_vector<float>())
    EXPECT_TRUE(std::isnan(value));
}

TEST(Softmax, RefusesIntegersUnlessADtypeIsGiven) {
  EXPECT_THROW(softmax(tensor({1, 2}), 0), Error);
  EXPECT_EQ(softmax(tensor({1, 1}), 0, kFloat64).to_vector<double>(),
            (std::vector<double>{0.5, 0.5}));
  EXPECT_THROW(softmax(ones({2}), 1), Error);
}

}  // namespace
}  // namespace fg
