// Special properties of views: shared memory, the node they record, the rules of autograd.
#include "ops/view/views.h"

#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/reduce/reduce.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

TEST(Views, share_the_memory_of_their_base) {
  Tensor x = counted({2, 3}).clone();
  for (const Tensor& part : {view(x, {6}), transpose(x, 0, 1), select(x, 0, 1), diagonal(x),
                             unfold(x, 1, 2, 1), squeeze(unsqueeze(x, 0)), expand(x, {2, 2, 3})}) {
    EXPECT_TRUE(part.is_view());
    EXPECT_TRUE(part._base().is_same(x));
  }
  select(x, 0, 1).fill_(7);
  EXPECT_EQ(x.to_vector<double>(), (std::vector<double>{0, 1, 2, 7, 7, 7}));
}

TEST(Views, have_the_nodes_of_pytorch) {
  Tensor x = counted({1, 4}).requires_grad_();
  EXPECT_EQ(node_of(squeeze(x)), "SqueezeBackward0");
  EXPECT_EQ(node_of(squeeze(x, 0)), "SqueezeBackward1");
  EXPECT_EQ(node_of(squeeze(x, Dims{0, 1})), "SqueezeBackward2");
  EXPECT_EQ(node_of(t(x)), "TBackward0");
  EXPECT_EQ(node_of(numpy_T(x)), "PermuteBackward0");
  EXPECT_EQ(node_of(chunk(x, 2, 1)[1]), "SplitBackward0");
  EXPECT_EQ(node_of(split(x, Dims{1, 3}, 1)[0]), "SplitWithSizesBackward0");
  EXPECT_EQ(node_of(flatten(x)), "ViewBackward0");
  EXPECT_EQ(node_of(narrow(x, 1, 0, 2)), "SliceBackward0");
}

TEST(Views, reshape_copies_only_when_it_must) {
  Tensor x = counted({2, 3}).requires_grad_();
  Tensor shared = reshape(x, {3, 2}), copied = reshape(t(x), {6});
  EXPECT_TRUE(shared.is_view());
  EXPECT_FALSE(copied.is_view());
  EXPECT_EQ(node_of(copied), "UnsafeViewBackward0");
  EXPECT_EQ(copied.to_vector<double>(), (std::vector<double>{0, 3, 1, 4, 2, 5}));
  EXPECT_TRUE(flatten(view(x, {6})).is_view());
}

TEST(Views, a_view_of_one_node_may_be_written_and_the_base_learns_of_it) {
  Tensor x = counted({2, 2}).requires_grad_();
  Tensor y = x * 1;
  t(y).mul_(3);
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{3, 3, 3, 3}));
}

TEST(Views, parts_of_a_multiple_view_may_not_be_written) {
  Tensor x = counted({2, 2}).requires_grad_();
  Tensor y = x * 1;
  EXPECT_NE(error_of([&] { unbind(y)[0].mul_(2); }).find("several views"), std::string::npos);
  EXPECT_NE(error_of([&] { split(y, 1)[0].mul_(2); }).find("several views"), std::string::npos);
  Tensor plain = counted({2, 2});
  Tensor part = unbind(plain)[0];
  EXPECT_NE(error_of([&] { part.mul_(sum(x)); }).find("several views"), std::string::npos);
}

TEST(Views, outputs_without_gradient_count_as_zero) {
  Tensor x = counted({3, 2}).requires_grad_();
  sum(unbind(x)[1] * 2).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{0, 0, 2, 2, 0, 0}));
}

TEST(Views, detach_shares_memory_and_forgets_the_gradient) {
  Tensor x = counted({2}).requires_grad_();
  EXPECT_FALSE(detach(x).requires_grad());
  EXPECT_EQ(detach(x).data_ptr(), x.data_ptr());
}

TEST(Views, errors_say_what_was_expected) {
  Tensor x = counted({4, 3});
  EXPECT_EQ(error_of([&] { narrow(x, 0, 3, 2); }),
            "narrow: start 3 + length 2 exceeds the size 4 of dimension 0");
  EXPECT_EQ(error_of([&] { split(x, 0); }),
            "split: split_size is 0, but dimension 0 has size 4; use at least 1");
  EXPECT_EQ(error_of([&] { split(x, Dims{1, 1}); }),
            "split_with_sizes: sizes [1, 1] add up to 2, but dimension 0 has size 4");
  EXPECT_EQ(error_of([&] { unflatten(x, 0, {3, -1}); }),
            "unflatten: sizes [3, -1] do not multiply to the size 4 of dimension 0");
  EXPECT_EQ(error_of([&] { select(x, 0, 4); }),
            "select: index 4 is out of bounds for dimension 0 with size 4");
}

TEST(Views, movedim_checks_its_dimensions_even_if_there_are_none) {
  EXPECT_EQ(movedim(doubles({1}).view({}), -1, 0).dim(), 0);
  EXPECT_THROW(movedim(doubles({1}).view({}), -9, 0), Error);
}

TEST(Views, of_nothing_fit_any_layout) {
  Tensor x = transpose(empty({0, 2, 3}), 1, 2);
  EXPECT_EQ(view(x, {0, 3, 2}).strides(), x.strides());
  EXPECT_EQ(view(x, {5, 0}).sizes(), (Dims{5, 0}));
}

}  // namespace
}  // namespace fg
