// Indexing as in Python, and what the gradients of indexing must not depend on.
#include "ops/index/index.h"

#include <cmath>
#include <functional>

#include "base/pool.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/compare.h"
#include "ops/index/indexing.h"
#include "ops/reduce/reduce.h"
#include "tests/ops/values.h"

namespace fg {
namespace {

constexpr auto kNone = std::nullopt;

template <class F>
std::string refusal(F f, ErrorKind kind) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), kind);
    return e.what();
  }
  return "accepted";
}

Dims sizes_at(const Tensor& x, const std::vector<TensorIndex>& indices) {
  return x.index(indices).sizes();
}

TEST(Indexing, mixes_integers_slices_none_and_dots) {
  Tensor x = counted({2, 3, 4});
  EXPECT_EQ(x.index({1, "...", -1}).to_vector<double>(), (Numbers{15, 19, 23}));
  EXPECT_EQ(sizes_at(x, {kNone, 0, kNone, "...", kNone}), (Dims{1, 1, 3, 4, 1}));
  EXPECT_EQ(sizes_at(x, {Slice{1, kNone}, Slice{}, Slice{kNone, kNone, 3}}), (Dims{1, 3, 2}));
  EXPECT_EQ(x[1][2].to_vector<double>(), (Numbers{20, 21, 22, 23}));
  EXPECT_TRUE(x.index({"..."}).is_view());
}

TEST(Indexing, index_tensors_stand_in_place_or_in_front) {
  Tensor x = zeros({2, 3, 4, 5}), i = tensor({0, 1});
  EXPECT_EQ(sizes_at(x, {Slice{}, i, i}), (Dims{2, 2, 5}));
  EXPECT_EQ(sizes_at(x, {i, Slice{}, i}), (Dims{2, 3, 5}));
  EXPECT_EQ(sizes_at(x, {0, Slice{}, i}), (Dims{3, 2, 5}));
  EXPECT_EQ(sizes_at(x, {Slice{}, i, kNone, tensor({0})}), (Dims{2, 2, 1, 5}));
  EXPECT_EQ(sizes_at(x, {"...", tensor({{0, 1}, {2, 2}})}), (Dims{2, 3, 4, 2, 2}));
}

TEST(Indexing, masks_take_as_many_dimensions_as_they_have) {
  Tensor x = zeros({2, 3, 4, 5}), mask = tensor({{true, false, true}, {false, true, true}});
  EXPECT_EQ(sizes_at(x, {mask}), (Dims{4, 4, 5}));
  EXPECT_EQ(sizes_at(x, {mask, Slice{1, 3}}), (Dims{4, 2, 5}));
  EXPECT_EQ(sizes_at(x, {mask, Slice{1, 3}, tensor({0})}), (Dims{4, 2}));
  EXPECT_EQ(sizes_at(x, {true}), (Dims{1, 2, 3, 4, 5}));
  EXPECT_EQ(sizes_at(x, {false}), (Dims{0, 2, 3, 4, 5}));
}

TEST(Indexing, writes_through_views_and_positions) {
  Tensor x = counted({3, 2});
  x.index_put_({1}, 9);
  x.index_put_({tensor({0, -1}), 0}, 8);
  x.index_put_({x > 8.5}, -1);
  EXPECT_EQ(x.to_vector<double>(), (Numbers{8, 1, -1, -1, 8, 5}));
}

TEST(Indexing, a_write_moves_the_gradient_to_the_value) {
  Tensor x = counted({3, 2}).requires_grad_(), value = counted({2}).requires_grad_();
  Tensor y = x * 1;
  y.index_put_({tensor({2, 0})}, value);
  sum(y).backward();
  EXPECT_EQ(x.grad().to_vector<double>(), (Numbers{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(value.grad().to_vector<double>(), (Numbers{2, 2}));
}

TEST(Indexing, errors_have_the_kinds_of_pytorch) {
  Tensor x = counted({4, 3});
  EXPECT_EQ(refusal([&] { x.index({0, 0, 0}); }, ErrorKind::index),
            "index: too many indices for a tensor of 2 dimensions");
  EXPECT_EQ(refusal([&] { x.index({tensor({1, 4})}); }, ErrorKind::index),
            "index: index 4 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(refusal([&] { x.index({tensor({true, false})}); }, ErrorKind::index),
            "index: the mask of sizes [2] does not match the sizes [4, 3] of the indexed tensor "
            "from dimension 0 on");
  EXPECT_EQ(refusal([&] { sum(x)[0]; }, ErrorKind::index),
            "index: a zero-dim tensor has no dimension to index; use item() for its number");
  EXPECT_EQ(refusal([&] { gather(x, 0, tensor({{4}})); }, ErrorKind::runtime),
            "gather: index 4 is out of bounds for dimension 0 with size 4");
  EXPECT_EQ(refusal([&] { embedding(x, tensor({-1})); }, ErrorKind::index),
            "index: index -1 is out of bounds for dimension 0 with size 4");
}

TEST(Indexing, a_refused_write_changes_nothing) {
  Tensor x = counted({4, 3});
  EXPECT_THROW(x.scatter_(0, tensor({{0, 1, 4}}), 7), Error);
  EXPECT_THROW(x.index_put_({tensor({0, 9})}, 7), Error);
  EXPECT_EQ(x.to_vector<double>(), counted({4, 3}).to_vector<double>());
}

// Many additions into few places, in float, where the order shows in the last bits.
Tensor crowded(const std::function<Tensor(const Tensor& index, const Tensor& values)>& add) {
  constexpr int64_t kCount = 40000;
  Tensor index = empty_tensor({kCount}, kInt64), values = empty_tensor({kCount}, kFloat32);
  for (int64_t i = 0; i < kCount; i++) {
    index.data_ptr<int64_t>()[i] = i * i % 7;
    values.data_ptr<float>()[i] = 1 / float(i + 1);
  }
  return add(index, values);
}

TEST(Indexing, sums_do_not_depend_on_the_number_of_threads) {
  auto scatter_adds = [](const Tensor& i, const Tensor& v) {
    return scatter_add(zeros({7}), 0, i, v);
  };
  auto embedding_adds = [](const Tensor& i, const Tensor& v) {
    return embedding_dense_backward(expand(unsqueeze(v, 1), {-1, 3}), i, 7, -1, false);
  };
  int threads = pool::num_threads();
  pool::set_num_threads(1);
  auto first = crowded(scatter_adds).to_vector<float>();
  auto second = crowded(embedding_adds).to_vector<float>();
  for (int count : {2, 3, 8}) {
    pool::set_num_threads(count);
    EXPECT_EQ(crowded(scatter_adds).to_vector<float>(), first);
    EXPECT_EQ(crowded(embedding_adds).to_vector<float>(), second);
  }
  pool::set_num_threads(threads);
}

TEST(Indexing, half_precision_sums_are_rounded_once) {
  Tensor ones_ = ones({4096}, kFloat16), index = zeros({4096}, kInt64);
  EXPECT_EQ(index_add(zeros({1}, kFloat16), 0, index, ones_).item<double>(), 4096);
}

TEST(Indexing, the_padding_row_gets_no_gradient) {
  Tensor weight = counted({4, 2}).requires_grad_();
  sum(embedding(weight, tensor({0, 3, 3}), 3)).backward();
  EXPECT_EQ(weight.grad().to_vector<double>(), (Numbers{1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(Indexing, nonzero_counts_nan_and_knows_zero_dims) {
  EXPECT_EQ(nonzero(tensor({NAN, -0., 2.})).to_vector<int64_t>(), (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(nonzero(tensor(1.)).sizes(), (Dims{1, 0}));
  EXPECT_EQ(nonzero(tensor(0.)).sizes(), (Dims{0, 0}));
}

TEST(Index, a_zero_dim_source_is_one_element) {
  Tensor x = doubles({1, 2}), source = doubles({5}).view({});
  EXPECT_EQ(values(scatter(x, 0, tensor({1}), source)), (Numbers{1, 5}));
  EXPECT_EQ(error_of([&] { scatter(x, 0, tensor({1, 1, 0}), source); }),
            "scatter: index of sizes [3] must be no larger than src of sizes []");
}

}  // namespace
}  // namespace fg
