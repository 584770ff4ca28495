// Programs as explanations see them.
#include <fmt/format.h>

#include "compile/programs.h"

namespace fg::compiler {

// "backward", and where only some gradients come or are wanted: which.
static std::string title_of(const Request& request) {
  size_t come = 0, wanted = 0;
  for (capture::Tangent kind : request.tangents) come += kind != capture::Tangent::none;
  for (bool one : request.wanted) wanted += one;
  std::string title = "backward";
  if (come < request.tangents.size()) {
    title += fmt::format(", from {} of {} results", come, request.tangents.size());
  }
  if (wanted < request.wanted.size()) {
    title += fmt::format(", to {} of {} inputs", wanted, request.wanted.size());
  }
  return title;
}

std::vector<Programs::CompiledGraph> Programs::compiled_graphs() {
  std::scoped_lock lock(mutex_);
  std::vector<CompiledGraph> result;
  if (training_) result.push_back({"forward", training_->graph.get(), {}, training_->from});
  if (inference_) {
    const char* title = training_ ? "forward without gradients" : "forward";
    result.push_back({title, inference_->graph.get(), {}, inference_->from});
  }
  for (const auto& [request, backward] : backwards_) {
    result.push_back({title_of(request), backward.graph.get(), backward.phases, backward.from});
  }
  if (training_ && backwards_.empty() && gradients_.empty()) {
    ensure_placed(nullptr);
    capture::Tangents all(function_.differentiable_count(), capture::Tangent::plain);
    capture::Function gradient = capture::gradient_of(function_, all, false);
    std::scoped_lock lock_trace(*function_.mutex);
    std::vector<size_t> saved;
    result.push_back({"backward (not called yet)", backward_graph(gradient, saved), {}, {}});
  }
  for (auto& [request, again] : gradients_) {
    if (!again.programs) continue;
    for (CompiledGraph& inner : again.programs->compiled_graphs()) {
      inner.title = title_of(request) + " that is differentiated again: " + inner.title;
      result.push_back(std::move(inner));
    }
  }
  return result;
}

std::vector<Programs::SavedInfo> Programs::saved() {
  std::scoped_lock lock(mutex_);
  std::vector<SavedInfo> result;
  for (size_t i = 0; training_ && i < training_->saved.size(); i++) {
    const Kept& kept = training_->kept[i];
    const ir::Graph& graph = training_->graph.get();
    bool input = kept.from == Kept::From::input;
    result.push_back({input ? graph.inputs[kept.index] : graph.outputs[kept.index],
                      input                             ? "an input"
                      : kept.from == Kept::From::output ? "a result"
                                                        : "a value of its own",
                      training_->saved[i].why});
  }
  return result;
}

}  // namespace fg::compiler
