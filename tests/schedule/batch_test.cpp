// Small loops that do the same to different values become one step.
#include "schedule/batch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace fg::schedule {
namespace {

// "sin+sin; mm": steps in their order.
std::string steps_of(const char* text) {
  ir::Graph graph = ir::parse_graph(text);
  std::vector<Place> places = find_places(graph);
  std::vector<Group> groups = fuse(graph, places);
  batch(graph, places, groups);
  std::string out;
  for (const Group& group : groups) {
    if (!out.empty()) out += group.beside ? "+" : "; ";
    std::string names;
    for (uint32_t index : group.operations) {
      if (!names.empty()) names += " ";
      names += graph.operations[index].primitive->name;
    }
    out += names;
  }
  return out;
}

TEST(Batch, runs_equal_updates_of_different_values_together) {
  EXPECT_EQ(steps_of(R"(graph(%0: float32[8] argument 0, %1: float32[8] argument 1,
      %2: float32[3, 5] argument 2, %3: float32[3, 5] argument 3) {
    %4: float32[8] = mul(%0, %1)
    %5: float32[8] = sub(%0, %4)
    %6: float32[3, 5] = mul(%2, %3)
    %7: float32[3, 5] = sub(%2, %6)
    return %5: output 0, %7: output 1
  })"),
            "mul sub+mul sub");
}

TEST(Batch, waits_for_a_later_one_only_while_nobody_reads_the_result) {
  EXPECT_EQ(steps_of(R"(graph(%0: float32[4, 4] argument 0, %1: float32[8] argument 1,
      %2: float32[5] argument 2) {
    %3: float32[8] = sin(%1)
    %4: float32[4, 4] = mm(%0, %0)
    %5: float32[5] = sin(%2)
    %6: float32[4, 4] = mm(%4, %4)
    return %3: output 0, %5: output 1, %6: output 2
  })"),
            "mm; sin+sin; mm");
  EXPECT_EQ(steps_of(R"(graph(%0: float32[4, 4] argument 0, %1: float32[5] argument 1) {
    %2: float32[4, 4] = sin(%0)
    %3: float32[4, 4] = mm(%2, %2)
    %4: float32[5] = sin(%1)
    return %3: output 0, %4: output 1
  })"),
            "sin; mm; sin");
}

TEST(Batch, leaves_large_loops_where_they_are) {
  EXPECT_EQ(steps_of(R"(graph(%0: float32[400, 400] argument 0, %1: float32[500, 500] argument 1) {
    %2: float32[400, 400] = sin(%0)
    %3: float32[500, 500] = sin(%1)
    return %2: output 0, %3: output 1
  })"),
            "sin; sin");
}

TEST(Batch, tells_parameters_and_operands_apart) {
  EXPECT_EQ(steps_of(R"(graph(%0: float32[4] argument 0, %1: float32[5] argument 1,
      %2: float32[6] argument 2) {
    %3: float32[4] = mul(%0, %0)
    %4: float32[5] = threshold(%1; threshold=0.5, value=2.0)
    %5: float32[6] = threshold(%2; threshold=0.5, value=3.0)
    return %3: output 0, %4: output 1, %5: output 2
  })"),
            "mul; threshold; threshold");
}

}  // namespace
}  // namespace fg::schedule
