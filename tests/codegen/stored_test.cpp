// Executables as bytes: what was stored runs with the same bits; bytes that are not whole are an
// error, never a crash.
#include <gtest/gtest.h>

#include "codegen/executable.h"
#include "tests/error_of.h"
#include "tests/passes/random_graph.h"

namespace fg::codegen {
namespace {

using passes::RandomGraph;
using passes::some_inputs;

std::vector<std::string> bits_of(const Executable& code, const Tensors& inputs) {
  std::vector<std::string> result;
  for (const Tensor& value : code.run(inputs)) result.push_back(passes::bits(value));
  return result;
}

TEST(Stored, runs_with_the_same_bits) {
  for (uint32_t seed = 0; seed < 60; seed++) {
    ir::Graph graph = RandomGraph(seed).make(10 + seed % 30, seed % 2);
    Tensors inputs = some_inputs(graph);
    Executable made(schedule::make_schedule(graph)), loaded(made.stored(), made.object());
    ASSERT_EQ(bits_of(loaded, inputs), bits_of(made, inputs)) << seed << graph.text();
    EXPECT_EQ(loaded.memory_bytes(), made.memory_bytes());
    EXPECT_EQ(loaded.consuming_bytes(), made.consuming_bytes());
    EXPECT_EQ(loaded.step_count(), made.step_count());
    EXPECT_EQ(loaded.stored(), made.stored());  // and can be stored again
  }
}

TEST(Stored, runs_convolutions_reductions_and_constants) {
  ir::Graph graph = ir::parse_graph(R"(graph(%0: float32[2, 8, 9, 9] argument 0,
      %1: float32[8, 8, 3, 3] argument 1) {
    %2: float32[3] = constant([1, 2, 3])
    %3: float32[2, 8, 9, 9] = sin(%0)
    %4: float32[2, 8, 1, 9] = sum(%3; dim=[2], keepdim=true)
    %5: float32[] = constant([0.5])
    %6: float32[2, 8, 1, 9] = mul(%4, %5)
    return %6: output 0, %2: output 1
  })");
  Tensors inputs = some_inputs(graph);
  Executable made(schedule::make_schedule(graph)), loaded(made.stored(), made.object());
  EXPECT_EQ(bits_of(loaded, inputs), bits_of(made, inputs));
}

TEST(Stored, refuses_bytes_that_are_not_whole) {
  ir::Graph graph = RandomGraph(7).make(25, true);
  Executable made(schedule::make_schedule(graph));
  std::string stored = made.stored();
  EXPECT_EQ(error_of([&] { Executable("", made.object()); }),
            "stored code is not whole: its form is wrong; compile it anew");
  for (size_t length = 0; length < stored.size(); length += 7) {
    EXPECT_THROW(Executable(stored.substr(0, length), made.object()), Error) << length;
  }
}

}  // namespace
}  // namespace fg::codegen
