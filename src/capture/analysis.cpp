#include "capture/analysis.h"

#include <algorithm>

#include "autograd/accumulate_grad.h"
#include "autograd/op_node.h"
#include "autograd/saved_value.h"
#include "base/fail.h"
#include "tensor/geometry.h"

namespace fg::capture {

namespace {

using autograd::Node;

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

// Refuses changes of an input that cannot be repeated around a captured graph yet.
void check_input(const Lifted& input) {
  const Tensor& inside = input.inside;
  if (!(inside.impl()->storage == input.storage)) {
    refuse(
        "the function gives an input another storage (set_data); assign to its elements instead");
  }
  if (inside.is_leaf() && inside.requires_grad() != input.needs_grad) {
    refuse("the function changes requires_grad of an input");
  }
  auto has_grad = [](const Tensor& tensor) {
    autograd::AutogradMeta* meta = autograd::meta_of(tensor);
    return meta && meta->grad.defined();
  };
  if (has_grad(input.leaf) || has_grad(inside)) {
    refuse("the function calls backward(), which changes .grad; use autograd::grad");
  }
  Ref<Node> history = inside.grad_fn();
  if (has_hooks(input) || inside.retains_grad() || (history && history->hooks())) {
    refuse("the function registers a hook on an input, which would outlive the call");
  }
}

autograd::ViewOrigin origin_of(const Tensor& tensor) {
  autograd::AutogradMeta* meta = autograd::meta_of(tensor);
  return meta ? meta->view.origin : autograd::ViewOrigin::plain;
}

bool has_history(const Tensor& tensor) { return static_cast<bool>(tensor.grad_fn()); }

class Analysis {
 public:
  Analysis(Trace& trace, const Tensors& outputs) : trace_(trace) {
    for (const Tensor& output : outputs) {
      outputs_.push_back(output.defined() ? trace.tracer.stand_in(output) : output);
      output_places_.try_emplace(outputs_.back().impl(), outputs_.size() - 1);
    }
  }

  void run() {
    for (size_t i = 0; i < trace_.inputs().size(); i++) {
      check_input(trace_.inputs()[i]);
      find_mutation(i);
      input_places_.emplace(trace_.inputs()[i].storage.get(), i);
    }
    // Outputs with a history come first: those without can be made of them.
    for (bool history : {true, false}) {
      for (const Tensor& output : outputs_) {
        if (output.defined() && has_history(output) == history) place(output);
      }
    }
    find_inner();
    for (size_t i = 0; i < outputs_.size(); i++) add_output(i);
    for (const Output& out : trace_.outputs) {
      if (out.retains_grad && (out.steps.empty() ? is_inner_result(out) : out.inner)) {
        refuse(
            "the function keeps the gradient of a result that it computes another one from or has "
            "a hook on");
      }
    }
  }

 private:
  // A new version gives a view another node: what was computed before has the old one, and here it
  // is not known which came first.
  static void refuse_new_history(const Lifted& input) {
    if (!input.entry || !input.real.is_view()) return;
    refuse(
        "the function changes the layout of a tensor that shares memory with a view it was given, "
        "which gives the view a new history; do it to a clone");
  }
  void find_mutation(size_t i) {
    const Lifted& input = trace_.inputs()[i];
    uint32_t bumps = input.storage->version;
    if (has_new_layout(input)) {
      Dim shift = input.inside.impl()->offset - input.real.impl()->offset;
      trace_.relayouts.push_back({i, input.inside.sizes(), input.inside.strides(), shift});
    }
    if (!trace_.tracer.was_written(input.inside)) {
      if (bumps > 0) {
        refuse_new_history(input);
        trace_.bumps.emplace_back(i, bumps);
      }
      return;
    }
    if (overlaps_itself(input.real.sizes(), input.real.strides())) {
      refuse("the function writes to an input whose elements share memory (expand); clone it");
    }
    if (input.entry && input.real.is_view() && has_caller_hooks(input.real)) {
      refuse(
          "the function writes to a view that has hooks, which stay with what it was before; put "
          "them on it after the call, or write to a clone");
    }
    Ref<Node> history = input.inside.grad_fn();
    bool differentiable = history && !(history == input.entry);
    trace_.mutations.push_back({i, trace_.tracer.read(input.inside), differentiable, bumps});
  }

  // ---- how an output can be made

  bool is_inner_result(const Output& out) const {
    return !out.of_input && trace_.results[out.of].inner;
  }

  // The views that lead from `view` back to `base`; none if there is another way.
  std::optional<Tensors> way_between(const Tensor& base, const Tensor& view) const {
    Tensors way{view};
    while (!way.back().is_same(base)) {
      const ViewStep* step = trace_.tracer.step_of(way.back());
      if (!step) return {};
      way.push_back(step->of);
    }
    if (has_history(view) && !is_history_of_views(way)) return {};
    return way;
  }
  // Fills in how an output is made: from the nearest output on its way, else from its base.
  void add_steps(const Tensors& way, Output& out) {
    size_t end = way.size() - 1;
    bool all_before = out.of_input;  // all so far came before the last write
    for (size_t i = 1; i < end && !out.of_output; i++) {
      auto found = output_places_.find(way[i].impl());
      if (found == output_places_.end()) continue;
      place(way[i]);
      const Output& other = made_[way[i].impl()];
      if (other.steps.empty()) continue;  // it has more to its history than views
      out.of_output = found->second;
      all_before &= other.steps_before == other.steps.size();
      end = i;
    }
    uint32_t last = way.back().impl()->storage->version;
    for (size_t i = end; i-- > 0;) {
      const ViewStep& step = *trace_.tracer.step_of(way[i]);
      out.steps.push_back({step.primitive, step.params});
      out.steps_before += all_before && step.version != last;
    }
  }
  // Whether the history of way[0] is nothing but nodes of views, back to the last of the way: a
  // custom function or a hook on the way is more.
  static bool is_history_of_views(const Tensors& way) {
    size_t at = 0;
    while (at + 1 < way.size()) {
      Ref<Node> node = way[at].grad_fn();
      if (!node || node->hooks() || !dynamic_cast<autograd::OpNode*>(node.get())) return false;
      if (node->next_edges().size() != 1) return false;
      const autograd::Edge& edge = node->next_edge(0);
      size_t next = at + 1;
      while (next < way.size() && !leads_to(edge, way[next])) next++;
      if (next == way.size()) return false;
      at = next;
    }
    return true;
  }
  static bool leads_to(const autograd::Edge& edge, const Tensor& tensor) {
    autograd::Edge own = autograd::gradient_edge(tensor);
    return own.is_valid() && own.node == edge.node && own.input_nr == edge.input_nr;
  }

  std::optional<size_t> find_input(const Tensor& output) const {
    auto found = input_places_.find(output.impl()->storage.get());
    return found == input_places_.end() ? std::nullopt : std::optional(found->second);
  }
  std::optional<size_t> find_result(const Tensor& root) const {
    auto found = result_places_.find(root.impl());
    return found == result_places_.end() ? std::nullopt : std::optional(found->second);
  }
  // The tensor that an output is a view of, or itself; a leaf that is a view stands for its base.
  Tensor base_of(const Tensor& output) const {
    if (!output.is_view()) return output;
    Tensor base = output._base();
    auto input = find_input(base);
    bool of_leaf = input && trace_.inputs()[*input].view_base.defined() &&
                   trace_.inputs()[*input].view_base.is_same(base);
    return of_leaf ? trace_.inputs()[*input].inside : base;
  }
  // Finds out how an output is made, and adds the result that it is, or is a view of.
  void place(const Tensor& output) {
    if (made_.count(output.impl()) > 0) return;
    Output& out = made_[output.impl()];
    out.recorded = has_history(output);
    out.origin = origin_of(output);
    out.retains_grad = output.retains_grad();
    if (output.is_inference() != modes.inference) {
      refuse("the function switches inference mode, and returns a tensor that was made in it");
    }
    Tensor base = base_of(output);
    auto way = way_between(base, output);
    if (!way) base = output;  // a view with more to its history than views
    auto input = find_input(base);
    out.of_input = input && trace_.inputs()[*input].inside.is_same(base);
    out.of = out.of_input ? *input : add_result(base);
    if (way) add_steps(*way, out);
    autograd::AutogradMeta* meta = autograd::meta_of(output);
    if (!out.steps.empty() && meta && meta->requires_grad) refuse_made_leaf();
    if (!out.of_input && meta && meta->grad.defined()) {
      refuse(
          "the function returns a tensor that got a .grad inside; return that gradient as a result "
          "of its own");
    }
  }
  [[noreturn]] static void refuse_made_leaf() {
    refuse("the function returns a tensor that it made and that requires grad; make it outside");
  }

  size_t add_result(const Tensor& root) {
    if (auto found = find_result(root)) return *found;
    if (root.requires_grad() && root.is_leaf() && !root.is_view()) refuse_made_leaf();
    auto input = find_input(root);
    if (root.is_view() && !is_view_of(root, input)) add_result(root._base());  // it comes with it
    const Storage* storage = root.impl()->storage.get();
    auto other = storage_places_.find(storage);
    bool fresh = !input && other == storage_places_.end();
    Result result{root, ir::kNoValue, has_history(root), false, fresh};
    if (fresh) {
      trace_.tracer.settle(root, shown_);
      result.value = trace_.tracer.read(root);
    } else if (!result.differentiable && !root.is_view()) {
      result.part = part_of(root, input, other);
    } else {
      add_sharing(root, input, result);
    }
    if (const VersionCounter* counter = root.impl()->own_version.get()) {
      result.counter = counters_.try_emplace(counter, counters_.size()).first->second;
      result.count = counter->value;
    }
    size_t place = trace_.results.size();
    result_places_[root.impl()] = place;
    storage_places_.emplace(storage, place);
    trace_.results.push_back(std::move(result));
    return place;
  }
  bool is_view_of(const Tensor& root, std::optional<size_t> input) const {
    return input && trace_.inputs()[*input].inside.is_same(base_of(root));
  }
  Result::Region part_of(const Tensor& root, std::optional<size_t> input,
                         std::unordered_map<const Storage*, size_t>::const_iterator other) const {
    size_t of = input ? *input : other->second;
    const Tensor& whole = input ? trace_.inputs()[of].inside : trace_.results[of].base;
    if (!contains_memory(whole, root)) {
      refuse("two outputs show different parts of one memory; return clones of them");
    }
    return {input.has_value(), of, root.sizes(), root.strides(),
            root.impl()->offset - whole.impl()->offset};
  }
  // A history of its own over memory that someone else has.
  void add_sharing(const Tensor& root, std::optional<size_t> input, Result& result) {
    if (input && trace_.tracer.was_written(trace_.inputs()[*input].inside)) {
      refuse("an output shares memory with an input that is written, and has another history");
    }
    result.value = trace_.tracer.read(root);
    if (!root.is_view()) return;
    result.origin = origin_of(root);
    if (is_view_of(root, input))
      result.view_of_input = input;
    else
      result.view_of_result = find_result(root._base());
  }

  void add_output(size_t i) {
    const Tensor& output = outputs_[i];
    if (!output.defined()) {
      trace_.outputs.emplace_back().defined = false;
      return;
    }
    trace_.outputs.push_back(made_[output.impl()]);
    size_t first = output_places_[output.impl()];
    if (first != i) trace_.outputs.back().same_as = first;
  }

  // ---- outputs that other outputs are computed from

  struct Search {
    // By node: outputs of it that someone gets, and where it is written down that they are inner.
    std::unordered_map<const Node*, std::vector<std::pair<uint32_t, bool*>>> watched;
    std::vector<const Node*> stack;
    std::unordered_set<const Node*> seen;

    void add(const Node* node) {
      if (seen.insert(node).second) stack.push_back(node);
    }
    void watch(const Tensor& tensor, bool* inner, bool from_here) {
      autograd::Edge edge = autograd::gradient_edge(tensor);
      watched[edge.node.get()].emplace_back(edge.input_nr, inner);
      *inner |= has_hook(*edge.node, edge.input_nr);  // the caller does not see gradients behind it
      if (from_here) add(edge.node.get());
    }
    void follow(const autograd::Edge& edge) {
      for (auto [output, inner] : watched[edge.node.get()]) *inner |= output == edge.input_nr;
      add(edge.node.get());
    }
  };
  void watch_outputs(Search& search) {
    for (Mutation& mutation : trace_.mutations) {
      if (!mutation.differentiable) continue;
      search.watch(trace_.inputs()[mutation.input].inside, &mutation.inner, true);
    }
    for (Result& result : trace_.results) {
      if (result.differentiable) search.watch(result.base, &result.inner, true);
    }
    // Views are made around the graph: what is a view of them is, too.
    for (const Tensor& output : outputs_) {
      Output* out = output.defined() ? &made_[output.impl()] : nullptr;
      if (out && !out->steps.empty() && out->recorded) search.watch(output, &out->inner, false);
    }
  }
  void find_inner() {
    std::unordered_set<const Node*> leaves;
    for (const Lifted& input : trace_.inputs()) {
      if (input.needs_grad) leaves.insert(autograd::gradient_edge(input.leaf).node.get());
    }
    Search search;
    watch_outputs(search);
    while (!search.stack.empty()) {
      const Node* node = search.stack.back();
      search.stack.pop_back();
      if (node->next_edges().empty() && dynamic_cast<const autograd::AccumulateGrad*>(node) &&
          leaves.count(node) == 0) {
        refuse("a result depends on a tensor that requires grad and that the function made");
      }
      bool leads_on = false;
      for (const autograd::Edge& edge : node->next_edges()) {
        if (!edge.is_valid()) continue;
        leads_on = true;
        search.follow(edge);
      }
      // Rules for what leads nowhere do not run; custom functions do.
      if (leads_on || !dynamic_cast<const autograd::OpNode*>(node)) check_saved(node);
    }
  }
  static bool has_hook(const Node& node, uint32_t output) {
    if (!node.hooks()) return false;
    for (const auto& hook : node.hooks()->tensor.entries) {
      if (hook.index == static_cast<int>(output)) return true;
    }
    return false;
  }
  // An eager backward() would fail, also where its gradients are not wanted.
  static void check_saved(const Node* given) {
    auto* node = const_cast<Node*>(given);
    for (size_t i = 0; i < node->saved_count(); i++) {
      if (autograd::SavedValue* saved = node->saved_value(i)) saved->check_version(node);
    }
  }

  Trace& trace_;
  Tensors outputs_;
  std::unordered_set<ir::ValueId> shown_;
  std::unordered_map<const TensorImpl*, Output> made_;
  std::unordered_map<const TensorImpl*, size_t> result_places_, output_places_;
  std::unordered_map<const Storage*, size_t> storage_places_, input_places_;
  std::unordered_map<const VersionCounter*, size_t> counters_;
};

}  // namespace

void analyse(Trace& trace, const Tensors& outputs) { Analysis(trace, outputs).run(); }

}  // namespace fg::capture
