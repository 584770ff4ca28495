// Random graphs: passes keep their bits and show no memory twice; both partitions give the same
// gradients.
#include "tests/passes/random_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "tests/passes/compute_everything_again.h"
#include "tests/passes/joint.h"

namespace fg::passes {
namespace {

bool share(const Tensor& a, const Tensor& b) { return a.impl()->storage == b.impl()->storage; }

// Two outputs that share memory, and outputs that share memory with inputs; outputs of two runs
// come one after the other.
std::vector<std::string> aliases(const ir::Graph& graph, const Tensors& inputs) {
  ir::Runner runner(graph);
  Tensors values = runner.run(inputs), again = runner.run(inputs);
  values.insert(values.end(), again.begin(), again.end());
  std::vector<std::string> result;
  for (size_t i = 0; i < values.size(); i++) {
    for (size_t k = 0; k < i; k++) {
      if (values[i].is_same(values[k])) result.push_back(fmt::format("{} is {}", i, k));
      if (share(values[i], values[k])) result.push_back(fmt::format("{} shares {}", i, k));
    }
    for (size_t k = 0; k < inputs.size(); k++) {
      if (values[i].is_same(inputs[k])) result.push_back(fmt::format("{} is input {}", i, k));
      if (share(values[i], inputs[k])) result.push_back(fmt::format("{} shares input {}", i, k));
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

TEST(RandomGraphs, keep_bits_and_memories_in_every_pass) {
  constexpr std::pair<const char*, void (*)(ir::Graph&)> passes[] = {
      {"simplify", simplify},
      {"fold_constants", fold_constants},
      {"common_subexpressions", common_subexpressions},
      {"recompute_late", recompute_late},
      {"compute_again", compute_again},
      {"dead_code", dead_code}};
  ComputeEverythingAgain everything;
  size_t again = 0;
  for (uint32_t seed = 0; seed < 3000; seed++) {
    ir::Graph graph = RandomGraph(seed).make(12 + seed % 13, seed % 2);
    ir::verify(graph, "making it up");
    Tensors inputs = some_inputs(graph);
    std::vector<std::string> bits = run_bits(graph, inputs), before = aliases(graph, inputs);
    for (auto [name, pass] : passes) {
      std::string was = graph.text();
      pass(graph);
      ir::verify(graph, name);
      ASSERT_EQ(run_bits(graph, inputs), bits) << seed << " " << name << was << graph.text();
      ASSERT_EQ(aliases(graph, inputs), before) << seed << " " << name << was << graph.text();
    }
    again += graph.text().find(" again") != std::string::npos;
  }
  EXPECT_GT(again, 200u);
}

TEST(RandomGraphs, have_the_same_gradients_however_they_are_split) {
  size_t fewer = 0;
  for (uint32_t seed = 0; seed < 2000; seed++) {
    Joint random(RandomGraph(seed).make(10 + seed % 30, true));
    std::vector<Saved> all = partition_default(random.joint);
    Plan plan = plan_min_cut(random.joint);
    ASSERT_LE(saved_bytes(random.joint, plan.saved), saved_bytes(random.joint, all)) << seed;
    ASSERT_EQ(random.gradients(plan.saved), random.gradients(all)) << seed << random.graph.text();
    fewer += saved_bytes(random.joint, plan.saved) < saved_bytes(random.joint, all);
  }
  EXPECT_GT(fewer, 200u);  // it does something
}

}  // namespace
}  // namespace fg::passes
