// The whole schedule of a graph, text to text, and what its verifier refuses.
#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"
#include "tests/passes/random_graph.h"
#include "tests/schedule/tile_limits.h"

namespace fg::schedule {
namespace {

constexpr const char* kGraph = R"(graph(%0: float32[4, 4] argument 0, %1: float32[8] argument 1) {
    %2: float32[4, 4] = sin(%0)
    %3: float32[4, 4] = mul(%2, %0)
    %4: float32[4, 4] = mm(%3, %3)
    %5: float32[4, 4] strides [1, 4] = t(%4)
    %6: float32[4, 4] = exp(%4)
    %7: float32[8] = sin(%1)
    return %6: output 0, %7: output 1
  })";

// The lines after those of the graph.
std::string steps_text(const Schedule& schedule) {
  return text(schedule).substr(schedule.graph.text().size());
}

TEST(Schedule, text_to_text) {
  EXPECT_EQ(steps_text(make_schedule(ir::parse_graph(kGraph))),
            "loop sin mul: %2 %3\n"
            "call mm: %4\n"
            "loop exp: %6\n"
            "loop sin: %7\n"
            "arena of 128 bytes: %3 at 0 %4 at 64\n"
            "kept: %6 %7\n");
}

TEST(Schedule, says_what_runs_by_tiles) {
  TileEverything everything;
  Schedule schedule = make_schedule(ir::parse_graph(R"(graph(%0: float32[64, 8] argument 0,
      %1: float32[64, 8] argument 1) {
    %2: float32[64, 8] = softmax(%0; dim=1)
    %3: float32[64, 8] = mul(%2, %1)
    return %3: output 0
  })"));
  ASSERT_EQ(schedule.tiles.size(), 1u);
  EXPECT_NE(steps_text(schedule).find("tiles of 64 rows, "), std::string::npos);
  EXPECT_NE(steps_text(schedule).find("\n  call softmax: %2\n  loop mul: %3\n"), std::string::npos);
}

TEST(Schedule, every_random_graph_is_verified) {
  for (uint32_t seed = 0; seed < 100; seed++) {
    ir::Graph graph = passes::RandomGraph(seed).make(12, seed % 2 == 0);
    EXPECT_NO_THROW(make_schedule(graph)) << seed << graph.text();
  }
}

std::string complaint(void (*damage)(Schedule&)) {
  Schedule schedule = make_schedule(ir::parse_graph(kGraph));
  damage(schedule);
  return error_of([&] { verify(schedule, "a stage"); });
}

TEST(Schedule, the_verifier_names_the_stage_and_what_is_wrong) {
  EXPECT_EQ(complaint([](Schedule& s) { s.groups.erase(s.groups.begin()); }),
            "schedule after a stage: mm reads %3 before it is made");
  EXPECT_EQ(complaint([](Schedule& s) { std::swap(s.groups[0], s.groups[1]); }),
            "schedule after a stage: mm reads %3 before it is made");
  EXPECT_EQ(complaint([](Schedule& s) { s.groups.pop_back(); }),
            "schedule after a stage: %7 is not made");
  EXPECT_EQ(complaint([](Schedule& s) { s.groups.push_back(s.groups[1]); }),
            "schedule after a stage: %4 is made twice");
  EXPECT_EQ(complaint([](Schedule& s) { s.memory.offsets[4] = 32; }),
            "schedule after a stage: %3 and %4 are in the same bytes at the same time");
  Schedule turned = make_schedule(ir::parse_graph(R"(graph(%0: float32[4, 4] argument 0) {
    %1: float32[4, 4] = mm(%0, %0)
    %2: float32[4, 4] strides [1, 4] = t(%1)
    %3: float32[4, 4] = add(%1, %2)
    %4: float32[4, 4] = mm(%3, %3)
    return %4: output 0
  })"));
  turned.memory.offsets[3] = turned.memory.offsets[1];  // element i of %3 reads element j of %1
  EXPECT_EQ(error_of([&] { verify(turned, "a stage"); }),
            "schedule after a stage: %1 and %3 are in the same bytes at the same time");
  EXPECT_EQ(complaint([](Schedule& s) { s.memory.bytes = 64; }),
            "schedule after a stage: %4 is behind the arena");
  EXPECT_EQ(complaint([](Schedule& s) { s.places[5].offset = -1; }),
            "schedule after a stage: %5 is in %4, which is no memory");
}

}  // namespace
}  // namespace fg::schedule
