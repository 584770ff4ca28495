#include "ir/call.h"

#include "base/fail.h"
#include "base/recorder.h"
#include "ir/primitive.h"
#include "ir/record.h"
#include "ir/registry.h"

namespace fg::ir {

void Call::run() {
  if (primitive) return evaluate(*primitive, inputs, params, outputs.data());
  timing::Operation operation("function", function ? function->schema.name : "custom function");
  outputs = body->run();
}

static void interpret_or_run(Call& call) {
  if (modes.interpreter) [[unlikely]]
    modes.interpreter->call(call);
  else
    call.run();
}

void forget_views(const FunctionInfo& function, std::span<Tensor> outputs) {
  if (!function.schema.returns[0].alias.empty()) return;
  for (const Tensor& output : outputs) autograd::forget_view(output);
}

static void mark_views(const Call& call) {
  if (call.function) return forget_views(*call.function, call.outputs);
  if (call.primitive->kind != Kind::view) return;
  autograd::make_view(*call.inputs[0], call.outputs[0], autograd::current_view_origin());
}

void refuse_twice(const Interpreter& interpreter) {
  for (const Interpreter* one = modes.interpreter; one; one = one->outer()) {
    if (one != &interpreter) continue;
    fail(ErrorKind::internal, "an interpreter is entered again inside of another one");
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
  if (call.function && call.recording) {
    NoGradGuard below;
    interpret_or_run(call);
  } else {
    interpret_or_run(call);
  }
  mark_views(call);
  if (!call.recording) return;
  autograd::record(*call.gradient, call.inputs, arguments_of(call), call.outputs);
}

void call_inplace(Call& call) {
  const FunctionInfo& info = *call.function;
  const Tensor& self = *call.inputs[0];
  bool recording = is_differentiable(self.dtype()) && autograd::should_record(call.inputs);
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
            .gradient = &primitive.gradient,
            .recording = primitive.has_gradient && autograd::should_record(inputs),
            .inputs = inputs,
            .params = params,
            .outputs = {outputs, static_cast<size_t>(primitive.outputs)}};
  ir::call(call);
}

}  // namespace fg::ir
