// AccumulateGrad: one per leaf while some graph refers to it, kept by the leaf afterwards.
#include <gtest/gtest.h>

#include <thread>

#include "foregrad.h"

namespace fg {
namespace {

using autograd::get_gradient_edge;

TEST(Accumulator, is_one_node_while_it_is_in_use) {
  Tensor x = ones({2}).requires_grad_();
  Ref<autograd::Node> node = get_gradient_edge(x).node;
  Tensor y = x * 2;
  EXPECT_EQ(y.grad_fn()->next_edge(0).node, node);
}

TEST(Accumulator, serves_one_graph_after_the_other) {
  Tensor x = ones({2}).requires_grad_();
  int calls = 0;
  x.register_post_accumulate_grad_hook([&](const Tensor&) { calls++; });
  for (int i = 0; i < 3; i++) (x * 2).sum().backward();
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(x.grad().to_vector<double>(), (std::vector<double>{6, 6}));
}

TEST(Accumulator, keeps_its_leaf_alive) {
  Tensor y, seen;
  {
    Tensor x = ones({2}).requires_grad_();
    x.register_post_accumulate_grad_hook([&](const Tensor& leaf) { seen = leaf.grad(); });
    y = (x * 3).sum();
  }
  y.backward();  // into a leaf that only the graph knows
  EXPECT_EQ(seen.to_vector<double>(), (std::vector<double>{3, 3}));
}

TEST(Accumulator, follows_new_sizes_of_its_leaf) {
  Tensor x = ones({2}).requires_grad_();
  (x * 2).sum().backward();
  x.set_grad({});
  x.set_data(ones({3, 2}));
  (x * 2).sum().backward();
  EXPECT_EQ(x.grad().sizes(), (Dims{3, 2}));
}

TEST(Accumulator, serves_threads_that_make_and_drop_graphs) {
  Tensor x = zeros({1}).requires_grad_();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; t++) {
    threads.emplace_back([&] {
      for (int i = 0; i < 2000; i++) {
        Tensor dropped = x + 1;
        if (i % 100 == 0) (x * 1).backward();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(x.grad().item<double>(), 80);
}

}  // namespace
}  // namespace fg
