// The gradient API: backward() accumulates into leaves, grad() returns gradients.
#pragma once

#include "autograd/introspection.h"
#include "autograd/saved_value.h"

namespace fg::autograd {

// A place in the graph: a tensor, or the output of a node.
struct GraphPoint {
  Tensor tensor;
  GradientEdge edge;

  GraphPoint(const Tensor& t) : tensor(t) {}      // NOLINT: either may stand here
  GraphPoint(const GradientEdge& e) : edge(e) {}  // NOLINT
};
using GraphPoints = std::vector<GraphPoint>;

// Sums the gradients of `outputs` into the leaves (or into `inputs`, which may be non-leaves).
// `grad_outputs` may be empty, or hold undefined tensors, where an output has one element.
void backward(const GraphPoints& outputs, const Tensors& grad_outputs = {},
              OptBool retain_graph = {}, bool create_graph = false,
              const std::optional<GraphPoints>& inputs = {});

struct GradOptions {
  OptBool retain_graph{};  // default: create_graph
  bool create_graph = false;
  bool allow_unused = false;       // an input that does not matter gets an undefined gradient ...
  bool materialize_grads = false;  // ... or zeros
  bool is_grads_batched = false;   // grad_outputs have a leading batch dimension
};
Tensors grad(const GraphPoints& outputs, const GraphPoints& inputs,
             const Tensors& grad_outputs = {}, const GradOptions& options = {});

// Marks tensors as modified in place without modifying them; inference tensors are skipped.
void increment_version(const Tensors& tensors);

}  // namespace fg::autograd
