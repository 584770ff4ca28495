#include <algorithm>

#include "base/fail.h"
#include "ir/primitive.h"
#include "ir/record.h"

namespace fg::ir {

const char* name(Kind kind) {
  static constexpr const char* kNames[] = {
      "elementwise", "reduce", "scan",   "view", "contract",   "convolve",     "gather",
      "scatter",     "random", "create", "sort", "collective", "higher-order", "extern"};
  return kNames[static_cast<int>(kind)];
}

static std::vector<const PrimitiveInfo*>& table() {
  static std::vector<const PrimitiveInfo*> entries;
  return entries;
}

const std::vector<const PrimitiveInfo*>& primitives() { return table(); }

void register_primitive(const PrimitiveInfo* primitive) {
  auto by_name = [](auto* a, auto* b) { return a->name < b->name; };
  auto& entries = table();
  entries.insert(std::lower_bound(entries.begin(), entries.end(), primitive, by_name), primitive);
}

static constexpr int kMaxOutputs = 4;

static void evaluate(const PrimitiveInfo& primitive, Operands inputs, const void* params,
                     Tensor* outputs) {
  Meta metas[kMaxOutputs];
  primitive.infer(inputs, params, metas);
  if (primitive.kind == Kind::view) {
    outputs[0] = alias(*inputs[0], metas[0].sizes, metas[0].strides, metas[0].offset);
    return;
  }
  for (int i = 0; i < primitive.outputs; i++) {
    const Meta& meta = metas[i];
    outputs[i] = meta.strides.size() == meta.sizes.size() && !meta.sizes.empty()
                     ? empty_strided_tensor(meta.sizes, meta.strides, meta.dtype)
                     : empty_tensor(meta.sizes, meta.dtype);
  }
  primitive.evaluate(inputs, params, outputs);
}

void ShapeInterpreter::evaluate(const PrimitiveInfo& primitive, Operands inputs, const void* params,
                                Tensor* outputs) {
  Meta metas[kMaxOutputs];
  primitive.infer(inputs, params, metas);
  for (int i = 0; i < primitive.outputs; i++) {
    outputs[i] = abstract_tensor(metas[i].sizes, metas[i].dtype);
    if (metas[i].strides.size() == metas[i].sizes.size()) {
      outputs[i].impl()->set_layout(metas[i].sizes, metas[i].strides);
      outputs[i].impl()->offset = metas[i].offset;
    }
  }
}

void bind(const PrimitiveInfo& primitive, Operands inputs, const void* params,
          Arguments (*arguments)(const void* params), Tensor* outputs) {
  if (modes.interpreter) [[unlikely]] {
    modes.interpreter->evaluate(primitive, inputs, params, outputs);
  } else {
    evaluate(primitive, inputs, params, outputs);
  }
  if (primitive.kind == Kind::view) {
    autograd::make_view(*inputs[0], outputs[0], autograd::current_view_origin());
  }
  if (primitive.has_gradient && autograd::should_record(inputs)) {
    autograd::record(primitive.gradient, inputs, arguments(params),
                     {outputs, static_cast<size_t>(primitive.outputs)});
  }
}

}  // namespace fg::ir
