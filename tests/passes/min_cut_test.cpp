// Which values the minimum cut saves, on graphs written by hand.
#include "tests/error_of.h"
#include "tests/passes/joint.h"

namespace fg::passes {
namespace {

std::string plan_of(const Joint& joint) {
  Plan made = plan_min_cut(joint.joint);
  EXPECT_LE(saved_bytes(joint.joint, made.saved),
            saved_bytes(joint.joint, partition_default(joint.joint)));
  EXPECT_EQ(joint.gradients(made.saved), joint.gradients(partition_default(joint.joint)));
  return text(made, joint.graph);
}

TEST(MinCut, computes_a_chain_of_cheap_operations_again) {
  Joint chain = parse_joint(R"(graph(%0: float32[8] argument 0, %1: float32[8] tangent 0) {
    %2: float32[8] = sin(%0)
    %3: float32[8] = exp(%2)
    %4: float32[8] = mul(%3, %3)
    %5: float32[8] = tanh(%4)
    %6: float32[8] = mul(%1, %5) backward
    %7: float32[8] = mul(%6, %4) backward
    %8: float32[8] = mul(%7, %3) backward
    %9: float32[8] = mul(%8, %0) backward
    return %5: output 0, %9: gradient 0
  })");
  EXPECT_EQ(plan_of(chain),
            "save %0 float32[8]: an input; read by mul\n"
            "compute again %2 float32[8]: sin is cheap, and what it reads is there\n"
            "compute again %3 float32[8]: exp is cheap, and what it reads is there\n"
            "compute again %4 float32[8]: mul is cheap, and what it reads is there\n"
            "compute again %5 float32[8]: tanh is cheap, and what it reads is there\n");
  EXPECT_EQ(text(plan_default(chain.joint), chain.graph),
            "save %0 float32[8]: read by mul\n"
            "save %3 float32[8]: read by mul\n"
            "save %4 float32[8]: read by mul\n"
            "save %5 float32[8]: read by mul\n");
}

// The backward of cos(x) reads x; that of cos(cos(x)) reads cos(x) and not x in this graph, and the
// caller may write to x after the forward.
TEST(MinCut, saves_no_input_that_an_eager_program_would_not_save) {
  Joint hidden = parse_joint(R"(graph(%0: float32[8] argument 0, %1: float32[8] tangent 0) {
    %2: float32[8] = exp(%0)
    %3: float32[8] = exp(%2)
    %4: float32[8] = neg(%3)
    %5: float32[8] = mul(%1, %3) backward
    %6: float32[8] = mul(%5, %2) backward
    return %4: output 0, %6: gradient 0
  })");
  EXPECT_EQ(plan_of(hidden),
            "save %2 float32[8]: fewer bytes than what it is made of; read by mul\n"
            "compute again %3 float32[8]: exp is cheap, and what it reads is there\n");
}

TEST(MinCut, saves_no_result_that_an_eager_program_would_not_save) {
  // %4 would do for both; but it is what the caller gets.
  Joint shown = parse_joint(R"(graph(%0: float32[4, 2] argument 0, %1: float32[2, 4] argument 1,
                       %2: float32[4, 4] tangent 0) {
    %3: float32[4, 4] = mm(%0, %1)
    %4: float32[4, 4] = sin(%3)
    %5: float32[4, 4] = exp(%4)
    %6: float32[4, 4] = tanh(%4)
    %7: float32[4, 4] = mul(%2, %5) backward
    %8: float32[4, 4] = mul(%7, %6) backward
    return %4: output 0, %8: gradient 0
  })");
  EXPECT_EQ(plan_of(shown),
            "save %3 float32[4, 4]: mm is not computed again\n"
            "compute again %4 float32[4, 4]: sin is cheap, and what it reads is there\n"
            "compute again %5 float32[4, 4]: exp is cheap, and what it reads is there\n"
            "compute again %6 float32[4, 4]: tanh is cheap, and what it reads is there\n");
}

TEST(MinCut, computes_nothing_again_from_a_result_that_is_saved) {
  // The gradient of %5 alone reads %4 in an eager program, whatever became of %3.
  Joint shown = parse_joint(R"(graph(%0: float32[4, 2] argument 0, %1: float32[2, 4] argument 1,
                       %2: float32[4, 4] tangent 0, %6: float32[4, 4] tangent 1) {
    %3: float32[4, 4] = mm(%0, %1)
    %4: float32[4, 4] = exp(%3)
    %5: float32[4, 4] = tanh(%3)
    %7: float32[4, 4] = mul(%2, %3) backward
    %8: float32[4, 4] = mul(%6, %4) backward
    %9: float32[4, 4] = add(%7, %8) backward
    return %3: output 0, %5: output 1, %9: gradient 0
  })");
  EXPECT_EQ(plan_of(shown),
            "save %3 float32[4, 4]: mm is not computed again; read by mul\n"
            "save %4 float32[4, 4]: made of a result, which may be written to; read by mul\n");
}

TEST(MinCut, draws_random_numbers_once_and_multiplies_matrices_once) {
  Joint dropout = parse_joint(R"(graph(%0: float32[4, 4] argument 0, %1: float32[4, 4] tangent 0,
                         %2: int64[2] seed 0) {
    %3: float32[4, 4] = mm(%0, %0)
    %4: float32[4, 4] = random(%2; size=[4, 4], dtype=float32, distribution=0, a=0.0,
        b=1.0, generator=none) skip 0
    %5: bool[4, 4] = lt(%4, %3)
    %6: float32[4, 4] = mul(%3, %5)
    %7: float32[4, 4] = mul(%1, %5) backward
    %8: float32[4, 4] = mm(%7, %3) backward
    return %6: output 0, %8: gradient 0
  })");
  EXPECT_EQ(plan_of(dropout),
            "save %3 float32[4, 4]: mm is not computed again; read by mm\n"
            "save %5 bool[4, 4]: fewer bytes than what it is made of; read by mul\n");
}

TEST(MinCut, saves_what_a_matrix_product_of_the_backward_needs_whole) {
  Joint whole = parse_joint(R"(graph(%0: float32[4, 4] argument 0, %1: float32[4, 4] tangent 0) {
    %2: float32[4, 4] = sin(%0)
    %3: float32[4, 4] strides [1, 4] = t(%2)
    %4: float32[4, 4] = exp(%0)
    %5: float32[4, 4] = mul(%2, %4)
    %6: float32[4, 4] = mm(%1, %3) backward
    %7: float32[4, 4] = mul(%6, %4) backward
    %8: float32[4, 4] = mul(%7, %0) backward
    return %5: output 0, %8: gradient 0
  })");
  EXPECT_EQ(plan_of(whole),
            "save %0 float32[4, 4]: an input; read by mul\n"
            "save %2 float32[4, 4]: the backward needs all of it for mm\n"
            "compute again %3 float32[4, 4]: a view of %2\n"
            "compute again %4 float32[4, 4]: exp is cheap, and what it reads is there\n");
}

TEST(MinCut, saves_small_sums_and_not_what_was_spread_from_them) {
  Joint spread = parse_joint(R"(graph(%0: float32[64] argument 0, %1: float32[64] tangent 0) {
    %2: float32[1] = sum(%0; dim=[0], keepdim=true)
    %3: float32[64] = div(%0, %2)
    %4: float32[64] = exp(%3)
    %5: float32[64] = neg(%4)
    %6: float32[64] = mul(%1, %4) backward
    %7: float32[64] = mul(%6, %0) backward
    return %5: output 0, %7: gradient 0
  })");
  EXPECT_EQ(plan_of(spread),
            "save %0 float32[64]: an input; read by mul\n"
            "save %2 float32[1]: sum made it small\n"
            "compute again %3 float32[64]: div is cheap, and what it reads is there\n"
            "compute again %4 float32[64]: exp is cheap, and what it reads is there\n");
}

TEST(MinCut, takes_of_equal_costs_what_is_nearer_to_the_backward) {
  Joint equal = parse_joint(R"(graph(%0: float32[8] argument 0, %1: float32[8] tangent 0) {
    %2: float32[8] = cumsum(%0; dim=0, reverse=false)
    %3: float32[8] = sin(%2)
    %4: float32[8] = exp(%3)
    %5: float32[8] = neg(%4)
    %6: float32[8] = mul(%1, %4) backward
    return %5: output 0, %6: gradient 0
  })");
  EXPECT_EQ(plan_of(equal),
            "save %4 float32[8]: fewer bytes than what it is made of; read by mul\n");
}

TEST(MinCut, makes_constants_and_views_again_and_keeps_gradients_that_are_values_of_the_forward) {
  Joint plain = parse_joint(R"(graph(%0: float32[2, 4] argument 0, %1: float32[2, 4] tangent 0) {
    %2: float32[2, 4] = sin(%0)
    %3: float32[4, 2] strides [1, 4] = t(%2)
    %4: float32[] = constant([2.0])
    %5: float32[4] = full(; size=[4], strides=[], value=3.0, dtype=float32)
    %6: float32[2, 4] = mul(%1, %4) backward
    %7: float32[2, 4] = mul(%6, %5) backward
    return %2: output 0, %7: gradient 0, %3: gradient 1, none: gradient 2
  })");
  EXPECT_EQ(plan_of(plain),
            "save %2 float32[2, 4]: fewer bytes than what it is made of\n"
            "compute again %3 float32[4, 2]: a view of %2\n"
            "compute again %4 float32[]: a constant\n"
            "compute again %5 float32[4]: made of nothing\n");
}

TEST(MinCut, refuses_a_set_of_saved_values_that_lacks_an_input) {
  Joint lacking = parse_joint(R"(graph(%0: float32[2] argument 0, %1: float32[2] tangent 0) {
    %2: float32[2] = mul(%1, %0) backward
    return %2: gradient 0
  })");
  EXPECT_EQ(error_of([&] { recomputed_with(lacking.joint, {}); }),
            "partition: the backward needs the input %0, which is not saved");
}

}  // namespace
}  // namespace fg::passes
