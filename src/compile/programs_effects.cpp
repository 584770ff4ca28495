// Effects of a backward beside its gradients, and the tensors that a call keeps for it.
#include <algorithm>

#include "base/fail.h"
#include "compile/programs.h"
#include "ir/run.h"

namespace fg::compiler {

using capture::Function;
using ir::ValueId;

// The same operations in an order that follows from the results: when something is first met is a
// matter of what was traced before.
static ir::Graph in_order_of_results(ir::Graph graph) {
  std::vector<size_t> maker(graph.values.size(), graph.operations.size());
  for (size_t i = 0; i < graph.operations.size(); i++) {
    for (int k = 0; k < graph.operations[i].outputs(); k++) {
      maker[graph.operations[i].output + static_cast<ValueId>(k)] = i;
    }
  }
  std::vector<bool> added(graph.operations.size() + 1);
  added.back() = true;  // an input
  std::vector<ir::Operation> ordered;
  std::vector<std::pair<size_t, size_t>> stack;  // an operation, its inputs that were looked at
  for (ValueId output : graph.outputs) {
    if (output != ir::kNoValue) stack.emplace_back(maker[output], 0);
    while (!stack.empty()) {
      auto& [place, next] = stack.back();
      if (added[place]) {
        stack.pop_back();
      } else if (next < graph.operations[place].inputs.size()) {
        ValueId input = graph.operations[place].inputs[next++];
        if (input != ir::kNoValue) stack.emplace_back(maker[input], 0);
      } else {
        added[place] = true;
        ordered.push_back(graph.operations[place]);
      }
    }
  }
  graph.operations = std::move(ordered);
  return ir::cut(graph, {graph.inputs, graph.input_roles}, {graph.outputs, graph.output_roles});
}

std::string Programs::text_of(const Function& gradient) {
  capture::AnonymousGraph graph =
      capture::anonymous(in_order_of_results(capture::graph_of(gradient)));
  return graph.text + graph.constants;
}

void Programs::check_gradient(const Tensors& inputs) {
  std::scoped_lock lock(mutex_);
  if (!training_ || training_->traced.empty()) return;
  capture::Tangents all(function_.differentiable_count(), capture::Tangent::plain);
  if (text_of(capture::gradient_of(function_, all, false, &inputs)) == training_->traced) return;
  capture::refuse(
      "a backward or a hook does something else each time it runs: it keeps something on its "
      "context, in an object or in a variable; pass that as a tensor");
}

// Refuses effects that were not known when the forward ran: its node has not got their tensors.
void Programs::take_effects(const Function& gradient, Backward& backward) const {
  auto has = [](const std::vector<size_t>& all, size_t one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  bool known = true;
  for (size_t input : gradient.live) known &= has(training_->live, input);
  for (const Function::Write& write : gradient.writes)
    known &= has(training_->written, write.place);
  if (!known) {
    fail(
        "CompiledFunctionBackward: a backward or a hook reads or writes an input of the function "
        "only where some of the gradients come, or are asked for; ask for all of them");
  }
  backward.live = gradient.live;
  backward.writes = gradient.writes;
}

// Derivatives of higher order read what the first one does, and the inputs that it is computed from
// where it was not saved.
void Programs::find_held(const Function& gradient, Forward& forward) const {
  const ir::Graph& graph = function_.trace->tracer.graph;
  std::vector<bool> known(graph.values.size());
  for (const passes::Saved& saved : forward.saved) known[saved.value] = true;
  std::vector<bool> needed(graph.values.size());
  for (ValueId value : gradient.reads_values) needed[value] = !known[value];
  for (size_t i = function_.end; i-- > 0;) {
    const ir::Operation& operation = graph.operations[i];
    bool any = false;
    for (int k = 0; k < operation.outputs(); k++) {
      any |= needed[operation.output + static_cast<ValueId>(k)];
    }
    for (ValueId input : operation.inputs) {
      if (any && input != ir::kNoValue && !known[input]) needed[input] = true;
    }
  }
  forward.held.assign(function_.inputs.size(), !forward.traced.empty());
  forward.again.resize(function_.inputs.size());
  for (size_t i : gradient.reads_inputs) forward.held[i] = true;
  for (const std::vector<size_t>& behind : forward.watched_behind) {
    for (size_t i : behind) {
      if (i < forward.held.size()) forward.held[i] = true;
    }
  }
  for (size_t i = 0; i < function_.inputs.size(); i++) {
    forward.again[i] = needed[function_.inputs[i].value];
  }
}

// Results may be the new elements of an input, or show a part of one.
bool Programs::may_save_live() const {
  const std::vector<size_t>& live = training_->live;
  if (live.empty()) return false;
  return std::any_of(training_->kept.begin(), training_->kept.end(), [&](const Kept& kept) {
    if (kept.from != Kept::From::input) return kept.from == Kept::From::output || !kept.alone;
    return std::find(live.begin(), live.end(), kept.index) != live.end();
  });
}

std::optional<size_t> Programs::kept_place(size_t input) const {
  for (size_t i = 0; i < training_->kept.size(); i++) {
    const Kept& kept = training_->kept[i];
    if (kept.from == Kept::From::input && kept.index == input) return i;
  }
  return {};
}

}  // namespace fg::compiler
