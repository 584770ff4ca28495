// A value that is computed twice is computed once, unless a caller could tell.
#include "tests/passes/pass_text.h"

namespace fg::passes {
namespace {

std::string shared(const char* text) {
  ir::Graph before = ir::parse_graph(text), after_pass = before;
  common_subexpressions(after_pass);
  Tensors inputs = some_inputs(before);
  EXPECT_EQ(run_bits(after_pass, inputs), run_bits(before, inputs)) << text;
  return after(common_subexpressions, text);
}
void expect_unchanged(const char* text) { EXPECT_EQ(shared(text), canonical(text)); }

TEST(CommonSubexpressions, are_computed_once) {
  EXPECT_EQ(shared(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = exp(%1)
    %3: float32[2] = sin(%0)
    %4: float32[2] = exp(%3) backward
    %5: float32[2] = mul(%2, %4)
    return %5: output 0
  })"),
            canonical(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = exp(%1)
    %3: float32[2] = mul(%2, %2)
    return %3: output 0
  })"));
}

TEST(CommonSubexpressions, have_equal_parameters_lists_and_results) {
  EXPECT_EQ(shared(R"(graph(%0: float32[2, 3] argument 0) {
    %1: float32[2, 3], %2: int64[2, 3] = sort(%0; dim=1, descending=false)
    %3: float32[2, 3], %4: int64[2, 3] = sort(%0; dim=1, descending=false)
    %5: float32[2, 3], %6: int64[2, 3] = sort(%0; dim=0, descending=false)
    %7: float32[4, 3] = cat([%1, %3]; dim=0)
    %8: float32[4, 3] = cat([%3, %1]; dim=0)
    %9: float32[4, 3] = mul(%7, %8)
    %10: int64[2, 3] = mul(%4, %6)
    return %9: output 0, %10: output 1
  })"),
            canonical(R"(graph(%0: float32[2, 3] argument 0) {
    %1: float32[2, 3], %2: int64[2, 3] = sort(%0; dim=1, descending=false)
    %3: float32[2, 3], %4: int64[2, 3] = sort(%0; dim=0, descending=false)
    %5: float32[4, 3] = cat([%1, %1]; dim=0)
    %6: float32[4, 3] = mul(%5, %5)
    %7: int64[2, 3] = mul(%2, %4)
    return %6: output 0, %7: output 1
  })"));
}

TEST(CommonSubexpressions, are_not_zero_and_minus_zero_nor_numbers_and_values) {
  expect_unchanged(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = full(; size=[2], strides=[], value=0.0, dtype=float32)
    %2: float32[2] = full(; size=[2], strides=[], value=-0.0, dtype=float32)
    %3: float64[] = constant([0.0])
    %4: float64[] = constant([-0.0])
    %5: float64[] number = constant([0.0])
    %6: float32[2] = div(%1, %3)
    %7: float32[2] = div(%2, %4)
    %8: float32[2] = div(%0, %5)
    %9: float32[2] = mul(%6, %7)
    return %8: output 0, %9: output 1
  })");
}

TEST(CommonSubexpressions, are_equal_constants) {
  EXPECT_EQ(shared(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = constant([1.0, nan])
    %2: float32[2] = constant([1.0, nan])
    %3: float32[2] = mul(%0, %1)
    %4: float32[2] = mul(%3, %2)
    return %4: output 0
  })"),
            canonical(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = constant([1.0, nan])
    %2: float32[2] = mul(%0, %1)
    %3: float32[2] = mul(%2, %1)
    return %3: output 0
  })"));
}

TEST(CommonSubexpressions, are_never_random) {
  expect_unchanged(R"(graph(%0: int64[2] seed 0) {
    %1: float32[2] = random(%0; size=[2], dtype=float32, distribution=0, a=0.0, b=1.0,
        generator=none) skip 0
    %2: float32[2] = random(%0; size=[2], dtype=float32, distribution=0, a=0.0, b=1.0,
        generator=none) skip 0
    %3: float32[2] = mul(%1, %2)
    return %3: output 0
  })");
}

TEST(CommonSubexpressions, do_not_make_two_outputs_one) {
  expect_unchanged(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = sin(%0)
    return %1: output 0, %2: output 1
  })");
  // Nor two memories one, seen through views.
  expect_unchanged(R"(graph(%0: float32[2, 2] argument 0) {
    %1: float32[2, 2] = sin(%0)
    %2: float32[2, 2] = sin(%0)
    %3: float32[2, 2] strides [1, 2] = t(%1)
    %4: float32[2] = select(%2; dim=0, index=0)
    return %3: output 0, %4: saved 0
  })");
  // Nor two views one.
  expect_unchanged(R"(graph(%0: float32[2, 2] argument 0) {
    %1: float32[2, 2] strides [1, 2] = t(%0)
    %2: float32[2, 2] strides [1, 2] = t(%0)
    return %1: output 0, %2: output 1
  })");
}

TEST(CommonSubexpressions, may_be_one_output) {
  EXPECT_EQ(shared(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = exp(%1)
    %3: float32[2] = sin(%0)
    %4: float32[2] = sin(%0)
    return %3: output 0, %2: output 1, %4: output 2
  })"),
            canonical(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = exp(%1)
    %3: float32[2] = sin(%0)
    return %1: output 0, %2: output 1, %3: output 2
  })"));
}

// Sizes that are equal in the example alone stay two; the passes add no guard.
TEST(CommonSubexpressions, are_told_by_the_structure_of_sizes) {
  ir::Graph graph = ir::parse_graph(R"(sizes s0 = 3, s1 = 3 where s0 >= 1, s1 >= 1
  graph(%0: float32[2*s0] argument 0) {
    %1: float32[2*s0] = sin(%0)
    %2: float32[s0 + s0] = sin(%0)
    %3: float32[2*s0] = mul(%1, %2)
    %4: float32[s0*s1] = full(; size=[s0*s1], strides=[], value=1.0, dtype=float32)
    %5: float32[s1*s0] = full(; size=[s1*s0], strides=[], value=1.0, dtype=float32)
    %6: float32[s0*s1] = mul(%4, %5)
    %7: float32[s0*s0] = full(; size=[s0*s0], strides=[], value=1.0, dtype=float32)
    return %3: output 0, %6: output 1, %7: output 2
  })");
  run_passes(graph, "test");
  EXPECT_EQ(graph.text(), canonical(R"(sizes s0 = 3, s1 = 3 where s0 >= 1, s1 >= 1
  graph(%0: float32[2*s0] argument 0) {
    %1: float32[2*s0] = sin(%0)
    %2: float32[2*s0] = mul(%1, %1)
    %3: float32[s0*s1] = full(; size=[s0*s1], strides=[], value=1.0, dtype=float32)
    %4: float32[s0*s1] = mul(%3, %3)
    %5: float32[s0*s0] = full(; size=[s0*s0], strides=[], value=1.0, dtype=float32)
    return %2: output 0, %4: output 1, %5: output 2
  })"));
  EXPECT_EQ(graph.symbols->guards().size(), 2u);
}

}  // namespace
}  // namespace fg::passes
