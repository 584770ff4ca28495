#include "compile/version.h"

#include <chrono>

#include "autograd/meta.h"
#include "base/fail.h"
#include "compile/compiled_node.h"
#include "compile/counters.h"

namespace fg::compiler {

using capture::Lifted;
using capture::Mutation;
using capture::Output;

// Two inputs over one memory of which one is written: what the other shows afterwards is not known
// to the graph.
static void refuse_shared_writes(const capture::Trace& trace,
                                 const std::vector<size_t>& in_backward) {
  auto check = [&](size_t changed) {
    for (size_t i = 0; i < trace.inputs().size(); i++) {
      if (i == changed) continue;
      const auto& storage = trace.inputs()[changed].real.impl()->storage;
      if (!(trace.inputs()[i].real.impl()->storage == storage)) continue;
      capture::refuse(
          "the function writes to a tensor that shares memory with another input; pass a clone of "
          "one of them");
    }
  };
  for (const Mutation& mutation : trace.mutations) check(mutation.input);
  for (auto [input, bumps] : trace.bumps) check(input);
  for (size_t input : in_backward) {
    if (input < trace.inputs().size()) check(input);
  }
}

// The gradient of what is left of a view goes through its base, in derivatives of any order; where
// nothing is left it is zero, which has no second one in the graph.
static void refuse_overwritten_views(const capture::Trace& trace, const Programs& programs) {
  for (const Mutation& mutation : trace.mutations) {
    const Lifted& input = trace.inputs()[mutation.input];
    if (!mutation.differentiable || !input.entry || !input.real.is_view()) continue;
    autograd::Edge next = input.inside.grad_fn()->next_edge(0);
    bool once = !mutation.inner && (!next.is_valid() || next.node == input.entry);
    if (once || programs.gradient_varies(mutation.input)) continue;
    capture::refuse(
        "the function overwrites all of an input that is a view and has a history, and uses it "
        "then; write to a clone");
  }
}

// A write through .data is not noticed: an eager gradient reads the new elements, a captured one
// may have kept the old ones.
static void refuse_shown_data(const capture::Trace& trace, const Programs& programs) {
  for (size_t i = 0; i < trace.results.size(); i++) {
    if (!trace.results[i].counter || !programs.is_read_back(trace.mutations.size() + i)) continue;
    capture::refuse("the function returns .data of a tensor that its gradient reads; use detach()");
  }
}

Version::Version()
    : grad_mode_(modes.grad_enabled),
      inference_mode_(modes.inference),
      default_dtype_(default_dtype()) {}

Version::Version(const capture::Body& body, const Tensors& arguments,
                 const capture::TraceOptions& options, const ProgramOptions& program_options)
    : Version() {
  timing::Collector collector;
  auto began = std::chrono::steady_clock::now();
  capture(body, arguments, options, program_options);
  make(arguments.size());
  phases_ = collector.take();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - began;
  count_seconds(took.count());
}

std::string Version::cache_key(const capture::Body& body, const Tensors& arguments,
                               const capture::TraceOptions& options,
                               const ProgramOptions& program_options) {
  Version version;
  version.capture(body, arguments, options, program_options);
  return version.programs_->cache_key(version.records_);
}

void Version::capture(const capture::Body& body, const Tensors& arguments,
                      const capture::TraceOptions& options, const ProgramOptions& program_options) {
  trace_ = capture::trace(body, arguments, options);
  if (program_options.remember_trace) memory_ = TraceMemory(*trace_, arguments.size());
  refuse_shared_writes(*trace_, {});
  capture::Function function = capture::function_of(trace_);
  bool needs_grad = false;
  for (const Lifted& input : trace_->inputs()) {
    guards_.emplace_back(input.real);
    guards_.back().check_offset = trace_->tracer.depends_on_offset(input.inside);
    guards_.back().check_view = input.needs_grad && !input.entry;
    needs_grad |= input.needs_grad;
  }
  records_ = function.differentiable_count() > 0;
  if (records_ && !needs_grad) {
    capture::refuse("a result depends on a tensor that requires grad and that the function made");
  }
  for (TensorGuard& guard : guards_) guard.check_hooks = trace_->tracer.ran_backward;
  for (const Mutation& mutation : trace_->mutations) {
    TensorGuard& guard = guards_[mutation.input];
    guard.check_view |= trace_->inputs()[mutation.input].needs_grad || mutation.differentiable;
    guard.check_hooks |= guard.view && guard.requires_grad;
  }
  ProgramOptions known = program_options;
  known.about = about_inputs();
  known.guards = [guards = guards_, conditions = conditions()] {
    std::string out;
    for (const std::string& condition : conditions) out += condition + "\n";
    for (size_t i = 0; i < guards.size(); i++) {
      out += fmt::format("input {}: {}\n", i, text_of(guards[i]));
    }
    return out;
  };
  programs_ = Ref<Programs>::adopt(new Programs(std::move(function), std::move(known)));
}

void Version::make(size_t arguments) {
  programs_->prepare(records_);  // captures the gradient too: what it refuses is refused now
  if (records_) {
    refuse_shared_writes(*trace_, programs_->written());
    refuse_overwritten_views(*trace_, *programs_);
    refuse_shown_data(*trace_, *programs_);
    live_is_saved_ = programs_->may_save_live();
    live_is_saved_ |= programs_->reads_results() && runs_code_of_user();
    if (live_is_saved_ && graph_counters.saved_tensor_hooks > 0) {
      capture::refuse(
          "a backward or a hook may reach an input or a result that is saved, too, of which "
          "saved-tensor hooks may make two; call the function outside of them");
    }
  }
  Tensors inputs;
  for (size_t i = 0; i < trace_->inputs().size(); i++) {
    const Lifted& input = trace_->inputs()[i];
    inputs.push_back(input.real);
    if (i < arguments) continue;
    lifted_.push_back(input.real);
    lifted_roles_.push_back(input.role);
  }
  bool changes = !trace_->mutations.empty() || !trace_->bumps.empty();
  bool later = records_ && !programs_->live().empty();  // in a backward
  if (changes || later) aliases_ = alias_pattern(inputs);
  plain_ = is_plain() && !later;
  trace_->tracer.forget_outside();
}

// Facts about inputs that the graph does not show: kinds of tensors, and shared memory.
std::string Version::about_inputs() const {
  std::string out;
  Tensors inputs;
  for (size_t i = 0; i < guards_.size(); i++) {
    const TensorGuard& guard = guards_[i];
    bool flags[] = {guard.requires_grad, guard.leaf, guard.inference, guard.number, guard.view};
    for (bool flag : flags) out += flag ? '1' : '0';
    if (guard.check_offset) out += "+" + guard.offset.text();
    out += ' ';
    inputs.push_back(trace_->inputs()[i].real);
  }
  for (size_t place : alias_pattern(inputs)) out += fmt::format("{} ", place);
  return out;
}

bool Version::is_plain() const {
  const capture::Trace& trace = *trace_;
  if (!trace.bumps.empty() || !trace.mutations.empty() || !trace.relayouts.empty()) return false;
  if (!trace.tracer.drawn.empty() || trace.grad_mode_after != grad_mode_) return false;
  if (trace.outputs.size() != trace.results.size()) return false;
  for (size_t i = 0; i < trace.outputs.size(); i++) {
    const Output& output = trace.outputs[i];
    const capture::Result& result = trace.results[i];
    bool itself = output.defined && !output.of_input && output.of == i && !output.of_output &&
                  !output.same_as && output.steps.empty() && !output.inner && !output.retains_grad;
    bool alone = !result.part && !result.counter && !result.view_of_input && !result.view_of_result;
    if (!itself || !alone) return false;
  }
  return true;
}

bool Version::matches(const Tensors& inputs) const {
  if (modes.grad_enabled != grad_mode_ || modes.inference != inference_mode_) return false;
  if (default_dtype() != default_dtype_) return false;
  if (inputs.size() != guards_.size()) return false;
  if (live_is_saved_ && graph_counters.saved_tensor_hooks > 0) return false;
  for (size_t i = 0; i < inputs.size(); i++) {
    if (!guards_[i].holds(inputs[i])) return false;
  }
  return aliases_.empty() || aliases_ == alias_pattern(inputs);
}

std::string Version::difference(const Tensors& inputs) const {
  if (modes.grad_enabled != grad_mode_) return "grad mode";
  if (modes.inference != inference_mode_) return "inference mode";
  if (default_dtype() != default_dtype_) return "another default dtype";
  if (inputs.size() != guards_.size()) return "another number of tensors";
  for (size_t i = 0; i < inputs.size(); i++) {
    std::string found = guards_[i].difference(inputs[i]);
    if (!found.empty()) return fmt::format("tensor {} has {}", i, found);
  }
  if (live_is_saved_ && graph_counters.saved_tensor_hooks > 0) return "saved-tensor hooks";
  return matches(inputs) ? "" : "other inputs share memory";
}

std::vector<std::string> Version::conditions() const {
  std::vector<std::string> result;
  result.push_back(fmt::format("gradients are {}recorded", grad_mode_ ? "" : "not "));
  if (inference_mode_) result.push_back("inference mode is on");
  result.push_back(fmt::format("the default dtype is {}", name(default_dtype_)));
  if (!aliases_.empty()) result.push_back("the same inputs share memory: some are written to");
  return result;
}

std::string Version::text() const { return programs_->forward_graph(records_).text(); }

bool Version::is_long() const {
  constexpr int64_t kElements = 16 * 1024;
  return programs_->work(records_) >= kElements;
}

Tensors Version::reserve_seeds() const {
  Tensors seeds;
  for (const auto& drawn : trace_->tracer.drawn) {
    const Generator& generator = drawn.generator ? *drawn.generator : default_generator();
    PhiloxKey key = generator.reserve(drawn.numbers);
    seeds.push_back(tensor(
        std::vector<int64_t>{static_cast<int64_t>(key.seed), static_cast<int64_t>(key.offset)}));
  }
  return seeds;
}

// Inputs that the call writes to are kept for the backward as they were, with their old history.
// What gets another shape alone keeps its memory.
Tensors Version::inputs_before(const Tensors& inputs, bool record) const {
  Tensors result = inputs;
  for (const capture::Relayout& change : trace_->relayouts) {
    result[change.input] = alias(inputs[change.input]);
  }
  if (!record) return result;
  auto keep = [&](size_t i) {
    autograd::Edge edge = autograd::gradient_edge(inputs[i]);
    NoGradGuard no_grad;
    Tensor old = empty_strided_tensor(inputs[i].sizes(), inputs[i].strides(), inputs[i].dtype());
    old.copy_(inputs[i]);
    if (edge.is_valid()) autograd::set_gradient_edge(old, std::move(edge));
    result[i] = old;
  };
  for (const Mutation& mutation : trace_->mutations) keep(mutation.input);
  return result;
}

void Version::relayout(const Tensors& inputs) const {
  for (const capture::Relayout& change : trace_->relayouts) {
    TensorImpl& impl = *inputs[change.input].impl();
    impl.offset += change.shift;
    impl.data += change.shift.value() * static_cast<int64_t>(item_size(impl.dtype));
    impl.set_layout(change.sizes, change.strides);
  }
}

void Version::write_back(const Tensors& inputs, const Tensors& values) const {
  for (size_t i = 0; i < trace_->mutations.size(); i++) {
    const Mutation& mutation = trace_->mutations[i];
    const Tensor& input = inputs[mutation.input];
    // The history of a view goes through its base; any other tensor takes this node's.
    bool through_base = mutation.differentiable && input.is_view();
    AutoGradMode mode(through_base);
    bool in_place = values[i].impl()->data == input.impl()->data;  // the code wrote it itself
    if (mutation.bumps == 0) {  // written through .data: autograd is not told
      if (!in_place) input.data().copy_(values[i]);
      continue;
    }
    if (in_place)
      input.impl()->bump_version();
    else
      input.copy_(values[i]);
    for (uint32_t k = 1; k < mutation.bumps; k++) input.impl()->bump_version();
    if (mutation.differentiable && !through_base) {
      autograd::rebase_history(input, autograd::gradient_edge(values[i]));
    }
    // A view gets a new node here, and what the function computed from it leads to the old one.
    bool misses = through_base ? mutation.inner : !mutation.differentiable && input.is_view();
    if (misses && input.grad_fn()) {
      input.grad_fn()->refuse_watching(
          "the gradient of a tensor that a compiled function wrote to and used would miss a part; "
          "write to a clone() in the function");
    }
  }
}

// Results that are views with a history of their own.
void Version::relate_views(const Tensors& inputs, const Tensors& results) const {
  for (size_t i = 0; i < results.size(); i++) {
    const capture::Result& result = trace_->results[i];
    if (!result.view_of_input && !result.view_of_result) continue;
    const Tensor& base =
        result.view_of_input ? inputs[*result.view_of_input] : results[*result.view_of_result];
    autograd::Edge edge = autograd::gradient_edge(results[i]);
    autograd::make_view(base, results[i], result.origin);
    autograd::ensure_meta(results[i]).view.origin = result.origin;
    if (edge.is_valid()) autograd::set_gradient_edge(results[i], std::move(edge));
  }
}

// Applies the steps of an output from `first` to `last` to what comes before them.
static Tensor apply_steps(const Output& output, size_t first, size_t last, Tensor result) {
  static const ir::NoParams none;
  AutoGradMode mode(output.recorded);
  for (size_t i = first; i < last; i++) {
    const capture::Step& step = output.steps[i];
    Tensor view;
    const ir::Operand operands[] = {result};
    ir::bind(*step.primitive, operands, step.params ? step.params.get() : &none, &view);
    result = view;
  }
  // Whether it may be written is decided by what made it: one view of several, a custom function.
  if (first < last && last == output.steps.size() && result.is_view()) {
    autograd::ensure_meta(result).view.origin = output.origin;
  }
  return result;
}

// Views that were made before the last write: autograd finds out, as it does in eager code.
void Version::make_before(size_t i, const Tensors& inputs, Tensors& outputs) const {
  const Output& output = trace_->outputs[i];
  if (output.steps_before == 0 || output.same_as || outputs[i].defined()) return;
  if (output.of_output) make_before(*output.of_output, inputs, outputs);
  const Tensor& start = output.of_output ? outputs[*output.of_output] : inputs[output.of];
  outputs[i] = apply_steps(output, 0, output.steps_before, start);
}

void Version::make_output(size_t i, const Tensors& inputs, const Tensors& results,
                          std::vector<bool>& done, Tensors& outputs) const {
  const Output& output = trace_->outputs[i];
  if (!output.defined || done[i]) return;
  done[i] = true;
  if (output.of_output) make_output(*output.of_output, inputs, results, done, outputs);
  if (output.same_as) {
    make_output(*output.same_as, inputs, results, done, outputs);
    outputs[i] = outputs[*output.same_as];
    return;
  }
  Tensor start = output.steps_before > 0 ? outputs[i]
                 : output.of_output      ? outputs[*output.of_output]
                 : output.of_input       ? inputs[output.of]
                                         : results[output.of];
  outputs[i] = apply_steps(output, output.steps_before, output.steps.size(), std::move(start));
  if (output.inner && outputs[i].grad_fn()) {
    outputs[i].grad_fn()->refuse_watching(
        "the gradient of a view that a compiled function returns and uses for another result "
        "would miss that part; return a clone() of it from the function");
  }
  if (output.retains_grad) outputs[i].retain_grad();
}

// Parts of the memory of inputs or of other results.
Tensors Version::make_results(const Tensors& inputs, Tensors results) const {
  auto mutations = static_cast<std::ptrdiff_t>(trace_->mutations.size());
  results.erase(results.begin(), results.begin() + mutations);
  for (size_t i = 0; i < results.size(); i++) {
    const auto& part = trace_->results[i].part;
    if (!part) continue;
    const Tensor& whole = part->of_input ? inputs[part->of] : results[part->of];
    results[i] = alias(whole, part->sizes, part->strides, whole.impl()->offset + part->offset);
  }
  std::map<size_t, Ref<VersionCounter>> counters;
  for (size_t i = 0; i < results.size(); i++) {
    const capture::Result& result = trace_->results[i];
    if (!result.counter) continue;
    Ref<VersionCounter>& counter = counters[*result.counter];
    if (!counter) counter = Ref<VersionCounter>::adopt(new VersionCounter);
    counter->value = result.count;
    if (!result.differentiable) results[i] = alias(results[i]);  // the node may keep the other
    results[i].impl()->own_version = counter;
  }
  return results;
}

// An input that leads to the node of the call is kept without its history.
void Version::hold_live(CompiledNode& node, const Tensors& inputs) const {
  for (size_t i : programs_->live()) {
    bool leads_here = false;
    for (const Mutation& mutation : trace_->mutations) {
      leads_here |= mutation.input == i && mutation.differentiable;
    }
    node.hold_live(i, leads_here ? alias(inputs[i]) : inputs[i]);
  }
}

Tensors Version::call(const Tensors& inputs, const Callback<size_t()>& state) {
  if (plain_ && !state) return programs_->call(inputs, {}, {}, records_);
  for (auto [input, bumps] : trace_->bumps) {
    for (uint32_t k = 0; k < bumps; k++) inputs[input].impl()->bump_version();
  }
  Ref<CompiledNode> node;
  Tensors values =
      programs_->call(inputs_before(inputs, records_), {}, reserve_seeds(), records_, &node);
  relayout(inputs);
  Tensors outputs(trace_->outputs.size());
  for (size_t i = 0; i < outputs.size(); i++) make_before(i, inputs, outputs);
  write_back(inputs, values);
  for (const Mutation& mutation : trace_->mutations) {
    if (node) node->watch_input(mutation.input, inputs[mutation.input]);
  }
  if (node) hold_live(*node, inputs);
  if (node) node->ask_state(state);
  Tensors results = make_results(inputs, std::move(values));
  relate_views(inputs, results);
  std::vector<bool> done(outputs.size());
  for (size_t i = 0; i < outputs.size(); i++) make_output(i, inputs, results, done, outputs);
  if (trace_->grad_mode_after != grad_mode_) modes.grad_enabled = trace_->grad_mode_after;
  return outputs;
}

}  // namespace fg::compiler
