// Gradients of primitives that no function of the table has at its samples: graphs as text, against
// finite differences.
#include <fmt/format.h>

#include <algorithm>

#include "autograd/gradcheck.h"
#include "ops/convolution/channel_blocks.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {
namespace {

// A tensor for an input of a graph, in its layout.
Tensor input_for(const ir::ValueInfo& info) {
  Tensor result = empty_strided_tensor(info.sizes, info.strides, info.dtype);
  result.copy_(ir::sample(info.sizes, 0.2, 0.9));
  return result;
}

void check(const std::string& text) {
  SCOPED_TRACE(text);
  ir::Graph graph = ir::parse_graph(text);
  Tensors inputs;
  for (ir::ValueId input : graph.inputs) {
    inputs.push_back(input_for(graph.values[input]).requires_grad_());
  }
  auto run = [&](const Tensors& in) { return run_recording(graph, in); };
  EXPECT_TRUE(autograd::gradcheck(run, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(run, inputs));
}

// A graph that returns %9, which `body` computes from the inputs. Its number is the next one.
void check(const std::string& inputs, const std::string& body) {
  std::string text = "graph(" + inputs + ") {\n  " + body;
  auto values = std::count(text.begin(), text.end(), ':');
  text += "\n  return %9: output 0\n}\n";
  for (size_t at; (at = text.find("%9")) != text.npos;) {
    text.replace(at, 2, "%" + std::to_string(values - 1));
  }
  check(text);
}

constexpr const char* kMatrix = "%0: float64[2, 3] argument 0";
constexpr const char* kColumns = "%0: float64[2, 3] strides [1, 2] argument 0";
constexpr const char* kVector = "%0: float64[4] argument 0";

TEST(GraphGradients, of_windows) {
  for (const char* input : {kMatrix, kColumns}) {
    check(input,
          "%9: float64[2, 2] strides [1, 2] = window(%0; size=[2, 2], stride=[1, 2], offset=1)");
    check(input,
          "%9: float64[2, 2] strides [0, 1] = window(%0; size=[2, 2], stride=[0, 1], offset=3)");
    check(input,
          "%9: float64[3, 2] strides [1, 1] = window(%0; size=[3, 2], stride=[1, 1], offset=0)");
    check(input, "%9: float64[2, 3] = restride(%0; stride=[3, 1])");
  }
}

TEST(GraphGradients, of_written_windows) {
  std::string part = ",\n %1: float64[2] argument 1";
  check(kMatrix + part, "%9: float64[2, 3] = put_window(%0, %1; size=[2], stride=[3], offset=1)");
  check(kColumns + part,
        "%9: float64[2, 3] strides [1, 2] = put_window(%0, %1; size=[2], stride=[2], offset=1)");
}

// The last of several values for one place is the one that counts.
TEST(GraphGradients, of_places_that_are_written_twice) {
  std::string both = ",\n %1: float64[3] argument 1";
  std::string index = "%2: int64[3] = constant([2, 0, 2])\n  ";
  check(kVector + both, index +
                            "%9: float64[4] = put_rows(%0, [%2], %1; rows={axes=[0], wrap=true, "
                            "runtime_error=false}, accumulate=false, sizes=[])");
  check(kVector + both, index +
                            "%9: float64[4] = put_rows(none, [%2], %1; rows={axes=[0], wrap=true, "
                            "runtime_error=false}, accumulate=true, sizes=[4])");
  check(kVector + both, index + "%9: float64[4] = scatter(%0, %2, %1; dim=0, combine=0, sizes=[])");
  check(kVector + both, index + "%9: float64[4] = scatter(%0, %2, %1; dim=0, combine=1, sizes=[])");
}

TEST(GraphGradients, of_products_over_some_dimensions) {
  std::string cube = "%0: float64[2, 3, 2] argument 0";
  check(cube, "%9: float64[3] = prod(%0; dim=[0, 2], keepdim=false)");
  check(cube, "%9: float64[1, 1, 2] = prod(%0; dim=[1, 0], keepdim=true)");
  check(cube, "%9: float64[] = prod(%0; dim=none, keepdim=false)");
}

TEST(GraphGradients, of_formulas) {
  for (const char* exponent : {"2.5", "3.0", "2.0", "-0.5", "1.0", "0.0"}) {
    check(kVector, std::string("%9: float64[4] = any_power(%0; exponent=") + exponent + ")");
  }
  check("%0: float64[3] argument 0,\n %1: float64[3] argument 1,\n %2: float64[3] argument 2",
        "%9: float64[3] = binary_cross_entropy_with_logits_weighted(%0, %1, %2)");
  check("%0: float64[] argument 0", "%9: float64[] = fitting(%0; dtype=float64)");
}

TEST(GraphGradients, of_sums_of_products_of_any_rank) {
  std::string batches =
      "%0: float64[2] argument 0,\n %1: float64[2, 1, 2, 3] argument 1,\n"
      " %2: float64[2, 1, 3, 2] argument 2";
  check(batches, "%9: float64[2, 1, 2, 2] = addmm(%0, %1, %2; beta=0.5, alpha=2.0)");
  check("%0: float64[2] argument 0,\n %1: float64[2, 3] argument 1,\n %2: float64[3] argument 2",
        "%9: float64[2] = addmm(%0, %1, %2; beta=0.5, alpha=2.0)");
}

TEST(GraphGradients, of_the_statistics_of_rows) {
  std::string rows =
      "%3: float64[2, 3], %4: float64[2, 1], %5: float64[2, 1] = normalize_rows(%0, %1, %2; "
      "count=1, eps=0.1)\n  ";
  std::string inputs =
      std::string(kMatrix) + ",\n %1: float64[3] argument 1,\n %2: float64[3] argument 2";
  check(inputs, rows + "%9: float64[2, 1] = mul(%4, %5)");
  check(inputs, rows + "%6: float64[2, 3] = mul(%3, %5)\n  %9: float64[2, 3] = add(%6, %4)");
}

TEST(GraphGradients, of_averages_spread_over_windows) {
  check("%0: float64[1, 2, 2] argument 0",
        "%9: float64[1, 3, 3] = average_pool_spread(%0; input=[3, 3], output=[2, 2], "
        "kernel=[2, 2], stride=[1, 1], padding=[0, 0], dilation=[1, 1], count_include_pad=true, "
        "divisor_override=0)");
}

// ---- images in blocks of channels

std::string image(int value, bool blocked, int64_t size) {
  int64_t block = kernels::channel_block();
  std::string name = "%" + std::to_string(value) + ": float64[1, ";
  if (!blocked) return fmt::format("{}{}, {}]", name, block, size);
  return fmt::format("{}1, {}, {}]", name, size, block);
}

TEST(GraphGradients, of_images_in_blocks) {
  check(image(0, false, 3) + " argument 0", image(9, true, 3) + " = block_channels(%0)");
  check(image(0, true, 3) + " argument 0", image(9, false, 3) + " = unblock_channels(%0)");
}

TEST(GraphGradients, of_convolutions_of_blocks) {
  int64_t block = kernels::channel_block();
  std::string weight = fmt::format(": float64[{}, {}, 2]", block, block);
  std::string bias = fmt::format(",\n %2: float64[{}] argument 2", block);
  auto settings = [](int64_t size, bool blocked) {
    return fmt::format(
        "conv={{stride=[1], padding=[0], dilation=[1], groups=1, sizes=[{}]}}, "
        "blocked={})",
        size, blocked);
  };
  for (bool first : {false, true}) {
    for (bool second : {false, true}) {
      std::string others = " argument 0,\n %1" + weight + " argument 1" + bias;
      check(image(0, first, 3) + others,
            image(9, second, 2) + " = convolve_blocked(%0, %1, %2; " + settings(2, second));
      check(image(0, first, 2) + others,
            image(9, second, 3) + " = convolve_input_blocked(%0, %1, %2; " + settings(3, second));
      check(image(0, first, 2) + " argument 0,\n " + image(1, second, 3) + " argument 1",
            "%9" + weight + " = convolve_weight_blocked(%0, %1; " + settings(2, false));
    }
  }
}

}  // namespace
}  // namespace fg::table
