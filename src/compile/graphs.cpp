#include "compile/graphs.h"

namespace fg::capture {

ir::Graph forward(const TensorFunction& function, const Tensors& arguments) {
  return graph_of(function_of(trace(function, arguments)));
}

ir::Graph joint(const TensorFunction& function, const Tensors& arguments) {
  Function whole = function_of(trace(function, arguments));
  Tangents tangents(whole.differentiable_count(), Tangent::plain);
  Function gradient = gradient_of(whole, tangents, false);
  gradient.outputs.insert(gradient.outputs.begin(), whole.outputs.begin(), whole.outputs.end());
  return graph_of(gradient);
}

}  // namespace fg::capture
