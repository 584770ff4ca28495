// `foregrad explain FILE`: a graph in its text form is compiled; what came of it is a page of HTML,
// or one JSON document.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/atomic_file.h"
#include "base/fail.h"
#include "base/file.h"
#include "cli/commands.h"
#include "explain/page.h"

namespace fg::cli {

using explain::GraphReport;
using Json = nlohmann::ordered_json;

namespace {

std::string read(const std::string& path) {
  constexpr size_t kLargest = size_t{1} << 30;
  try {
    return read_file(path, kLargest);
  } catch (const FileError& error) {
    fail("explain: {} cannot be read: {}; expected a file with a graph in its text form", path,
         file_problem(error.code()));
  }
}

void write(const std::string& path, const std::string& text) {
  try {
    AtomicFile file(path);
    file.write(text.data(), text.size());
    file.commit();
  } catch (const FileError& error) {
    fail("explain: {} cannot be written: {}; say another place with -o", path,
         file_problem(error.code()));
  }
}

Json phases_of(const std::vector<timing::Time>& phases) {
  Json rows = Json::array();
  for (const timing::Time& phase : phases) {
    rows.push_back({{"name", phase.name},
                    {"seconds", phase.seconds()},
                    {"depth", phase.depth},
                    {"note", phase.note}});
  }
  return rows;
}

Json value_of(const ir::Graph& graph, ir::ValueId value) {
  if (value == ir::kNoValue) return nullptr;
  const ir::ValueInfo& info = graph.values[value];
  return {{"value", value},
          {"dtype", name(info.dtype)},
          {"sizes", text(info.sizes)},
          {"strides", text(info.strides)}};
}

Json ends_of(const ir::Graph& graph, const std::vector<ir::ValueId>& values,
             const std::vector<ir::Role>& roles) {
  Json rows = Json::array();
  for (size_t i = 0; i < values.size(); i++) {
    rows.push_back({{"role", roles[i].text()}, {"is", value_of(graph, values[i])}});
  }
  return rows;
}

Json operations_of(const ir::Graph& graph) {
  Json rows = Json::array();
  for (const ir::Operation& operation : graph.operations) {
    Json outputs = Json::array();
    for (int k = 0; k < operation.outputs(); k++) {
      outputs.push_back(value_of(graph, operation.output + static_cast<ir::ValueId>(k)));
    }
    rows.push_back({{"name", operation.primitive ? operation.primitive->name : "constant"},
                    {"inputs", operation.inputs},
                    {"outputs", outputs},
                    {"backward", operation.backward},
                    {"line", graph.sources[operation.source]}});
  }
  return rows;
}

Json step_of(const GraphReport& report, const codegen::Listing::Step& step) {
  Json row = {{"name", step.name},
              {"operations", step.operations},
              {"kind", explain::kind_of(report, step)}};
  if (step.is_loop()) {
    row["kernel"] = report.listing.kernels[static_cast<size_t>(step.kernel)].name;
    row["loops"] = step.sizes;
    row["operands"] = step.operands;
  }
  if (step.is_tiled()) {
    row["rows"] = step.rows;
    row["rows_of_a_tile"] = step.height;
    row["bytes_of_a_tile"] = step.tile_bytes;
    for (const auto& member : step.members) row["members"].push_back(step_of(report, member));
  }
  return row;
}

Json steps_of(const GraphReport& report) {
  Json rows = Json::array();
  for (size_t i = 0; i < report.listing.steps.size(); i++) {
    Json row = step_of(report, report.listing.steps[i]);
    row["bytes_in_use"] = report.memory.bytes[i];
    if (!report.seconds.empty()) row["seconds"] = report.seconds[i];
    rows.push_back(std::move(row));
  }
  return rows;
}

Json kernels_of(const GraphReport& report) {
  Json rows = Json::array();
  for (const codegen::Listing::Kernel& kernel : report.listing.kernels) {
    rows.push_back({{"name", kernel.name},
                    {"inputs", kernel.loop.inputs},
                    {"operands", kernel.loop.operands.size()},
                    {"text", kernel.loop.text()}});
  }
  return rows;
}

Json memory_of(const GraphReport& report) {
  const explain::MemoryUse& use = report.memory;
  Json lives = Json::array();
  for (const explain::Life& life : use.lives) {
    lives.push_back({{"value", life.value},
                     {"offset", life.offset},
                     {"bytes", life.bytes},
                     {"first_step", life.first},
                     {"last_step", life.last}});
  }
  return {{"block", use.block},     {"peak_step", use.peak}, {"inputs", use.inputs},
          {"results", use.results}, {"saved", use.saved},    {"values", lives}};
}

Json document_of(const GraphReport& report) {
  const ir::Graph& graph = report.graph;
  return {{"name", report.title},
          {"phases", phases_of(report.phases)},
          {"inputs", ends_of(graph, graph.inputs, graph.input_roles)},
          {"operations", operations_of(graph)},
          {"outputs", ends_of(graph, graph.outputs, graph.output_roles)},
          {"not_native", report.not_native},
          {"not_measured", report.not_measured},
          {"steps", steps_of(report)},
          {"kernels", kernels_of(report)},
          {"memory", memory_of(report)}};
}

}  // namespace

void explain(const ExplainOptions& options) {
  std::string text = read(options.file);
  GraphReport graph;
  try {
    graph = explain::explain_text(text, "graph");
  } catch (const Error& error) {
    fail("{}: {}", options.file, error.what());
  }
  std::string document;
  if (options.json) {
    document = document_of(graph).dump(2) + "\n";
  } else {
    explain::Report report{options.file};
    report.versions.emplace_back().graphs.push_back(std::move(graph));
    document = explain::page(report);
  }
  std::string to = options.output;
  if (to.empty() && options.json) {
    fmt::print("{}", document);
    return;
  }
  if (to.empty()) to = options.file + ".html";
  write(to, document);
  fmt::print("{} is written\n", to);
}

}  // namespace fg::cli
