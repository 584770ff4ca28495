// Reductions inside of loops: the bits of the eager kernels, for every way in which blocks of the
// canonical order can fall on loops, and nothing stored that only they read.
#include "base/pool.h"
#include "codegen/executable.h"
#include "foregrad.h"
#include "graphs.h"
#include "tests/passes/random_graph.h"

namespace fg::codegen {
namespace {

using passes::bits;

std::vector<std::string> all_bits(const Tensors& tensors) {
  std::vector<std::string> result;
  for (const Tensor& tensor : tensors) result.push_back(bits(tensor));
  return result;
}

void expect_same(const capture::TensorFunction& f, const Tensors& inputs, const std::string& what) {
  ir::Graph graph = capture::forward(f, inputs);
  Executable code(schedule::make_schedule(graph));
  std::vector<std::string> expected = all_bits(ir::Runner(graph).run(inputs));
  EXPECT_EQ(all_bits(code.run(inputs)), expected) << what;
  pool::force_grain(1);
  EXPECT_EQ(all_bits(code.run(inputs)), expected) << what << " with many parts";
  pool::force_grain(0);
}

struct Case {
  Dims sizes;
  Dims dims;
  bool fused;  // without anything stored
};

const Case kCases[] = {{{10}, {0}, true},
                       {{512}, {0}, true},
                       {{513}, {0}, true},
                       {{1000003}, {0}, true},
                       {{30, 40}, {0, 1}, true},
                       {{7, 784}, {1}, true},
                       {{7, 1024}, {1}, true},
                       {{7, 63}, {1}, false},
                       {{5, 3, 70}, {1, 2}, true},
                       {{5, 100}, {0}, false},
                       {{4, 3, 32, 32}, {0, 2, 3}, true},
                       {{4, 3, 16, 16}, {0, 2, 3}, true},
                       {{3, 3, 16, 16}, {0, 2, 3}, false},
                       {{16, 3, 8, 8}, {0, 2, 3}, true},
                       {{8, 3, 5, 5}, {0, 2, 3}, false},
                       {{2, 3, 4, 512}, {0, 2, 3}, true},
                       {{1, 5, 1, 300}, {1, 3}, true},
                       {{64, 512}, {0}, false},
                       // A few columns, side by side.
                       {{1000, 8}, {0}, true},
                       {{9, 8}, {0}, true},
                       {{1037, 2}, {0}, true},
                       {{77, 4}, {0}, true},
                       {{513, 16}, {0}, true},
                       {{64, 12}, {0}, false},
                       {{4, 2, 32, 32, 8}, {0, 2, 3}, true},
                       {{4, 2, 16, 16, 8}, {0, 2, 3}, true},
                       {{16, 3, 8, 8, 8}, {0, 2, 3}, true},
                       {{3, 2, 7, 7, 8}, {0, 2, 3}, false},
                       {{3, 2, 7, 7, 8}, {2, 3}, true},
                       {{3, 2, 8, 8, 8}, {2, 3}, true},
                       {{2, 1, 5, 5, 8}, {0, 2, 3}, true},
                       {{3, 2, 8, 8, 8}, {1, 2, 3}, true}};

TEST(Reductions, in_loops_have_the_bits_of_the_eager_kernels) {
  for (const Case& c : kCases) {
    for (DType dtype : {kFloat32, kFloat64, kFloat16, kBFloat16}) {
      Tensors inputs{to(randn(c.sizes), dtype), to(randn(c.sizes), dtype)};
      auto f = [&](const Tensors& x) -> Tensors {
        Tensor y = x[0] * x[1] + x[0];
        return {sum(y, c.dims), mean(y.sin(), c.dims, true), amax(y, c.dims), amin(y, c.dims)};
      };
      expect_same(f, inputs,
                  text(c.sizes) + " over " + text(c.dims) + " " + std::string(name(dtype)));
      auto stores = [&](const Tensors& x) -> Tensors {
        Tensor y = x[0] * x[1];
        return {sum(y, c.dims), y};
      };
      expect_same(stores, inputs, text(c.sizes) + " over " + text(c.dims) + " stored");
    }
  }
}

// Of a value per column, which comes again in every row.
TEST(Reductions, of_columns_read_a_number_per_column) {
  for (const Dims& sizes : {Dims{4, 2, 32, 32, 8}, Dims{16, 3, 8, 8, 8}, Dims{3, 5, 7, 8}}) {
    Dims each(sizes.size(), 1), reduced{0};
    each[1] = sizes[1];
    each.back() = 8;
    for (size_t d = 2; d + 1 < sizes.size(); d++) reduced.push_back(static_cast<int64_t>(d));
    for (DType dtype : {kFloat32, kFloat64, kBFloat16}) {
      Tensors inputs{to(randn(sizes), dtype), to(randn(each), dtype), to(randn({8}), dtype)};
      auto f = [&](const Tensors& x) -> Tensors {
        Tensor y = (x[0] - x[1]) * x[2];
        return {sum(y, reduced), mean(y * x[1], reduced, true), y.relu(), sum(y)};
      };
      expect_same(f, inputs, text(sizes) + std::string(name(dtype)));
    }
  }
}

TEST(Reductions, store_nothing_that_only_they_read) {
  for (const Case& c : kCases) {
    Tensors inputs{randn(c.sizes), randn(c.sizes)};
    auto f = [&](const Tensors& x) -> Tensors { return {sum((x[0] - x[1]).tanh(), c.dims)}; };
    Executable code(schedule::make_schedule(capture::forward(f, inputs)));
    EXPECT_EQ(code.memory_bytes() == 0, c.fused) << text(c.sizes) << " over " << text(c.dims);
  }
}

TEST(Reductions, read_broadcast_and_transposed_operands) {
  Tensors inputs{randn({6, 8, 16, 16}), randn({8, 1, 1}), transpose(randn({6, 8, 16, 16}), 2, 3)};
  auto f = [](const Tensors& x) -> Tensors {
    Tensor y = (x[0] - x[1]) * x[1];
    return {sum(y, Dims{0, 2, 3}), sum(y * y), sum(y, Dims{2, 3}), sum(x[0] * x[2], Dims{2, 3})};
  };
  expect_same(f, inputs, "broadcast");
  auto turned = [](const Tensors& x) -> Tensors {
    return {sum((x[2] * 2).sin(), Dims{1, 2}), sum(x[2] + x[2], Dims{0}), sum(x[2] * x[1])};
  };
  expect_same(turned, inputs, "transposed");
}

TEST(Reductions, keep_special_values) {
  double nan = std::nan(""), inf = INFINITY;
  Tensor x = tensor({0.0, -0.0, 1.0, nan, inf, -inf, -0.0, 2.0}, kFloat64);
  for (int64_t from = 0; from < 8; from++) {
    Tensors inputs{slice(x, 0, from, std::min<int64_t>(from + 3, 8)).clone()};
    auto f = [](const Tensors& x) -> Tensors {
      Tensor y = x[0] * 1.0;
      return {sum(y), amax(y, Dims{0}), amin(y, Dims{0}), prod(y), mean(y)};
    };
    expect_same(f, inputs, std::to_string(from));
  }
}

TEST(Reductions, of_integers_and_of_nothing) {
  auto f = [](const Tensors& x) -> Tensors {
    Tensor y = x[0] + x[0];
    return {sum(y), sum(y, Dims{1}), amax(y, Dims{1}), prod(y, 1)};
  };
  expect_same(f, {randint(-3, 4, {5, 700})}, "integers");
  auto g = [](const Tensors& x) -> Tensors { return {sum(x[0] * 2), sum(x[0] * 2, Dims{0})}; };
  expect_same(g, {zeros({0, 4})}, "no elements");
  expect_same(g, {zeros({4, 0})}, "no columns");
  expect_same(g, {tensor(2.5).reshape({1, 1})}, "one element");
}

}  // namespace
}  // namespace fg::codegen
