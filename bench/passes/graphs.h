// Graphs of a given number of operations: a chain, a wide one, a random one. Each is a forward
// followed by a backward that reads it.
#pragma once

#include <random>

#include "passes/memory.h"
#include "passes/plan.h"

namespace fg::bench {

// Operations are cheap ones with a copy, a view and a constant here and there.
class Maker {
 public:
  explicit Maker(size_t operations) : half_(operations / 2) {
    ir::ValueInfo info{{16}, {1}, DType::f32};
    graph_.operations.reserve(operations);
    graph_.values.reserve(operations + 2);
    graph_.add_input(info, {ir::Role::Kind::argument, 0});
    graph_.add_input(info, {ir::Role::Kind::tangent, 0});
  }
  // `choose(i)` is the value that operation i reads beside the one before it.
  template <class Choose>
  ir::Graph make(Choose choose) {
    ir::ValueId last = 0;
    for (size_t i = 0; i < half_; i++) last = add(i, {last, choose(i)}, false);
    graph_.add_output(last, {ir::Role::Kind::output, 0});
    ir::ValueId grad = 1;
    for (size_t i = half_; i-- > 0;) {
      grad = call("mul", {grad, i == 0 ? 0 : static_cast<ir::ValueId>(i + 1)}, nullptr, true);
    }
    graph_.add_output(grad, {ir::Role::Kind::gradient, 0});
    return std::move(graph_);
  }

 private:
  ir::ValueId add(size_t i, std::vector<ir::ValueId> inputs, bool backward) {
    static const char* const kUnary[] = {"sin", "neg", "exp", "tanh"};
    if (i % 7 == 3) return copy(inputs[0]);
    if (i % 5 == 2) return call(kUnary[i % 4], {inputs[0]}, nullptr, backward);
    return call(i % 2 ? "mul" : "add", std::move(inputs), nullptr, backward);
  }
  ir::ValueId copy(ir::ValueId of) {
    static const ir::PrimitiveInfo& clone = *ir::find_primitive("clone");
    static const ir::ParamsRef params = [] {
      ir::TextReader text("contiguous=false, strides=[]");
      return clone.params->parse(text);
    }();
    return call("clone", {of}, params, false);
  }
  ir::ValueId call(const char* name, std::vector<ir::ValueId> inputs, ir::ParamsRef params,
                   bool backward) {
    ir::Operation operation;
    operation.primitive = &passes::* ir::find_primitive(name);
    operation.inputs = std::move(inputs);
    operation.params = std::move(params);
    operation.backward = backward;
    operation.output = graph_.add_value({{16}, {1}, DType::f32});
    graph_.operations.push_back(std::move(operation));
    return graph_.operations.back().output;
  }

  size_t half_;
  ir::Graph graph_;
};

// Value i + 1 is what operation i - 1 made; value 0 is the input.
inline ir::Graph make_graph(const std::string& shape, size_t operations) {
  std::mt19937 random(7);
  auto earlier = [](size_t i) { return i == 0 ? ir::ValueId{0} : static_cast<ir::ValueId>(i + 1); };
  if (shape == "chain") return Maker(operations).make(earlier);
  if (shape == "wide") return Maker(operations).make([](size_t) { return ir::ValueId{0}; });
  return Maker(operations).make([&](size_t i) { return earlier(random() % (i + 1)); });
}

}  // namespace fg::bench
