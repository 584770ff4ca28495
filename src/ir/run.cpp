#include "ir/run.h"

#include <algorithm>

#include "base/fail.h"
#include "base/interrupt.h"

namespace fg::ir {

Runner::Runner(Graph graph) : graph_(std::move(graph)) {
  std::vector<uint32_t> last_use(graph_.values.size(), 0);
  for (uint32_t i = 0; i < graph_.operations.size(); i++) {
    const Operation& operation = graph_.operations[i];
    for (int k = 0; k < operation.outputs(); k++) last_use[operation.output + k] = i;
    for (ValueId input : operation.inputs) {
      if (input != kNoValue) last_use[input] = i;
    }
  }
  std::vector<bool> kept(graph_.values.size());
  for (ValueId output : graph_.outputs) {
    if (output != kNoValue) kept[output] = true;
  }
  std::vector<std::vector<ValueId>> dropped(graph_.operations.size());
  for (ValueId v = 0; v < graph_.values.size(); v++) {
    if (!kept[v] && !dropped.empty()) dropped[last_use[v]].push_back(v);
  }
  for (const auto& values : dropped) {
    first_.push_back(static_cast<uint32_t>(last_.size()));
    last_.insert(last_.end(), values.begin(), values.end());
  }
  first_.push_back(static_cast<uint32_t>(last_.size()));
}

static PhiloxKey key_of(const Operation& operation, const Tensor* values) {
  const int64_t* seed = values[operation.inputs.back()].data_ptr<int64_t>();
  return {static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]) + operation.skip};
}

void name_line(const Error& error, const Graph& graph, const Operation& operation) {
  if (operation.source == 0) throw;
  throw Error(error.kind(),
              fmt::format("{} (captured from {})", error.what(), graph.sources[operation.source]));
}

// An input that was left out may be read where a primitive takes none.
static void check_defined(const Operation& operation, const Tensor* values) {
  if (std::string_view(operation.primitive->operands).find('o') != std::string_view::npos) return;
  for (ValueId input : operation.inputs) {
    if (input == kNoValue || values[input].defined()) continue;
    fail("{} reads an input of the graph that is None; give a tensor", operation.primitive->name);
  }
}

void Runner::run_operation(const Operation& operation, Tensor* values) const {
  Tensor* outputs = values + operation.output;
  if (!operation.primitive) {
    outputs[0] = operation.constant;
    return;
  }
  check_defined(operation, values);
  OperationParams params(operation, values);
  OperationOperands operands(operation, values);
  if (operation.is_random()) {
    ReplayedNumbers numbers(key_of(operation, values));
    evaluate(*operation.primitive, operands.get(), params.get(), outputs);
  } else {
    evaluate(*operation.primitive, operands.get(), params.get(), outputs);
  }
  for (int i = 0; i < operation.outputs(); i++) {
    if (graph_.values[operation.output + i].number) outputs[i].impl()->wrapped_number = true;
  }
}

static void check_input(const Graph& graph, const Tensor& tensor, size_t input) {
  const ValueInfo& expected = graph.values[graph.inputs[input]];
  if (!tensor.defined()) return;  // nothing reads it
  if (tensor.dtype() == expected.dtype &&
      known_equal(tensor.sizes(), expected.sizes) == Known::yes &&
      known_equal(tensor.strides(), expected.strides) == Known::yes) {
    return;
  }
  fail("input {} of a graph is {}{} with strides {}; expected {}{} with strides {}", input,
       name(tensor.dtype()), text(tensor.sizes()), text(tensor.strides()), name(expected.dtype),
       text(expected.sizes), text(expected.strides));
}

void check_inputs(const Graph& graph, const Tensors& inputs) {
  if (inputs.size() != graph.inputs.size()) {
    fail("a graph with {} inputs was given {} tensors", graph.inputs.size(), inputs.size());
  }
  for (size_t i = 0; i < inputs.size(); i++) check_input(graph, inputs[i], i);
}

Tensors Runner::run(Tensors inputs) const {
  check_inputs(graph_, inputs);
  Eagerly eagerly;
  Tensors values(graph_.values.size());
  for (size_t i = 0; i < inputs.size(); i++) {
    values[graph_.inputs[i]] = std::move(inputs[i]);
  }
  inputs.clear();
  for (size_t i = 0; i < graph_.operations.size(); i++) {
    if (i % 16 == 0) poll_interrupt();
    try {
      run_operation(graph_.operations[i], values.data());
    } catch (const Error& error) {
      name_line(error, graph_, graph_.operations[i]);
    }
    for (uint32_t k = first_[i]; k < first_[i + 1]; k++) values[last_[k]].reset();
  }
  Tensors outputs;
  for (ValueId output : graph_.outputs) {
    outputs.push_back(output == kNoValue ? Tensor() : values[output]);
  }
  return outputs;
}

namespace {

class Cutter {
 public:
  Cutter(const Graph& from, const Ends& inputs, const Ends& outputs, size_t checked)
      : from_(from),
        checked_(checked),
        renamed_(from.values.size(), kNoValue),
        needed_(from.values.size()) {
    result_.sources = from.sources;
    result_.symbols = from.symbols;
    for (size_t i = 0; i < inputs.values.size(); i++) {
      ValueId value = inputs.values[i];
      renamed_[value] = result_.add_input(from.values[value], inputs.roles[i]);
    }
    for (ValueId output : outputs.values) need(output);
    find_needed();
    for (uint32_t i : order_) copy(from.operations[i]);
    for (size_t i = 0; i < outputs.values.size(); i++) {
      result_.add_output(rename(outputs.values[i]), outputs.roles[i]);
    }
  }
  Graph take() { return std::move(result_); }

 private:
  void need(ValueId value) {
    if (value != kNoValue) needed_[value] = true;
  }
  void find_needed() {
    for (uint32_t i = static_cast<uint32_t>(from_.operations.size()); i-- > 0;) {
      const Operation& operation = from_.operations[i];
      bool wanted = i < checked_ && operation.primitive && operation.primitive->raises;
      for (int k = 0; k < operation.outputs(); k++) {
        ValueId value = operation.output + static_cast<ValueId>(k);
        wanted |= needed_[value] && renamed_[value] == kNoValue;
      }
      if (!wanted) continue;
      order_.push_back(i);
      for (ValueId input : operation.inputs) need(input);
    }
    std::reverse(order_.begin(), order_.end());
  }
  ValueId rename(ValueId value) const {
    if (value == kNoValue) return kNoValue;
    if (renamed_[value] == kNoValue) {
      fail(ErrorKind::internal, "cut: %{} does not follow from the inputs", value);
    }
    return renamed_[value];
  }
  void copy(const Operation& operation) {
    Operation copied = operation;
    for (ValueId& input : copied.inputs) input = rename(input);
    for (int k = 0; k < operation.outputs(); k++) {
      ValueId old = operation.output + static_cast<ValueId>(k);
      ValueId fresh = result_.add_value(from_.values[old]);
      if (k == 0) copied.output = fresh;
      if (renamed_[old] == kNoValue) renamed_[old] = fresh;
    }
    result_.operations.push_back(std::move(copied));
  }

  const Graph& from_;
  size_t checked_;
  Graph result_;
  std::vector<ValueId> renamed_;
  std::vector<bool> needed_;
  std::vector<uint32_t> order_;
};

}  // namespace

Graph cut(const Graph& graph, const Ends& inputs, const Ends& outputs, size_t checked) {
  return Cutter(graph, inputs, outputs, checked).take();
}

}  // namespace fg::ir
