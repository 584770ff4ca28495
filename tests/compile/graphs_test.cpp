// Captured functions as graphs: text, roles, compilers of one's own, lines.
#include <fmt/format.h>
#include <foregrad/graphs.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "compile/version.h"
#include "passes/plan.h"
#include "tests/error_of.h"

namespace fg {
namespace {

Tensors product(const Tensors& in) { return {(in[0] * in[1]).sin()}; }

TEST(Graphs, TheForwardIsAGraphWithRoles) {
  Tensor x = ones({2}).requires_grad_(), y = ones({2});
  EXPECT_EQ(capture::forward(product, {x, y}).text(),
            "graph(%0: float32[2] argument 0,\n"
            "      %1: float32[2] argument 1) {\n"
            "  %2: float32[2] = mul(%0, %1)\n"
            "  %3: float32[2] = sin(%2)\n"
            "  return %3: output 0\n"
            "}\n");
}

TEST(Graphs, TheJointHasTangentsAndGradients) {
  Tensor x = ones({2}).requires_grad_(), y = ones({2});
  ir::Graph joint = capture::joint(product, {x, y});
  EXPECT_EQ(joint.input_roles.back().text(), "tangent 0");
  ASSERT_EQ(joint.output_roles.size(), 2u);  // none for what needs no gradient
  EXPECT_EQ(joint.output_roles[1].text(), "gradient 0");
  EXPECT_FALSE(joint.operations.front().backward);
  EXPECT_TRUE(joint.operations.back().backward);
}

TEST(Graphs, TheTextReadsBackAndRuns) {
  Tensor x = rand({2, 3}).requires_grad_();
  auto f = [](const Tensors& in) {
    Tensor y = in[0].t().clone();
    y.select(0, 1).mul_(2);
    return Tensors{cat({y, y}, 1).sum(Dims{1})};
  };
  ir::Graph graph = capture::forward(f, {x});
  ir::Graph again = ir::parse_graph(graph.text());
  EXPECT_EQ(again.text(), graph.text());
  EXPECT_TRUE(equal(ir::Runner(again).run({x.detach()})[0], f({x.detach()})[0]));
}

TEST(Graphs, AMistakeInTheTextIsNamedWithItsLine) {
  EXPECT_HAS(error_of([] { ir::parse_graph("graph(%0: float32[2] argument 0) {\n  %1: oops"); }),
             "graph text, line 2: expected a dtype in the place of 'oops'");
  EXPECT_HAS(error_of([] {
               ir::parse_graph("graph() {\n  %0: float32[2] = sin(%1)\n  return %0: output 0\n}");
             }),
             "sin uses %1 before it is defined");
  EXPECT_HAS(error_of([] {
               ir::parse_graph(
                   "graph(%0: float32[2] argument 0) {\n  %1: float32[3] = sin(%0)\n"
                   "  return %1: output 0\n}");
             }),
             "%1 of sin is said to be float32[3]");
}

TEST(Graphs, AGraphRefusesInputsOfAnotherLayout) {
  ir::Runner runner(capture::forward(product, {ones({2, 3}), ones({2, 3})}));
  EXPECT_HAS(error_of([&] { runner.run({ones({3, 2}).t(), ones({2, 3})}); }),
             "input 0 of a graph is float32[2, 3] with strides [1, 2]; expected");
  EXPECT_HAS(error_of([&] { runner.run({ones({2, 3})}); }), "a graph with 2 inputs was given 1");
}

TEST(Graphs, CompilersOfOnesOwnGetForwardAndBackward) {
  std::vector<std::string> seen;
  auto watching = [&](const char* what) {
    return [&seen, what](const ir::Graph& graph) {
      seen.push_back(what);
      return compiler::interpret(graph);
    };
  };
  auto f = aot_function([](const Tensor& x) { return (x * x).sum(); },
                        {.fw_compiler = watching("forward"), .bw_compiler = watching("backward")});
  Tensor x = arange(3, kFloat32).requires_grad_();
  Tensor y = f(x);
  EXPECT_EQ(seen, std::vector<std::string>{"forward"});
  EXPECT_TRUE(equal(autograd::grad({y}, {x})[0], x.detach() * 2));
  EXPECT_EQ(seen, (std::vector<std::string>{"forward", "backward"}));
}

TEST(Graphs, ACompilerThatReturnsTooLittleIsTold) {
  auto f = aot_function([](const Tensor& x) { return x * 2; },
                        {.fw_compiler = [](const ir::Graph&) -> compiler::GraphCallable {
                          return [](Tensors) { return Tensors{}; };
                        }});
  EXPECT_HAS(error_of([&] { f(ones({2})); }), "returned 0 values; expected 1");
}

TEST(Graphs, ErrorsInsideNameTheLine) {
  int line = 0;
  auto f = compile(
      [&](const Tensor& x, const Tensor& at) {
        Tensor y = x * 2;
        line = __LINE__ + 1;
        capture::Line here;
        return y.index_select(0, at);
      },
      {.fullgraph = true});
  f(ones({3}), tensor({1}));
  EXPECT_HAS(error_of([&] { f(ones({3}), tensor({7})); }),
             fmt::format("graphs_test.cpp:{})", line));
}

TEST(Graphs, TheBackwardOfALineIsOfThatLine) {
  int first = 0, second = 0;
  auto f = [&](const Tensors& in) {
    Tensor y;
    {
      first = __LINE__ + 1;
      capture::Line here;
      y = in[0].sin();
    }
    second = __LINE__ + 1;
    capture::Line here;
    return Tensors{y.exp()};
  };
  ir::Graph joint = capture::joint(f, {ones({2}).requires_grad_()});
  std::istringstream text(joint.text());
  std::vector<std::string> backward;
  for (std::string one; std::getline(text, one);) {
    if (one.find(" backward") != std::string::npos) backward.push_back(one);
  }
  ASSERT_EQ(backward.size(), 3u) << joint.text();  // exp: mul; sin: cos and mul
  auto at = [](int line) { return fmt::format("graphs_test.cpp:{}\"", line); };
  EXPECT_HAS(backward[0], at(second));
  EXPECT_HAS(backward[1], at(first));
  EXPECT_HAS(backward[2], at(first));
}

std::string plan_of(const capture::Body& body, const Tensor& x, compiler::Partition partition) {
  return compiler::Version(body, {x}, {}, {{}, {}, std::move(partition)}).programs().plan();
}
int64_t lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

TEST(Graphs, TheDefaultSavesWhatTheBackwardReads) {
  auto f = [](const Tensors& in) { return Tensors{(in[0] * 2).sin().exp().sum()}; };
  std::string plan = plan_of(f, rand({64}).requires_grad_(), passes::partition_default);
  EXPECT_EQ(lines(plan), 2) << plan;
  EXPECT_HAS(plan, "float32[64]: read by cos");
  EXPECT_HAS(plan, "float32[64]: read by mul");
}

TEST(Graphs, TheMinimumCutSavesLessForTheSameGradient) {
  auto f = [](const Tensors& in) { return Tensors{(in[0] * 2).exp().sin().cos().sum()}; };
  Tensor x = rand({64}).requires_grad_();
  EXPECT_LT(lines(plan_of(f, x, passes::partition_min_cut)),
            lines(plan_of(f, x, passes::partition_default)));
  auto call = [&](const Tensor& t) { return f({t})[0]; };
  auto plain = aot_function(call),
       cut = aot_function(call, {.partition = passes::partition_min_cut});
  EXPECT_TRUE(equal(autograd::grad({plain(x)}, {x})[0], autograd::grad({cut(x)}, {x})[0]));
}

}  // namespace
}  // namespace fg
