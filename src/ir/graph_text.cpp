// The text form of a graph; graph_parse.cpp reads it.
#include "base/fail.h"
#include "ir/graph.h"

namespace fg::ir {

namespace {

void print_type(std::string& out, const ValueInfo& info) {
  out += name(info.dtype);
  print_field(out, info.sizes);
  if (!same(info.strides, contiguous_strides(info.sizes))) {
    out += " strides ";
    print_field(out, info.strides);
  }
  if (info.number) out += " number";
}

void print_value(std::string& out, ValueId value) {
  if (value == kNoValue) {
    out += "none";
    return;
  }
  out += '%';
  print_field(out, static_cast<int64_t>(value));
}

void print_elements(std::string& out, const Tensor& constant) {
  Tensor flat = constant;
  out += '[';
  std::vector<double> reals;
  std::vector<int64_t> integers;
  if (constant.is_floating_point())
    reals = constant.to_vector<double>();
  else
    integers = constant.to_vector<int64_t>();
  for (size_t i = 0; i < std::max(reals.size(), integers.size()); i++) {
    if (i > 0) out += ", ";
    if (integers.empty())
      print_field(out, reals[i]);
    else
      print_field(out, integers[i]);
  }
  out += ']';
}

void print_operands(std::string& out, const Operation& operation) {
  int operand = 0;
  for (size_t i = 0; i <= operation.inputs.size(); operand++) {
    bool list = operand == operation.list_input;
    if (!list && i == operation.inputs.size()) break;
    if (operand > 0) out += ", ";
    if (!list) {
      print_value(out, operation.inputs[i++]);
      continue;
    }
    out += '[';
    for (int e = 0; e < operation.list_count; e++) {
      if (e > 0) out += ", ";
      print_value(out, operation.inputs[i++]);
    }
    out += ']';
  }
}

void print_operation(std::string& out, const Graph& graph, const Operation& operation) {
  out += "  ";
  for (int i = 0; i < operation.outputs(); i++) {
    auto value = operation.output + static_cast<ValueId>(i);
    if (i > 0) out += ", ";
    print_value(out, value);
    out += ": ";
    print_type(out, graph.values[value]);
  }
  out += " = ";
  if (!operation.primitive) {
    out += "constant(";
    print_elements(out, operation.constant);
  } else {
    out += operation.primitive->name;
    out += '(';
    print_operands(out, operation);
    if (operation.params && !operation.primitive->params->empty) {
      out += "; ";
      operation.primitive->params->print(out, operation.params.get());
    }
  }
  out += ')';
  if (operation.is_random()) out += fmt::format(" skip {}", operation.skip);
  if (operation.backward) out += " backward";
  if (operation.again) out += " again";
  if (operation.source) out += fmt::format(" at \"{}\"", graph.sources[operation.source]);
  out += '\n';
}

}  // namespace

std::string Graph::text() const {
  constexpr size_t kBytesPerLine = 64;  // about
  std::string out;
  out.reserve(kBytesPerLine * (inputs.size() + operations.size() + outputs.size()));
  if (symbols && !symbols->all().empty()) out += "sizes " + symbols->text() + "\n";
  out += "graph(";
  for (size_t i = 0; i < inputs.size(); i++) {
    if (i > 0) out += ",\n      ";
    print_value(out, inputs[i]);
    out += ": ";
    print_type(out, values[inputs[i]]);
    out += ' ';
    out += input_roles[i].text();
  }
  out += ") {\n";
  for (const Operation& operation : operations) print_operation(out, *this, operation);
  out += "  return ";
  for (size_t i = 0; i < outputs.size(); i++) {
    if (i > 0) out += ",\n         ";
    print_value(out, outputs[i]);
    out += ": " + output_roles[i].text();
  }
  return out + "\n}\n";
}

}  // namespace fg::ir
