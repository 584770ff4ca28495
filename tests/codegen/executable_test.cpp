// Native code computes what the interpreter computes, bit for bit, and shows the same memories.
#include "codegen/executable.h"

#include <fmt/format.h>

#include <fstream>

#include "base/pool.h"
#include "compile/backend.h"
#include "compile/compile.h"
#include "foregrad.h"
#include "tests/error_of.h"
#include "tests/passes/compute_everything_again.h"
#include "tests/passes/random_graph.h"

namespace fg::codegen {
namespace {

using passes::RandomGraph;
using passes::some_inputs;

std::vector<std::string> native_bits(const ir::Graph& graph, const Tensors& inputs) {
  std::vector<std::string> result;
  for (const Tensor& value : Executable(schedule::make_schedule(graph)).run(inputs))
    result.push_back(passes::bits(value));
  return result;
}

// Which outputs share memory with which outputs and inputs.
std::string sharing(const Tensors& outputs, const Tensors& inputs) {
  std::string out;
  for (const Tensor& a : outputs) {
    for (const Tensor& b : outputs) out += a.impl()->storage == b.impl()->storage ? '1' : '0';
    for (const Tensor& b : inputs) out += a.impl()->storage == b.impl()->storage ? '1' : '0';
    out += ' ';
  }
  return out;
}

TEST(Executable, computes_the_bits_of_the_interpreter_on_random_graphs) {
  for (uint32_t seed = 0; seed < 120; seed++) {
    ir::Graph graph = RandomGraph(seed).make(10 + seed % 30, seed % 2);
    Tensors inputs = some_inputs(graph);
    ASSERT_EQ(native_bits(graph, inputs), passes::run_bits(graph, inputs)) << seed << graph.text();
    ASSERT_EQ(sharing(Executable(schedule::make_schedule(graph)).run(inputs), inputs),
              sharing(ir::Runner(graph).run(inputs), inputs))
        << seed << graph.text();
  }
}

TEST(Executable, computes_values_again_on_random_graphs) {
  passes::ComputeEverythingAgain everything;
  size_t again = 0;
  for (uint32_t seed = 0; seed < 200; seed++) {
    ir::Graph graph = RandomGraph(seed).make(10 + seed % 30, seed % 2), passed = graph;
    passes::compute_again(passed);
    if (passed.operations.size() == graph.operations.size()) continue;
    Tensors inputs = some_inputs(graph);
    ASSERT_EQ(native_bits(passed, inputs), passes::run_bits(graph, inputs)) << seed << graph.text();
    again++;
  }
  EXPECT_GT(again, 20u);
}

Tensors clones(const Tensors& tensors) {
  Tensors result;
  for (const Tensor& tensor : tensors) result.push_back(tensor.clone());
  return result;
}
std::vector<std::string> all_bits(const Tensors& tensors) {
  std::vector<std::string> result;
  for (const Tensor& tensor : tensors) result.push_back(passes::bits(tensor));
  return result;
}

TEST(Executable, computes_the_same_in_the_memory_of_inputs_that_it_alone_has) {
  int smaller = 0;
  for (uint32_t seed = 0; seed < 120; seed++) {
    ir::Graph graph = RandomGraph(seed).make(10 + seed % 30, seed % 2);
    graph.consumable = graph.inputs;
    Tensors inputs = some_inputs(graph), given = clones(inputs);
    Executable code(schedule::make_schedule(graph));
    smaller += code.consuming_bytes() < code.memory_bytes();
    auto expected = passes::run_bits(graph, inputs);
    ASSERT_EQ(all_bits(code.run(clones(inputs))), expected) << seed << graph.text();
    ASSERT_EQ(all_bits(code.run(given)), expected) << seed << graph.text();
    ASSERT_EQ(all_bits(given), all_bits(inputs)) << seed;  // these someone has too
  }
  EXPECT_GT(smaller, 10);
}

// %1 is read once; %2 lies in its memory where the run is handed the only reference.
constexpr const char* kConsuming = R"(graph(%0: float32[600] tangent 0,
    %1: float32[600] saved 0) {
    %2: float32[600] = mul(%0, %1)
    %3: float32[600] = cumsum(%2; dim=0, reverse=false)
    return %3: gradient 0
  })";

TEST(Executable, overwrites_an_input_only_where_nobody_else_sees_its_memory) {
  ir::Graph graph = ir::parse_graph(kConsuming);
  graph.consumable = {1};
  Executable code(schedule::make_schedule(graph));
  EXPECT_EQ(code.memory_bytes(), 2432);
  EXPECT_EQ(code.consuming_bytes(), 0);
  Tensors inputs = some_inputs(graph);
  auto expected = passes::run_bits(graph, inputs);
  // What a run with this second input takes of the allocator, beyond what is there.
  auto takes = [&](Tensor given) {
    Tensors handed{inputs[0]};
    handed.push_back(std::move(given));
    int64_t before = memory_stats().live_bytes;
    reset_peak_memory();
    Tensors results = code.run(std::move(handed));
    int64_t taken = memory_stats().peak_live_bytes - before;
    EXPECT_EQ(all_bits(results), expected);
    return taken;
  };
  Tensor shown = inputs[1].clone();
  int64_t with_block = takes(shown);             // the same tensor
  EXPECT_EQ(takes(shown.detach()), with_block);  // another one over its memory
  EXPECT_EQ(takes(shown.reshape({20, 30}).reshape({600})), with_block);
  EXPECT_EQ(passes::bits(shown), passes::bits(inputs[1]));
  std::vector<float> memory(600);  // of the user
  std::copy_n(inputs[1].data_ptr<float>(), 600, memory.begin());
  EXPECT_EQ(takes(from_blob(memory.data(), {600}, kFloat32)), with_block);
  EXPECT_TRUE(std::equal(memory.begin(), memory.end(), inputs[1].data_ptr<float>()));
  EXPECT_LE(takes(inputs[1].clone()), with_block - code.memory_bytes());
}

constexpr const char* kChain = R"(graph(%0: float32[1000, 37] argument 0,
    %1: float32[37] argument 1) {
    %2: float32[1000, 37] = mul(%0, %1)
    %3: float32[1000, 37] = sin(%2)
    %4: float32[1000, 37] = add(%3, %0)
    %5: float32[37] = mul(%1, %1)
    %6: float32[37] = sin(%5)
    return %4: output 0, %6: output 1
  })";

TEST(Executable, does_not_depend_on_the_number_of_threads) {
  ir::Graph graph = ir::parse_graph(kChain);
  Tensors inputs = some_inputs(graph);
  Executable code(schedule::make_schedule(graph));
  std::vector<std::string> expected = passes::run_bits(graph, inputs);
  int before = pool::num_threads();
  pool::force_grain(1);
  for (int threads : {1, 2, 3, 7}) {
    pool::set_num_threads(threads);
    Tensors outputs = code.run(inputs);
    for (size_t i = 0; i < outputs.size(); i++) EXPECT_EQ(passes::bits(outputs[i]), expected[i]);
  }
  pool::force_grain(0);
  pool::set_num_threads(before);
}

TEST(Executable, compiles_equal_kernels_once) {
  Executable code(schedule::make_schedule(ir::parse_graph(R"(graph(%0: float32[8, 8] argument 0) {
    %1: float32[8, 8] = sin(%0)
    %2: float32[8, 8] = mm(%1, %1)
    %3: float32[8, 8] = sin(%2)
    %4: float32[8, 8] = mm(%3, %3)
    %5: float32[8, 8] = sin(%4)
    return %5: output 0
  })")));
  EXPECT_EQ(code.loop_count(), 3u);
  EXPECT_EQ(code.kernel_count(), 1u);
}

TEST(Executable, refuses_inputs_of_other_sizes) {
  Executable code(schedule::make_schedule(ir::parse_graph(kChain)));
  EXPECT_HAS(error_of([&] { code.run({ones({3}), ones({37})}); }),
             "input 0 of a graph is float32[3]");
  EXPECT_HAS(error_of([&] { code.run({}); }), "a graph with 2 inputs was given 0 tensors");
}

TEST(Executable, writes_new_elements_of_inputs_over_the_old_ones) {
  auto update = compile([](const Tensor& p, const Tensor& g) {
    p.sub_(g * 0.5);
    return p.sum();
  });
  Tensor p = ones({100}), g = ones({100});
  void* memory = p.data_ptr();
  uint32_t version = p._version();
  EXPECT_EQ(update(p, g).item<double>(), 50);
  EXPECT_EQ(update(p, g).item<double>(), 0);
  EXPECT_EQ(p.data_ptr(), memory);
  EXPECT_EQ(p._version(), version + 2);
  EXPECT_TRUE(equal(p, zeros({100})));
}

TEST(Executable, reads_all_of_an_input_before_it_is_overwritten) {
  auto reverse = compile([](const Tensor& p) { p.add_(p.flip({0}) * 2); });
  Tensor p = arange(1000, kFloat32), expected = p + p.flip({0}) * 2;
  reverse(p);
  EXPECT_TRUE(equal(p, expected));
  auto transpose = compile([](const Tensor& p) { p.add_(p.t() * 2); });
  Tensor m = arange(900, kFloat32).view({30, 30});
  expected = m + m.t() * 2;
  transpose(m);
  EXPECT_TRUE(equal(m, expected));
}

// Updates of `count` parameters of different sizes, in place; some have more than one block.
ir::Graph updates(int64_t count) {
  std::string inputs, body, outputs;
  for (int64_t i = 0; i < count; i++) {
    int64_t p = i, g = count + i, size = 1 + 700 * i, made = 2 * count + 3 * i;
    inputs += fmt::format("{}%{}: float32[{}] argument {}", i ? ", " : "", p, size, p);
    body += fmt::format(
        "%{0}: float32[{1}] = mul(%{2}, %{2})\n%{3}: float32[{1}] = add(%{2}, %{0})\n"
        "%{4}: float32[{1}] = sub(%{5}, %{3})\n",
        made, size, g, made + 1, made + 2, p);
    outputs += fmt::format("{}%{}: mutation {}", i ? ", " : "", made + 2, p);
  }
  for (int64_t i = 0; i < count; i++) {
    inputs += fmt::format(", %{}: float32[{}] argument {}", count + i, 1 + 700 * i, count + i);
  }
  return ir::parse_graph("graph(" + inputs + ") {\n" + body + "return " + outputs + "\n}");
}

TEST(Executable, updates_many_small_parameters_in_one_step) {
  ir::Graph graph = updates(70);
  graph.overwrites = true;
  Tensors inputs = some_inputs(graph);
  std::vector<std::string> expected = passes::run_bits(graph, inputs);
  Executable code(schedule::make_schedule(graph));
  EXPECT_EQ(code.loop_count(), 70);
  EXPECT_EQ(code.step_count(), 24);  // 23 are large and run alone
  EXPECT_EQ(code.memory_bytes(), 0);
  int before = pool::num_threads();
  pool::force_grain(1);
  for (int threads : {1, 2, 5}) {
    pool::set_num_threads(threads);
    Tensors again;
    for (const Tensor& input : inputs) again.push_back(input.clone());
    Tensors outputs = code.run(again);
    for (size_t i = 0; i < outputs.size(); i++) {
      EXPECT_EQ(passes::bits(outputs[i]), expected[i]) << i;
      EXPECT_EQ(outputs[i].data_ptr(), again[i].data_ptr()) << i;
    }
  }
  pool::force_grain(0);
  pool::set_num_threads(before);
}

// One update reads what the other overwrites: not at the same time.
TEST(Executable, does_not_overwrite_what_the_same_step_reads) {
  ir::Graph graph = ir::parse_graph(R"(graph(%0: float32[900] argument 0,
      %1: float32[900] argument 1, %2: float32[900] argument 2) {
    %3: float32[900] = sub(%0, %1)
    %4: float32[900] = sub(%1, %2)
    return %3: mutation 0, %4: mutation 1
  })");
  graph.overwrites = true;
  Tensors inputs = some_inputs(graph);
  std::vector<std::string> expected = passes::run_bits(graph, inputs);
  EXPECT_EQ(native_bits(graph, inputs), expected);
}

TEST(Backend, names_what_it_knows) {
  EXPECT_HAS(error_of([] { compiler::backend_named("cuda"); }),
             "backend: 'cuda' is not known; expected 'native', 'interpreter' or 'default'");
}

// Kilobytes of a library's code that are in this process's memory.
int64_t resident_code(const std::string& library) {
  std::ifstream maps("/proc/self/smaps");
  int64_t total = 0;
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" r-xp ") != std::string::npos || line.find("p 0") != std::string::npos) {
      inside = line.find("r-xp") != std::string::npos && line.find(library) != std::string::npos;
    }
    if (inside && line.rfind("Rss:", 0) == 0) total += std::stoll(line.substr(4));
  }
  return total;
}

TEST(Executable, leaves_no_code_generator_in_memory) {
  Executable code(schedule::make_schedule(ir::parse_graph(kChain)));
  EXPECT_LT(resident_code("libLLVM"), 4096);
}

}  // namespace
}  // namespace fg::codegen
