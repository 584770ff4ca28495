// The list of all passes.
#include "base/log.h"
#include "tests/error_of.h"
#include "tests/passes/pass_text.h"

namespace fg::passes {
namespace {

constexpr const char* kAll = R"(graph(%0: float32[2] argument 0, %1: float32[2] tangent 0) {
    %2: float32[2] = clone(%0; contiguous=false, strides=[])
    %3: float32[2] = sin(%2)
    %4: float32[2] = sin(%0)
    %5: float64[] = constant([2.0])
    %6: float64[] = neg(%5)
    %7: float32[2] = mul(%3, %6)
    %8: float32[2] = mul(%4, %1) backward
    return %7: output 0, %8: gradient 0
  })";

TEST(RunPasses, runs_all_of_them_and_times_each) {
  ir::Graph graph = ir::parse_graph(kAll);
  std::vector<PassTiming> timings = run_passes(graph, "test");
  EXPECT_EQ(graph.text(), canonical(R"(graph(%0: float32[2] argument 0, %1: float32[2] tangent 0) {
    %2: float32[2] = sin(%0)
    %3: float32[2] = mul(%2, %1) backward
    %4: float64[] = constant([-2.0])
    %5: float32[2] = mul(%2, %4)
    return %5: output 0, %3: gradient 0
  })"));
  std::string names;
  for (const PassTiming& timing : timings) {
    names += std::string(timing.name) + " ";
    EXPECT_GE(timing.seconds, 0);
  }
  EXPECT_EQ(
      names,
      "simplify fold_constants common_subexpressions recompute_late compute_again dead_code ");
  EXPECT_EQ(timings.front().operations_before, 7u);
  EXPECT_EQ(timings.back().operations_after, 4u);
}

TEST(RunPasses, does_not_change_what_it_made) {
  ir::Graph graph = ir::parse_graph(kAll);
  run_passes(graph, "test");
  std::string once = graph.text();
  run_passes(graph, "test");
  EXPECT_EQ(graph.text(), once);
}

TEST(RunPasses, prints_graphs_between_passes_when_asked) {
  ir::Graph graph = ir::parse_graph(kAll);
  uint32_t before = logging::topics.exchange(1u << static_cast<int>(logging::Topic::graph));
  testing::internal::CaptureStderr();
  run_passes(graph, "forward of f");
  std::string said = testing::internal::GetCapturedStderr();
  logging::topics = before;
  EXPECT_NE(said.find("foregrad graph: forward of f, before the passes:\ngraph("), said.npos)
      << said;
  EXPECT_NE(said.find("forward of f, after dead_code ("), said.npos) << said;
  EXPECT_NE(said.find(" ms, 4 of 5 operations):\ngraph("), said.npos) << said;
}

TEST(RunPasses, refuses_a_graph_that_is_wrong) {
  ir::Graph graph = ir::parse_graph(kAll);
  graph.values[3].sizes = {3};
  EXPECT_NE(error_of([&] { run_passes(graph, "test"); }).find("graph after simplify: %3 of sin"),
            std::string::npos);
}

}  // namespace
}  // namespace fg::passes
