#include "ir/picture.h"

#include <algorithm>
#include <array>

#include "base/fail.h"

namespace fg::ir {

namespace {

constexpr const char* kForward = "#cfe2ff";
constexpr const char* kBackward = "#ffd8a8";
constexpr const char* kSaved = "#b2f2bb";
constexpr const char* kEnd = "#f1f3f5";

std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n')
      out += "\\n";
    else
      out += c;
  }
  return out;
}

std::string type_text(const ValueInfo& info) {
  return fmt::format("{}{}", name(info.dtype), text(info.sizes));
}

class Drawing {
 public:
  explicit Drawing(const Graph& graph) : graph_(graph), maker_(graph.values.size(), -1) {
    for (size_t i = 0; i < graph.operations.size(); i++) {
      const Operation& operation = graph.operations[i];
      for (int k = 0; k < operation.outputs(); k++) {
        maker_[operation.output + static_cast<ValueId>(k)] = static_cast<int64_t>(i);
      }
    }
  }

  std::string draw() {
    out_ =
        "digraph graph_ {\n  node [style=filled, fontname=\"sans-serif\", fontsize=11];\n"
        "  edge [fontname=\"sans-serif\", fontsize=9];\n";
    for (size_t i = 0; i < graph_.inputs.size(); i++) {
      end(fmt::format("v{}", graph_.inputs[i]), graph_.input_roles[i], graph_.inputs[i]);
    }
    for (size_t i = 0; i < graph_.operations.size(); i++) operation(i);
    for (size_t i = 0; i < graph_.outputs.size(); i++) {
      std::string node = fmt::format("result{}", i);
      end(node, graph_.output_roles[i], graph_.outputs[i]);
      if (graph_.outputs[i] != kNoValue) edge(graph_.outputs[i], node, false);
    }
    return out_ + "}\n";
  }

 private:
  void end(const std::string& node, const Role& role, ValueId value) {
    std::string label = role.text();
    if (value != kNoValue)
      label += fmt::format("\n%{}: {}", value, type_text(graph_.values[value]));
    bool saved = role.kind == Role::Kind::saved;
    out_ += fmt::format("  {} [shape=ellipse, fillcolor=\"{}\", label=\"{}\"];\n", node,
                        saved ? kSaved : kEnd, escaped(label));
  }
  void operation(size_t index) {
    const Operation& one = graph_.operations[index];
    std::string label = one.primitive ? one.primitive->name : "constant";
    if (one.params && !one.primitive->params->empty) {
      label += "\n";
      one.primitive->params->print(label, one.params.get());
    }
    out_ += fmt::format("  op{} [shape=box, fillcolor=\"{}\", label=\"{}\"", index,
                        one.backward ? kBackward : kForward, escaped(label));
    if (one.source) out_ += fmt::format(", tooltip=\"{}\"", escaped(graph_.sources[one.source]));
    out_ += "];\n";
    for (ValueId input : one.inputs) {
      if (input != kNoValue) edge(input, fmt::format("op{}", index), one.backward);
    }
  }
  // In a graph with both, what a backward operation reads of the forward is what would be saved.
  void edge(ValueId value, const std::string& to, bool to_backward) {
    int64_t maker = maker_[value];
    bool forward = maker >= 0 && !graph_.operations[static_cast<size_t>(maker)].backward;
    std::string from = maker < 0 ? fmt::format("v{}", value) : fmt::format("op{}", maker);
    out_ += fmt::format("  {} -> {} [label=\"%{} {}\"{}];\n", from, to, value,
                        escaped(type_text(graph_.values[value])),
                        forward && to_backward ? ", color=\"#2b8a3e\", penwidth=2" : "");
  }

  const Graph& graph_;
  std::vector<int64_t> maker_;
  std::string out_;
};

// ---- the table

constexpr size_t kColumns = 6;
using Row = std::array<std::string, kColumns>;

std::string call_text(const Operation& operation) {
  if (!operation.primitive) return "constant";
  std::string out = operation.primitive->name + "(";
  for (size_t i = 0; i < operation.inputs.size(); i++) {
    ValueId input = operation.inputs[i];
    out += i ? ", " : "";
    out += input == kNoValue ? "none" : fmt::format("%{}", input);
  }
  if (operation.params && !operation.primitive->params->empty) {
    out += "; ";
    operation.primitive->params->print(out, operation.params.get());
  }
  return out + (operation.backward ? ") backward" : ")");
}

Row row_of(const Graph& graph, ValueId value, std::string what, std::string source) {
  if (value == kNoValue) return {"none", "", "", "", std::move(what), std::move(source)};
  const ValueInfo& info = graph.values[value];
  return {fmt::format("%{}", value), fmt::format("{}{}", name(info.dtype), info.number ? "*" : ""),
          text(info.sizes),          text(info.strides),
          std::move(what),           std::move(source)};
}

std::string table(const std::vector<Row>& rows) {
  size_t width[kColumns] = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < kColumns; i++) width[i] = std::max(width[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line;
    for (size_t i = 0; i < kColumns; i++) line += fmt::format("{:{}}  ", row[i], width[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace

std::string dot(const Graph& graph) { return Drawing(graph).draw(); }

std::string listing(const Graph& graph) {
  std::vector<Row> rows{{"value", "dtype", "sizes", "strides", "is", "at"}};
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    rows.push_back(row_of(graph, graph.inputs[i], "input: " + graph.input_roles[i].text(), ""));
  }
  for (const Operation& operation : graph.operations) {
    for (int k = 0; k < operation.outputs(); k++) {
      ValueId value = operation.output + static_cast<ValueId>(k);
      rows.push_back(row_of(graph, value, k ? "  and" : call_text(operation),
                            graph.sources[operation.source]));
    }
  }
  for (size_t i = 0; i < graph.outputs.size(); i++) {
    rows.push_back(row_of(graph, graph.outputs[i], "return: " + graph.output_roles[i].text(), ""));
  }
  return table(rows);
}

}  // namespace fg::ir
