// What the backward computes again is computed when it is needed.
#include "tests/passes/pass_text.h"

namespace fg::passes {
namespace {

TEST(RecomputeLate, moves_the_forward_to_where_the_backward_reads_it) {
  EXPECT_EQ(after(recompute_late, R"(graph(%0: float32[2] saved 0, %1: float32[2] tangent 0) {
    %2: float32[2] = sin(%0)
    %3: float32[2] = exp(%2)
    %4: float32[2] = tanh(%2)
    %5: float32[2] = neg(%1) backward
    %6: float32[2] = mul(%5, %4) backward
    %7: float32[2] = mul(%6, %3) backward
    return %7: gradient 0, %2: output 0
  })"),
            canonical(R"(graph(%0: float32[2] saved 0, %1: float32[2] tangent 0) {
    %2: float32[2] = neg(%1) backward
    %3: float32[2] = sin(%0)
    %4: float32[2] = tanh(%3)
    %5: float32[2] = mul(%2, %4) backward
    %6: float32[2] = exp(%3)
    %7: float32[2] = mul(%5, %6) backward
    return %7: gradient 0, %3: output 0
  })"));
}

TEST(RecomputeLate, leaves_a_forward_and_effects_as_they_are) {
  const char* forward = R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = exp(%0)
    %3: float32[2] = neg(%1)
    return %2: output 0, %3: output 1
  })";
  EXPECT_EQ(after(recompute_late, forward), canonical(forward));
  const char* refusing = R"(graph(%0: int64[2] argument 0, %1: int64[2] tangent 0) {
    %2: int64[2] = nonzero_divisor(%0)
    %3: int64[2] = neg(%1) backward
    %4: int64[2] = mul(%3, %2) backward
    return %4: gradient 0
  })";
  EXPECT_EQ(after(recompute_late, refusing), canonical(refusing));
}

}  // namespace
}  // namespace fg::passes
