#include "ops/rearrange/join.h"

#include "ops/reduce/reduce.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Join, cat_promotes_and_skips_empty_vectors) {
  Tensor x = ones({2, 2}, kFloat32), i = ones({1, 2}, kInt64), empty = zeros({0}, kFloat64);
  EXPECT_EQ(cat({x, i}).dtype(), kFloat32);
  EXPECT_EQ(cat({x, empty}).sizes(), (Dims{2, 2}));
  EXPECT_EQ(cat({x, empty}).dtype(), kFloat64);
}

TEST(Join, gives_each_part_its_gradient) {
  Tensor a = ones({2, 1}).requires_grad_(), b = ones({2, 2});
  Tensor joined = cat({a, b, a}, 1);
  EXPECT_EQ(joined.sizes(), (Dims{2, 4}));
  sum(joined).backward();
  EXPECT_EQ(a.grad().to_vector<double>(), (std::vector<double>{2, 2}));
}

TEST(Join, reads_any_layout) {
  Tensor x = tensor({{1., 2.}, {3., 4.}});
  EXPECT_EQ(cat({t(x), x}, 1).to_vector<double>(), (std::vector<double>{1, 3, 1, 2, 2, 4, 3, 4}));
}

TEST(Join, errors_say_what_was_expected) {
  Tensor x = ones({2, 3});
  EXPECT_EQ(error_of([&] { cat({}); }), "cat: expected a non-empty list of tensors");
  EXPECT_EQ(error_of([&] { cat({x, ones({3})}); }),
            "cat: tensors must have equally many dimensions, got sizes [2, 3] and [3]");
  EXPECT_EQ(error_of([&] { cat({x, ones({2, 2})}); }),
            "cat: sizes [2, 3] and [2, 2] differ in another dimension than 0; they must be equal "
            "there");
  EXPECT_EQ(error_of([&] { stack({x, ones({3})}); }),
            "stack: all tensors must have equal sizes, but got [2, 3] at entry 0 and [3] at entry "
            "1");
}

}  // namespace
}  // namespace fg
