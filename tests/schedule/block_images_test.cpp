// Images in blocks of channels: which stay so from one convolution to the next, and what the graph
// looks like then.
#include "schedule/block_images.h"

#include <regex>

#include "ops/convolution/channel_blocks.h"
#include "tests/has_onednn.h"
#include "tests/passes/pass_text.h"

namespace fg::schedule {
namespace {

using passes::canonical;
using passes::run_bits;
using passes::some_inputs;

// Texts are for blocks of eight channels; numbers that grow with the block have a c behind them.
std::string at_this_level(std::string text) {
  const std::regex channels("([0-9]+)c\\b");
  for (std::smatch found; std::regex_search(text, found, channels);) {
    int64_t number = std::stoll(found[1]) * kernels::channel_block() / 8;
    text.replace(found.position(), found.length(), std::to_string(number));
  }
  return text;
}

// The graph after the pass, which gives the same bits.
std::string blocked(const std::string& text) {
  ir::Graph before = ir::parse_graph(text), after_pass = before;
  block_images(after_pass);
  ir::verify(after_pass, "block_images");
  Tensors inputs = some_inputs(before);
  EXPECT_EQ(run_bits(after_pass, inputs), run_bits(before, inputs)) << text;
  return after_pass.text();
}
void expect_blocked(const char* text, const char* expected) {
  std::string before = at_this_level(text);
  EXPECT_EQ(blocked(before), canonical(kHasOneDnn ? at_this_level(expected) : before));
}
void expect_unchanged(const char* text) {
  EXPECT_EQ(blocked(at_this_level(text)), canonical(at_this_level(text)));
}

TEST(BlockImages, goes_from_one_convolution_to_the_next) {
  expect_blocked(
      R"(graph(%0: float32[4, 3, 16, 16] argument 0,
        %1: float32[8c, 3, 3, 3] argument 1,
        %2: float32[8c, 8c, 3, 3] argument 2,
        %3: float32[8c] argument 3) {
    %4: float32[4, 8c, 16, 16] = convolve(%0, %1, %3;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %5: float32[4, 8c, 16, 16] = relu(%4)
    %6: float32[4, 8c, 16, 16] = convolve(%5, %2, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    return %6: output 0
  })",
      R"(graph(%0: float32[4, 3, 16, 16] argument 0,
        %1: float32[8c, 3, 3, 3] argument 1,
        %2: float32[8c, 8c, 3, 3] argument 2,
        %3: float32[8c] argument 3) {
    %4: float32[4, 1, 16, 16, 8c] = convolve_blocked(%0, %1, %3;
        conv={stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16]},
        blocked=true)
    %5: float32[4, 1, 16, 16, 8c] = relu(%4)
    %6: float32[4, 8c, 16, 16] = convolve_blocked(%5, %2, none;
        conv={stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16]},
        blocked=false)
    return %6: output 0
  })");
}

TEST(BlockImages, reads_a_number_per_channel_and_reduces_by_channel) {
  expect_blocked(
      R"(graph(%0: float32[2, 16c, 16, 16] argument 0,
        %1: float32[16c, 16c, 3, 3] argument 1,
        %2: float32[16c] argument 2,
        %3: float32[] argument 3) {
    %4: float32[2, 16c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %5: float32[1, 16c, 1, 1] = mean(%4; dim=[0, -1, -2], keepdim=true)
    %6: float32[16c, 1, 1] = view(%2; size=[16c, 1, 1])
    %7: float32[2, 16c, 16, 16] = sub(%4, %5)
    %8: float32[2, 16c, 16, 16] = mul(%7, %6)
    %9: float32[2, 16c, 16, 16] = mul(%8, %3)
    %10: float32[2, 16c] = amax(%9; dim=[2, 3], keepdim=false)
    %11: float32[2, 16c, 16, 16] = convolve(%9, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    return %10: output 0, %11: output 1
  })",
      R"(graph(%0: float32[2, 16c, 16, 16] argument 0,
        %1: float32[16c, 16c, 3, 3] argument 1,
        %2: float32[16c] argument 2,
        %3: float32[] argument 3) {
    %4: float32[2, 2, 16, 16, 8c] = convolve_blocked(%0, %1, none;
        conv={stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16]},
        blocked=true)
    %5: float32[1, 2, 1, 1, 8c] = mean(%4; dim=[0, 2, 3], keepdim=true)
    %6: float32[1, 16c, 1, 1] =
        window(%5; size=[1, 16c, 1, 1], stride=[16c, 1, 1, 1], offset=0)
    %7: float32[16c, 1, 1] = view(%2; size=[16c, 1, 1])
    %8: float32[1, 2, 1, 1, 8c] strides [16c, 8c, 1, 1, 1] =
        window(%6; size=[1, 2, 1, 1, 8c], stride=[16c, 8c, 1, 1, 1], offset=0)
    %9: float32[2, 2, 16, 16, 8c] = sub(%4, %8)
    %10: float32[1, 2, 1, 1, 8c] strides [0, 8c, 1, 1, 1] =
        window(%7; size=[1, 2, 1, 1, 8c], stride=[0, 8c, 1, 1, 1], offset=0)
    %11: float32[2, 2, 16, 16, 8c] = mul(%9, %10)
    %12: float32[2, 2, 16, 16, 8c] = mul(%11, %3)
    %13: float32[2, 2, 8c] = amax(%12; dim=[2, 3], keepdim=false)
    %14: float32[2, 16c] =
        window(%13; size=[2, 16c], stride=[16c, 1], offset=0)
    %15: float32[2, 16c, 16, 16] = convolve_blocked(%12, %1, none;
        conv={stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16]},
        blocked=false)
    return %14: output 0, %15: output 1
  })");
}

// Three reorders of convolutions become one that shows the caller the plain image.
TEST(BlockImages, makes_one_plain_image_for_all_who_need_it) {
  expect_blocked(
      R"(graph(%0: float32[4, 3, 16, 16] argument 0,
        %1: float32[8c, 3, 3, 3] argument 1,
        %2: float32[8c, 8c, 3, 3] argument 2) {
    %3: float32[4, 8c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %4: float32[4, 8c, 16, 16] = tanh(%3)
    %5: float32[4, 8c, 16, 16] = convolve(%4, %2, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %6: float32[4, 8c, 8, 8] = convolve(%4, %2, none;
        stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[8, 8])
    %7: float32[4, 2048c] = view(%4; size=[4, 2048c])
    return %4: output 0, %5: output 1, %6: output 2, %7: output 3
  })",
      R"(graph(%0: float32[4, 3, 16, 16] argument 0,
        %1: float32[8c, 3, 3, 3] argument 1,
        %2: float32[8c, 8c, 3, 3] argument 2) {
    %3: float32[4, 1, 16, 16, 8c] = convolve_blocked(%0, %1, none;
        conv={stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16]},
        blocked=true)
    %4: float32[4, 1, 16, 16, 8c] = tanh(%3)
    %5: float32[4, 8c, 16, 16] = unblock_channels(%4)
    %6: float32[4, 8c, 16, 16] = convolve_blocked(%4, %2, none;
        conv={stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16]},
        blocked=false)
    %7: float32[4, 8c, 8, 8] = convolve_blocked(%4, %2, none;
        conv={stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[8, 8]},
        blocked=false)
    %8: float32[4, 2048c] = view(%5; size=[4, 2048c])
    return %5: output 0, %6: output 1, %7: output 2, %8: output 3
  })");
}

TEST(BlockImages, blocks_an_image_once_for_many_convolutions) {
  expect_blocked(
      R"(graph(%0: float32[4, 8c, 16, 16] argument 0,
        %1: float32[8c, 8c, 3, 3] argument 1) {
    %2: float32[4, 8c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %3: float32[4, 8c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[2, 2], dilation=[2, 2], groups=1, sizes=[16, 16])
    %4: float32[4, 8c, 8, 8] = convolve(%0, %1, none;
        stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[8, 8])
    return %2: output 0, %3: output 1, %4: output 2
  })",
      R"(graph(%0: float32[4, 8c, 16, 16] argument 0,
        %1: float32[8c, 8c, 3, 3] argument 1) {
    %2: float32[4, 1, 16, 16, 8c] = block_channels(%0)
    %3: float32[4, 8c, 16, 16] = convolve_blocked(%2, %1, none;
        conv={stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16]},
        blocked=false)
    %4: float32[4, 8c, 16, 16] = convolve_blocked(%2, %1, none;
        conv={stride=[1, 1], padding=[2, 2], dilation=[2, 2], groups=1, sizes=[16, 16]},
        blocked=false)
    %5: float32[4, 8c, 8, 8] = convolve_blocked(%2, %1, none;
        conv={stride=[2, 2], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[8, 8]},
        blocked=false)
    return %3: output 0, %4: output 1, %5: output 2
  })");
}

TEST(BlockImages, leaves_what_gains_nothing) {
  // No operation that takes blocks reads the result of relu.
  expect_unchanged(
      R"(graph(%0: float32[4, 8c, 16, 16] argument 0,
        %1: float32[8c, 8c, 3, 3] argument 1) {
    %2: float32[4, 8c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %3: float32[4, 8c, 16, 16] = relu(%2)
    return %3: output 0
  })");
  // Both are shown, which costs as much as is gained.
  expect_unchanged(
      R"(graph(%0: float32[4, 8c, 16, 16] argument 0,
        %1: float32[8c, 8c, 3, 3] argument 1) {
    %2: float32[4, 8c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %3: float32[4, 8c, 16, 16] = relu(%2)
    %4: float32[4, 8c, 16, 16] = convolve(%3, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    return %2: output 0, %3: output 1, %4: output 2
  })");
}

TEST(BlockImages, leaves_what_has_no_blocks) {
  // 12 channels, float64, and a number per position.
  expect_unchanged(
      R"(graph(%0: float32[2, 12, 16, 16] argument 0,
        %1: float32[12, 12, 3, 3] argument 1) {
    %2: float32[2, 12, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %3: float32[2, 12, 16, 16] = relu(%2)
    %4: float32[2, 12, 16, 16] = convolve(%3, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    return %4: output 0
  })");
  expect_unchanged(
      R"(graph(%0: float64[2, 8c, 16, 16] argument 0,
        %1: float64[8c, 8c, 3, 3] argument 1) {
    %2: float64[2, 8c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %3: float64[2, 8c, 16, 16] = convolve(%2, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    return %3: output 0
  })");
  expect_unchanged(
      R"(graph(%0: float32[4, 8c, 16, 16] argument 0,
        %1: float32[8c, 8c, 3, 3] argument 1,
        %2: float32[16, 16] argument 2) {
    %3: float32[4, 8c, 16, 16] = convolve(%0, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    %4: float32[4, 8c, 16, 16] = mul(%3, %2)
    %5: float32[4, 8c, 16, 16] = convolve(%4, %1, none;
        stride=[1, 1], padding=[1, 1], dilation=[1, 1], groups=1, sizes=[16, 16])
    return %5: output 0
  })");
}

}  // namespace
}  // namespace fg::schedule
