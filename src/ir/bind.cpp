#include <algorithm>

#include "base/fail.h"
#include "base/recorder.h"
#include "ir/capturing.h"
#include "ir/primitive.h"

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

const PrimitiveInfo* find_primitive(std::string_view name) {
  auto before = [](const PrimitiveInfo* a, std::string_view b) { return a->name < b; };
  auto found = std::lower_bound(table().begin(), table().end(), name, before);
  return found != table().end() && (*found)->name == name ? *found : nullptr;
}

void register_primitive(const PrimitiveInfo* primitive) {
  if (primitive->outputs < 1 || primitive->outputs > kMostOutputs) {
    fail(ErrorKind::internal, "the primitive {} has {} outputs; expected 1 to {}", primitive->name,
         primitive->outputs, kMostOutputs);
  }
  auto by_name = [](auto* a, auto* b) { return a->name < b->name; };
  auto& entries = table();
  entries.insert(std::lower_bound(entries.begin(), entries.end(), primitive, by_name), primitive);
}

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
  timing::Operation operation("kernel", primitive.name);
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
    Meta metas[kMostOutputs];
    primitive.infer(inputs, params, metas);
    for (int i = 0; i < primitive.outputs; i++) outputs[i] = allocate_output(metas[i]);
  }
  primitive.evaluate(inputs, params, outputs);
}

void ShapeInterpreter::call(Call& call) {
  if (!call.primitive) return call.run();
  Meta metas[kMostOutputs];
  call.primitive->infer(call.inputs, call.params, metas);
  for (size_t i = 0; i < call.outputs.size(); i++) {
    Tensor& output = call.outputs[i];
    output = abstract_tensor(metas[i].sizes, metas[i].dtype);
    if (metas[i].strides.size() == metas[i].sizes.size()) {
      output.impl()->set_layout(metas[i].sizes, metas[i].strides);
      output.impl()->offset = metas[i].offset;
    }
  }
}

}  // namespace fg::ir

namespace fg {

[[noreturn]] static void refuse_symbol() {
  fail("a number of a captured function is used outside of it, where it has no value");
}

void Scalar::ask() const {
  if (modes.capturing) modes.capturing->symbol_asked(symbol_);
  refuse_symbol();
}

Tensor symbol_tensor(const Scalar& symbol) {
  Tensor number;
  if (modes.capturing) number = modes.capturing->symbol_tensor(symbol.symbol());
  if (!number.defined()) refuse_symbol();
  return number;
}

Scalar number_in(const Tensor& tensor) {
  return tensor.is_abstract() && modes.capturing ? modes.capturing->symbol_of(tensor)
                                                 : tensor.item();
}

}  // namespace fg
