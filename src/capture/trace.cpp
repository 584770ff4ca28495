#include "capture/trace.h"

#include <algorithm>

#include "autograd/meta.h"
#include "base/fail.h"
#include "capture/line.h"

namespace fg::capture {

void refuse(const std::string& why) { fail("capture: {}", why); }

namespace {

bool has_hooks(const Lifted& input) {
  if (input.entry) return input.entry->hooks();
  autograd::AutogradMeta* meta = autograd::meta_of(input.leaf);
  return meta && meta->leaf_hooks;
}

bool has_new_layout(const Lifted& input) {
  const Tensor &inside = input.inside, &before = input.real;
  return !(inside.sizes() == before.sizes()) || !(inside.strides() == before.strides()) ||
         !(inside.impl()->offset == before.impl()->offset);
}

// What a call says that cannot be repeated around a captured graph yet.
void check_input(const Lifted& input) {
  const Tensor& inside = input.inside;
  if (!(inside.impl()->storage == input.storage)) {
    refuse(
        "the function gives an input another storage (set_data); assign to its elements instead");
  }
  if (has_new_layout(input) && inside.requires_grad()) {
    refuse(
        "the function changes the shape of an input that requires grad in place; use the "
        "out-of-place form");
  }
  if (inside.is_leaf() && inside.requires_grad() != input.needs_grad) {
    refuse("the function changes requires_grad of an input");
  }
  if (input.leaf.grad().defined() || inside.grad().defined()) {
    refuse("the function calls backward(), which changes .grad; use autograd::grad");
  }
  if (has_hooks(input) || inside.retains_grad()) {
    refuse("the function registers a hook on an input, which would outlive the call");
  }
}

class Analysis {
 public:
  Analysis(Trace& trace, const Tensors& outputs) : trace_(trace), outputs_(outputs) {}

  void run() {
    for (size_t i = 0; i < trace_.inputs().size(); i++) find_mutation(i);
    add_results();
    for (size_t i = 0; i < outputs_.size(); i++) add_output(i);
  }

 private:
  void find_mutation(size_t i) {
    const Lifted& input = trace_.inputs()[i];
    uint32_t bumps = input.storage->version;
    if (has_new_layout(input)) {
      Dim shift = input.inside.impl()->offset - input.real.impl()->offset;
      trace_.relayouts.push_back({i, input.inside.sizes(), input.inside.strides(), shift});
    }
    if (!trace_.tracer.was_written(input.inside)) {
      if (bumps > 0) trace_.bumps.emplace_back(i, bumps);
      return;
    }
    Ref<autograd::Node> history = input.inside.grad_fn();
    bool differentiable = history && !(history == input.entry);
    trace_.mutations.push_back({i, trace_.tracer.read(input.inside), differentiable, bumps});
  }

  // The tensor that an output is, or is a view of, to autograd. One without history may show memory
  // that a larger tensor owns.
  Tensor root_of(const Tensor& output) const {
    if (output.is_view()) return output._base();
    if (output.grad_fn()) return output;
    Tensor base = trace_.tracer.base_of(output);
    return base.grad_fn() ? output : base;
  }
  std::optional<size_t> find_result(const Tensor& root) const {
    for (size_t i = 0; i < trace_.results.size(); i++) {
      if (trace_.results[i].base.is_same(root)) return i;
    }
    return std::nullopt;
  }
  // A result over the same memory, of which the root is a part without history.
  std::optional<size_t> find_shared(const Tensor& root) const {
    for (size_t i = 0; i < trace_.results.size(); i++) {
      const Tensor& base = trace_.results[i].base;
      if (!(base.impl()->storage == root.impl()->storage)) continue;
      if (!root.grad_fn() && contains_memory(base, root)) return i;
      refuse("two outputs share memory but not their history; clone one of them");
    }
    return std::nullopt;
  }
  size_t add_result(const Tensor& root) {
    ir::ValueId value = trace_.tracer.own(trace_.tracer.read(root), shown_);
    shown_.push_back(value);
    trace_.results.push_back({root, value, static_cast<bool>(root.grad_fn())});
    return trace_.results.size() - 1;
  }
  // Roots with history first: what has none can be made of them.
  void add_results() {
    for (bool history : {true, false}) {
      for (const Tensor& given : outputs_) {
        if (!given.defined()) continue;
        Tensor output = trace_.tracer.stand_in(given);
        if (input_of(output)) continue;
        Tensor root = root_of(output);
        if (static_cast<bool>(root.grad_fn()) != history || find_result(root)) continue;
        if (!find_shared(root)) add_result(root);
      }
    }
  }
  size_t result_of(const Tensor& output) const {
    Tensor root = root_of(output);
    if (auto found = find_result(root)) return *found;
    return *find_shared(root);
  }
  std::optional<size_t> input_of(const Tensor& output) const {
    for (size_t i = 0; i < trace_.inputs().size(); i++) {
      if (trace_.inputs()[i].storage == output.impl()->storage) return i;
    }
    return std::nullopt;
  }

  void add_output(size_t i) {
    Output out;
    Tensor output = outputs_[i];
    out.defined = output.defined();
    if (!out.defined) return trace_.outputs.push_back(std::move(out));
    output = trace_.tracer.stand_in(output);
    for (size_t j = 0; j < i && !out.same_as; j++) {
      if (outputs_[j].is_same(outputs_[i])) out.same_as = j;
    }
    out.has_history = static_cast<bool>(output.grad_fn());
    out.retains_grad = output.retains_grad();
    auto input = input_of(output);
    out.of_input = input.has_value();
    out.of = input ? *input : result_of(output);
    find_steps(output, out.of_input ? trace_.inputs()[out.of].inside : trace_.results[out.of].base,
               out);
    trace_.outputs.push_back(std::move(out));
  }

  // The way from the base to the output, last step first until it is turned round.
  void find_steps(Tensor view, const Tensor& base, Output& out) {
    while (!view.is_same(base)) {
      const ViewStep* step = trace_.tracer.step_of(view);
      if (!step) {
        out.detached = true;
        out.sizes = view.sizes();
        out.strides = view.strides();
        out.offset = view.impl()->offset - base.impl()->offset;
        break;
      }
      out.steps.push_back({step->primitive, step->params});
      view = Tensor(step->of);
    }
    std::reverse(out.steps.begin(), out.steps.end());
    out.itself = out.steps.empty() && !out.detached;
  }

  Trace& trace_;
  const Tensors& outputs_;
  std::vector<ir::ValueId> shown_;
};

}  // namespace

std::unique_ptr<Trace> trace(const Body& body, const Tensors& arguments,
                             const TraceOptions& options) {
  auto result = std::make_unique<Trace>();
  Tracer& tracer = result->tracer;
  tracer.on_lift = options.on_lift;
  if (!tracer.on_lift) {
    tracer.on_lift = [parameters = int64_t{0}](const Tensor& tensor) mutable {
      return LiftedAs{tensor, {ir::Role::Kind::parameter, parameters++}};
    };
  }
  tracer.on_source = options.on_source ? options.on_source : Callback<std::string()>(current_line);
  result->arguments = arguments.size();
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
  for (const Lifted& input : tracer.lifted()) check_input(input);
  Analysis(*result, outputs).run();
  tracer.on_source = {};  // what follows runs in no line of the user
  return result;
}

}  // namespace fg::capture
