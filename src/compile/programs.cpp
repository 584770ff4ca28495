#include "compile/programs.h"

#include <algorithm>

#include "autograd/active_hooks.h"
#include "autograd/meta.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/trace.h"
#include "compile/compiled_node.h"
#include "compile/stored_programs.h"
#include "ir/run.h"
#include "passes/memory.h"
#include "passes/passes.h"

namespace fg::compiler {

using capture::Function;
using ir::Role;
using ir::ValueId;

Programs::Programs(Function function, ProgramOptions options, std::vector<ValueId> known)
    : function_(std::move(function)), options_(std::move(options)), known_(std::move(known)) {}

// What the graph of a forward is given: inputs, known values, seeds.
ir::Ends Programs::forward_inputs() const {
  ir::Ends inputs;
  for (size_t i = 0; i < function_.inputs.size(); i++) {
    inputs.add(function_.inputs[i].value, function_.input_roles[i]);
  }
  for (size_t i = 0; i < known_.size(); i++) {
    inputs.add(known_[i], {Role::Kind::saved, static_cast<int64_t>(i)});
  }
  const auto& drawn = function_.trace->tracer.drawn;
  for (size_t i = 0; i < drawn.size(); i++) {
    inputs.add(drawn[i].seed, {Role::Kind::seed, static_cast<int64_t>(i)});
  }
  return inputs;
}

passes::JointGraph Programs::joint(const Function& gradient) const {
  passes::JointGraph joint{function_.trace->tracer.graph, function_.end, {}, {}, {}};
  joint.inputs = forward_inputs().values;
  for (const Function::Out& out : function_.outputs) joint.results.push_back(out.value);
  for (const Function::Out& out : gradient.outputs) joint.gradients.push_back(out.value);
  if (!gradient.live.empty()) {
    // Other requests may read of them what was saved, not what is there; they may be written.
    const std::vector<ValueId>& reads = gradient.reads_values;
    joint.gradients.insert(joint.gradients.end(), reads.begin(), reads.end());
  }
  const capture::Trace& trace = *function_.trace;
  for (size_t input : gradient.live) joint.shown.push_back(trace.inputs()[input].value);
  for (const capture::Output& output : trace.outputs) {
    if (output.defined && output.of_input) joint.shown.push_back(trace.inputs()[output.of].value);
  }
  for (const capture::Result& result : trace.results) {
    auto input = result.part && result.part->of_input ? result.part->of : result.view_of_input;
    if (input) joint.shown.push_back(trace.inputs()[*input].value);
  }
  return joint;
}

static std::vector<bool> used_values(const ir::Graph& graph) {
  std::vector<bool> used(graph.values.size());
  for (const ir::Operation& operation : graph.operations) {
    for (ValueId input : operation.inputs) {
      if (input != ir::kNoValue) used[input] = true;
    }
  }
  for (ValueId output : graph.outputs) {
    if (output != ir::kNoValue) used[output] = true;
  }
  return used;
}

void Programs::finish(ir::Graph& graph, const char* what) const {
  if (options_.passes)
    passes::run_passes(graph, what);
  else
    ir::verify(graph, what);
}

void Programs::find_used(const ir::Graph& graph, Forward& forward) const {
  std::vector<bool> used = used_values(graph);
  for (const Kept& kept : forward.kept) {
    if (kept.from == Kept::From::input) used[graph.inputs[kept.index]] = true;
  }
  for (size_t i = 0; i < function_.inputs.size() + known_.size(); i++) {
    forward.used.push_back(used[graph.inputs[i]]);
  }
}

static int64_t count_work(const ir::Graph& graph) {
  constexpr int64_t kUnknown = 16 * 1024, kPerOperation = 256;
  auto work = static_cast<int64_t>(graph.operations.size()) * kPerOperation;
  for (const ir::ValueInfo& value : graph.values) {
    Dim elements = product(value.sizes);
    work += elements.is_constant() ? elements.value() : kUnknown;
  }
  return work;
}

void Programs::find_alone(const ir::Graph& graph, std::vector<Kept>& all) {
  passes::Memory memory(graph);
  std::vector<int> shown(graph.values.size());
  for (ValueId output : graph.outputs) {
    if (output != ir::kNoValue) shown[memory.root[output]]++;
  }
  for (Kept& kept : all) {
    if (kept.from != Kept::From::extra) continue;
    ValueId value = graph.outputs[kept.index];
    kept.alone = memory.made[value] && memory.root[value] == value && shown[value] == 1;
  }
}

// For every input whether its gradient depends on some tangent.
static std::vector<bool> find_varying(const Function& function, const Function& gradient) {
  const ir::Graph& graph = function.trace->tracer.graph;
  std::vector<bool> depends(graph.values.size()), varies(function.inputs.size());
  for (size_t i = function.inputs.size(); i < gradient.inputs.size(); i++) {
    bool tangent = gradient.input_roles[i].kind == Role::Kind::tangent;
    depends[gradient.inputs[i].value] = tangent;
  }
  for (size_t i = function.end; i < graph.operations.size(); i++) {
    const ir::Operation& operation = graph.operations[i];
    bool any = std::any_of(operation.inputs.begin(), operation.inputs.end(),
                           [&](ValueId input) { return input != ir::kNoValue && depends[input]; });
    for (int k = 0; any && k < operation.outputs(); k++) {
      depends[operation.output + static_cast<ValueId>(k)] = true;
    }
  }
  for (const Function::Out& out : gradient.outputs) {
    if (out.role.kind != Role::Kind::gradient) continue;
    auto input = static_cast<size_t>(out.role.index);
    varies[input] = out.value != ir::kNoValue && depends[out.value];
  }
  return varies;
}

void Programs::plan_gradient(Forward& forward, const Tensors* inputs) const {
  capture::Tangents all(function_.differentiable_count(), capture::Tangent::plain);
  forward.gradient = capture::gradient_of(function_, all, false, inputs);
  const Function& gradient = *forward.gradient;
  if (capture::runs_code_of_user(function_)) forward.traced = text_of(gradient);
  std::scoped_lock lock(*function_.mutex);
  {
    timing::Phase phase("partition");
    forward.saved = options_.partition ? options_.partition(joint(gradient))
                                       : passes::partition_default(joint(gradient));
  }
  forward.live = gradient.live;
  for (const Function::Write& write : gradient.writes) forward.written.push_back(write.place);
  forward.varies = find_varying(function_, gradient);
  forward.watched = gradient.reads_outputs;
  forward.reach = capture::reach_of(function_);
  forward.reached.resize(function_.inputs.size());
  for (const std::vector<bool>& from : forward.reach) {
    for (size_t i = 0; i < from.size(); i++) forward.reached[i] = forward.reached[i] || from[i];
  }
  for (const Function::Out& out : function_.outputs) {
    if (!out.differentiable) continue;
    Function saved;
    capture::find_saved(function_, out, saved);
    forward.watched.insert(forward.watched.end(), saved.reads_outputs.begin(),
                           saved.reads_outputs.end());
    forward.watched_behind.push_back(watched_by(saved));
  }
  find_held(gradient, forward);
}

std::string Programs::partition_text(const std::vector<passes::Saved>& all) const {
  std::string out;
  for (const passes::Saved& saved : all) {
    const ir::ValueInfo& info = function_.trace->tracer.graph.values[saved.value];
    out += fmt::format("save %{} {}{}: {}\n", saved.value, name(info.dtype), text(info.sizes),
                       saved.why);
  }
  return out;
}

ForwardTexts Programs::take_texts(Forward& forward, bool kept) const {
  ForwardTexts texts;
  std::optional<Function> gradient = std::exchange(forward.gradient, std::nullopt);
  if (!kept && !logging::enabled(logging::Topic::graph)) return texts;
  if (options_.guards) texts.guards = options_.guards();
  if (gradient) add_joint(forward, std::move(*gradient), texts);
  log_texts(texts, "");
  return texts;
}

void Programs::add_joint(const Forward& forward, Function whole, ForwardTexts& texts) const {
  whole.outputs.insert(whole.outputs.begin(), function_.outputs.begin(), function_.outputs.end());
  texts.joint = capture::graph_of(whole).text();
  texts.partition = partition_text(forward.saved);
}

Forward Programs::compile_forward(bool record, Forward result, const cache::Key* key) {
  Stopwatch watch;
  ForwardTexts texts = take_texts(result, key != nullptr);
  std::scoped_lock lock(*function_.mutex);
  const capture::Tracer& tracer = function_.trace->tracer;
  ir::Ends inputs = forward_inputs(), outputs;
  for (const Function::Out& out : function_.outputs) outputs.add(out.value, out.role);
  auto place = [](const std::vector<ValueId>& values, ValueId value) {
    return static_cast<size_t>(std::find(values.begin(), values.end(), value) - values.begin());
  };
  size_t own = outputs.values.size();
  for (const passes::Saved& saved : result.saved) {
    result.saved_strides.push_back(tracer.graph.values[saved.value].strides);
    size_t input = place(inputs.values, saved.value), output = place(outputs.values, saved.value);
    if (input < inputs.values.size()) {
      result.kept.push_back({Kept::From::input, input});
    } else if (output < own) {
      result.kept.push_back({Kept::From::output, output});
    } else {
      result.kept.push_back({Kept::From::extra, outputs.values.size()});
      outputs.add(saved.value, {Role::Kind::saved, static_cast<int64_t>(result.kept.size() - 1)});
    }
  }
  ir::Graph graph = ir::cut(tracer.graph, inputs, outputs, function_.checked);
  finish(graph, "forward");
  find_used(graph, result);
  if (record) find_alone(graph, result.kept);
  result.work = count_work(graph);
  graph.overwrites = !record;
  Code code;
  const Backend& backend = !record && options_.inference ? options_.inference : options_.forward;
  result.run = backend ? backend(graph) : compile_keeping(graph, code, options_.native);
  result.graph = std::move(graph);
  if (key && code) {
    store_or_count(
        *key, [&] { return store_forward(result, texts, *code, lines_[record]); }, watch);
  }
  return result;
}

Forward& Programs::forward(bool record) {
  if (Forward* ready = ready_[record].load(std::memory_order_acquire)) return *ready;
  std::scoped_lock lock(mutex_);
  auto& made = record ? training_ : inference_;
  if (!made) made = std::make_unique<Forward>(make_forward(record));
  ready_[record].store(made.get(), std::memory_order_release);
  return *made;
}

ir::ValueInfo Programs::input_info(size_t i) const {
  std::scoped_lock lock(*function_.mutex);  // another thread may trace more
  return function_.trace->tracer.graph.values[function_.inputs[i].value];
}

const ir::Graph& Programs::forward_graph(bool record) { return forward(record).graph.get(); }

std::string Programs::plan() {
  forward(true);
  std::scoped_lock lock(mutex_);
  ensure_placed(nullptr);
  return partition_text(training_->saved);
}

// Of the first `count` inputs only those stay that something reads; which ones those are.
static std::vector<size_t> drop_unused_inputs(ir::Graph& graph, size_t count) {
  std::vector<bool> used = used_values(graph);
  std::vector<size_t> kept;
  std::vector<ValueId> inputs;
  std::vector<Role> roles;
  for (size_t i = 0; i < graph.inputs.size(); i++) {
    if (i < count && !used[graph.inputs[i]]) continue;
    if (i < count) kept.push_back(i);
    inputs.push_back(graph.inputs[i]);
    roles.push_back(graph.input_roles[i]);
  }
  graph.inputs = std::move(inputs);
  graph.input_roles = std::move(roles);
  return kept;
}

ir::Graph Programs::cut_backward(const Function& gradient) const {
  ir::Ends inputs, outputs;
  for (size_t i = 0; i < training_->saved.size(); i++) {
    inputs.add(training_->saved[i].value, {Role::Kind::saved, static_cast<int64_t>(i)});
  }
  for (size_t i = function_.inputs.size(); i < gradient.inputs.size(); i++) {
    inputs.add(gradient.inputs[i].value, gradient.input_roles[i]);
  }
  auto before = static_cast<int64_t>(inputs.values.size() - gradient.inputs.size());
  for (const Function::Out& out : gradient.outputs) {
    Role role = out.role;  // where the function's inputs were there are saved values
    if (role.kind == Role::Kind::mutation) role.index += before;
    outputs.add(out.value, role);
  }
  return ir::cut(function_.trace->tracer.graph, inputs, outputs);
}

ir::Graph Programs::backward_graph(const Function& gradient, std::vector<size_t>& saved) const {
  ir::Graph graph = cut_backward(gradient);
  finish(graph, "backward");
  saved = drop_unused_inputs(graph, training_->saved.size());
  for (Role& role : graph.output_roles) {
    bool mutation = role.kind == Role::Kind::mutation;
    if (mutation) role.index -= static_cast<int64_t>(training_->saved.size() - saved.size());
  }
  for (size_t k = 0; k < saved.size(); k++) {
    if (training_->kept[saved[k]].alone) graph.consumable.push_back(graph.inputs[k]);
  }
  return graph;
}

std::vector<size_t> Programs::watched_by(const Function& gradient) const {
  std::vector<size_t> watched = gradient.reads_inputs;
  for (size_t i : gradient.reads_outputs) watched.push_back(function_.inputs.size() + i);
  return watched;
}

Backward Programs::compile_backward(const Request& request, const Tensors& inputs,
                                    std::optional<Function> gradient, const cache::Key* key) {
  Stopwatch watch;
  ensure_placed(&inputs);
  if (!gradient)
    gradient = capture::gradient_of(function_, request.tangents, false, &inputs, request.wanted);
  std::scoped_lock lock(*function_.mutex);
  Backward result;
  ir::Graph graph = backward_graph(*gradient, result.saved);
  Code code;
  result.run =
      options_.backward ? options_.backward(graph) : compile_keeping(graph, code, options_.native);
  result.watched = watched_by(*gradient);
  take_effects(*gradient, result);
  result.graph = std::move(graph);
  if (key && code) {
    store_or_count(*key, [&] { return store_backward(result, *code, lines_[true]); }, watch);
  }
  return result;
}

const Backward* Programs::find_backward(const Request& request) {
  std::scoped_lock lock(mutex_);
  auto found = backwards_.find(request);
  return found == backwards_.end() ? nullptr : &found->second;
}

const Backward& Programs::backward(const Request& request, const Tensors& inputs) {
  std::scoped_lock lock(mutex_);
  auto found = backwards_.find(request);
  if (found == backwards_.end())
    found = backwards_.emplace(request, make_backward(request, inputs)).first;
  return found->second;
}

const Programs::DifferentiableGradient& Programs::gradient(const Request& request,
                                                           const Tensors& inputs) {
  std::scoped_lock lock(mutex_);
  DifferentiableGradient& made = gradients_[request];
  if (!made.programs) {
    ensure_placed(&inputs);
    Function gradient =
        capture::gradient_of(function_, request.tangents, true, &inputs, request.wanted);
    std::scoped_lock lock_trace(*function_.mutex);
    made.watched = watched_by(gradient);
    made.through = capture::outputs_behind(function_, gradient);
    std::vector<ValueId> known;  // as in eager code, what was saved is not computed again
    for (size_t i = 0; i < training_->saved.size(); i++) {
      bool is_input = training_->kept[i].from == Kept::From::input;
      size_t place = training_->kept[i].index - function_.inputs.size();
      if (is_input && place >= known_.size()) continue;  // inputs and seeds are given anyway
      made.known.push_back(i);
      known.push_back(training_->saved[i].value);
    }
    made.programs =
        Ref<Programs>::adopt(new Programs(std::move(gradient), options_, std::move(known)));
  }
  return made;
}

Tensors Programs::call(const Tensors& inputs, const Tensors& known, const Tensors& seeds,
                       bool record, Ref<CompiledNode>* made) {
  Forward& forward = this->forward(record);
  timing::Span span("call", "forward");
  Tensors more;
  if (!known.empty() || !seeds.empty()) {
    more = inputs;
    for (const Tensors* others : {&known, &seeds})
      more.insert(more.end(), others->begin(), others->end());
  }
  const Tensors& given = more.empty() ? inputs : more;
  Tensors values = forward.run(given);
  if (size_t expected = forward.outputs(function_.outputs.size()); values.size() != expected) {
    fail("a compiled forward returned {} values; expected {}, one per output of its graph",
         values.size(), expected);
  }
  for (size_t i = 0; i < function_.outputs.size(); i++) {
    if (!values[i].defined()) continue;
    // An input as it was, or the value of another output: a tensor of its own over that memory.
    if (values[i].use_count() > 1) values[i] = alias(values[i]);
    uint32_t version = function_.outputs[i].version;
    if (version > 0 && function_.outputs[i].role.kind != Role::Kind::mutation)
      values[i].impl()->storage->version = version;
  }
  if (!record) return values;
  auto node = Ref<CompiledNode>::adopt(new CompiledNode(Ref<Programs>::share(this), inputs, seeds));
  uint32_t next = 0;
  for (size_t i = 0; i < function_.outputs.size(); i++) {
    if (!function_.outputs[i].differentiable) continue;
    node->add_input_metadata(values[i].sizes(), values[i].dtype());
    autograd::set_gradient_edge(values[i], {node, next++});
  }
  node->expect(forward.kept.size());
  for (const Kept& kept : forward.kept) {
    bool input = kept.from == Kept::From::input;
    const Tensor& value = input ? given[kept.index] : values[kept.index];
    node->keep(value, kept.from == Kept::From::output);
  }
  node->watch_outputs(values, forward.watched);
  if (made) *made = node;
  autograd::node_created([&] { return Ref<autograd::Node>(node); });
  values.resize(function_.outputs.size());
  return values;
}

}  // namespace fg::compiler
