// Operations that no output needs are dropped.
#include "tests/passes/pass_text.h"

namespace fg::passes {
namespace {

TEST(DeadCode, is_dropped_and_values_are_numbered_anew) {
  EXPECT_EQ(after(dead_code, R"(graph(%7: float32[2] argument 0, %3: int64[2] seed 0,
                                      %20: float32[2] argument 1) {
    %9: float32[2] = sin(%7)
    %10: float32[2] = random(%3; size=[2], dtype=float32, distribution=0, a=0.0, b=1.0,
        generator=none) skip 0
    %11: float32[2] = random(%3; size=[2], dtype=float32, distribution=0, a=0.0, b=1.0,
        generator=none) skip 2
    %12: float32[2], %13: int64[2] = sort(%11; dim=0, descending=false)
    %5: float32[2] = exp(%9)
    return %13: output 0, none: gradient 0
  })"),
            canonical(R"(graph(%0: float32[2] argument 0, %1: int64[2] seed 0,
                               %2: float32[2] argument 1) {
    %3: float32[2] = random(%1; size=[2], dtype=float32, distribution=0, a=0.0, b=1.0,
        generator=none) skip 2
    %4: float32[2], %5: int64[2] = sort(%3; dim=0, descending=false)
    return %5: output 0, none: gradient 0
  })"));
}

TEST(DeadCode, keeps_what_refuses_values) {
  const char* text = R"(graph(%0: int64[2] argument 0) {
    %1: int64[2] = nonzero_divisor(%0)
    return %0: output 0
  })";
  EXPECT_EQ(after(dead_code, text), canonical(text));
}

// Marks of inputs move with their numbers: a mark on another input would let it be overwritten.
TEST(DeadCode, renumbers_what_may_be_consumed) {
  ir::Graph graph = ir::parse_graph(R"(graph(%2: float32[3] argument 0, %0: float32[3] argument 1) {
    %1: float32[3] = sin(%0)
    %3: float32[3] = mul(%1, %2)
    return %3: output 0
  })");
  graph.consumable = {0};
  dead_code(graph);
  EXPECT_EQ(graph.consumable, std::vector<ir::ValueId>{1});
  EXPECT_EQ(graph.inputs[1], 1u);
}

}  // namespace
}  // namespace fg::passes
