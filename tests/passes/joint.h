// A forward and a backward in one graph, for the tests of partitions.
#pragma once

#include "passes/plan.h"
#include "tests/passes/pass_text.h"

namespace fg::passes {

// Inputs and results are known by their roles; operations from the first that is marked `backward`
// on are the backward.
struct Joint {
  explicit Joint(ir::Graph given) : graph(std::move(given)), joint{graph, 0, {}, {}, {}} {
    for (size_t i = 0; i < graph.inputs.size(); i++) {
      (is_tangent(i) ? tangents : joint.inputs).push_back(graph.inputs[i]);
    }
    for (size_t i = 0; i < graph.outputs.size(); i++) {
      bool gradient = graph.output_roles[i].kind == ir::Role::Kind::gradient;
      (gradient ? joint.gradients : joint.results).push_back(graph.outputs[i]);
    }
    while (joint.forward_end < graph.operations.size() &&
           !graph.operations[joint.forward_end].backward) {
      joint.forward_end++;
    }
  }
  Joint(const Joint&) = delete;  // joint points into it
  Joint& operator=(const Joint&) = delete;

  bool is_tangent(size_t input) const {
    return graph.input_roles[input].kind == ir::Role::Kind::tangent;
  }
  // The gradients, by a forward that keeps these values and a backward that has nothing else.
  std::vector<std::string> gradients(const std::vector<Saved>& saved) const {
    using Kind = ir::Role::Kind;
    ir::Ends inputs, kept, outputs;
    Tensors first, last;
    Tensors all = some_inputs(graph);
    for (size_t i = 0; i < all.size(); i++) (is_tangent(i) ? last : first).push_back(all[i]);
    for (ir::ValueId value : joint.inputs) inputs.add(value, {Kind::argument});
    for (const Saved& one : saved) kept.add(one.value, {Kind::saved});
    Tensors given = ir::Runner(ir::cut(graph, inputs, kept)).run(first);
    given.insert(given.end(), last.begin(), last.end());
    for (ir::ValueId value : tangents) kept.add(value, {Kind::tangent});
    for (ir::ValueId value : joint.gradients) outputs.add(value, {Kind::gradient});
    return run_bits(ir::cut(graph, kept, outputs), given);
  }

  ir::Graph graph;
  JointGraph joint;
  std::vector<ir::ValueId> tangents;
};

inline Joint parse_joint(const char* text) { return Joint(ir::parse_graph(text)); }

}  // namespace fg::passes
