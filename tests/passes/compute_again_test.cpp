// Cheap values that lie in memory across the peak are computed a second time after it.
#include <fmt/format.h>

#include "schedule/plan_memory.h"
#include "tests/passes/compute_everything_again.h"
#include "tests/passes/pass_text.h"

namespace fg::passes {
namespace {

using schedule::find_places;
using schedule::fuse;
using schedule::Group;
using schedule::Place;
using schedule::plan_memory;

// A graph with `made` as %3, which is read by a product before the peak and one after it. %2 is
// read once more after both, if it is `kept`.
std::string around_peak(const char* made, bool kept = true, const char* also = "") {
  return fmt::format(R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {{
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = {}
    %4: float32[8, 8] = mm(%3, %0)
    %5: float32[8, 8] = mm(%4, %0)
    %6: float32[8, 64] = mm(%5, %1)
    %7: float32[64, 8] strides [1, 64] = t(%6)
    %8: float32[8, 8] = mm(%6, %7)
    %9: float32[8, 8] = mm(%8, %3)
    %10: float32[8, 8] = mul(%9, {})
    return %10: output 0{}
  }})",
                     made, kept ? "%2" : "%9", also);
}

int64_t block_of(const ir::Graph& graph) {
  std::vector<Place> places = find_places(graph);
  return plan_memory(graph, places, fuse(graph, places)).bytes;
}

std::string after_pass(const std::string& text) {
  ComputeEverythingAgain everything;
  return after(compute_again, text.c_str());
}
// The pass computes the same from less memory.
void expect_smaller(const std::string& text, const std::string& expected) {
  std::string passed = after_pass(text);
  EXPECT_EQ(passed, canonical(expected));
  ir::Graph before = ir::parse_graph(text), later = ir::parse_graph(passed);
  EXPECT_LT(block_of(later), block_of(before));
  Tensors inputs = some_inputs(before);
  EXPECT_EQ(run_bits(later, inputs), run_bits(before, inputs));
}
void expect_left(const std::string& text) { EXPECT_EQ(after_pass(text), canonical(text)); }

TEST(ComputeAgain, makes_a_cheap_value_of_what_is_there_anyway) {
  expect_smaller(around_peak("gelu(%2)"),
                 R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = gelu(%2)
    %4: float32[8, 8] = mm(%3, %0)
    %5: float32[8, 8] = mm(%4, %0)
    %6: float32[8, 64] = mm(%5, %1)
    %7: float32[64, 8] strides [1, 64] = t(%6)
    %8: float32[8, 8] = mm(%6, %7)
    %9: float32[8, 8] = gelu(%2) again
    %10: float32[8, 8] = mm(%8, %9)
    %11: float32[8, 8] = mul(%10, %2)
    return %11: output 0
  })");
}

TEST(ComputeAgain, makes_a_value_that_is_read_late_only_then) {
  expect_smaller(R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 8] = sin(%0)
    %3: float32[8, 64] = mm(%0, %1)
    %4: float32[64, 8] strides [1, 64] = t(%3)
    %5: float32[8, 8] = mm(%3, %4)
    %6: float32[8, 8] = mm(%5, %2)
    return %6: output 0
  })",
                 R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 64] = mm(%0, %1)
    %3: float32[64, 8] strides [1, 64] = t(%2)
    %4: float32[8, 8] = mm(%2, %3)
    %5: float32[8, 8] = sin(%0) again
    %6: float32[8, 8] = mm(%4, %5)
    return %6: output 0
  })");
}

// %4 is made of %3, which no operation reads later; a view of %4 is read, and %4 itself.
TEST(ComputeAgain, makes_chains_and_views_too) {
  expect_smaller(R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = exp(%2)
    %4: float32[8, 8] = sin(%3)
    %5: float32[8, 8] strides [1, 8] = t(%4)
    %6: float32[8, 8] = mm(%5, %0)
    %7: float32[8, 8] = mm(%6, %0)
    %8: float32[8, 64] = mm(%7, %1)
    %9: float32[64, 8] strides [1, 64] = t(%8)
    %10: float32[8, 8] = mm(%8, %9)
    %11: float32[8, 8] = mm(%10, %5)
    %12: float32[8, 8] = mm(%11, %4)
    %13: float32[8, 8] = mul(%12, %2)
    return %13: output 0
  })",
                 R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = exp(%2)
    %4: float32[8, 8] = sin(%3)
    %5: float32[8, 8] strides [1, 8] = t(%4)
    %6: float32[8, 8] = mm(%5, %0)
    %7: float32[8, 8] = mm(%6, %0)
    %8: float32[8, 64] = mm(%7, %1)
    %9: float32[64, 8] strides [1, 64] = t(%8)
    %10: float32[8, 8] = mm(%8, %9)
    %11: float32[8, 8] = exp(%2) again
    %12: float32[8, 8] = sin(%11) again
    %13: float32[8, 8] strides [1, 8] = t(%12) again
    %14: float32[8, 8] = mm(%10, %13)
    %15: float32[8, 8] = mm(%14, %12)
    %16: float32[8, 8] = mul(%15, %2)
    return %16: output 0
  })");
}

TEST(ComputeAgain, normalises_again) {
  const char* text = R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 8], %3: float32[8, 1], %4: float32[8, 1] =
        normalize_rows(%0, none, none; count=1, eps=1e-05)
    %5: float32[8, 8] = mm(%2, %0)
    %6: float32[8, 8] = mm(%5, %0)
    %7: float32[8, 64] = mm(%6, %1)
    %8: float32[64, 8] strides [1, 64] = t(%7)
    %9: float32[8, 8] = mm(%7, %8)
    %10: float32[8, 8] = mm(%9, %2)
    %11: float32[8, 8] = mul(%10, %4)
    return %11: output 0
  })";
  expect_smaller(text, R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 8], %3: float32[8, 1], %4: float32[8, 1] =
        normalize_rows(%0, none, none; count=1, eps=1e-05)
    %5: float32[8, 8] = mm(%2, %0)
    %6: float32[8, 8] = mm(%5, %0)
    %7: float32[8, 64] = mm(%6, %1)
    %8: float32[64, 8] strides [1, 64] = t(%7)
    %9: float32[8, 8] = mm(%7, %8)
    %10: float32[8, 8], %11: float32[8, 1], %12: float32[8, 1] =
        normalize_rows(%0, none, none; count=1, eps=1e-05) again
    %13: float32[8, 8] = mm(%9, %10)
    %14: float32[8, 8] = mul(%13, %12)
    return %14: output 0
  })");
}

TEST(ComputeAgain, leaves_what_costs_much_or_would_keep_others_longer) {
  expect_left(around_peak("mm(%2, %2)"));
  expect_left(around_peak("cumsum(%2; dim=0, reverse=false)"));
  expect_left(around_peak("gelu(%2)", false));  // %2 would be in memory in its place
}

TEST(ComputeAgain, leaves_what_takes_many_operations) {
  auto chain = [](int operations) {
    std::string text = "graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {\n";
    auto line = [&](int value, const char* sizes, const std::string& made) {
      text += fmt::format("%{}: float32{} = {}\n", value, sizes, made);
    };
    for (int i = 0; i < operations; i++)
      line(i + 2, "[8, 8]", fmt::format("sin(%{})", i ? i + 1 : 0));
    int last = operations + 1;
    line(last + 1, "[8, 8]", fmt::format("mm(%{}, %0)", last));
    line(last + 2, "[8, 64]", fmt::format("mm(%{}, %1)", last + 1));
    line(last + 3, "[64, 8] strides [1, 64]", fmt::format("t(%{})", last + 2));
    line(last + 4, "[8, 8]", fmt::format("mm(%{}, %{})", last + 2, last + 3));
    line(last + 5, "[8, 8]", fmt::format("mm(%{}, %{})", last + 4, last));
    return text + fmt::format("return %{}: output 0\n}}", last + 5);
  };
  EXPECT_NE(after_pass(chain(8)).find("again"), std::string::npos);
  expect_left(chain(9));
}

// %3 is made again, but read later than %4 is: making both then would compute %3 twice.
TEST(ComputeAgain, makes_a_value_once_more_and_not_again_for_each_that_is_made_of_it) {
  std::string passed =
      after_pass(R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {
    %2: float32[8, 8] = mm(%0, %0)
    %3: float32[8, 8] = sin(%2)
    %4: float32[8, 8] = exp(%3)
    %5: float32[8, 8] = mm(%4, %0)
    %6: float32[8, 64] = mm(%5, %1)
    %7: float32[64, 8] strides [1, 64] = t(%6)
    %8: float32[8, 8] = mm(%6, %7)
    %9: float32[8, 8] = mm(%8, %4)
    %10: float32[8, 8] = mm(%9, %3)
    %11: float32[8, 8] = mm(%10, %2)
    return %11: output 0
  })");
  EXPECT_NE(passed.find("%10: float32[8, 8] = sin(%2) again"), std::string::npos) << passed;
  EXPECT_EQ(passed.find("again"), passed.rfind("again")) << passed;
}

TEST(ComputeAgain, leaves_small_values_and_small_gains) {
  std::string text = around_peak("gelu(%2)");
  EXPECT_EQ(after(compute_again, text.c_str()), canonical(text));
  ComputeEverythingAgain everything(8);  // it is a twelfth of the peak
  EXPECT_EQ(after(compute_again, text.c_str()), canonical(text));
}

TEST(ComputeAgain, leaves_what_the_caller_gets_or_sees) {
  expect_left(around_peak("gelu(%2)", true, ", %3: output 1"));
  expect_left(around_peak("gelu(%2)", true, ", %7: output 1, %3: output 2"));
}

TEST(ComputeAgain, leaves_random_numbers_and_what_may_fail) {
  expect_left(R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1,
                       %2: int64[2] seed 0) {
    %3: float32[8, 8] = random(%2; size=[8, 8], dtype=float32, distribution=0, a=0.0,
        b=1.0, generator=none) skip 0
    %4: float32[8, 8] = mm(%3, %0)
    %5: float32[8, 64] = mm(%4, %1)
    %6: float32[64, 8] strides [1, 64] = t(%5)
    %7: float32[8, 8] = mm(%5, %6)
    %8: float32[8, 8] = mm(%7, %3)
    return %8: output 0
  })");
  expect_left(R"(graph(%0: int64[8, 8] argument 0, %1: int64[8, 64] argument 1) {
    %2: int64[8, 8] = nonzero_divisor(%0)
    %3: int64[8, 8] = mm(%2, %0)
    %4: int64[8, 64] = mm(%3, %1)
    %5: int64[64, 8] strides [1, 64] = t(%4)
    %6: int64[8, 8] = mm(%4, %5)
    %7: int64[8, 8] = mm(%6, %2)
    return %7: output 0
  })");
}

// A step whose input gets new elements, by then computed in the memory of the old ones.
std::string updating(const char* role, const char* late) {
  return fmt::format(R"(graph(%0: float32[8, 8] argument 0, %1: float32[8, 64] argument 1) {{
    %2: float32[8, 8] = sin(%0)
    %3: float32[8, 8] = mm(%2, %2)
    %4: float32[8, 64] = mm(%3, %1)
    %5: float32[64, 8] strides [1, 64] = t(%4)
    %6: float32[8, 8] = mm(%4, %5)
    %7: float32[8, 8] = mm(%6, %2)
    %8: float32[8, 8] = mul(%7, {})
    return %8: {}
  }})",
                     late, role);
}
TEST(ComputeAgain, reads_an_input_that_gets_new_elements_no_longer_than_before) {
  expect_left(updating("mutation 0", "%7"));
  EXPECT_NE(after_pass(updating("mutation 0", "%0")).find("again"), std::string::npos);
  EXPECT_NE(after_pass(updating("mutation 1", "%7")).find("again"), std::string::npos);
  EXPECT_NE(after_pass(updating("output 0", "%7")).find("again"), std::string::npos);
}

// In the loop that makes it first it would be in memory as long as before.
TEST(ComputeAgain, is_not_undone_by_fusion) {
  ir::Graph graph = ir::parse_graph(after_pass(around_peak("gelu(%2)")));
  for (const Group& group : fuse(graph, find_places(graph))) {
    EXPECT_LE(group.operations.size(), 1u);
  }
}

}  // namespace
}  // namespace fg::passes
