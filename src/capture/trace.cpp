#include "capture/trace.h"

#include "autograd/meta.h"
#include "base/fail.h"
#include "base/trace.h"
#include "capture/analysis.h"
#include "capture/line.h"

namespace fg::capture {

void refuse(const std::string& why) { fail("capture: {}", why); }

bool has_caller_hooks(const Tensor& tensor) {
  autograd::AutogradMeta* meta = autograd::meta_of(tensor);
  if (!meta) return false;
  return meta->leaf_hooks || (meta->grad_fn && meta->grad_fn->hooks());
}

// Inside of a function that computes gradients itself, hooks of the caller would run.
static void refuse_hooked(const Trace& trace) {
  if (!trace.tracer.ran_backward) return;
  for (const Lifted& input : trace.inputs()) {
    if (input.entry) {
      refuse("the function computes gradients, and an argument is no leaf: pass a detached one");
    }
    if (has_caller_hooks(input.real)) {
      refuse("the function computes gradients of a tensor that has hooks; remove them");
    }
  }
}

std::unique_ptr<Trace> trace(const Body& body, const Tensors& arguments,
                             const TraceOptions& options) {
  timing::Phase phase("capture");
  auto result = std::make_unique<Trace>();
  Tracer& tracer = result->tracer;
  tracer.on_lift = options.on_lift;
  if (!tracer.on_lift) {
    tracer.on_lift = [parameters = int64_t{0}](const Tensor& tensor, bool exactly) mutable {
      if (exactly) return LiftedAs{};
      return LiftedAs{tensor, {ir::Role::Kind::parameter, parameters++}};
    };
  }
  tracer.on_source = options.on_source ? options.on_source : Callback<std::string()>(current_line);
  Tensors inside;
  for (size_t i = 0; i < arguments.size(); i++) {
    ir::Role role{ir::Role::Kind::argument, static_cast<int64_t>(i)};
    if (i < options.names.size()) role.name = options.names[i];
    inside.push_back(tracer.add_argument(arguments[i], std::move(role)));
  }
  Tracing tracing(tracer);
  bool mode = modes.grad_enabled;
  Tensors outputs = body(inside);
  result->grad_mode_after = modes.grad_enabled;
  modes.grad_enabled = mode;
  for (const Tensor& output : outputs) {
    if (output.defined()) tracer.read(output);  // lifts what the function returns as it found it
  }
  refuse_hooked(*result);
  analyse(*result, outputs);
  tracer.on_source = {};  // later operations run in no line of the user
  return result;
}

}  // namespace fg::capture
