// Effects of a backward on memory that was there before it. A backward is traced once and runs many
// times, so each of those effects is found here, put down, and undone in the trace.
#include <algorithm>

#include "autograd/graph_task.h"
#include "autograd/meta.h"
#include "base/fail.h"
#include "capture/tracer.h"
#include "tensor/geometry.h"

namespace fg::capture {

using ir::kNoValue;

using Scope = Tracer::BackwardScope;

Scope::BackwardScope(Tracer& tracer, bool runs_code_of_user, bool touches)
    : tracer_(tracer),
      runs_code_of_user_(runs_code_of_user),
      touches_(touches),
      first_own_(tracer.memories_.size()) {
  tracer.read_back.clear();
  tracer.all_read_.clear();
  tracer.backward = true;
  tracer.scope_ = this;
  if (!runs_code_of_user) return;
  for (const Lifted& input : tracer.lifted_) {
    know(input.leaf);
    know(input.inside);
    tracer.memories_[input.storage.get()].forget_parts();  // as after an earlier backward
  }
  for (const auto& [view, step] : tracer.steps_) known_.insert(view);
}

Scope::~BackwardScope() {
  tracer_.scope_ = nullptr;
  for (const Before& before : touched_) {
    Storage* storage = before.touched.base.impl()->storage.get();
    Memory& memory = tracer_.memories_[storage];
    memory.value = before.value;
    memory.number = before.number;
    memory.written = before.written;
    memory.written_as_data = before.written_as_data;
    memory.forget_parts();
    storage->version = before.version;
  }
  for (size_t i = counters_.size(); i-- > 0;) counters_[i].first->value = counters_[i].second;
}

bool Scope::is_own(const Storage* storage) const {
  return storage->is_abstract() && tracer_.memories_.place_of(storage) >= first_own_;
}

std::optional<size_t> Scope::input_of(const Storage* storage) const {
  for (size_t i = 0; i < tracer_.lifted_.size(); i++) {
    if (tracer_.lifted_[i].storage.get() == storage) return i;
  }
  return {};
}

Scope::Before* Scope::find(const Storage* storage) {
  for (Before& before : touched_) {
    if (before.touched.base.impl()->storage.get() == storage) return &before;
  }
  return nullptr;
}

void Scope::refuse(const std::string& why) {
  refused_ = "capture: " + why;
  fail("{}", refused_);
}

// From now on its value is that of when the backward runs.
Scope::Before& Scope::touch(const Storage* storage, Memory& memory) {
  Touched touched{memory.base, input_of(storage)};
  touched_.push_back({touched, memory.value, memory.number, memory.written, memory.written_as_data,
                      storage->version});
  Before& before = touched_.back();
  if (!before.touched.input) return before;
  const Lifted& input = tracer_.lifted_[*before.touched.input];
  if (!(input.inside.sizes() == memory.geometry->sizes) ||
      !(input.inside.strides() == memory.geometry->strides)) {
    refuse(
        "a backward or a hook uses an input whose shape the function changed in place; use the "
        "out-of-place form");
  }
  ir::ValueInfo info = tracer_.graph.values[input.value];
  before.touched.now = memory.value = tracer_.graph.add_input(info, input.role);
  memory.forget_parts();
  return before;
}

// Saved tensors are compared by version when the backward runs; so are tensors that it reaches by
// itself, unless their elements are read anew.
void Tracer::note_read(const Storage* storage, Memory& memory) {
  if (scope_->is_own(storage)) return;
  all_read_.insert(storage);
  if (!scope_->runs_code_of_user_ || memory.number) return;
  if (read_back.count(storage) > 0 || scope_->find(storage)) return;
  if (scope_->touches_ && scope_->input_of(storage))
    scope_->touch(storage, memory);
  else
    read_back.insert(storage);
}

// Whether a gradient that waits for an input is the same memory. Where the input is used outside,
// eager code may have added it to another gradient before, and a write would not be seen there.
static bool waits_for_an_input(const Tensor& self, const std::vector<Lifted>& inputs) {
  autograd::GraphTask* task = autograd::current_task();
  if (!task) return false;
  auto shares = [&](const Tensor& other) {
    return other.defined() && other.impl()->storage == self.impl()->storage;
  };
  auto is_entry = [&](const autograd::Node* node) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&](const Lifted& input) { return input.entry.get() == node; });
  };
  for (const autograd::NodeState& state : task->states()) {
    bool of_input = !state.captures.empty() || is_entry(state.node);
    if (of_input && std::any_of(state.grads.begin(), state.grads.end(), shares)) return true;
  }
  return std::any_of(task->captured.begin(), task->captured.end(), shares);
}

void Tracer::note_write(const Tensor& self, Memory& memory) {
  const Storage* storage = self.impl()->storage.get();
  if (scope_->runs_code_of_user_ && waits_for_an_input(self, lifted_)) {
    scope_->refuse(
        "a backward or a hook writes to a gradient that an input gets, too, and that may have been "
        "added to another one before; write to a clone()");
  }
  bool comes = memory.is_input && memories_.place_of(storage) >= scope_->first_own_;
  if (!comes && scope_->is_own(storage)) return;
  if (VersionCounter* counter = self.impl()->own_version.get()) {
    scope_->counters_.emplace_back(Ref<VersionCounter>::share(counter), counter->value);
  }
  if (!comes && !scope_->input_of(storage)) {
    scope_->refuse(
        "a backward or a hook writes to a tensor that the function made, and that would differ in "
        "the next backward; write to a clone()");
  }
  if (auto input = scope_->input_of(storage);
      input && overlaps_itself(lifted_[*input].inside.sizes(), lifted_[*input].inside.strides())) {
    scope_->refuse(
        "a backward or a hook writes to an input whose elements share memory (expand); clone it");
  }
  if (!scope_->touches_) {
    scope_->refuse(
        "a backward or a hook writes to an input of the function, or to a gradient that it is "
        "given, which cannot be differentiated again; call backward without create_graph");
  }
  if (!scope_->find(storage)) scope_->touch(storage, memory);
}

// A new layout counts as a write, whichever tensor over that memory gets it; the rest is a matter
// of the tensor alone.
void Tracer::note_change(const Tensor& tensor, const char* what, bool of_memory) {
  const Tensor inside = stand_in(tensor);
  if (!of_memory && scope_->known_.count(inside.impl()) == 0) return;
  const Storage* storage = inside.impl()->storage.get();
  auto found = storage ? memories_.find(storage) : memories_.end();
  if (found == memories_.end() || (scope_->is_own(storage) && !found->second.is_input)) return;
  scope_->refuse(fmt::format(
      "a backward or a hook applies {} to a tensor that was there before it; do it to a "
      "clone(), or before the backward",
      what));
}

void Tracer::note_draw() {
  scope_->refuse(
      "a backward or a hook draws random numbers, others in each backward; draw them in the "
      "function");
}

std::vector<Tracer::Touched> Scope::finish() {
  if (!refused_.empty()) fail("{}", refused_);
  for (const Lifted& input : tracer_.lifted_) {
    for (const Tensor* tensor : {&input.leaf, &input.inside}) {
      autograd::AutogradMeta* meta = autograd::meta_of(*tensor);
      if (!meta || !meta->grad.defined()) continue;
      meta->grad.reset();
      refuse("a backward or a hook calls backward(), which changes .grad; use autograd.grad");
    }
  }
  std::vector<Touched> result;
  for (Before& before : touched_) {
    const Storage* storage = before.touched.base.impl()->storage.get();
    const Memory& memory = tracer_.memories_[storage];
    bool written = memory.value != (before.touched.input ? before.touched.now : before.value);
    before.touched.bumps = storage->version - before.version;
    if (written || before.touched.bumps > 0) before.touched.after = memory.value;
    result.push_back(before.touched);
  }
  return result;
}

}  // namespace fg::capture
