#include "ir/call.h"

#include "ir/primitive.h"
#include "ir/record.h"
#include "ir/registry.h"

namespace fg::ir {

void Call::run() {
  if (primitive)
    evaluate(*primitive, inputs, params, outputs.data());
  else
    outputs = body->run();
}

static void interpret_or_run(Call& call) {
  if (modes.interpreter) [[unlikely]]
    modes.interpreter->call(call);
  else
    call.run();
}

// Marks the output of a view primitive; results of a function that makes no views are none, even
// where a view was made inside of it.
static void mark_views(const Call& call) {
  if (call.primitive) {
    if (call.primitive->kind != Kind::view) return;
    autograd::make_view(*call.inputs[0], call.outputs[0], autograd::current_view_origin());
  } else if (call.function->schema.returns[0].alias.empty()) {
    for (const Tensor& output : call.outputs) autograd::forget_view(output);
  }
}

static Arguments arguments_of(const Call& call) {
  if (call.body) return call.body->arguments();
  return call.gradient->reads_arguments ? call.primitive->params->copy(call.params) : Arguments();
}

static void call_custom(Call& call) {
  std::span<const Tensor> inputs = call.inputs[0].all();
  call.custom->connect(inputs);
  interpret_or_run(call);
  call.custom->finish(inputs, call.outputs);
}

void call(Call& call) {
  if (call.custom) [[unlikely]]
    return call_custom(call);
  bool recording = call.gradient && autograd::should_record(call.inputs);
  if (call.primitive) {
    interpret_or_run(call);
  } else {
    AutoGradMode below(modes.grad_enabled && !recording);
    interpret_or_run(call);
  }
  mark_views(call);
  if (recording) autograd::record(*call.gradient, call.inputs, arguments_of(call), call.outputs);
}

void call_inplace(Call& call) {
  const FunctionInfo& info = *call.function;
  const Tensor& self = *call.inputs[0];
  bool recording = is_floating(self.dtype()) && autograd::should_record(call.inputs);
  autograd::check_inplace(self, info.schema.name.data(), recording);
  refuse_overlap(info, call.inputs);
  auto write = [&] {
    AutoGradMode below(modes.grad_enabled && !call.gradient);
    call.gradient ? interpret_or_run(call) : call.run();
    write_inplace(info, self, call.outputs[0]);
  };
  if (!call.gradient) {
    write();
    return autograd::adopt_history(self, call.outputs[0]);
  }
  if (!recording) return write();
  Tensor original;
  if (autograd::saves_input(*call.gradient, call.inputs, 0)) original = self.clone();
  autograd::record_inplace(*call.gradient, call.inputs, call.body->arguments(), original, write);
}

void bind(const PrimitiveInfo& primitive, Operands inputs, const void* params, Tensor* outputs) {
  Call call{.primitive = &primitive,
            .gradient = primitive.has_gradient ? &primitive.gradient : nullptr,
            .inputs = inputs,
            .params = params,
            .outputs = {outputs, static_cast<size_t>(primitive.outputs)}};
  ir::call(call);
}

}  // namespace fg::ir
