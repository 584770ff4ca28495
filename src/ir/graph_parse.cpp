// Reads the text form of a graph.
#include <algorithm>

#include "base/fail.h"
#include "ir/graph.h"

namespace fg::ir {

namespace {

class GraphParser {
 public:
  // Values may be numbered with gaps, for what was removed; but not so that a short text asks for
  // much memory.
  explicit GraphParser(std::string_view text)
      : in_(text), most_values_(65536 + 64 * static_cast<int64_t>(text.size())) {}

  Graph parse() {
    if (in_.take("sizes")) {
      graph_.symbols = std::make_shared<Symbols>();
      in_.symbols = graph_.symbols.get();
      parse_symbols(in_);
    }
    in_.expect("graph");
    in_.expect("(");
    while (!in_.take(")")) {
      if (!graph_.inputs.empty()) in_.expect(",");
      graph_.inputs.push_back(definition());
      graph_.input_roles.push_back(role());
    }
    in_.expect("{");
    while (!in_.take("return")) operation();
    results();
    in_.expect("}");
    if (!in_.at_end()) in_.fail_here("the end of the text");
    return std::move(graph_);
  }

 private:
  ValueId id() {
    in_.expect("%");
    int64_t number;
    parse_field(in_, number);
    if (number < 0 || number > most_values_) in_.fail_here("a number of a value");
    return static_cast<ValueId>(number);
  }
  ValueId value_or_none() { return in_.take("none") ? kNoValue : id(); }
  // %3: float32[2, 3]
  ValueId definition() {
    ValueId value = id();
    in_.expect(":");
    if (graph_.values.size() <= value) graph_.values.resize(value + 1);
    ValueInfo& info = graph_.values[value];
    parse_field(in_, info.dtype);
    parse_field(in_, info.sizes);
    if (in_.take("strides"))
      parse_field(in_, info.strides);
    else
      info.strides = contiguous_strides(info.sizes);
    check_layout(info);
    info.number = in_.take("number");
    return value;
  }
  void check_layout(const ValueInfo& info) const {
    auto negative = [](Dim each) { return known_less(each, 0) == Known::yes; };
    if (info.strides.size() != info.sizes.size()) in_.fail_here("one stride per size before");
    if (std::ranges::any_of(info.sizes, negative) || std::ranges::any_of(info.strides, negative)) {
      in_.fail_here("sizes and strides of 0 or more before");
    }
  }
  Role role() {
    std::string_view word = in_.name();
    for (int kind = 0; kind <= static_cast<int>(Role::Kind::token); kind++) {
      Role result{static_cast<Role::Kind>(kind)};
      if (word != name(result.kind)) continue;
      parse_field(in_, result.index);
      if (in_.peek() == '"') result.name = in_.quoted();
      return result;
    }
    in_.fail_here("a role such as 'argument 0'");
  }

  void operands(Operation& out) {
    int operand = 0;
    for (; in_.peek() != ';' && in_.peek() != ')'; operand++) {
      if (operand > 0) in_.expect(",");
      if (!in_.take("[")) {
        out.inputs.push_back(value_or_none());
        continue;
      }
      if (out.list_input >= 0) in_.fail_here("one list of operands at most");
      out.list_input = operand;
      while (!in_.take("]")) {
        if (out.list_count > 0) in_.expect(",");
        out.inputs.push_back(value_or_none());
        out.list_count++;
      }
    }
  }

  void call(Operation& out) {
    std::string_view name = in_.name();
    if (name == "constant") {
      out.constant = constant(graph_.values[out.output]);
      return;
    }
    out.primitive = find_primitive(name);
    if (!out.primitive) in_.fail_here(fmt::format("a primitive in the place of '{}'", name));
    in_.expect("(");
    operands(out);
    if (in_.take(";")) out.params = out.primitive->params->parse(in_);
    out.numbers = count_symbols(out);
    in_.expect(")");
  }

  Tensor constant(const ValueInfo& info) {
    in_.expect("(");
    in_.expect("[");
    bool real = is_floating(info.dtype);
    std::vector<double> reals;
    std::vector<int64_t> integers;
    while (!in_.take("]")) {
      if (!reals.empty() || !integers.empty()) in_.expect(",");
      if (real)
        parse_field(in_, reals.emplace_back());
      else
        parse_field(in_, integers.emplace_back());
    }
    in_.expect(")");
    size_t count = real ? reals.size() : integers.size();
    if (known_equal(product(info.sizes), count) != Known::yes)
      in_.fail_here("as many elements as the sizes say");
    Tensor flat = real ? tensor(reals, info.dtype) : tensor(integers, info.dtype);
    Tensor result = alias(flat, info.sizes, contiguous_strides(info.sizes), 0);
    result.impl()->wrapped_number = info.number;
    return result;
  }

  void operation() {
    Operation out;
    out.output = definition();
    int defined = 1;
    while (in_.take(",")) {
      if (definition() != out.output + static_cast<ValueId>(defined++)) {
        in_.fail_here("values numbered one after another");
      }
    }
    in_.expect("=");
    call(out);
    if (defined != out.outputs()) in_.fail_here(fmt::format("{} results", out.outputs()));
    if (in_.take("skip")) {
      int64_t skip;
      parse_field(in_, skip);
      out.skip = static_cast<uint64_t>(skip);
    }
    out.backward = in_.take("backward");
    out.again = in_.take("again");
    if (in_.take("at")) out.source = source(in_.quoted());
    graph_.operations.push_back(std::move(out));
  }
  uint32_t source(std::string text) {
    auto found = std::find(graph_.sources.begin(), graph_.sources.end(), text);
    auto place = found - graph_.sources.begin();
    if (found == graph_.sources.end()) graph_.sources.push_back(std::move(text));
    return static_cast<uint32_t>(place);
  }

  void results() {
    while (in_.peek() != '}') {
      if (!graph_.outputs.empty()) in_.expect(",");
      graph_.outputs.push_back(value_or_none());
      in_.expect(":");
      graph_.output_roles.push_back(role());
    }
  }

  TextReader in_;
  int64_t most_values_;
  Graph graph_;
};

}  // namespace

Graph parse_graph(std::string_view text) {
  Graph graph = GraphParser(text).parse();
  verify_text(graph);
  return graph;
}

}  // namespace fg::ir
