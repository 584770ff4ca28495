#include <algorithm>

#include "base/fail.h"
#include "ir/graph.h"
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

static Tensor allocate_output(const Meta& meta) {
  if (meta.like) return empty_tensor_like(*meta.like, meta.dtype);
  bool strided = !meta.sizes.empty() && meta.strides.size() == meta.sizes.size();
  return strided ? empty_strided_tensor(meta.sizes, meta.strides, meta.dtype)
                 : empty_tensor(meta.sizes, meta.dtype);
}

// A tensor that outlived the capture of its function has no elements.
static void check_inputs(const PrimitiveInfo& primitive, Operands inputs) {
  for (const Operand& input : inputs) {
    for (const Tensor& tensor : input.all()) {
      if (!tensor.defined() || tensor.impl()->data || !tensor.is_abstract()) continue;
      fail(
          "{}: a tensor of a function that was captured is used outside of it, where it has no "
          "values; return it from the function",
          primitive.name);
    }
  }
}

void evaluate(const PrimitiveInfo& primitive, Operands inputs, const void* params,
              Tensor* outputs) {
  check_inputs(primitive, inputs);
  if (primitive.outputs == 1) {  // nearly always: no array of metas to make
    Meta meta;
    primitive.infer(inputs, params, &meta);
    if (primitive.kind == Kind::view) {
      outputs[0] = alias(*inputs[0], meta.sizes, meta.strides, meta.offset);
      return;
    }
    outputs[0] = allocate_output(meta);
  } else {
    Meta metas[kMaxOutputs];
    primitive.infer(inputs, params, metas);
    for (int i = 0; i < primitive.outputs; i++) outputs[i] = allocate_output(metas[i]);
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

void bind(const PrimitiveInfo& primitive, Operands inputs, const void* params, Tensor* outputs) {
  if (modes.interpreter) [[unlikely]] {
    modes.interpreter->evaluate(primitive, inputs, params, outputs);
  } else {
    evaluate(primitive, inputs, params, outputs);
  }
  if (primitive.kind == Kind::view) {
    autograd::make_view(*inputs[0], outputs[0], autograd::current_view_origin());
  }
  if (primitive.has_gradient && autograd::should_record(inputs)) {
    const Gradient& gradient = primitive.gradient;
    autograd::record(gradient, inputs,
                     gradient.reads_arguments ? primitive.params->copy(params) : Arguments(),
                     {outputs, static_cast<size_t>(primitive.outputs)});
  }
}

}  // namespace fg::ir

namespace fg {

[[noreturn]] static void refuse_symbol() {
  fail("a number of a captured function is used outside of it, where it has no value");
}

void Scalar::ask() const {
  if (modes.interpreter) modes.interpreter->symbol_asked(symbol_);
  refuse_symbol();
}

Tensor symbol_tensor(const Scalar& symbol) {
  Tensor number;
  if (modes.interpreter) number = modes.interpreter->symbol_tensor(symbol.symbol());
  if (!number.defined()) refuse_symbol();
  return number;
}

Scalar number_in(const Tensor& tensor) {
  return tensor.is_abstract() && modes.interpreter ? modes.interpreter->symbol_of(tensor)
                                                   : tensor.item();
}

}  // namespace fg
