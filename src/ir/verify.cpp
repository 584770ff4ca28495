#include "base/fail.h"
#include "ir/graph.h"

namespace fg::ir {

namespace {

class Verifier {
 public:
  // Without `after` the graph comes as text, from anywhere.
  Verifier(const Graph& graph, const char* after)
      : graph_(graph), after_(after), tensors_(graph.values.size()) {}

  void run() {
    if (graph_.inputs.size() != graph_.input_roles.size() ||
        graph_.outputs.size() != graph_.output_roles.size()) {
      refuse("an input or output has no role");
    }
    for (const Role& role : graph_.input_roles) check_role(role);
    for (const Role& role : graph_.output_roles) check_role(role);
    for (ValueId input : graph_.inputs) define(input, "an input");
    for (const Operation& operation : graph_.operations) check(operation);
    for (ValueId output : graph_.outputs) {
      if (output != kNoValue) use(output, "return");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    if (!after_) fail(ErrorKind::value, "graph text: {}", what);
    fail(ErrorKind::internal, "graph after {}: {}\n{}", after_, what, graph_.text());
  }
  void check_role(const Role& role) const {
    const bool of_input = role.kind == Role::Kind::mutation;  // others count in other graphs too
    if (role.index >= 0 && !(of_input && role.index >= static_cast<int64_t>(graph_.inputs.size())))
      return;
    refuse(fmt::format("the role {} counts what is not there", role.text()));
  }
  void define(ValueId value, const std::string& by) {
    if (value >= tensors_.size())
      refuse(fmt::format("{} defines %{}, which has no type", by, value));
    if (tensors_[value].defined()) refuse(fmt::format("%{} is defined twice", value));
    tensors_[value] = abstract_tensor_of(graph_.values[value]);
  }
  void use(ValueId value, const std::string& by) const {
    if (value >= tensors_.size() || !tensors_[value].defined()) {
      refuse(fmt::format("{} uses %{} before it is defined", by, value));
    }
  }
  void check(const Operation& operation) {
    if (!operation.primitive) {
      if (!operation.constant.defined()) refuse("a constant has no value");
      if (!same(graph_.values[operation.output].strides, operation.constant.strides())) {
        refuse(fmt::format("the constant %{} has other strides than its value", operation.output));
      }
      return define(operation.output, "a constant");
    }
    const std::string& name = operation.primitive->name;
    for (ValueId input : operation.inputs) {
      if (input != kNoValue) use(input, name);
    }
    if (!operation.primitive->params->empty && !operation.params) {
      refuse(name + " has no parameters");
    }
    size_t extra = static_cast<size_t>(operation.numbers) + (operation.is_random() ? 1 : 0);
    if (operation.numbers != count_symbols(operation) || operation.inputs.size() < extra) {
      refuse(name + " has other numbers than its parameters ask for");
    }
    check_operands(operation, name, operation.inputs.size() - extra);
    check_numbers(operation, name, operation.inputs.size() - extra);
    if (operation.is_random()) check_seed(operation, name);
    check_shapes(operation, name);
  }
  // As many as the primitive takes, lists where it takes lists, and nothing left out that it needs.
  void check_operands(const Operation& operation, const std::string& name, size_t count) const {
    std::string_view letters = operation.primitive->operands;
    size_t at = 0;
    for (size_t i = 0; i < letters.size(); i++) {
      bool list = static_cast<int>(i) == operation.list_input;  // one of one is not marked as such
      if (list && letters[i] != 'l') {
        refuse(fmt::format("operand {} of {} must not be a list", i, name));
      }
      for (int rest = list ? operation.list_count : 1; rest > 0; rest--, at++) {
        if (at >= count) refuse(fmt::format("{} needs {} operands", name, letters.size()));
        if (operation.inputs[at] == kNoValue && letters[i] != 'o') {
          refuse(fmt::format("operand {} of {} must not be none", i, name));
        }
      }
    }
    bool surplus_list = operation.list_input >= static_cast<int>(letters.size());
    if (at != count || surplus_list) {
      refuse(fmt::format("{} takes {} operands, got more", name, letters.size()));
    }
  }
  void check_seed(const Operation& operation, const std::string& name) const {
    const ValueId value = operation.inputs.back();
    const ValueInfo* info = value == kNoValue ? nullptr : &graph_.values[value];
    if (info && info->dtype == DType::i64 && same(info->sizes, {2}) && same(info->strides, {1}))
      return;
    refuse(name + " is given what is no seed of two int64");
  }
  void check_numbers(const Operation& operation, const std::string& name, size_t first) const {
    for (size_t i = first; i < first + static_cast<size_t>(operation.numbers); i++) {
      const ValueId value = operation.inputs[i];
      const ValueInfo* info = value == kNoValue ? nullptr : &graph_.values[value];
      if (info && info->sizes.empty() && info->dtype == DType::f64) continue;
      refuse(name + " is given what is no number");
    }
  }
  void check_shapes(const Operation& operation, const std::string& name) {
    OperationOperands operands(operation, tensors_.data());
    Meta metas[kMostOutputs];
    NoParams none;
    const void* params = operation.params ? operation.params.get() : &none;
    const PrimitiveInfo& primitive = *operation.primitive;
    if (!after_ && primitive.require) primitive.require(operands.get(), params);
    primitive.infer(operands.get(), params, metas);
    for (int i = 0; i < operation.outputs(); i++) {
      ValueId value = operation.output + static_cast<ValueId>(i);
      define(value, name);
      const ValueInfo& said = graph_.values[value];
      const Meta& meta = metas[i];
      Dims strides = strides_of(meta);
      if (said.dtype == meta.dtype && known_equal(said.sizes, meta.sizes) == Known::yes &&
          known_equal(said.strides, strides) == Known::yes) {
        continue;
      }
      refuse(fmt::format("%{} of {} is said to be {}{} with strides {} but is {}{} with {}", value,
                         name, fg::name(said.dtype), text(said.sizes), text(said.strides),
                         fg::name(meta.dtype), text(meta.sizes), text(strides)));
    }
  }

  const Graph& graph_;
  const char* after_;
  Tensors tensors_;
};

}  // namespace

void verify(const Graph& graph, const char* after) { Verifier(graph, after).run(); }
void verify_text(const Graph& graph) {
  try {
    Verifier(graph, nullptr).run();
  } catch (const Error& error) {  // a guard is missing that the shapes need
    if (!graph.symbols || error.kind() != ErrorKind::internal) throw;
    fail(ErrorKind::value, "graph text: {}", error.what());
  }
}

}  // namespace fg::ir
