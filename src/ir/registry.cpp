#include "ir/registry.h"

#include <algorithm>

#include "base/fail.h"
#include "ir/function.h"

namespace fg::ir {

std::string FunctionInfo::full_name() const {
  std::string name(schema.name);
  return schema.overload.empty() ? name : name + "." + std::string(schema.overload);
}

static std::vector<const FunctionInfo*>& table() {
  static std::vector<const FunctionInfo*> entries;
  return entries;
}

const std::vector<const FunctionInfo*>& functions() { return table(); }

static bool before(const FunctionInfo* a, const FunctionInfo* b) {
  return a->full_name() < b->full_name();
}

void register_function(const FunctionInfo* function) {
  auto& entries = table();
  entries.insert(std::lower_bound(entries.begin(), entries.end(), function, before), function);
}

const FunctionInfo* find_function(std::string_view full_name) {
  for (const FunctionInfo* function : table()) {
    if (function->full_name() == full_name) return function;
  }
  return nullptr;
}

void refuse_undefined(const FunctionInfo& info, size_t argument) {
  fail(ErrorKind::type, "{}: argument '{}' (position {}) must be a tensor but got an undefined one",
       info.schema.name, info.schema.arguments[argument].name, argument + 1);
}

// A function that makes tensors from numbers takes the dtype of out where none was given.
static std::vector<Value> with_dtype_of(const Tensor& out, const Schema& schema,
                                        std::vector<Value> arguments) {
  size_t place = schema.argument_count;
  for (size_t i = 0; i < schema.argument_count; i++) {
    if (is_tensor_type(schema.arguments[i].type)) return arguments;
    if (schema.arguments[i].name == "dtype") place = i;
  }
  if (place == schema.argument_count) return arguments;
  for (size_t i = arguments.size(); i <= place; i++) {
    if (schema.arguments[i].default_text != "None") return arguments;  // no way to leave it out
  }
  if (place < arguments.size() && !arguments[place].is_none()) return arguments;
  arguments.resize(std::max(arguments.size(), place + 1));
  arguments[place] = out.dtype();
  return arguments;
}

// As PyTorch: an integer that is made of floats is a position, and only int64 holds all of them.
static void check_positions(const FunctionInfo& info, std::span<const Value> arguments,
                            const Tensors& results, const Tensors& outs) {
  auto* self = arguments.empty() ? nullptr : std::get_if<Tensor>(&arguments[0]);
  if (!self || !self->defined() || !self->is_floating_point()) return;
  for (size_t i = 0; i < std::min(results.size(), outs.size()); i++) {
    if (results[i].dtype() != kInt64 || outs[i].dtype() == kInt64) continue;
    fail("{}: out is {}; expected int64, because the results are positions", info.schema.name,
         name(outs[i].dtype()));
  }
}

Value call_out(const FunctionInfo& info, std::span<const Value> arguments, const Tensors& outs) {
  bool typed = !outs.empty() && outs[0].defined();
  std::vector<Value> given(arguments.begin(), arguments.end());
  if (typed) given = with_dtype_of(outs[0], info.schema, std::move(given));
  Value result = info.call(info, given);
  Tensors results;
  if (auto* several = std::get_if<std::vector<Value>>(&result)) {
    for (const Value& one : *several) results.push_back(std::get<Tensor>(one));
  } else {
    results = {std::get<Tensor>(result)};
  }
  check_positions(info, given, results, outs);
  write_outs(info, results, outs);
  if (outs.size() == 1) return outs[0];
  return std::vector<Value>(outs.begin(), outs.end());
}

// Steps of the golden ratio never repeat and are spread evenly; far from ties, so that finite
// differences see smooth functions.
Tensor sample(const Dims& sizes, double low, double high) {
  Tensor result = empty_tensor(sizes, kFloat64);
  double* out = result.data_ptr<double>();
  static std::atomic<uint64_t> calls{0};
  double place = 0.137 * static_cast<double>(calls++ % 7 + 1);
  for (int64_t i = 0; i < result.numel(); i++) {
    place += 0.6180339887498949;
    place -= static_cast<double>(place >= 1);
    out[i] = low + (high - low) * place;
  }
  return result;
}

Tensor sample_indices(const Dims& sizes, int64_t below) {
  Tensor result = empty_tensor(sizes, kInt64);
  int64_t* out = result.data_ptr<int64_t>();
  for (int64_t i = 0; i < result.numel(); i++) out[i] = (i * 7 + 3) % below;
  return result;
}

Tensor sample_mask(const Dims& sizes) {
  Tensor result = empty_tensor(sizes, kBool);
  bool* out = result.data_ptr<bool>();
  for (int64_t i = 0; i < result.numel(); i++) out[i] = i % 3 != 1;
  return result;
}

}  // namespace fg::ir
