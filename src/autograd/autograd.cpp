#include "autograd/autograd.h"

#include "autograd/engine.h"
#include "autograd/meta.h"
#include "base/fail.h"
#include "base/log.h"
#include "ops/create/create.h"
#include "ops/rearrange/join.h"
#include "ops/view/views.h"

namespace fg::autograd {

static Edge root_edge(const GraphPoint& point, size_t index, const char* who) {
  if (const Ref<Node>& node = point.edge.node) {
    if (point.edge.output_nr >= node->num_outputs()) {
      fail("{}: element {} is output {} of {}, which has {}", who, index, point.edge.output_nr,
           node->name(), node->num_outputs());
    }
    return {node, point.edge.output_nr};
  }
  if (!point.tensor.defined()) fail("{}: output {} is undefined; give a tensor", who, index);
  // A view that was made in no_grad mode requires grad but has no history.
  Edge edge = is_tracked(point.tensor) ? gradient_edge(point.tensor) : Edge{};
  if (!edge.is_valid()) {
    fail(
        "{}: element {} of the outputs does not require grad and does not have a grad_fn; nothing "
        "can be differentiated from it",
        who, index);
  }
  return edge;
}

// The gradient to start from: the given one, checked, or one for a single element.
static Tensor root_grad(const Edge& edge, const Tensors& grads, size_t index, const char* who) {
  const InputMetadata& metadata = edge.node->input_metadata(edge.input_nr);
  bool given = index < grads.size() && grads[index].defined();
  if (!given) {
    if (!(product(metadata.sizes) == 1)) {
      fail(
          "{}: grad can be implicitly created only for scalar outputs, but output {} has sizes {}; "
          "pass its gradient",
          who, index, text(metadata.sizes));
    }
    return ones(metadata.sizes, metadata.dtype);
  }
  const Tensor& grad = grads[index];
  if (!(grad.sizes() == metadata.sizes)) {
    fail("{}: mismatch in shape: grad_output[{}] has sizes {} and output[{}] has sizes {}", who,
         index, text(grad.sizes()), index, text(metadata.sizes));
  }
  return grad.dtype() == metadata.dtype ? grad : grad.to(metadata.dtype);
}

static void find_roots(const GraphPoints& outputs, const Tensors& grad_outputs, const char* who,
                       std::vector<Edge>& roots, Tensors& grads) {
  if (outputs.empty()) fail("{}: no outputs were given; give at least one tensor", who);
  if (!grad_outputs.empty() && grad_outputs.size() != outputs.size()) {
    fail("{}: got {} outputs and {} gradients; give one gradient per output", who, outputs.size(),
         grad_outputs.size());
  }
  for (size_t i = 0; i < outputs.size(); i++) {
    roots.push_back(root_edge(outputs[i], i, who));
    grads.push_back(root_grad(roots.back(), grad_outputs, i, who));
  }
}

void backward(const GraphPoints& outputs, const Tensors& grad_outputs, OptBool retain_graph,
              bool create_graph, const std::optional<GraphPoints>& inputs) {
  std::vector<Edge> roots, targets;
  Tensors grads;
  find_roots(outputs, grad_outputs, "backward", roots, grads);
  if (inputs && inputs->empty()) {
    fail(
        "backward: `inputs` is empty; name at least one tensor, or leave it out to reach all "
        "leaves");
  }
  if (create_graph) {
    logging::warn_once<
        "backward with create_graph makes a reference cycle between a parameter and "
        "its gradient, which can leak memory; use grad(), or reset .grad afterwards">();
  }
  if (inputs) {
    for (size_t i = 0; i < inputs->size(); i++) {
      const GraphPoint& point = (*inputs)[i];
      if (point.tensor.defined() && point.tensor.requires_grad()) point.tensor.retain_grad();
      targets.push_back(root_edge(point, i, "backward (inputs)"));
      targets.back().node->check_watched(targets.back().input_nr);
    }
  }
  EngineOptions options{retain_graph.value_or(create_graph), create_graph, true};
  run_backward(roots, grads, targets, options);
}

static Tensors grad_of_batch(const GraphPoints& outputs, const GraphPoints& inputs,
                             const Tensors& grad_outputs, const GradOptions& options) {
  if (grad_outputs.empty()) fail("grad: is_grads_batched needs grad_outputs; give a batch of them");
  for (const GraphPoint& output : outputs) {
    if (output.edge.node) fail("grad: is_grads_batched does not take gradient edges as outputs");
  }
  std::vector<Tensors> parts(inputs.size());
  int64_t batch = grad_outputs[0].size(0);
  GradOptions each = options;
  each.is_grads_batched = false;
  for (int64_t b = 0; b < batch; b++) {
    Tensors one;
    for (const Tensor& grads : grad_outputs) one.push_back(select(grads, 0, b));
    each.retain_graph = b + 1 < batch ? OptBool(true) : options.retain_graph;
    Tensors got = grad(outputs, inputs, one, each);
    for (size_t i = 0; i < got.size(); i++) parts[i].push_back(got[i]);
  }
  Tensors result;
  for (Tensors& part : parts) {
    bool unused = part.empty() || !part[0].defined();
    result.push_back(unused ? Tensor() : stack(part, 0));
  }
  return result;
}

static Tensor zeros_for(const GraphPoint& input, size_t index, bool create_graph) {
  if (!input.tensor.defined()) {
    fail(
        "grad: materialize_grads makes zeros like a tensor, but input {}, which got no gradient, "
        "is "
        "a gradient edge; give the tensor",
        index);
  }
  Tensor zeros = zeros_like(input.tensor);
  return create_graph ? zeros.requires_grad_() : zeros;
}

Tensors grad(const GraphPoints& outputs, const GraphPoints& inputs, const Tensors& grad_outputs,
             const GradOptions& options) {
  if (options.is_grads_batched) return grad_of_batch(outputs, inputs, grad_outputs, options);
  std::vector<Edge> roots, targets;
  Tensors grads;
  find_roots(outputs, grad_outputs, "grad", roots, grads);
  if (inputs.empty()) fail("grad: no inputs were given; name the tensors to differentiate by");
  std::vector<size_t> position;
  for (size_t i = 0; i < inputs.size(); i++) {
    bool edge = static_cast<bool>(inputs[i].edge.node);
    if (!edge && !is_tracked(inputs[i].tensor)) {
      fail(
          "grad: one of the differentiated tensors (index {}) does not require grad; call "
          "requires_grad_() before using it",
          i);
    }
    targets.push_back(root_edge(inputs[i], i, "grad (inputs)"));
    targets.back().node->check_watched(targets.back().input_nr);
  }
  bool create = options.create_graph;
  EngineOptions engine{options.retain_graph.value_or(create), create, false};
  Tensors result = run_backward(roots, grads, targets, engine);
  for (size_t i = 0; i < result.size(); i++) {
    if (result[i].defined()) continue;
    if (options.materialize_grads)
      result[i] = zeros_for(inputs[i], i, create);
    else if (!options.allow_unused) {
      fail(
          "grad: one of the differentiated tensors (index {}) appears to not have been used in the "
          "graph; pass allow_unused if this is what you want",
          i);
    }
  }
  return result;
}

void increment_version(const Tensors& tensors) {
  for (const Tensor& tensor : tensors) {
    if (!tensor.defined()) fail("increment_version: got an undefined tensor");
    if (!tensor.is_inference()) tensor.impl()->bump_version();
  }
}

}  // namespace fg::autograd

namespace fg {

void Tensor::backward(const Tensor& gradient, OptBool retain_graph, bool create_graph) const {
  Tensors grads;
  if (gradient.defined()) grads.push_back(gradient);
  autograd::backward({*this}, grads, retain_graph, create_graph);
}

void Tensor::backward(const Tensor& gradient, OptBool retain_graph, bool create_graph,
                      const Tensors& inputs) const {
  Tensors grads;
  if (gradient.defined()) grads.push_back(gradient);
  autograd::backward({*this}, grads, retain_graph, create_graph,
                     autograd::GraphPoints(inputs.begin(), inputs.end()));
}

}  // namespace fg
