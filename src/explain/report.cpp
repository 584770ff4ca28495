#include "explain/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "codegen/executable.h"
#include "compile/versions.h"
#include "explain/page.h"
#include "ops/create/create.h"
#include "passes/passes.h"
#include "tensor/geometry.h"

namespace fg::explain {

namespace {

// The fastest of several runs counts for each step: so many at least, then more while there is
// time.
constexpr int kFewestRuns = 3, kMostRuns = 30;
constexpr double kSecondsOfRuns = 0.5;

// Any elements will do: floats between 0 and 1, indices and seeds that are 0.
Tensor example_of(const ir::ValueInfo& info) {
  Dim count = reach(info.sizes, info.strides);
  bool real = is_floating(info.dtype);
  Tensor flat = real ? linspace(0.25, 0.75, count, info.dtype) : zeros({count}, info.dtype);
  Tensor result = alias(flat, info.sizes, info.strides, 0);
  result.impl()->wrapped_number = info.number;
  return result;
}

Tensors examples_for(const ir::Graph& graph) {
  Tensors result;
  for (ir::ValueId input : graph.inputs) result.push_back(example_of(graph.values[input]));
  return result;
}

// The time of each step, of the fastest of several runs.
std::vector<double> measure(const codegen::Executable& code, size_t steps) {
  std::vector<double> best(steps, 1e9);
  double total = 0;
  for (int run = 0; run < kFewestRuns || (run < kMostRuns && total < kSecondsOfRuns); run++) {
    Tensors inputs = examples_for(code.graph());
    timing::Collector collector(timing::Collector::Of::everything);
    code.run(std::move(inputs));
    size_t next = 0;
    for (const timing::Time& time : collector.take()) {
      if (time.depth > 0 || std::string_view(time.category) != "step") continue;
      total += time.seconds();
      best[next] = std::min(best[next], time.seconds());
      next++;
    }
  }
  return best;
}

void compile_and_measure(GraphReport& report) {
  std::optional<codegen::Executable> code;
  try {
    code.emplace(schedule::make_schedule(report.graph), &report.listing);
    report.graph = code->graph();  // what runs: images may be in blocks of channels
  } catch (const Error& error) {
    report.not_native = error.what();
    return;
  }
  report.memory = memory_use(report.graph, report.listing);
  try {
    report.seconds = measure(*code, report.listing.steps.size());
  } catch (const Error& error) {
    report.not_measured = error.what();
  }
}

}  // namespace

double GraphReport::total_seconds() const {
  return std::accumulate(seconds.begin(), seconds.end(), 0.0);
}

GraphReport explain_graph(ir::Graph graph, std::string title) {
  NoGradGuard no_grad;
  GraphReport report;
  report.title = std::move(title);
  report.graph = std::move(graph);
  compile_and_measure(report);
  return report;
}

GraphReport explain_text(std::string_view text, std::string title) {
  timing::Collector collector;
  ir::Graph graph;
  {
    timing::Phase phase("parse");
    graph = ir::parse_graph(text);
  }
  passes::run_passes(graph, "graph");
  GraphReport report = explain_graph(std::move(graph), std::move(title));
  report.phases = collector.take();
  return report;
}

VersionReport explain_version(compiler::Version& version) {
  VersionReport report;
  report.conditions = version.conditions();
  const std::vector<ir::Role>& roles = version.programs().function().input_roles;
  for (size_t i = 0; i < version.guards().size(); i++) {
    report.inputs.push_back({roles[i].text(), text_of(version.guards()[i])});
  }
  report.phases = version.phases();
  report.saved = version.programs().saved();
  for (compiler::Programs::CompiledGraph& made : version.programs().compiled_graphs()) {
    report.graphs.push_back(explain_graph(std::move(made.graph), made.title));
    report.graphs.back().phases = std::move(made.phases);
    report.graphs.back().from = std::move(made.from);
  }
  return report;
}

}  // namespace fg::explain

namespace fg::compiler {

std::string explain(Versions& versions) {
  explain::Report report{versions.name(), versions.refused()};
  versions.each(
      [&](Version& version) { report.versions.push_back(explain::explain_version(version)); });
  if (report.versions.empty() && report.note.empty()) report.note = "It was not called yet.";
  return explain::page(report);
}

}  // namespace fg::compiler
