// Minimum cuts of small networks.
#include "passes/max_flow.h"

#include <gtest/gtest.h>

namespace fg::passes {
namespace {

TEST(MinimumCut, crosses_the_cheapest_arcs) {
  // 0 -> 2 -> 3 -> 1 and 0 -> 4 -> 1
  std::vector<Arc> arcs{{0, 2, 7}, {4, 1, 5}, {2, 3, 2}, {3, 1, 9}, {0, 4, 6}};
  EXPECT_EQ(minimum_cut(5, arcs, 0, 1), (std::vector<bool>{true, false, true, false, true}));
}

TEST(MinimumCut, takes_of_equal_ones_the_one_nearest_to_the_sink) {
  std::vector<Arc> arcs;
  for (int i = 0; i < 50; i++) arcs.push_back({i, i + 1, 3});
  std::vector<bool> source = minimum_cut(51, arcs, 0, 50);
  for (size_t i = 0; i < 50; i++) EXPECT_TRUE(source[i]) << i;
  EXPECT_FALSE(source[50]);
}

TEST(MinimumCut, crosses_arcs_that_cost_nothing_and_needs_none) {
  EXPECT_EQ(minimum_cut(3, {{0, 2, 0}, {2, 1, 4}}, 0, 1), (std::vector<bool>{true, false, false}));
  EXPECT_EQ(minimum_cut(2, {}, 0, 1), (std::vector<bool>{true, false}));
}

}  // namespace
}  // namespace fg::passes
