// Simplification: shorter ways to the same bits, and the ways that are not the same.
#include "tests/passes/pass_text.h"

namespace fg::passes {
namespace {

std::string simplified(const char* text) {
  ir::Graph before = ir::parse_graph(text), after_pass = before;
  simplify(after_pass);
  Tensors inputs = some_inputs(before);
  EXPECT_EQ(run_bits(after_pass, inputs), run_bits(before, inputs)) << text;
  return after(simplify, text);
}
void expect_unchanged(const char* text) { EXPECT_EQ(simplified(text), canonical(text)); }

TEST(Simplify, lets_the_original_stand_for_a_copy) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = clone(%0; contiguous=false, strides=[])
    %2: float32[2] = convert(%1; dtype=float32)
    %3: float32[2] = restride(%2; stride=[1])
    %4: float32[2] = sin(%3)
    return %4: output 0
  })"),
            canonical(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    return %1: output 0
  })"));
}

TEST(Simplify, keeps_copies_that_are_laid_out_differently) {
  expect_unchanged(R"(graph(%0: float32[2, 3] strides [1, 2] argument 0) {
    %1: float32[2, 3] = clone(%0; contiguous=true, strides=[])
    %2: float32[2, 3] = sin(%1)
    return %2: output 0
  })");
}

TEST(Simplify, gives_the_caller_what_was_computed_in_the_place_of_its_copy) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = clone(%1; contiguous=false, strides=[])
    return %2: output 0
  })"),
            canonical(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    return %1: output 0
  })"));
}

TEST(Simplify, gives_the_caller_no_memory_twice) {
  expect_unchanged(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = clone(%1; contiguous=false, strides=[])
    return %2: output 0, %1: saved 0
  })");
  expect_unchanged(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = clone(%0; contiguous=false, strides=[])
    return %1: output 0
  })");
  // One of two copies may be the original.
  EXPECT_EQ(simplified(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = clone(%1; contiguous=false, strides=[])
    %3: float32[2] = clone(%1; contiguous=false, strides=[])
    return %2: output 0, %3: output 1
  })"),
            canonical(R"(graph(%0: float32[2] argument 0) {
    %1: float32[2] = sin(%0)
    %2: float32[2] = clone(%1; contiguous=false, strides=[])
    return %1: output 0, %2: output 1
  })"));
}

TEST(Simplify, keeps_the_copy_whose_view_the_caller_gets) {
  expect_unchanged(R"(graph(%0: float32[2, 3] argument 0) {
    %1: float32[2, 3] = clone(%0; contiguous=false, strides=[])
    %2: float32[3, 2] strides [1, 3] = t(%1)
    return %2: output 0
  })");
}

TEST(Simplify, keeps_the_copy_of_which_as_strided_sees_the_storage) {
  expect_unchanged(R"(graph(%0: float32[4] argument 0) {
    %1: float32[4] = clone(%0; contiguous=false, strides=[])
    %2: float32[2] = as_strided(%1; size=[2], stride=[1], offset=1, input_sizes=[4],
        input_strides=[1], input_offset=0)
    %3: float32[2] = sin(%2)
    return %3: output 0
  })");
}

TEST(Simplify, undoes_what_is_done_twice) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[2, 3] argument 0, %1: bool[2] argument 1) {
    %2: float32[3, 2] strides [1, 3] = t(%0)
    %3: float32[2, 3] = t(%2)
    %4: float32[2, 3] = neg(%3)
    %5: float32[2, 3] = neg(%4)
    %6: float32[2, 3] = sin(%5)
    %7: bool[2] = logical_not(%1)
    %8: bool[2] = logical_not(%7)
    %9: bool[2] = eq(%8, %8)
    return %6: output 0, %9: output 1
  })"),
            canonical(R"(graph(%0: float32[2, 3] argument 0, %1: bool[2] argument 1) {
    %2: float32[2, 3] = sin(%0)
    %3: bool[2] = eq(%1, %1)
    return %2: output 0, %3: output 1
  })"));
}

TEST(Simplify, undoes_conversions_to_a_wider_dtype_and_back_only) {
  EXPECT_EQ(simplified(R"(graph(%0: float16[2] argument 0) {
    %1: float32[2] = convert(%0; dtype=float32)
    %2: float16[2] = convert(%1; dtype=float16)
    %3: float16[2] = sin(%2)
    return %3: output 0
  })"),
            canonical(R"(graph(%0: float16[2] argument 0) {
    %1: float16[2] = sin(%0)
    return %1: output 0
  })"));
  expect_unchanged(R"(graph(%0: float32[2] argument 0) {
    %1: float16[2] = convert(%0; dtype=float16)
    %2: float32[2] = convert(%1; dtype=float32)
    %3: float32[2] = sin(%2)
    return %3: output 0
  })");
  expect_unchanged(R"(graph(%0: float16[2] argument 0) {
    %1: bfloat16[2] = convert(%0; dtype=bfloat16)
    %2: float16[2] = convert(%1; dtype=float16)
    %3: float16[2] = sin(%2)
    return %3: output 0
  })");
}

TEST(Simplify, makes_one_window_of_a_view_of_a_view) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[4, 6] argument 0) {
    %1: float32[6, 4] strides [1, 6] = t(%0)
    %2: float32[4] strides [6] = select(%1; dim=0, index=2)
    %3: float32[2] strides [12] = slice(%2; dim=0, start=1, end=none, step=2)
    %4: float32[2] = sin(%3)
    return %4: output 0
  })"),
            canonical(R"(graph(%0: float32[4, 6] argument 0) {
    %1: float32[2] strides [12] = window(%0; size=[2], stride=[12], offset=8)
    %2: float32[2] = sin(%1)
    return %2: output 0
  })"));
}

TEST(Simplify, drops_views_of_everything) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[4] argument 0) {
    %1: float32[4] = expand(%0; size=[4], implicit=false)
    %2: float32[4] = window(%1; size=[4], stride=[1], offset=0)
    %3: float32[4] = alias(%2)
    %4: float32[4] = sin(%3)
    return %4: output 0
  })"),
            canonical(R"(graph(%0: float32[4] argument 0) {
    %1: float32[4] = sin(%0)
    return %1: output 0
  })"));
  // The caller may tell an input from a view of it, and a value from a number.
  expect_unchanged(R"(graph(%0: float32[4] argument 0, %1: float32[] argument 1) {
    %2: float32[4] = alias(%0)
    %3: float32[] number = window(%1; size=[], stride=[], offset=0)
    %4: float32[4] = mul(%0, %3)
    return %2: output 0, %4: output 1
  })");
}

TEST(Simplify, reads_what_was_written) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[2, 3] argument 0) {
    %1: float32[3] = select(%0; dim=0, index=1)
    %2: float32[3] = sin(%1)
    %3: float32[2, 3] = put_window(%0, %2; size=[3], stride=[1], offset=3)
    %4: float32[3] = window(%3; size=[3], stride=[1], offset=3)
    %5: float32[3] = exp(%4)
    return %5: output 0
  })"),
            canonical(R"(graph(%0: float32[2, 3] argument 0) {
    %1: float32[3] = select(%0; dim=0, index=1)
    %2: float32[3] = sin(%1)
    %3: float32[3] = exp(%2)
    return %3: output 0
  })"));
  // Another part of what was written to.
  expect_unchanged(R"(graph(%0: float32[2, 3] argument 0, %1: float32[3] argument 1) {
    %2: float32[2, 3] = put_window(%0, %1; size=[3], stride=[1], offset=3)
    %3: float32[3] = window(%2; size=[3], stride=[1], offset=2)
    %4: float32[3] = exp(%3)
    return %4: output 0
  })");
  // Several elements written to one place.
  const char* repeated =
      R"(graph(%0: float32[2, 3] argument 0, %1: float32[3] strides [0] argument 1) {
    %2: float32[2, 3] = put_window(%0, %1; size=[3], stride=[0], offset=3)
    %3: float32[3] strides [0] = window(%2; size=[3], stride=[0], offset=3)
    %4: float32[3] = exp(%3)
    return %4: output 0
  })";
  EXPECT_EQ(after(simplify, repeated), canonical(repeated));
}

TEST(Simplify, forgets_what_is_overwritten) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[4] argument 0, %1: float32[2] argument 1) {
    %2: float32[2] = sin(%1)
    %3: float32[4] = put_window(%0, %2; size=[2], stride=[1], offset=1)
    %4: float32[4] = put_window(%3, %1; size=[2], stride=[1], offset=1)
    return %4: output 0
  })"),
            canonical(R"(graph(%0: float32[4] argument 0, %1: float32[2] argument 1) {
    %2: float32[4] = put_window(%0, %1; size=[2], stride=[1], offset=1)
    return %2: output 0
  })"));
  EXPECT_EQ(simplified(R"(graph(%0: float32[4] argument 0, %1: float32[4] strides [2] argument 1) {
    %2: float32[4] = put_window(%0, %1; size=[4], stride=[1], offset=0)
    return %2: output 0
  })"),
            canonical(R"(graph(%0: float32[4] argument 0, %1: float32[4] strides [2] argument 1) {
    %2: float32[4] = restride(%1; stride=[1])
    return %2: output 0
  })"));
}

TEST(Simplify, takes_a_write_to_all_of_a_transposed_view_for_a_view) {
  EXPECT_EQ(simplified(R"(graph(%0: float32[2, 3] argument 0,
                                %1: float32[3, 2] strides [1, 3] argument 1) {
    %2: float32[2, 3] = put_window(%0, %1; size=[3, 2], stride=[1, 3], offset=0)
    %3: float32[2, 3] = sin(%2)
    return %3: output 0
  })"),
            canonical(R"(graph(%0: float32[2, 3] argument 0,
                               %1: float32[3, 2] strides [1, 3] argument 1) {
    %2: float32[2, 3] = window(%1; size=[2, 3], stride=[3, 1], offset=0)
    %3: float32[2, 3] = sin(%2)
    return %3: output 0
  })"));
}

TEST(Simplify, changes_no_arithmetic) {
  expect_unchanged(R"(graph(%0: float32[2] argument 0) {
    %1: float32[] number = constant([0.0])
    %2: float32[] number = constant([1.0])
    %3: float32[2] = add(%0, %1)
    %4: float32[2] = mul(%3, %1)
    %5: float32[2] = mul(%4, %2)
    %6: float32[2] = sub(%5, %5)
    %7: float32[2] = div(%6, %6)
    %8: float32[1] = sum(%7; dim=[0], keepdim=true)
    %9: float32[1] = sum(%8; dim=[0], keepdim=true)
    return %9: output 0
  })");
}

}  // namespace
}  // namespace fg::passes
