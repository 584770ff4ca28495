// Explanations of what was compiled.
#include "explain/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/compile.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/unary.h"
#include "ops/random/dropout.h"
#include "ops/reduce/reduce.h"
#include "tensor/generator.h"

namespace fg::explain {
namespace {

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

constexpr const char* kGraph = R"(graph(%0: float32[64, 32] argument 0 "x",
      %1: float32[32, 16] argument 1 "w") {
  %2: float32[64, 32] = sin(%0) at "model.py:3"
  %3: float32[64, 32] = mul(%2, %0) at "model.py:4"
  %4: float32[64, 16] = mm(%3, %1) at "model.py:5"
  %5: float32[64, 16] = exp(%4) at "model.py:6"
  return %5: output 0
})";

TEST(Explain, a_graph_has_steps_kernels_memory_and_times) {
  GraphReport report = explain_text(kGraph, "graph");
  EXPECT_EQ(report.not_native, "");
  EXPECT_EQ(report.not_measured, "");
  ASSERT_EQ(report.listing.steps.size(), 3u);  // a loop, the product, a loop
  EXPECT_EQ(report.listing.steps[0].name, "sin mul -> [64, 32]");
  EXPECT_EQ(report.listing.steps[0].operations, (std::vector<uint32_t>{0, 1}));
  EXPECT_EQ(report.listing.steps[0].sizes, (std::vector<int64_t>{64 * 32}));
  EXPECT_EQ(report.listing.steps[0].operands, (std::vector<ir::ValueId>{0, 3}));
  EXPECT_FALSE(report.listing.steps[1].is_loop());
  EXPECT_STREQ(kind_of(report, report.listing.steps[1]), "product");
  EXPECT_EQ(report.listing.kernels.size(), 2u);
  ASSERT_EQ(report.seconds.size(), 3u);
  for (double seconds : report.seconds) {
    EXPECT_GT(seconds, 0);
    EXPECT_LT(seconds, 10);
  }
}

TEST(Explain, says_what_the_block_is_where_the_graph_is_freed) {
  auto compiled = compile([](const Tensor& x) { return x.exp().cumsum(0).sin().cumsum(0).sum(); },
                          {.fullgraph = true});
  Tensor x = ones({64}).requires_grad_();
  compiled(x);
  EXPECT_TRUE(has(compiled.explain(), "Where the engine frees the graph"));
  ir::Graph graph = ir::parse_graph(kGraph);
  graph.consumable = {0};
  MemoryUse use = explain_graph(graph, "graph").memory;
  EXPECT_EQ(use.block, 8192 + 4096);  // as drawn
  EXPECT_EQ(use.consuming, 4096);     // %3 lies where %0 was
}

TEST(Explain, memory_is_what_lives_in_the_block_per_step_and_what_the_caller_gets) {
  MemoryUse use = explain_text(kGraph, "graph").memory;
  ASSERT_EQ(use.lives.size(), 2u);  // %3 and %4: %2 stays in registers, %5 is the result
  EXPECT_EQ(use.lives[0].value, 3u);
  EXPECT_EQ(use.lives[0].bytes, 64 * 32 * 4);
  EXPECT_EQ(use.lives[0].first, 0u);
  EXPECT_EQ(use.lives[0].last, 1u);
  EXPECT_EQ(use.bytes, (std::vector<int64_t>{8192, 8192 + 4096, 4096}));
  EXPECT_EQ(use.peak, 1u);
  EXPECT_EQ(use.block, 8192 + 4096);
  EXPECT_EQ(use.inputs, 8192 + 32 * 16 * 4);
  EXPECT_EQ(use.results, 4096);
  EXPECT_EQ(use.saved, 0);
}

TEST(Explain, what_runs_by_tiles_shows_its_members) {
  GraphReport report = explain_text(R"(graph(%0: float32[4096, 256] argument 0) {
    %1: float32[4096, 256] = sin(%0)
    %2: float32[4096, 256] = softmax(%1; dim=1)
    %3: float32[4096, 256] = mul(%2, %0)
    return %3: output 0
  })",
                                    "graph");
  ASSERT_EQ(report.listing.steps.size(), 1u);
  const codegen::Listing::Step& step = report.listing.steps[0];
  EXPECT_STREQ(kind_of(report, step), "tiles");
  EXPECT_EQ(step.operations, (std::vector<uint32_t>{0, 1, 2}));
  EXPECT_EQ(step.rows, 4096);
  ASSERT_EQ(step.members.size(), 3u);
  EXPECT_TRUE(step.members[0].is_loop() && step.members[2].is_loop());
  EXPECT_EQ(step.members[1].name, "softmax [4096, 256] -> [4096, 256]");
  ASSERT_EQ(report.seconds.size(), 1u);
  EXPECT_GT(report.seconds[0], 0);
  EXPECT_EQ(report.memory.block, 0);
  std::string table = steps_table(report);
  EXPECT_TRUE(has(table, "of 4096 rows") && has(table, "loop k0, library kernel, loop k1"))
      << table;
  EXPECT_TRUE(has(kernels_list(report), "k1"));  // of members too
}

TEST(Explain, a_text_is_explained_with_all_its_phases) {
  std::vector<std::string> names;
  for (const timing::Time& phase : explain_text(kGraph, "graph").phases) {
    names.push_back(phase.name);
  }
  for (const char* name : {"parse", "simplify", "dead_code", "fuse", "tile", "plan_memory",
                           "generate code", "emit", "LLVM", "link", "load"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
}

TEST(Explain, measuring_changes_no_random_numbers_and_leaves_nothing_switched_on) {
  auto f = compile([](const Tensor& x) { return dropout(x, 0.5, true); });
  f(ones({8}));
  PhiloxKey before = default_generator().get_state();
  EXPECT_TRUE(has(f.explain(), "Where the time goes"));
  PhiloxKey after = default_generator().get_state();
  EXPECT_EQ(before.seed, after.seed);
  EXPECT_EQ(before.offset, after.offset);
  EXPECT_FALSE(timing::enabled());
}

TEST(Explain, a_compiled_function_is_a_page_with_forward_backward_and_what_is_kept) {
  auto f = compile([](const Tensor& x, const Tensor& w) { return (x.mm(w).tanh() * 2).sum(); },
                   {.name = "loss<float>"});
  EXPECT_TRUE(has(f.explain(), "It was not called yet."));
  Tensor x = ones({2, 3}), w = ones({3, 4}).requires_grad_();
  Tensor loss = f(x, w);
  std::string before = f.explain();
  EXPECT_TRUE(has(before, "<h3>forward</h3>"));
  EXPECT_TRUE(has(before, "<h3>backward (not called yet)</h3>"));
  loss.backward();
  std::string text = f.explain();
  for (const char* part :
       {"<title>loss&lt;float&gt;</title>", "<h3>forward</h3>", "<h3>backward</h3>",
        "<h3>When it is used</h3>", "gradients are recorded", "float32[2, 3] strides [3, 1]",
        "requires grad, a leaf", "<h3>Making it</h3>", "capture gradient", "partition",
        "Where the time goes", "Where the memory goes", "What is kept, and why",
        "read by tanh_backward", "What is computed for each element",
        "mm [2, 3] [3, 4] -&gt; [2, 4]", "prefers-color-scheme: dark"}) {
    EXPECT_TRUE(has(text, part)) << part;
  }
  for (const char* part : {"not called yet", "<script", "<link", "src=", "@import"}) {
    EXPECT_FALSE(has(text, part)) << part;
  }
}

TEST(Explain, a_page_shows_every_version_and_why_a_function_runs_eagerly) {
  auto f = compile([](const Tensor& x) { return x.exp(); });
  f(ones({2}));
  f(ones({3}));
  std::string text = f.explain();
  EXPECT_TRUE(has(text, "<h2 id=\"v1\">") && has(text, "<h2 id=\"v2\">"));
  auto g = compile([](const Tensor& x) { return x.sum().item<double>() > 0 ? x : -x; });
  g(ones({2}));
  EXPECT_TRUE(has(g.explain(), "a compiled function runs eagerly: "));
}

TEST(Explain, a_page_says_why_there_is_no_code_or_no_time) {
  GraphReport graph = explain_text(kGraph, "graph");
  graph.not_measured = "index out of range";
  graph.seconds.clear();
  Report report{"f"};
  report.versions.emplace_back().graphs = {graph};
  EXPECT_TRUE(has(page(report), "could not be measured with made-up inputs: index out of range"));
  graph.not_native = "no generator";
  report.versions[0].graphs = {graph};
  EXPECT_TRUE(has(page(report), "There is no native code, the graph is interpreted: no generator"));
}

TEST(Explain, a_page_about_thousands_of_operations_stays_small_and_says_what_it_leaves_out) {
  std::string text = "graph(%0: float32[4, 4] argument 0) {\n";
  constexpr int kCount = 6000;
  for (int i = 1; i <= kCount; i++) {
    text += fmt::format("  %{}: float32[4, 4] = {}\n", i,
                        i % 2 ? fmt::format("mm(%{}, %0)", i - 1) : fmt::format("sin(%{})", i - 1));
  }
  text += fmt::format("  return %{}: output 0\n}}", kCount);
  Report report{"large"};
  report.versions.emplace_back().graphs.push_back(explain_text(text, "graph"));
  std::string made = page(report);
  EXPECT_LT(made.size(), 4u << 20);
  EXPECT_TRUE(has(made, "more operations are left out."));
  EXPECT_FALSE(has(made, "<details open><summary>Picture"));
}

TEST(Explain, amounts_are_for_people) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(512 << 20), "512 MiB");
  EXPECT_EQ(seconds_text(12.3e-6), "12.3 µs");
  EXPECT_EQ(seconds_text(0.0456), "45.60 ms");
  EXPECT_EQ(compact("add add add mul add [3, 3, 3, 3] -> []"), "add×3 mul add [3, 3, 3, 3] -> []");
  EXPECT_EQ(escaped("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
}

}  // namespace
}  // namespace fg::explain
