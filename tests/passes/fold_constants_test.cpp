// Operations on constants alone are computed by the pass.
#include "tests/passes/pass_text.h"

namespace fg::passes {
namespace {

std::string folded(const char* text) {
  ir::Graph before = ir::parse_graph(text), after_pass = before;
  fold_constants(after_pass);
  Tensors inputs = some_inputs(before);
  EXPECT_EQ(run_bits(after_pass, inputs), run_bits(before, inputs)) << text;
  return after(fold_constants, text);
}
void expect_unchanged(const char* text) { EXPECT_EQ(after(fold_constants, text), canonical(text)); }

TEST(FoldConstants, computes_what_no_input_enters) {
  EXPECT_EQ(folded(R"(graph(%0: float32[2, 2] argument 0) {
    %1: float32[2] = constant([1.0, 2.0])
    %2: float32[2] = full(; size=[2], strides=[], value=3.0, dtype=float32)
    %3: float32[2] = add(%1, %2)
    %4: float32[2, 2] strides [0, 1] = expand(%3; size=[2, 2], implicit=false)
    %5: float32[2, 2] = neg(%4) backward
    %6: float32[2, 2] = mul(%0, %5)
    %7: float32[2] = mul(%1, %2)
    %8: float32[2, 2] = mul(%6, %7)
    return %8: output 0
  })"),
            canonical(R"(graph(%0: float32[2, 2] argument 0) {
    %1: float32[2, 2] = constant([-4.0, -5.0, -4.0, -5.0]) backward
    %2: float32[2, 2] = mul(%0, %1)
    %3: float32[2] = constant([3.0, 6.0])
    %4: float32[2, 2] = mul(%2, %3)
    return %4: output 0
  })"));
}

TEST(FoldConstants, keeps_numbers_weak_and_all_results) {
  EXPECT_EQ(folded(R"(graph(%0: float32[3] argument 0) {
    %1: float64[] number = constant([2.0])
    %2: float64[] number = window(%1; size=[], stride=[], offset=0)
    %3: float32[3] = mul(%0, %2)
    %4: float32[3] = constant([3.0, 1.0, 2.0])
    %5: float32[3], %6: int64[3] = sort(%4; dim=0, descending=false)
    %7: float32[3] = mul(%3, %5)
    %8: float32[3] = mul(%7, %6)
    return %8: output 0
  })"),
            canonical(R"(graph(%0: float32[3] argument 0) {
    %1: float64[] number = constant([2.0])
    %2: float32[3] = mul(%0, %1)
    %3: float32[3] = constant([1.0, 2.0, 3.0])
    %4: int64[3] = constant([1, 2, 0])
    %5: float32[3] = mul(%2, %3)
    %6: float32[3] = mul(%5, %4)
    return %6: output 0
  })"));
}

TEST(FoldConstants, leaves_alone_what_is_random_undefined_large_or_refused) {
  expect_unchanged(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = empty(; size=[2], strides=[], dtype=float32)
    %2: float32[2] = neg(%1)
    %3: float32[2] = mul(%0, %2)
    return %3: output 0
  })");
  expect_unchanged(R"(graph(%0: float32[2000] argument 0) {
    %1: float32[2000] = full(; size=[2000], strides=[], value=3.0, dtype=float32)
    %2: float32[2000] = sin(%1)
    %3: float32[2000] = mul(%0, %2)
    return %3: output 0
  })");
  expect_unchanged(R"(graph(%0: int64[2] argument 0) {
    %1: int64[2] = constant([1, 0])
    %2: int64[2] = nonzero_divisor(%1)
    %3: int64[2] = mul(%0, %2)
    return %3: output 0
  })");
}

// The caller may write to what it got; a constant would be another one in the next run.
TEST(FoldConstants, makes_what_the_caller_gets_anew_in_every_run) {
  expect_unchanged(R"(graph() {
    %0: float32[2] = constant([1.0, 2.0])
    %1: float32[2] = neg(%0)
    %2: float32[2] = restride(%1; stride=[1])
    %3: float32[1, 2] = unsqueeze(%2; dim=0)
    return %1: output 0, %3: output 1
  })");
}

}  // namespace
}  // namespace fg::passes
