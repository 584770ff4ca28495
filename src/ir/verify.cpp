#include "base/fail.h"
#include "ir/graph.h"

namespace fg::ir {

namespace {

class Verifier {
 public:
  Verifier(const Graph& graph, const char* after)
      : graph_(graph), after_(after), tensors_(graph.values.size()) {}

  void run() {
    if (graph_.inputs.size() != graph_.input_roles.size() ||
        graph_.outputs.size() != graph_.output_roles.size()) {
      refuse("an input or output has no role");
    }
    for (ValueId input : graph_.inputs) define(input, "an input");
    for (const Operation& operation : graph_.operations) check(operation);
    for (ValueId output : graph_.outputs) {
      if (output != kNoValue) use(output, "return");
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    fail(ErrorKind::internal, "graph after {}: {}\n{}", after_, what, graph_.text());
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
    check_numbers(operation, name, operation.inputs.size() - extra);
    check_shapes(operation, name);
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
    Meta metas[4];
    NoParams none;
    operation.primitive->infer(operands.get(), operation.params ? operation.params.get() : &none,
                               metas);
    for (int i = 0; i < operation.outputs(); i++) {
      ValueId value = operation.output + static_cast<ValueId>(i);
      define(value, name);
      const ValueInfo& said = graph_.values[value];
      const Meta& meta = metas[i];
      Dims strides = strides_of(meta);
      if (said.sizes == meta.sizes && said.dtype == meta.dtype && said.strides == strides) continue;
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

}  // namespace fg::ir
