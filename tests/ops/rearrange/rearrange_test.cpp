#include "ops/rearrange/rearrange.h"

#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Rearrange, repeat_never_shares_memory) {
  Tensor x = tensor({1., 2.});
  Tensor once = repeat(x, {1}), twice = repeat(x, {2, 2});
  EXPECT_NE(once.data_ptr(), x.data_ptr());
  EXPECT_FALSE(once.is_view());
  EXPECT_EQ(twice.to_vector<double>(), (Numbers{1, 2, 1, 2, 1, 2, 1, 2}));
}

TEST(Rearrange, pads_take_from_the_borders) {
  Tensor x = tensor({{1., 2., 3.}});
  EXPECT_EQ(pad(x, {2, 1}, "constant", 7).to_vector<double>(), (Numbers{7, 7, 1, 2, 3, 7}));
  EXPECT_EQ(pad(x, {2, 1}, "reflect").to_vector<double>(), (Numbers{3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(pad(x, {2, 1}, "replicate").to_vector<double>(), (Numbers{1, 1, 1, 2, 3, 3}));
  EXPECT_EQ(pad(x, {2, 1}, "circular").to_vector<double>(), (Numbers{2, 3, 1, 2, 3, 1}));
  EXPECT_EQ(pad(x, {1, -2}).to_vector<double>(), (Numbers{0, 1}));
}

TEST(Rearrange, triangles_of_any_layout) {
  Tensor x = tensor({{1., 2.}, {3., 4.}, {5., 6.}});
  EXPECT_EQ(tril(t(x), 1).to_vector<double>(), (Numbers{1, 3, 0, 2, 4, 6}));
  EXPECT_EQ(triu(x).to_vector<double>(), (Numbers{1, 2, 0, 4, 0, 0}));
  tril_(x, -1);
  EXPECT_EQ(x.to_vector<double>(), (Numbers{0, 0, 3, 0, 5, 6}));
}

TEST(Rearrange, roll_and_flip_move_elements) {
  Tensor x = tensor({{1., 2., 3.}, {4., 5., 6.}});
  EXPECT_EQ(roll(x, 1).to_vector<double>(), (Numbers{6, 1, 2, 3, 4, 5}));
  EXPECT_EQ(roll(x, {3, -1}, {0, 1}).to_vector<double>(), (Numbers{5, 6, 4, 2, 3, 1}));
  EXPECT_EQ(flip(x, {0, 1}).to_vector<double>(), (Numbers{6, 5, 4, 3, 2, 1}));
}

TEST(Rearrange, diag_reads_matrices_and_makes_them) {
  Tensor v = tensor({1., 2.}).requires_grad_();
  EXPECT_EQ(diag(v, 1).to_vector<double>(), (Numbers{0, 1, 0, 0, 0, 2, 0, 0, 0}));
  EXPECT_EQ(diag(diag(v, 1), 1).grad_fn()->name(), "DiagonalBackward0_copy");
  EXPECT_EQ(trace(diag(v)).item<double>(), 3);
}

TEST(Rearrange, errors_say_what_was_expected) {
  Tensor x = ones({2, 3});
  EXPECT_EQ(error_of([&] { repeat(x, {2}); }),
            "repeat: 1 repeats for a tensor of 2 dimensions; give at least as many");
  EXPECT_EQ(error_of([&] { roll(x, {1, 2}); }),
            "roll: got 2 shifts for 0 dims; give one shift per dimension");
  EXPECT_EQ(error_of([&] { pad(x, {3, 0}, "reflect"); }),
            "pad: reflect pads (3, 0) must be less than the size 3 of dimension 1");
  EXPECT_EQ(error_of([&] { tril(ones({3})); }),
            "tril: expects at least 2 dimensions, but self has sizes [3]");
}

}  // namespace
}  // namespace fg
