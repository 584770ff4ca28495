#include "ir/registry.h"

#include <algorithm>

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
