#include "capture/function.h"

#include <algorithm>

#include "autograd/autograd.h"
#include "autograd/custom.h"
#include "autograd/meta.h"
#include "autograd/op_node.h"
#include "autograd/saved_value.h"
#include "autograd/view.h"
#include "base/trace.h"
#include "ir/run.h"
#include "tensor/geometry.h"

namespace fg::capture {

using ir::Role;

size_t Function::differentiable_count() const {
  size_t count = 0;
  for (const Out& out : outputs) count += out.differentiable;
  return count;
}

size_t Function::gradient_count() const {
  return static_cast<size_t>(
      std::count_if(inputs.begin(), inputs.end(), [](const In& in) { return in.needs_grad; }));
}

Dims tangent_strides(const Tensor& output) {
  bool shared = overlaps_itself(output.sizes(), output.strides());
  return shared ? contiguous_strides(output.sizes()) : output.strides();
}

Function function_of(std::shared_ptr<Trace> trace) {
  Function result;
  result.mutex = std::make_shared<std::mutex>();
  for (const Lifted& input : trace->inputs()) {
    result.inputs.push_back({input.leaf, input.value, input.needs_grad, input.storage.get()});
    result.input_roles.push_back(input.role);
  }
  for (const Mutation& mutation : trace->mutations) {
    Role role{Role::Kind::mutation, static_cast<int64_t>(mutation.input)};
    result.outputs.push_back({trace->inputs()[mutation.input].inside, mutation.value,
                              mutation.differentiable, role, mutation.inner});
  }
  for (size_t i = 0; i < trace->results.size(); i++) {
    const Result& one = trace->results[i];
    Role role{Role::Kind::output, static_cast<int64_t>(i)};
    uint32_t version = one.fresh ? one.base.impl()->storage->version.load() : 0;
    result.outputs.push_back({one.base, one.value, one.differentiable, role, one.inner, version});
  }
  result.end = result.checked = trace->tracer.graph.operations.size();
  result.trace = std::move(trace);
  return result;
}

// All nodes that lead away from an output.
static std::unordered_set<const autograd::Node*> nodes_behind(const Function::Out& out) {
  std::vector<const autograd::Node*> stack{autograd::gradient_edge(out.inside).node.get()};
  std::unordered_set<const autograd::Node*> seen{stack[0]};
  while (!stack.empty()) {
    const autograd::Node* node = stack.back();
    stack.pop_back();
    for (const autograd::Edge& edge : node->next_edges()) {
      if (edge.is_valid() && seen.insert(edge.node.get()).second) stack.push_back(edge.node.get());
    }
  }
  return seen;
}

// By nodes, as the engine decides what has to run.
Reach reach_of(const Function& function) {
  Reach reach;
  for (const Function::Out& out : function.outputs) {
    if (!out.differentiable) continue;
    auto behind = nodes_behind(out);
    std::vector<bool>& reached = reach.emplace_back();
    for (const Function::In& in : function.inputs) {
      if (!in.needs_grad) continue;
      reached.push_back(behind.count(autograd::gradient_edge(in.leaf).node.get()) > 0);
    }
  }
  return reach;
}

static bool is_code_of_user(const autograd::Node& node) {
  if (node.hooks() && node.hooks()->any()) return true;
  if (dynamic_cast<const autograd::CustomNode*>(&node)) return true;
  for (size_t i = 0; i < node.saved_count(); i++) {
    if (const_cast<autograd::Node&>(node).saved_value(i)->packed()) return true;
  }
  const auto* copy = dynamic_cast<const autograd::CopySlices*>(&node);
  return copy && copy->writer() && is_code_of_user(*copy->writer());
}

bool runs_code_of_user(const Function& function) {
  for (const Function::Out& out : function.outputs) {
    if (!out.differentiable) continue;
    for (const autograd::Node* node : nodes_behind(out)) {
      if (is_code_of_user(*node)) return true;
    }
  }
  return false;
}

std::vector<uint32_t> outputs_behind(const Function& function, const Function& gradient) {
  std::unordered_set<const autograd::Node*> behind;
  for (const Function::Out& out : gradient.outputs) {
    if (out.differentiable) behind.merge(nodes_behind(out));
  }
  std::vector<uint32_t> found;
  uint32_t number = 0;
  for (const Function::Out& out : function.outputs) {
    if (!out.differentiable) continue;
    if (behind.count(autograd::gradient_edge(out.inside).node.get()) > 0) found.push_back(number);
    number++;
  }
  return found;
}

// Finds the inputs and outputs in the read memory: the caller can write to them.
static void find_reads(const Function& function, const std::unordered_set<const Storage*>& read,
                       Function& gradient) {
  for (size_t i = 0; i < function.inputs.size(); i++) {
    if (read.count(function.inputs[i].memory) > 0) gradient.reads_inputs.push_back(i);
  }
  for (size_t i = 0; i < function.outputs.size(); i++) {
    const Tensor& out = function.outputs[i].inside;
    bool is_input = function.outputs[i].role.kind == Role::Kind::mutation;
    bool is_read = !is_input && out.defined() && read.count(out.impl()->storage.get()) > 0;
    if (is_read) gradient.reads_outputs.push_back(i);
  }
}

// Nodes that lead to an input that needs a gradient.
static std::unordered_set<const autograd::Node*> nodes_before(
    const Function& function, const std::unordered_set<const autograd::Node*>& nodes) {
  std::unordered_map<const autograd::Node*, std::vector<const autograd::Node*>> before;
  for (const autograd::Node* node : nodes) {
    for (const autograd::Edge& edge : node->next_edges()) before[edge.node.get()].push_back(node);
  }
  std::vector<const autograd::Node*> stack;
  for (const Function::In& in : function.inputs) {
    if (in.needs_grad) stack.push_back(autograd::gradient_edge(in.leaf).node.get());
  }
  std::unordered_set<const autograd::Node*> seen(stack.begin(), stack.end());
  while (!stack.empty()) {
    const autograd::Node* node = stack.back();
    stack.pop_back();
    for (const autograd::Node* one : before[node]) {
      if (seen.insert(one).second) stack.push_back(one);
    }
  }
  return seen;
}

// Whether it is the gradient of another one: then it has tangents among its inputs.
static bool is_gradient(const Function& function) {
  return function.inputs.size() != function.trace->tracer.lifted().size();
}

void find_saved(const Function& function, const Function::Out& out, Function& gradient) {
  std::unordered_set<const Storage*> saved;
  auto behind = nodes_behind(out), wanted = nodes_before(function, behind);
  for (const autograd::Node* node : behind) {
    if (wanted.count(node) > 0) continue;
    if (!is_gradient(function) && is_code_of_user(*node)) {
      refuse(
          "a hook or a custom backward belongs to something that leads to no input of the function "
          "(a view from no_grad mode): it would run in backward() alone; detach() that");
    }
    auto is_valid = [](const autograd::Edge& edge) { return edge.is_valid(); };
    const auto& edges = node->next_edges();
    bool leads_on = std::any_of(edges.begin(), edges.end(), is_valid);
    // Rules for what leads nowhere do not run; custom functions do.
    if (!leads_on && dynamic_cast<const autograd::OpNode*>(node)) continue;
    for (size_t i = 0; i < node->saved_count(); i++) {
      autograd::SavedValue* value = const_cast<autograd::Node*>(node)->saved_value(i);
      if (value && value->held().defined()) saved.insert(value->held().impl()->storage.get());
    }
  }
  find_reads(function, saved, gradient);
}

// Once each. They were collected in the order of addresses, which is another one each time.
static void in_order_of_graph(std::vector<ir::ValueId>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// Adds the values that eager code keeps for derivatives of any order.
static void add_saved_values(const Function& function, std::vector<ir::ValueId>& values) {
  std::unordered_set<const autograd::Node*> nodes;
  for (const Function::Out& out : function.outputs) {
    if (out.differentiable) nodes.merge(nodes_behind(out));
  }
  auto add = [&](const autograd::Node* given) {
    auto* node = const_cast<autograd::Node*>(given);
    for (size_t i = 0; i < node->saved_count(); i++) {
      autograd::SavedValue* saved = node->saved_value(i);
      if (!saved || !saved->held().defined()) continue;
      if (auto found = function.trace->tracer.find(saved->held())) values.push_back(found->value);
    }
  };
  for (const autograd::Node* node : nodes) {
    add(node);
    const auto* copy = dynamic_cast<const autograd::CopySlices*>(node);
    if (copy && copy->writer()) add(&*copy->writer());
  }
}

namespace {

// The engine, run on traced tensors. One gradient per input that needs one.
Tensors trace_gradients(const Function& function, const Tensors& tangents, bool again,
                        const std::vector<bool>& wanted) {
  autograd::GraphPoints from, to;
  Tensors grad_outputs;
  size_t next = 0;
  for (const Function::Out& out : function.outputs) {
    if (!out.differentiable) continue;
    const Tensor& tangent = tangents[next++];
    if (!tangent.defined()) continue;
    from.emplace_back(out.inside);
    grad_outputs.push_back(tangent);
  }
  std::vector<size_t> places;
  size_t count = 0;
  for (const Function::In& in : function.inputs) {
    if (!in.needs_grad) continue;
    size_t place = count++;
    if (!wanted.empty() && !wanted[place]) continue;
    places.push_back(place);
    to.emplace_back(in.leaf);
  }
  Tensors all(count);
  if (from.empty() || to.empty()) return all;
  Tensors found = autograd::grad(
      from, to, grad_outputs, {.retain_graph = true, .create_graph = again, .allow_unused = true});
  for (size_t i = 0; i < found.size(); i++) all[places[i]] = std::move(found[i]);
  return all;
}

// While alive, the tracer knows the inputs of a call.
struct Met {
  Tracer& tracer;
  Met(Tracer& tracer, const Tensors& inputs) : tracer(tracer) { tracer.meet(inputs); }
  ~Met() { tracer.forget_outside(); }
};

// Inputs for the gradients of outputs.
Tensors add_tangents(const Function& function, const Tangents& kinds, Function& gradient) {
  Tracer& tracer = function.trace->tracer;
  Tensors tangents(kinds.size());
  size_t next = 0;
  for (const Function::Out& out : function.outputs) {
    if (!out.differentiable) continue;
    size_t i = next++;
    if (kinds[i] == Tangent::none) continue;
    bool needs_grad = kinds[i] == Tangent::differentiable;
    Tensor like =
        abstract_tensor(out.inside.sizes(), tangent_strides(out.inside), 0, out.inside.dtype());
    if (needs_grad) like.requires_grad_();
    Role role{Role::Kind::tangent, static_cast<int64_t>(i)};
    tangents[i] = tracer.add_input(like, role);
    gradient.inputs.push_back(
        {tangents[i], tracer.graph.inputs.back(), needs_grad, tangents[i].impl()->storage.get()});
    gradient.input_roles.push_back(role);
  }
  return tangents;
}

// Makes inputs and outputs of memory from before that code of the user read or wrote.
void add_touched(const Function& function, const std::vector<Tracer::Touched>& all,
                 Function& gradient) {
  for (const Tracer::Touched& one : all) {
    if (!one.input) continue;
    const Storage* memory = one.base.impl()->storage.get();
    gradient.inputs.push_back({one.base, one.now, false, memory});
    gradient.input_roles.push_back(function.input_roles[*one.input]);
    gradient.live.push_back(*one.input);
  }
  for (const Tracer::Touched& one : all) {
    if (one.after == ir::kNoValue) continue;
    size_t at = function.inputs.size();  // that very memory is given after the function's inputs
    while (gradient.inputs[at].memory != one.base.impl()->storage.get()) at++;
    size_t tangent = static_cast<size_t>(gradient.input_roles[at].index);
    Role role{Role::Kind::mutation, static_cast<int64_t>(at)};
    gradient.outputs.push_back({one.base, one.after, false, role});
    gradient.writes.push_back({one.input.value_or(function.inputs.size() + tangent), one.bumps});
  }
}

}  // namespace

Function gradient_of(const Function& function, const Tangents& kinds, bool again,
                     const Tensors* inputs, const std::vector<bool>& wanted) {
  timing::Phase phase("capture gradient");
  std::scoped_lock lock(*function.mutex);
  Tracer& tracer = function.trace->tracer;
  Function result;
  result.trace = function.trace;
  result.mutex = function.mutex;
  result.inputs = function.inputs;
  result.input_roles = function.input_roles;
  size_t known = tracer.lifted().size();
  std::optional<Met> met;
  if (inputs) met.emplace(tracer, *inputs);
  Tracing tracing(tracer);
  std::optional<Tracer::BackwardScope> scope(std::in_place, tracer, runs_code_of_user(function),
                                             !is_gradient(function) && !again);
  for (const Function::Out& out : function.outputs) scope->know(out.inside);
  Tensors tangents = add_tangents(function, kinds, result);
  Tensors grads = trace_gradients(function, tangents, again, wanted);
  size_t next = 0;
  for (size_t i = 0; i < function.inputs.size(); i++) {
    if (!function.inputs[i].needs_grad) continue;
    Tensor grad = std::move(grads[next++]);
    ir::ValueId value = grad.defined() ? tracer.read(grad) : ir::kNoValue;
    bool differentiable = grad.defined() && grad.requires_grad();
    Role role{Role::Kind::gradient, static_cast<int64_t>(i)};
    result.outputs.push_back({std::move(grad), value, differentiable, role});
  }
  std::vector<Tracer::Touched> touched = scope->finish();
  if (tracer.lifted().size() != known) {
    refuse(
        "a tensor from outside is used by the backward alone; use it in the forward, or pass it");
  }
  add_touched(function, touched, result);
  find_reads(function, tracer.read_back, result);
  scope.reset();
  result.reads_values = tracer.values_read_back();
  if (!again && wanted.empty()) add_saved_values(function, result.reads_values);
  in_order_of_graph(result.reads_values);
  result.end = tracer.graph.operations.size();
  return result;
}

ir::Graph graph_of(const Function& function) {
  std::scoped_lock lock(*function.mutex);
  const Tracer& tracer = function.trace->tracer;
  ir::Ends inputs, outputs;
  for (size_t i = 0; i < function.inputs.size(); i++) {
    inputs.add(function.inputs[i].value, function.input_roles[i]);
  }
  for (size_t i = 0; i < tracer.drawn.size(); i++) {
    inputs.add(tracer.drawn[i].seed, {Role::Kind::seed, static_cast<int64_t>(i)});
  }
  for (const Function::Out& out : function.outputs) outputs.add(out.value, out.role);
  return ir::cut(tracer.graph, inputs, outputs, function.checked);
}

}  // namespace fg::capture
