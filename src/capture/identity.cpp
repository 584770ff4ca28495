#include "capture/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "autograd/op_node.h"
#include "base/build_id.h"
#include "base/digest.h"
#include "ir/registry.h"
#include "ir/run.h"
#include "tensor/geometry.h"

namespace fg::capture {

using autograd::Node;
using autograd::OpNode;
using ir::Role;
using ir::ValueId;

namespace {

constexpr int64_t kLongConstant = 64;  // elements

// Arguments of a call; false: they cannot be told from others by a text.
bool print(std::string& out, const ir::Value& value) {
  if (value.is_none()) return out += "none", true;
  if (auto* number = std::get_if<Scalar>(&value)) {
    ir::print_field(out, *number);
    return number->is_known();
  }
  if (auto* sizes = std::get_if<Dims>(&value)) return ir::print_field(out, *sizes), true;
  if (auto* dtype = std::get_if<DType>(&value)) return ir::print_field(out, *dtype), true;
  if (auto* word = std::get_if<std::string>(&value)) {
    out += fmt::format("{}:{}", word->size(), *word);
    return true;
  }
  auto* list = std::get_if<std::vector<ir::Value>>(&value);
  if (!list) return false;
  out += '[';
  for (const ir::Value& element : *list) {
    if (!print(out, element)) return false;
    out += ' ';
  }
  return out += ']', true;
}

// Whose rules these are. Names of nodes are PyTorch's, where several functions share one.
struct Owner {
  std::string name;
  const ir::PrimitiveInfo* primitive = nullptr;  // whose parameters are the arguments of nodes
};

// None of the library's: an editor of that code does not rebuild this library.
const Owner* owner_of(const ir::Gradient& gradient) {
  static const auto known = [] {
    std::unordered_map<const ir::Gradient*, Owner> all;
    auto add = [&](const ir::Gradient& rules, Owner owner) {
      for (const ir::Rule& rule : rules.rules) {
        if (!is_in_this_library(reinterpret_cast<const void*>(rule.run))) return;
      }
      all.emplace(&rules, std::move(owner));
    };
    for (const ir::PrimitiveInfo* one : ir::primitives()) add(one->gradient, {one->name, one});
    for (const ir::FunctionInfo* one : ir::functions()) {
      add(one->own_gradient, {"function " + one->full_name()});
    }
    return all;
  }();
  auto found = known.find(&gradient);
  return found == known.end() ? nullptr : &found->second;
}

bool print_arguments(std::string& out, const OpNode& node) {
  const ir::Gradient& gradient = node.gradient();
  const Owner* owner = owner_of(gradient);
  if (!owner) return false;
  out += " of " + owner->name;
  if (!gradient.reads_arguments) return true;
  if (gradient.box_arguments) {
    for (const ir::Value& value : gradient.box_arguments(node.arguments())) {
      out += ' ';
      if (!print(out, value)) return false;
    }
    return true;
  }
  if (!owner->primitive) return false;
  std::string params;
  owner->primitive->params->print(params, node.arguments());
  out += " " + params;
  return params.find('$') == std::string::npos;  // a number that is known when it runs
}

class Nodes {
 public:
  explicit Nodes(const Function& function) : function_(function) {
    const auto& lifted = function.trace->inputs();
    for (size_t i = 0; i < function.inputs.size(); i++) {
      if (!function.inputs[i].needs_grad) continue;
      inputs_.emplace(autograd::gradient_edge(function.inputs[i].leaf).node.get(), i);
      if (i < lifted.size() && lifted[i].entry) entries_.insert(lifted[i].entry.get());
    }
    for (const Function::Out& out : function.outputs) {
      if (out.differentiable) find(autograd::gradient_edge(out.inside).node.get());
    }
    for (size_t i = 0; i < function.inputs.size(); i++) {
      shown_as_[function.inputs[i].memory] += fmt::format(" of input{}", i);
    }
    for (size_t i = 0; i < function.outputs.size(); i++) {
      const Tensor& inside = function.outputs[i].inside;
      if (!inside.defined()) continue;
      shown_as_[inside.impl()->storage.get()] += fmt::format(" of output{}", i);
    }
    // The engine takes the newest first: their order is part of what the gradient is.
    std::sort(nodes_.begin(), nodes_.end(),
              [](const Node* a, const Node* b) { return a->sequence_nr() < b->sequence_nr(); });
    for (size_t i = 0; i < nodes_.size(); i++) numbers_[nodes_[i]] = i;
  }

  // The text of all nodes; values that they saved are added to `saved`.
  std::string text(ir::Ends& saved, std::string& unknown) {
    std::string out;
    for (const Function::Out& one : function_.outputs) {
      if (one.differentiable) print_edge(out, autograd::gradient_edge(one.inside));
    }
    for (const Node* node : nodes_) {
      out += '\n';
      if (!print_node(out, *node, saved) && unknown.empty()) unknown = node->name();
    }
    return out;
  }

 private:
  void find(const Node* first) {
    std::vector<const Node*> stack{first};
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!node || inputs_.contains(node) || !numbers_.emplace(node, 0).second) continue;
      nodes_.push_back(node);
      for (const autograd::Edge& edge : node->next_edges()) stack.push_back(edge.node.get());
    }
  }

  void print_edge(std::string& out, const autograd::Edge& edge) const {
    if (!edge.is_valid()) {
      out += " -";
    } else if (auto input = inputs_.find(edge.node.get()); input != inputs_.end()) {
      out += fmt::format(" input{}", input->second);
    } else {
      out += fmt::format(" {}.{}", numbers_.at(edge.node.get()), edge.input_nr);
    }
  }

  bool print_node(std::string& out, const Node& node, ir::Ends& saved) const {
    const auto* op = dynamic_cast<const OpNode*>(&node);
    out += op ? op->name() : "node";  // a name that a user chose says nothing
    for (const autograd::Edge& edge : node.next_edges()) print_edge(out, edge);
    for (size_t i = 0; i < node.num_outputs(); i++) {
      const autograd::InputMetadata& info = node.input_metadata(i);
      out += ' ';
      out += name(info.dtype);
      ir::print_field(out, info.sizes);
    }
    if (node.hooks() && node.hooks()->any()) return false;
    if (entries_.contains(&node)) return true;
    if (!op || !print_arguments(out, *op)) return false;
    for (const ir::ShapeOf& shape : op->shapes()) {
      out += fmt::format(" shape {}{}{}", name(shape.dtype), fg::text(shape.sizes),
                         shape.transposed ? "t" : "");
    }
    for (size_t i = 0; i < node.saved_count(); i++) {
      if (!print_saved(out, *const_cast<Node&>(node).saved_value(i), saved)) return false;
    }
    return true;
  }

  // A saved value is memory of the trace seen through a layout.
  bool print_saved(std::string& out, const autograd::SavedValue& value, ir::Ends& saved) const {
    if (value.packed()) return false;
    const Tensor& held = value.held();
    if (!held.defined()) return out += value.is_freed() ? " freed" : " none", true;
    auto memory = function_.trace->tracer.find(held);
    if (!memory) return false;
    out += fmt::format(" saved{} {}", saved.values.size(), name(held.dtype()));
    ir::print_field(out, held.sizes());
    ir::print_field(out, held.strides());
    out += fmt::format("+{}{}{}{}{}", memory->offset, held.impl()->wrapped_number ? " number" : "",
                       value.was_written() ? " written" : "",
                       held.impl()->own_version ? " with a version of its own" : "",
                       memory->written_as_data ? " written as data" : "");
    if (auto shown = shown_as_.find(memory->storage); shown != shown_as_.end()) {
      out += shown->second;
    }
    saved.add(memory->value, {Role::Kind::saved, static_cast<int64_t>(saved.values.size())});
    return true;
  }

  const Function& function_;
  std::unordered_map<const Node*, size_t> inputs_, numbers_;
  std::unordered_set<const Node*> entries_;
  std::vector<const Node*> nodes_;
  // Inputs and outputs that show a memory: a write to them is a write to what was saved of it.
  std::unordered_map<const Storage*, std::string> shown_as_;
};

std::string describe_outputs(const Function& function, bool record) {
  std::string out;
  for (const Function::Out& one : function.outputs) {
    out += fmt::format("{}{}{} version {}", one.role.text(), one.inner ? " inner" : "",
                       record && one.differentiable ? " differentiable" : "", one.version);
    if (one.inside.defined()) {
      out += fmt::format(" {}{}", text(one.inside.sizes()), text(one.inside.strides()));
    }
    out += '\n';
  }
  const Trace& trace = *function.trace;
  for (const Output& output : trace.outputs) {
    if (output.defined && output.of_input) out += fmt::format("shows {}\n", output.of);
  }
  for (const Result& result : trace.results) {
    auto input = result.part && result.part->of_input ? result.part->of : result.view_of_input;
    if (input) out += fmt::format("shows part of {}\n", *input);
  }
  for (const Function::In& in : function.inputs) out += in.needs_grad ? '1' : '0';
  return out;
}

}  // namespace

namespace {

// The text has the value of every number, but not all bits of what is no number.
bool has_nan(const Tensor& constant) {
  if (!constant.is_floating_point()) return false;
  std::vector<double> values = constant.to_vector<double>();
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); });
}

std::string digest_of(const Tensor& constant) {
  Tensor whole = constant.contiguous();
  auto bytes = static_cast<size_t>(whole.numel()) * item_size(whole.dtype());
  return hex(digest({static_cast<const char*>(whole.data_ptr()), bytes}));
}

// The address of code of a primitive that is outside of this library; null: there is none.
const void* foreign_code(const ir::PrimitiveInfo& primitive) {
  const void* parts[] = {reinterpret_cast<const void*>(primitive.formula),
                         reinterpret_cast<const void*>(primitive.evaluate),
                         reinterpret_cast<const void*>(primitive.infer),
                         reinterpret_cast<const void*>(primitive.finish)};
  for (const void* part : parts) {
    if (part && !is_in_this_library(part)) return part;
  }
  return nullptr;
}

void identify_primitives(const ir::Graph& graph, AnonymousGraph& result) {
  std::unordered_set<const ir::PrimitiveInfo*> seen;
  for (const ir::Operation& operation : graph.operations) {
    if (!operation.primitive || !seen.insert(operation.primitive).second) continue;
    const void* code = foreign_code(*operation.primitive);
    if (!code) continue;
    std::string id = build_id_of(code);
    if (id.empty()) result.unidentified = operation.primitive->name;
    result.code += fmt::format("{} {}\n", operation.primitive->name, id);
  }
}

}  // namespace

AnonymousGraph anonymous(ir::Graph graph) {
  AnonymousGraph result;
  graph.sources = {""};
  // Inputs are known by their place; which number the caller has for one changes nothing.
  for (Role& role : graph.input_roles) role = {role.kind, 0};
  for (Role& role : graph.output_roles) role.name.clear();
  for (ir::Operation& operation : graph.operations) {
    operation.source = 0;
    if (operation.primitive) continue;
    bool is_long = operation.constant.numel() > kLongConstant;
    if (is_long || has_nan(operation.constant)) {
      result.constants += digest_of(operation.constant) + "\n";
    }
    if (is_long) operation.constant = empty_tensor({0}, operation.constant.dtype());
  }
  identify_primitives(graph, result);
  result.text = graph.text();
  return result;
}

Identity identify(const Function& function, bool record, const std::vector<ValueId>& known) {
  std::scoped_lock lock(*function.mutex);
  const Tracer& tracer = function.trace->tracer;
  Identity result;
  ir::Ends inputs, outputs;
  for (size_t i = 0; i < function.inputs.size(); i++) {
    inputs.add(function.inputs[i].value, function.input_roles[i]);
  }
  for (ValueId value : known) inputs.add(value, {Role::Kind::saved, 0});
  for (size_t i = 0; i < tracer.drawn.size(); i++) {
    inputs.add(tracer.drawn[i].seed, {Role::Kind::seed, static_cast<int64_t>(i)});
  }
  for (const Function::Out& out : function.outputs) outputs.add(out.value, out.role);
  if (record) {
    ir::Ends saved;
    result.gradient = Nodes(function).text(saved, result.unknown);
    for (size_t i = 0; i < saved.values.size(); i++) outputs.add(saved.values[i], saved.roles[i]);
  }
  ir::Graph graph = ir::cut(tracer.graph, inputs, outputs, function.checked);
  for (const ir::Operation& one : graph.operations) result.lines.places.push_back(one.source);
  result.lines.texts = graph.sources;
  result.graph = anonymous(std::move(graph));
  result.outputs = describe_outputs(function, record);
  return result;
}

}  // namespace fg::capture
