#include "tests/ops/table/table_cases.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "autograd/autograd.h"
#include "base/error.h"
#include "ops/copy/copy.h"
#include "tensor/generator.h"

namespace fg::table {

static void collect(const Value& value, Tensors& found) {
  auto add = [&](const Tensor& tensor) {
    if (tensor.defined()) found.push_back(tensor);
  };
  if (auto* tensor = std::get_if<Tensor>(&value)) add(*tensor);
  if (auto* list = std::get_if<Tensors>(&value)) {
    for (const Tensor& tensor : *list) add(tensor);
  }
  if (auto* values = std::get_if<std::vector<Value>>(&value)) {
    for (const Value& element : *values) collect(element, found);
  }
}

Tensors tensors_of(const Value& value) {
  Tensors found;
  collect(value, found);
  return found;
}

Tensors tensors_of(const Arguments& arguments) {
  Tensors found;
  for (const Value& value : arguments) collect(value, found);
  return found;
}

static Value map_value(const Value& value, const OnTensor& replace) {
  auto one = [&](const Tensor& t) { return t.defined() ? replace(t) : t; };
  if (auto* tensor = std::get_if<Tensor>(&value)) return one(*tensor);
  if (auto* list = std::get_if<Tensors>(&value)) {
    Tensors out;
    for (const Tensor& tensor : *list) out.push_back(one(tensor));
    return out;
  }
  if (auto* values = std::get_if<std::vector<Value>>(&value)) {
    std::vector<Value> out;
    for (const Value& element : *values) out.push_back(map_value(element, replace));
    return out;
  }
  return value;
}

Arguments map_tensors(const Arguments& arguments, const OnTensor& replace) {
  Arguments out;
  for (const Value& value : arguments) out.push_back(map_value(value, replace));
  return out;
}

Arguments replace_tensors(const Arguments& arguments, const Tensors& tensors) {
  size_t next = 0;
  return map_tensors(arguments, [&](const Tensor&) { return tensors[next++]; });
}

Tensors call(const FunctionInfo& info, const Arguments& arguments) {
  manual_seed(7);
  return tensors_of(info.call(info, arguments));
}

static Tensor ramp(const Tensor& like) {
  Tensor result = empty_tensor(like.sizes(), kFloat64);
  for (int64_t i = 0; i < result.numel(); i++) {
    result.data_ptr<double>()[i] = 0.3 + 0.7 * std::fmod(static_cast<double>(i) * 0.618, 1.0);
  }
  return result.to(like.dtype());
}

static Outcome run_with(const FunctionInfo& info, const Arguments& arguments,
                        const std::vector<bool>& wanted) {
  autograd::GraphPoints inputs, outputs;
  Tensors tensors = tensors_of(arguments), grads;
  for (size_t i = 0; i < tensors.size(); i++) {
    if (wanted[i]) inputs.emplace_back(tensors[i].requires_grad_());
  }
  Outcome outcome{call(info, arguments), {}};
  for (const Tensor& value : outcome.values) {
    if (!value.requires_grad()) continue;
    outputs.emplace_back(value);
    grads.push_back(ramp(value));
  }
  if (!outputs.empty() && !inputs.empty()) {
    outcome.grads =
        autograd::grad(outputs, inputs, grads, {.allow_unused = true, .materialize_grads = true});
  }
  return outcome;
}

std::vector<bool> differentiable(const FunctionInfo& info, const Arguments& arguments) {
  std::vector<bool> wanted;
  for (const Tensor& tensor : tensors_of(arguments)) wanted.push_back(tensor.dtype() == kFloat64);
  auto refused = [&](const std::vector<bool>& by) {
    try {
      run_with(info, map_tensors(arguments, plain_copy), by);
    } catch (const Error& e) {
      return std::string_view(e.what()).find("not differentiable with") != std::string_view::npos;
    }
    return false;
  };
  if (!refused(wanted)) return wanted;
  for (size_t i = 0; i < wanted.size(); i++) {
    std::vector<bool> only(wanted.size());
    only[i] = wanted[i];
    wanted[i] = wanted[i] && !refused(only);
  }
  return wanted;
}

Tensors inputs_of(const FunctionInfo& info, const Sample& sample) {
  Tensors inputs;
  std::vector<bool> wanted = differentiable(info, sample.arguments);
  for (const Tensor& tensor : tensors_of(sample.arguments)) {
    inputs.push_back(tensor.detach());
    if (wanted[inputs.size() - 1] && sample.check_gradient) inputs.back().requires_grad_();
  }
  return inputs;
}

Outcome run(const FunctionInfo& info, const Arguments& arguments, bool with_gradient) {
  std::vector<bool> none(tensors_of(arguments).size());
  return run_with(info, arguments, with_gradient ? differentiable(info, arguments) : none);
}

static Tensor copy_into(const Tensor& to, const Tensor& from) {
  NoGradGuard guard;
  to.copy_(from);
  return to;
}

Tensor plain_copy(const Tensor& tensor) {
  return copy_into(empty_tensor(tensor.sizes(), tensor.dtype()), tensor);
}

Tensor reversed_copy(const Tensor& tensor) {
  Dims strides = tensor.sizes();
  Dim stride = 1;
  for (size_t d = 0; d < strides.size(); d++) {
    strides[d] = stride;
    stride *= tensor.sizes()[d];
  }
  return copy_into(empty_strided_tensor(tensor.sizes(), strides, tensor.dtype()), tensor);
}

Tensor spread_copy(const Tensor& tensor) {
  Dims strides = contiguous_strides(tensor.sizes());
  for (Dim& stride : strides) stride *= 2;
  Tensor base = empty_tensor({2 * tensor.numel() + 1}, tensor.dtype());
  std::memset(base.data_ptr(), 0, static_cast<size_t>(base.numel()) * item_size(base.dtype()));
  return copy_into(alias(base, tensor.sizes(), strides, 1), tensor);
}

Tensor repeated_row(const Tensor& tensor) {
  if (tensor.dim() == 0 || tensor.numel() == 0) return plain_copy(tensor);
  Tensor base = plain_copy(tensor);
  Dims strides = base.strides();
  strides[0] = 0;
  return alias(base, base.sizes(), strides, 0);
}

testing::AssertionResult equal_bits(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || !(a.sizes() == b.sizes())) {
    return testing::AssertionFailure() << name(a.dtype()) << text(a.sizes()) << " against "
                                       << name(b.dtype()) << text(b.sizes());
  }
  Tensor x = plain_copy(a.detach()), y = plain_copy(b.detach());
  bool equal = visit(a.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T *p = x.data_ptr<T>(), *q = y.data_ptr<T>();
    for (int64_t i = 0; i < x.numel(); i++) {
      bool nan = p[i] != p[i] && q[i] != q[i];
      if (!nan && std::memcmp(p + i, q + i, sizeof(T)) != 0) return false;
    }
    return true;
  });
  if (equal) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "bits differ:\n" << x.text() << "\nagainst\n" << y.text();
}

testing::AssertionResult equal_bits(const Tensors& a, const Tensors& b) {
  if (a.size() != b.size())
    return testing::AssertionFailure() << a.size() << " tensors against " << b.size();
  for (size_t i = 0; i < a.size(); i++) {
    auto equal = equal_bits(a[i], b[i]);
    if (!equal) return testing::AssertionFailure() << "tensor " << i << ": " << equal.message();
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult equal_bits(const Outcome& a, const Outcome& b) {
  auto values = equal_bits(a.values, b.values);
  if (!values) return testing::AssertionFailure() << "results: " << values.message();
  auto grads = equal_bits(a.grads, b.grads);
  if (!grads) return testing::AssertionFailure() << "gradients: " << grads.message();
  return testing::AssertionSuccess();
}

testing::AssertionResult nearly_equal(const Tensor& a, const Tensor& b, double tolerance) {
  if (!(a.sizes() == b.sizes()))
    return testing::AssertionFailure() << text(a.sizes()) << " against " << text(b.sizes());
  auto x = a.detach().to_vector<double>(), y = b.detach().to_vector<double>();
  for (size_t i = 0; i < x.size(); i++) {
    bool same = x[i] == y[i] || (std::isnan(x[i]) && std::isnan(y[i]));
    if (same || std::abs(x[i] - y[i]) <= tolerance * (1 + std::abs(y[i]))) continue;
    return testing::AssertionFailure() << "element " << i << ": " << x[i] << " against " << y[i];
  }
  return testing::AssertionSuccess();
}

static PhiloxKey key_of(const ir::Operation& operation, const Tensor* values) {
  const int64_t* seed = values[operation.inputs.back()].data_ptr<int64_t>();
  return {static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]) + operation.skip};
}

static void run_operation(const ir::Graph& graph, const ir::Operation& operation, Tensor* values) {
  Tensor* outputs = values + operation.output;
  if (!operation.primitive) {
    outputs[0] = operation.constant;
    return;
  }
  ir::OperationParams params(operation, values);
  ir::OperationOperands operands(operation, values);
  std::optional<ReplayedNumbers> numbers;
  if (operation.is_random()) numbers.emplace(key_of(operation, values));
  ir::bind(*operation.primitive, operands.get(), params.get(), outputs);
  for (int i = 0; i < operation.outputs(); i++) {
    if (graph.values[operation.output + i].number) outputs[i].impl()->wrapped_number = true;
  }
}

Tensors run_recording(const ir::Graph& graph, const Tensors& inputs) {
  Tensors values(graph.values.size()), outputs;
  for (size_t i = 0; i < inputs.size(); i++) values[graph.inputs[i]] = inputs[i];
  for (const ir::Operation& operation : graph.operations) {
    run_operation(graph, operation, values.data());
  }
  for (ir::ValueId output : graph.outputs) outputs.push_back(values[output]);
  return outputs;
}

void each_sample(const FunctionInfo& info, const std::function<void(const Sample&)>& check) {
  if (!info.samples) return;  // a test of its own complains
  ir::Samples samples = info.samples();
  for (size_t i = 0; i < samples.size(); i++) {
    std::string name = info.full_name() + ", sample " + std::to_string(i);
    if (!samples[i].note.empty()) name += " (" + samples[i].note + ")";
    SCOPED_TRACE(name);
    try {
      check(samples[i]);
    } catch (const std::exception& e) {
      ADD_FAILURE() << e.what();
    }
  }
}

static bool is_one_of(const FunctionInfo& info, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), info.schema.name) != names.end();
}

// Their values are whatever the memory held.
bool is_uninitialised(const FunctionInfo& info) {
  return is_one_of(info, {"empty", "empty_like", "empty_strided", "new_empty"});
}
// They see the memory and not the elements, so another layout is another argument.
bool reads_storage(const FunctionInfo& info) { return is_one_of(info, {"as_strided"}); }
// How many elements they return, or compute with on the way, depends on values.
bool shape_needs_values(const FunctionInfo& info, const Sample& sample) {
  bool has_mask = false;
  for (const Tensor& tensor : tensors_of(sample.arguments)) has_mask |= tensor.dtype() == kBool;
  if (has_mask && is_one_of(info, {"index", "index_put", "masked_scatter"})) return true;
  return is_one_of(info, {"nonzero", "nonzero_numpy", "argwhere", "masked_select", "item", "equal",
                          "allclose", "one_hot", "masked_scatter_backward"}) ||
         info.full_name() == "repeat_interleave.self_Tensor";
}
bool is_view(const FunctionInfo& info) {
  return !info.schema.returns[0].alias.empty() || is_one_of(info, {"_unsafe_view"});
}

std::string test_name(const testing::TestParamInfo<const FunctionInfo*>& info) {
  std::string name(info.param->schema.name);
  if (info.param->schema.overload.empty()) return name;
  return name + "__" + std::string(info.param->schema.overload);
}

bool may_be_refused(const FunctionInfo& info, const Sample& sample, const Error& error) {
  std::string_view text = error.what();
  return text.find("not captured yet") != text.npos || shape_needs_values(info, sample);
}

}  // namespace fg::table
