#include "explain/page.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/settings.h"
#include "base/version.h"
#include "schedule/places.h"

namespace fg::explain {

namespace {

constexpr size_t kFewOperations = 40;  // a picture of so many is shown at once
constexpr size_t kFewInputs = 12;

std::string card(const std::string& number, const std::string& what) {
  return fmt::format("<div class=\"card\"><b>{}</b><span>{}</span></div>", escaped(number),
                     escaped(what));
}

std::string note(const std::string& text) {
  return text.empty() ? "" : fmt::format("<p class=\"note\">{}</p>", escaped(text));
}

std::string summary_of(const GraphReport& report) {
  const codegen::Listing& listing = report.listing;
  auto count = [&](bool (codegen::Listing::Step::*is)() const) {
    return static_cast<size_t>(std::count_if(listing.steps.begin(), listing.steps.end(),
                                             [&](const auto& step) { return (step.*is)(); }));
  };
  size_t loops = count(&codegen::Listing::Step::is_loop);
  size_t tiled = count(&codegen::Listing::Step::is_tiled);
  return fmt::format("<p>{} in {}: {} of compiled code ({}){}, {} of the library.</p>",
                     plural(report.graph.operations.size(), "operation"),
                     plural(listing.steps.size(), "step"), plural(loops, "loop"),
                     plural(listing.kernels.size(), "kernel"),
                     tiled ? fmt::format(", {} by tiles of rows", plural(tiled, "step")) : "",
                     plural(listing.steps.size() - loops - tiled, "kernel"));
}

std::string compiled_part(const GraphReport& report) {
  if (!report.not_native.empty()) {
    return note("There is no native code, the graph is interpreted: " + report.not_native);
  }
  std::string out = summary_of(report);
  if (!report.not_measured.empty()) {
    out += note("Its steps could not be measured with made-up inputs: " + report.not_measured);
  }
  if (!report.seconds.empty()) {
    out += fmt::format("<h4>Where the time goes: {} per call</h4>",
                       seconds_text(report.total_seconds()));
    out += steps_chart(report);
  }
  out += steps_table(report) + "<h4>Where the memory goes</h4>" + memory_chart(report);
  if (!report.listing.kernels.empty()) out += "<h4>Kernels</h4>" + kernels_list(report);
  return out;
}

std::string graph_part(const GraphReport& report) {
  std::string out = fmt::format("<h3>{}</h3>", escaped(report.title));
  if (!report.from.empty()) out += note("Its code is " + report.from + ".");
  out += compiled_part(report);
  if (!report.phases.empty()) {
    out += "<h4>Making it</h4>" + phases_chart(report.phases);
  }
  out += "<h4>Graph</h4>";
  bool small = report.graph.operations.size() <= kFewOperations;
  out += folded("Picture", graph_picture(report.graph), small);
  out += folded("Table: values, shapes, strides and the lines they come from",
                graph_table(report.graph));
  return out + folded("Text", "<pre>" + escaped(report.graph.text()) + "</pre>");
}

std::string inputs_part(const VersionReport& version) {
  std::string rows = "<table><tr><th>input</th><th>must be</th></tr>";
  for (const auto& [input, what] : version.inputs) {
    rows += fmt::format("<tr><td class=\"mono\">{}</td><td>{}</td></tr>", escaped(input),
                        escaped(what));
  }
  std::string out = fmt::format("<h3>When it is used</h3><p>{}.</p>",
                                escaped(fmt::format("{}", fmt::join(version.conditions, "; "))));
  return out + folded(plural(version.inputs.size(), "input"), rows + "</table>",
                      version.inputs.size() <= kFewInputs);
}

// What the backward computes again of the forward, without what costs nothing.
std::string recomputed_rows(const ir::Graph& backward, size_t& count) {
  std::string rows;
  for (const ir::Operation& operation : backward.operations) {
    if (operation.backward || !operation.primitive || operation.aliases_input()) continue;
    count++;
    const ir::ValueInfo& info = backward.values[operation.output];
    rows += fmt::format(
        "<tr><td class=\"mono\">%{} = {}</td><td>{}</td><td class=\"number\">{}</td>"
        "<td>cheaper to compute again than to keep</td></tr>",
        operation.output, operation.primitive->name, type_text(info),
        bytes_text(schedule::span_bytes(info)));
  }
  return rows;
}

std::string saved_part(const VersionReport& version) {
  if (version.saved.empty()) return "";
  const ir::Graph& graph = version.graphs[0].graph;
  std::string rows =
      "<table><tr><th>value</th><th>type</th><th class=\"number\">bytes</th>"
      "<th>is</th><th>why</th></tr>";
  int64_t more = 0;
  auto bytes_of = [&](const compiler::Programs::SavedInfo& saved) {
    return schedule::span_bytes(graph.values[saved.value]);
  };
  std::vector<compiler::Programs::SavedInfo> all = version.saved;
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return bytes_of(a) > bytes_of(b); });
  for (const compiler::Programs::SavedInfo& saved : all) {
    const ir::ValueInfo& info = graph.values[saved.value];
    int64_t bytes = bytes_of(saved);
    if (saved.from == "a value of its own") more += bytes;
    rows += fmt::format(
        "<tr><td class=\"mono\">%{}</td><td>{}</td><td class=\"number\">{}</td>"
        "<td>{}</td><td>{}</td></tr>",
        saved.value, type_text(info), bytes_text(bytes), saved.from, escaped(saved.why));
  }
  std::string out =
      fmt::format("<h3>Kept from forward to backward</h3><p>{}; {} beyond inputs and results.</p>",
                  plural(version.saved.size(), "value"), bytes_text(more));
  bool small = version.saved.size() <= kFewInputs;
  out += folded("What is kept, and why", rows + "</table>", small);
  for (size_t i = 1; i < version.graphs.size(); i++) {
    if (!version.graphs[i].title.starts_with("backward")) continue;
    size_t count = 0;
    std::string again = recomputed_rows(version.graphs[i].graph, count);
    if (count == 0) continue;
    out += folded(fmt::format("Computed again in the {}: {}", escaped(version.graphs[i].title),
                              plural(count, "value")),
                  "<table><tr><th>value</th><th>type</th><th class=\"number\">bytes</th>"
                  "<th>why</th></tr>" +
                      again + "</table>");
  }
  return out;
}

std::string cards_of(const VersionReport& version) {
  std::string out = "<div class=\"cards\">";
  double compiling = 0;
  auto add = [&](const std::vector<timing::Time>& phases) {
    for (const timing::Time& phase : phases) compiling += phase.depth ? 0 : phase.seconds();
  };
  add(version.phases);
  for (const GraphReport& graph : version.graphs) add(graph.phases);
  if (compiling > 0) out += card(seconds_text(compiling), "to capture and compile");
  for (const GraphReport& graph : version.graphs) {
    std::string title = graph.title.substr(0, graph.title.find(','));
    if (!graph.seconds.empty()) out += card(seconds_text(graph.total_seconds()), title);
    out += card(std::to_string(graph.listing.steps.size()), "steps, " + title);
    out += card(bytes_text(graph.memory.block), "block of memory, " + title);
  }
  return out + "</div>";
}

std::string version_part(const VersionReport& version) {
  std::string out = cards_of(version);
  if (!version.inputs.empty() || !version.conditions.empty()) out += inputs_part(version);
  if (!version.phases.empty()) {
    out +=
        "<h3>Making it</h3><p class=\"muted\">What was done when the function was captured and "
        "its forward compiled.</p>" +
        phases_chart(version.phases);
  }
  for (size_t i = 0; i < version.graphs.size(); i++) {
    out += graph_part(version.graphs[i]);
    if (i == 0) out += saved_part(version);
  }
  return out;
}

}  // namespace

std::string plural(size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string bytes_text(int64_t bytes) {
  static constexpr const char* kUnits[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) amount /= 1024, unit++;
  return fmt::format("{:.{}f} {}", amount, unit == 0 || amount >= 100 ? 0 : 1, kUnits[unit]);
}

std::string seconds_text(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", 1e3 * seconds);
  return fmt::format("{:.1f} µs", 1e6 * seconds);
}

std::string type_text(const ir::ValueInfo& info) {
  return fmt::format("{}{}", name(info.dtype), text(info.sizes));
}

std::string folded(const std::string& title, const std::string& content, bool open) {
  return fmt::format("<details{}><summary>{}</summary><div>{}</div></details>", open ? " open" : "",
                     title, content);
}

std::string page(const Report& report) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width\"><title>{0}</title>"
      "<style>{1}</style></head><body><h1>{0}</h1><p class=\"muted\">compiled by Foregrad {2}</p>",
      escaped(report.name), kPageStyle, version());
  out += note(report.note);
  if (settings::text(settings::Id::backend) != "native") {
    out += note("FOREGRAD_BACKEND is set: what follows is what native code would do.");
  }
  for (size_t i = 0; report.versions.size() > 1 && i < report.versions.size(); i++) {
    out += fmt::format("<a href=\"#v{0}\">Version {0}</a> &nbsp; ", i + 1);
  }
  for (size_t i = 0; i < report.versions.size(); i++) {
    if (report.versions.size() > 1) out += fmt::format("<h2 id=\"v{0}\">Version {0}</h2>", i + 1);
    out += version_part(report.versions[i]);
  }
  return out + "</body></html>\n";
}

}  // namespace fg::explain
