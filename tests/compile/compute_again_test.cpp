// A training step in one graph needs less memory where the backward computes cheap values again.
#include <foregrad/foregrad.h>
#include <gtest/gtest.h>

#include "codegen/executable.h"
#include "codegen/listing.h"
#include "compile/graphs.h"
#include "passes/passes.h"

namespace fg {
namespace {

constexpr int64_t kWidth = 32, kRows = 512;
constexpr int kLayers = 4;

Tensor numbers(const Dims& sizes, double scale) {
  Tensor counted = arange(product(sizes).value(), kFloat32);
  return ((counted * 0.7).sin() * scale).reshape(sizes).detach();
}
// Blocks of a transformer without attention: two weights and a norm per layer, then the data.
Tensors parameters() {
  Tensors result;
  for (int i = 0; i < kLayers; i++) {
    result.push_back(numbers({kWidth}, 1).requires_grad_());
    result.push_back(numbers({kWidth, 4 * kWidth}, 0.2).requires_grad_());
    result.push_back(numbers({4 * kWidth, kWidth}, 0.1).requires_grad_());
  }
  result.push_back(numbers({kRows, kWidth}, 1));
  return result;
}
Tensor loss_of(const Tensors& p) {
  Tensor h = p.back();
  for (size_t i = 0; i < static_cast<size_t>(kLayers); i++) {
    Tensor normed = layer_norm(h, {kWidth}, p[3 * i]);
    h = h + gelu(normed.mm(p[3 * i + 1])).mm(p[3 * i + 2]);
  }
  return (h * h).mean();
}
// A step of plain gradient descent.
Tensors step(const Tensors& given) {
  Tensors trained(given.begin(), given.end() - 1);
  Tensor loss = loss_of(given);
  Tensors gradients = autograd::grad({loss}, {trained.begin(), trained.end()});
  NoGradGuard no_grad;
  for (size_t i = 0; i < trained.size(); i++) trained[i].sub_(gradients[i] * 0.1);
  return {loss.detach()};
}

int64_t block_of(const ir::Graph& graph) {
  codegen::Listing listing;
  codegen::Executable code(schedule::make_schedule(graph), &listing);
  return listing.memory.bytes;
}

TEST(ComputeAgain, a_step_has_a_smaller_block) {
  ir::Graph graph = capture::forward(step, parameters());
  passes::run_passes(graph, "step");
  EXPECT_NE(graph.text().find("gelu(%"), std::string::npos);
  EXPECT_NE(graph.text().find(" again"), std::string::npos);
  ir::Graph once = graph;  // what is computed twice is shared
  passes::common_subexpressions(once);
  passes::dead_code(once);
  EXPECT_EQ(once.text().find(" again"), std::string::npos);
  EXPECT_LT(4 * block_of(graph), 3 * block_of(once));
}

TEST(ComputeAgain, a_step_has_the_bits_of_the_eager_one) {
  Tensors eager = parameters(), compiled = parameters();
  auto run = compile(step, {.fullgraph = true});
  for (int i = 0; i < 4; i++) {
    EXPECT_TRUE(equal(run(compiled)[0], step(eager)[0])) << i;
    for (size_t k = 0; k < eager.size(); k++) EXPECT_TRUE(equal(compiled[k], eager[k])) << k;
  }
}

}  // namespace
}  // namespace fg
