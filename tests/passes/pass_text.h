// How the tests of passes read: a graph as text, the pass, the text that comes out.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "ir/run.h"
#include "passes/passes.h"

namespace fg::passes {

// The canonical form of a text.
inline std::string canonical(const std::string& text) { return ir::parse_graph(text).text(); }

inline std::string after(void (*pass)(ir::Graph&), const char* text) {
  ir::Graph graph = ir::parse_graph(text);
  pass(graph);
  ir::verify(graph, "the pass");
  dead_code(graph);
  ir::verify(graph, "dead_code");
  return graph.text();
}

// Made-up numbers for the inputs of a graph.
inline Tensors some_inputs(const ir::Graph& graph) {
  Tensors result;
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    const ir::ValueInfo& info = graph.values[graph.inputs[i]];
    Tensor made = empty_strided_tensor(info.sizes, info.strides, info.dtype);
    std::vector<double> numbers;
    for (int64_t k = 0; k < made.numel(); k++)
      numbers.push_back(std::sin(static_cast<double>(1 + 3 * k + 17 * static_cast<int64_t>(i))));
    made.copy_(tensor(numbers, info.dtype).reshape(info.sizes));
    made.impl()->wrapped_number = info.number;
    result.push_back(made);
  }
  return result;
}

// Elements as text that tells all bits apart, but not one NaN from another.
inline std::string bits(const Tensor& value) {
  if (!value.defined()) return "none";
  std::string out = fg::text(value.sizes()) + fg::text(value.strides());
  for (double element : value.to_vector<double>()) {
    out += ' ';
    ir::print_field(out, element);
  }
  return out;
}
inline std::vector<std::string> run_bits(const ir::Graph& graph, const Tensors& inputs) {
  std::vector<std::string> result;
  for (const Tensor& value : ir::Runner(graph).run(inputs)) result.push_back(bits(value));
  return result;
}

}  // namespace fg::passes
