// The tables of a page, and the drawing of a graph.
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <map>
#include <sstream>

#include "base/error.h"
#include "explain/page.h"
#include "ir/picture.h"
#include "ops/reduce/reduce_kernel.h"

namespace fg::explain {

using ir::kNoValue;
using ir::ValueId;

namespace {

constexpr size_t kMostRows = 25;      // of steps, before the rest is folded away
constexpr size_t kMostKernels = 150;  // that are shown
constexpr size_t kMostDrawn = 120;    // operations
constexpr double kSecondsToDraw = 5;  // at most; Graphviz may take minutes
constexpr int kWidestToFit = 1500;  // a wider picture, in points, is scrolled and not made smaller
constexpr size_t kMostListed = 4000;  // operations

// Steps of one name: the same work, done so many times.
struct Work {
  std::string name;
  const char* kind;
  std::string runs_as;
  int count = 0;
  double seconds = 0;
};

// "loop k0", or of what runs by tiles: their size, and how each member runs.
std::string how_it_runs(const GraphReport& report, const codegen::Listing::Step& step) {
  if (step.is_loop()) return "loop " + report.listing.kernels[size_t(step.kernel)].name;
  if (!step.is_tiled()) return "library kernel";
  std::string out;
  for (const codegen::Listing::Step& member : step.members) {
    out += (out.empty() ? "" : ", ") + how_it_runs(report, member);
  }
  return fmt::format("tiles of {} of {}, {} bytes: {}", step.height,
                     plural(size_t(step.rows), "row"), step.tile_bytes, out);
}

std::vector<Work> work_of(const GraphReport& report) {
  std::map<std::string, Work> found;
  for (size_t i = 0; i < report.listing.steps.size(); i++) {
    const codegen::Listing::Step& step = report.listing.steps[i];
    std::string runs_as = how_it_runs(report, step), key = runs_as + " " + step.name;
    Work& work =
        found.try_emplace(key, Work{step.name, kind_of(report, step), runs_as}).first->second;
    work.count++;
    if (!report.seconds.empty()) work.seconds += report.seconds[i];
  }
  std::vector<Work> result;
  for (auto& [key, work] : found) result.push_back(std::move(work));
  std::stable_sort(result.begin(), result.end(),
                   [](const Work& a, const Work& b) { return a.seconds > b.seconds; });
  return result;
}

std::string work_rows(const GraphReport& report, std::span<const Work> works) {
  double total = std::max(report.total_seconds(), 1e-12), most = 1e-12;
  for (const Work& work : works) most = std::max(most, work.seconds);
  std::string out =
      "<table><tr><th>step</th><th>runs as</th><th class=\"number\">times</th>"
      "<th class=\"number\">in sum</th><th>share</th></tr>";
  for (const Work& work : works) {
    double share = 100 * work.seconds / total;
    out += fmt::format(
        R"(<tr><td class="mono">{}</td><td class="short">{}</td><td class="number">{}</td>)"
        R"(<td class="number">{}</td><td style="width:22%"><span class="share {}" )"
        R"(style="width:{:.1f}%"></span> <small>{:.1f} %</small></td></tr>)",
        escaped(compact(work.name)), work.runs_as, work.count,
        report.seconds.empty() ? "" : seconds_text(work.seconds), work.kind,
        65 * work.seconds / most, share);
  }
  return out + "</table>";
}

// for i in 0..32 / for j in 0..512, and what is read and written in there.
std::string loop_text(const GraphReport& report, const codegen::Listing::Kernel& kernel,
                      const codegen::Listing::Step& step) {
  std::string out, indent;
  for (size_t i = 0; i < step.sizes.size(); i++) {
    out += fmt::format("{}for i{} in 0..{}\n", indent, i, step.sizes[i]);
    indent += "  ";
  }
  for (size_t i = 0; i < kernel.loop.operands.size() && i < step.operands.size(); i++) {
    const codegen::LoopOperand& operand = kernel.loop.operands[i];
    size_t elementwise = kernel.loop.operands.size() - kernel.loop.reductions.size();
    if (i >= elementwise) {
      out += fmt::format("{}{} {} %{} {}, by blocks of up to {} elements\n", indent,
                         codegen::name(kernel.loop.reductions[i - elementwise]),
                         name(operand.dtype), step.operands[i],
                         text(report.graph.values[step.operands[i]].sizes), kernels::kReduceBlock);
      continue;
    }
    out += fmt::format("{}{} {} %{} {} by strides [{}]\n", indent,
                       i < kernel.loop.inputs ? "read " : "write", name(operand.dtype),
                       step.operands[i], text(report.graph.values[step.operands[i]].sizes),
                       fmt::join(operand.strides, ", "));
    if (operand.period == 0) continue;
    out.insert(out.size() - 1, fmt::format(", {} elements again and again", operand.period));
  }
  return out;
}

std::string kernel_part(const GraphReport& report, size_t index) {
  const codegen::Listing::Kernel& kernel = report.listing.kernels[index];
  const codegen::Listing::Step* first = nullptr;
  int count = 0;
  double seconds = 0;
  auto use = [&](const codegen::Listing::Step& step, double time) {
    if (step.kernel != static_cast<int>(index)) return;
    if (!first) first = &step;
    count++;
    seconds += time;
  };
  for (size_t i = 0; i < report.listing.steps.size(); i++) {
    const codegen::Listing::Step& step = report.listing.steps[i];
    use(step, report.seconds.empty() ? 0 : report.seconds[i]);
    for (const codegen::Listing::Step& member : step.members) use(member, 0);  // not known apart
  }
  std::string title = fmt::format(
      "<code>{}</code> &nbsp; {} <span class=\"muted\">— {}, used {}×{}</span>", kernel.name,
      escaped(compact(first->name)), plural(first->operations.size(), "operation"), count,
      seconds > 0 ? ", " + seconds_text(seconds) : "");
  std::string where;
  for (uint32_t operation : first->operations) {
    const std::string& source = report.graph.sources[report.graph.operations[operation].source];
    if (!source.empty() && where.find(source) == where.npos) where += source + "\n";
  }
  std::string content = "<h4>Loops of its first use</h4><pre>" +
                        escaped(loop_text(report, kernel, *first)) +
                        "</pre><h4>What is computed for each element</h4><pre>" +
                        escaped(ir::to_text(kernel.loop.program)) + "</pre>";
  if (!where.empty()) content += "<h4>From these lines</h4><pre>" + escaped(where) + "</pre>";
  return folded(title, content);
}

std::string call_text(const ir::Operation& operation) {
  if (!operation.primitive) return "constant";
  std::string out = operation.primitive->name + "(";
  for (size_t i = 0; i < operation.inputs.size(); i++) {
    out += i ? ", " : "";
    ValueId input = operation.inputs[i];
    out += input == kNoValue ? "none" : fmt::format("%{}", input);
  }
  if (operation.params && !operation.primitive->params->empty) {
    out += "; ";
    operation.primitive->params->print(out, operation.params.get());
  }
  return out + ")";
}

std::string value_row(const ir::Graph& graph, ValueId value, const char* kind,
                      const std::string& what, const std::string& source) {
  std::string type = "<td></td><td></td><td></td>";
  if (value != kNoValue) {
    const ir::ValueInfo& info = graph.values[value];
    type = fmt::format("<td>{}</td><td>{}</td><td>{}</td>", name(info.dtype), text(info.sizes),
                       text(info.strides));
  }
  return fmt::format(R"(<tr class="{}"><td class="mono">{}</td><td class="mono">{}</td>{})"
                     R"(<td class="muted">{}</td></tr>)",
                     kind, value == kNoValue ? "none" : fmt::format("%{}", value), escaped(what),
                     type, escaped(source));
}

// The first operations, and what they read.
ir::Graph beginning_of(const ir::Graph& graph, size_t count) {
  ir::Graph part = graph;
  part.operations.resize(count);
  part.outputs.clear();
  part.output_roles.clear();
  part.inputs.clear();
  part.input_roles.clear();
  std::vector<bool> read(graph.values.size());
  for (const ir::Operation& operation : part.operations) {
    for (ValueId input : operation.inputs) {
      if (input != kNoValue) read[input] = true;
    }
  }
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    if (!read[graph.inputs[i]]) continue;
    part.inputs.push_back(graph.inputs[i]);
    part.input_roles.push_back(graph.input_roles[i]);
  }
  return part;
}

}  // namespace

std::string compact(const std::string& name) {
  std::istringstream words(name);
  std::string out, last, word;
  int count = 0;
  auto put = [&] {
    if (count > 0) out += (out.empty() ? "" : " ") + last;
    if (count > 1) out += fmt::format("×{}", count);
  };
  while (words >> word) {
    if (word != last || !std::isalpha(static_cast<unsigned char>(word[0]))) {  // sizes stay
      put();
      count = 0;
    }
    last = word;
    count++;
  }
  put();
  return out;
}

std::string steps_table(const GraphReport& report) {
  std::vector<Work> works = work_of(report);
  std::span<const Work> all(works);
  std::string out = work_rows(report, all.first(std::min(all.size(), kMostRows)));
  if (all.size() <= kMostRows) return out;
  return out + folded(fmt::format("The other {} steps", all.size() - kMostRows),
                      work_rows(report, all.subspan(kMostRows)));
}

std::string kernels_list(const GraphReport& report) {
  std::string out;
  size_t count = report.listing.kernels.size();
  for (size_t i = 0; i < std::min(count, kMostKernels); i++) out += kernel_part(report, i);
  if (count > kMostKernels) {
    out += fmt::format("<p class=\"muted\">{} more are left out.</p>", count - kMostKernels);
  }
  return out;
}

std::string graph_picture(const ir::Graph& graph) {
  bool whole = graph.operations.size() <= kMostDrawn;
  std::string drawn;
  try {
    drawn = ir::svg(whole ? graph : beginning_of(graph, kMostDrawn), kSecondsToDraw);
  } catch (const Error& error) {  // the table says everything
    return fmt::format("<p class=\"muted\">There is no picture: {}.</p>", escaped(error.what()));
  }
  std::string out =
      whole
          ? ""
          : fmt::format("<p class=\"muted\">The first {} of {} operations; the table has all.</p>",
                        kMostDrawn, graph.operations.size());
  size_t begin = drawn.find("<svg");
  size_t width = drawn.find("width=\"", begin);
  bool fits = width != drawn.npos && std::atoi(drawn.c_str() + width + 7) <= kWidestToFit;
  return out + fmt::format(R"(<div class="picture"><div{}>{}</div></div>)",
                           fits ? " class=\"fit\"" : "", drawn.substr(begin));
}

std::string graph_table(const ir::Graph& graph) {
  std::string out =
      "<table><tr><th>value</th><th>is</th><th>dtype</th><th>sizes</th><th>strides</th>"
      "<th>line</th></tr>";
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    out += value_row(graph, graph.inputs[i], "", "input: " + graph.input_roles[i].text(), "");
  }
  size_t count = std::min(graph.operations.size(), kMostListed);
  for (size_t i = 0; i < count; i++) {
    const ir::Operation& operation = graph.operations[i];
    for (int k = 0; k < operation.outputs(); k++) {
      out += value_row(graph, operation.output + static_cast<ValueId>(k),
                       operation.backward ? "backward" : "forward",
                       k ? "and" : call_text(operation), graph.sources[operation.source]);
    }
  }
  for (size_t i = 0; i < graph.outputs.size(); i++) {
    out += value_row(graph, graph.outputs[i], "", "return: " + graph.output_roles[i].text(), "");
  }
  out += "</table>";
  if (count == graph.operations.size()) return out;
  return out + fmt::format("<p class=\"muted\">{} more operations are left out.</p>",
                           graph.operations.size() - count);
}

}  // namespace fg::explain
