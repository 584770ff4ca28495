// Kernels and the cache: what decides their code, and what is taken from there.
#include <fmt/format.h>

#include "base/build_id.h"
#include "base/fail.h"
#include "base/level.h"
#include "base/log.h"
#include "base/version.h"
#include "capture/identity.h"
#include "compile/programs.h"
#include "compile/stored_programs.h"

namespace fg::compiler {

using capture::Function;

namespace {

constexpr const char* kUnidentified = "an operation of the user whose code has no build-id";

const char* uncached(const ProgramOptions& options) {
  if (options.forward || options.backward || options.inference) return "a back end of the user";
  if (options.partition && options.partition_name.empty()) return "a partition of the user";
  if (!options.passes) return "no passes";
  if (!options.native && !default_is_native()) return "the interpreter";
  if (build_id().empty()) return "this library has no build-id";
  return nullptr;
}

cache::Key library_key(const char* what) {
  return {{{"kind", what},
           {"library", fmt::format("{} {}", version(), build_id())},
           {"level", name(level())}}};
}

// A gradient that only tracing it tells.
std::string joint_text(const Function& gradient, std::string& unidentified) {
  capture::AnonymousGraph graph = capture::anonymous(capture::graph_of(gradient));
  std::string text = graph.text + graph.constants + graph.code;
  for (size_t i : gradient.reads_inputs) text += fmt::format(" input{}", i);
  for (size_t i : gradient.reads_outputs) text += fmt::format(" output{}", i);
  if (!graph.unidentified.empty()) unidentified = graph.unidentified;
  return text;
}

std::string request_text(const Request& request) {
  std::string out;
  for (capture::Tangent kind : request.tangents) out += std::to_string(static_cast<int>(kind));
  out += ' ';
  for (bool wanted : request.wanted) out += wanted ? '1' : '0';
  return out;
}

// What is found but cannot be loaded is compiled anew, and said.
template <class Load>
auto load_or_none(const cache::Entry& entry, const Load& load)
    -> std::optional<decltype(load(entry))> {
  try {
    return load(entry);
  } catch (const std::exception& error) {
    cache::note_bypass("unloadable code");
    logging::warn(fmt::format("an entry of the cache cannot be loaded: {}", error.what()));
    return {};
  }
}

}  // namespace

// What runs later, and is not in the trace of the forward: a backward makes tensors too.
static cache::Field ambient() { return {"default dtype", std::string(name(default_dtype()))}; }

Programs::KeyOrReason Programs::identify(bool record, Forward& plan, bool& planned) {
  if (const char* why = uncached(options_)) return {{}, why};
  capture::Identity identity;
  try {
    identity = capture::identify(function_, record, known_);
  } catch (const std::exception& error) {  // nobody's program ends because of the cache
    return {{}, std::string("unexpected: ") + error.what()};
  }
  std::string unidentified = std::move(identity.graph.unidentified);
  cache::Key key = library_key("forward");
  key.fields.push_back({"gradients", record ? "recorded" : "not recorded"});
  key.fields.push_back({"partition", options_.partition_name});
  key.fields.push_back(ambient());
  key.fields.push_back({"inputs", options_.about});
  key.fields.push_back({"graph", std::move(identity.graph.text)});
  key.fields.push_back({"constants", std::move(identity.graph.constants)});
  key.fields.push_back({"code", std::move(identity.graph.code)});
  key.fields.push_back({"outputs", std::move(identity.outputs)});
  key.fields.push_back({"nodes", std::move(identity.gradient)});
  lines_[record] = std::move(identity.lines);
  if (record) known_by_nodes_ = identity.unknown.empty();
  if (record && !known_by_nodes_) {
    plan_gradient(plan);
    planned = true;
    key.fields.push_back({"gradient", joint_text(*plan.gradient, unidentified)});
  }
  if (!unidentified.empty()) return {{}, kUnidentified};
  return {std::move(key), ""};
}

std::optional<cache::Key> Programs::forward_key(bool record, Forward& plan, bool& planned) {
  if (!cache::enabled()) return {};
  timing::Phase phase("cache key");
  KeyOrReason made = identify(record, plan, planned);
  if (!made.key) cache::note_bypass(made.reason);
  return std::move(made.key);
}

std::string Programs::cache_key(bool record) {
  std::scoped_lock lock(mutex_);
  Forward plan;
  bool planned = false;
  KeyOrReason made = identify(record, plan, planned);
  if (!made.key) fail("cache_key: the cache does not keep this function: {}", made.reason);
  return hex(cache::address_of(*made.key));
}

std::optional<cache::Key> Programs::backward_key(const Request& request,
                                                 const Function* gradient) const {
  if (!key_ || !cache::enabled()) return {};
  cache::Key key = *key_;
  key.fields[0].value = "backward";
  key.fields.push_back({"request", request_text(request)});
  cache::Field now = ambient();
  key.fields.push_back({"default dtype of the backward", now.value});
  if (!gradient) return key;
  std::string unidentified;
  key.fields.push_back({"gradient for it", joint_text(*gradient, unidentified)});
  if (!unidentified.empty()) return cache::note_bypass(kUnidentified), std::nullopt;
  return key;
}

Forward Programs::make_forward(bool record) {
  Forward plan;
  bool planned = false;
  std::optional<cache::Key> key = forward_key(record, plan, planned);
  if (record) key_ = key;
  auto compile = [&] {
    if (record && !planned) plan_gradient(plan);
    return compile_forward(record, std::move(plan), key ? &*key : nullptr);
  };
  if (!key) return compile();
  cache::Search search = cache::find_or_take_turn(*key);
  if (!search.entry) return compile();
  auto load = [&](const cache::Entry& entry) {
    return load_forward(entry, record, {lines_[record], function_});
  };
  std::optional<Forward> found = load_or_none(*search.entry, load);
  if (!found) return compile();
  if (!planned) return std::move(*found);
  found->saved = std::move(plan.saved);
  found->placed = true;
  found->watched = std::move(plan.watched);
  found->watched_behind = std::move(plan.watched_behind);
  found->reach = std::move(plan.reach);
  found->reached = std::move(plan.reached);
  found->held = std::move(plan.held);
  found->again = std::move(plan.again);
  found->live = std::move(plan.live);
  found->written = std::move(plan.written);
  found->traced = std::move(plan.traced);
  found->varies = std::move(plan.varies);
  return std::move(*found);
}

// Code from the cache knows how many values it saves, but not which of this trace: the plan is made
// again where somebody asks.
void Programs::ensure_placed(const Tensors* inputs) {
  if (!training_ || training_->placed) return;
  Forward plan;
  plan_gradient(plan, inputs);
  if (plan.saved.size() != training_->saved.size()) {
    fail(ErrorKind::internal, "code from the cache saves {} values; the plan has {}",
         training_->saved.size(), plan.saved.size());
  }
  training_->saved = std::move(plan.saved);
  training_->placed = true;
}

Backward Programs::make_backward(const Request& request, const Tensors& inputs) {
  timing::Collector collector;
  std::optional<Function> gradient;
  if (key_ && !known_by_nodes_) {
    gradient = capture::gradient_of(function_, request.tangents, false, &inputs, request.wanted);
  }
  std::optional<cache::Key> key = backward_key(request, gradient ? &*gradient : nullptr);
  std::optional<Backward> result;
  cache::Search search;
  if (key) search = cache::find_or_take_turn(*key);
  auto load = [&](const cache::Entry& entry) {
    return load_backward(entry, {lines_[true], function_, gradient ? &*gradient : nullptr});
  };
  if (search.entry) result = load_or_none(*search.entry, load);
  if (result && gradient) take_effects(*gradient, *result);
  if (!result) {
    result = compile_backward(request, inputs, std::move(gradient), key ? &*key : nullptr);
  }
  result->phases = collector.take();
  return std::move(*result);
}

}  // namespace fg::compiler
