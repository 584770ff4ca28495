#include "compile/versions.h"

#include "base/fail.h"
#include "base/log.h"
#include "base/trace.h"

namespace fg::compiler {

namespace {

using Conditions = std::vector<Callback<bool()>>;
// Collects the conditions of the capture that runs on this thread.
thread_local Conditions* conditions_of_capture = nullptr;
std::atomic<uint64_t> changes = 0;

}  // namespace

struct Versions::Captured {
  std::string key;
  std::vector<size_t> places;  // of the arguments among the different tensors
  std::unique_ptr<Version> version;
  std::shared_ptr<const void> structure;
  std::vector<TensorGuard> parameters;  // also of those whose sizes alone were read
  Conditions conditions;
  uint64_t seen_changes = 0;  // for which `fits` is known
  bool fits = true;
  uint64_t calls = 0;  // after the one that captured it
  bool outdated = false;

  // Costs nothing while nothing changed anywhere.
  bool conditions_hold() {
    if (conditions.empty()) return true;
    uint64_t now = changes.load(std::memory_order_acquire);
    if (now != seen_changes) {
      fits = true;
      for (const auto& unchanged : conditions) fits = fits && unchanged();
      seen_changes = now;
    }
    return fits;
  }
  // Whether this is a call at which a callable that holds something is looked at again: the first
  // ones, and each that doubles their number, so that looking costs next to nothing in the end.
  bool is_due() {
    calls++;
    return calls <= 4 || (calls & (calls - 1)) == 0;
  }
};

// A call: each tensor among its arguments once, and the place of each argument among them.
struct Versions::Call {
  const FlatCall& flat;
  const FlatBody& body;
  Tensors tensors{};
  std::vector<size_t> places{};

  Call(const FlatCall& flat, const FlatBody& body) : flat(flat), body(body) {
    std::unordered_map<const TensorImpl*, size_t> known;
    for (const Tensor& argument : flat.tensors) {
      auto [place, fresh] = known.try_emplace(argument.impl(), tensors.size());
      if (fresh) tensors.push_back(argument);
      places.push_back(place->second);
    }
  }
  // The function of the different tensors.
  FlatResult run(const Tensors& different) const {
    Tensors all;
    for (size_t place : places) all.push_back(different[place]);
    return body(all);
  }
};

namespace {

// While a function is captured; also where one capture runs inside of another.
class CollectConditions {
 public:
  explicit CollectConditions(Conditions& conditions)
      : outer_(std::exchange(conditions_of_capture, &conditions)) {}
  ~CollectConditions() { conditions_of_capture = outer_; }
  CollectConditions(const CollectConditions&) = delete;
  CollectConditions& operator=(const CollectConditions&) = delete;

 private:
  Conditions* outer_;
};

bool looks_the_same(const std::vector<TensorGuard>& guards, const Tensors& tensors) {
  if (guards.size() != tensors.size()) return false;
  for (size_t i = 0; i < guards.size(); i++) {
    if (!guards[i].holds(tensors[i])) return false;
  }
  return true;
}

}  // namespace

void depends_on(Callback<bool()> unchanged) {
  if (conditions_of_capture) conditions_of_capture->push_back(std::move(unchanged));
}
void something_changed() { changes.fetch_add(1, std::memory_order_release); }

Versions::Versions(CompileOptions options, ProgramOptions programs)
    : options_(std::move(options)),
      programs_(std::move(programs)),
      policy_(options_.name, options_.fullgraph) {}
Versions::~Versions() = default;

std::string Versions::refused() {
  std::scoped_lock lock(mutex_);
  return policy_.refusal();
}

void Versions::each(const Callback<void(Version&)>& look) {
  std::scoped_lock lock(mutex_);
  for (const auto& captured : captured_) look(*captured->version);
}

std::optional<FlatResult> Versions::call(const FlatCall& flat, const FlatBody& body) {
  Call call(flat, body);
  Captured* captured = nullptr;
  {
    std::scoped_lock lock(mutex_);
    if (policy_.runs_eagerly()) return std::nullopt;
    if (flat.numbers != numbers_) return std::nullopt;  // another thread has learned that
    captured = find(call);
    if (captured && is_outdated(*captured, call)) captured = nullptr;
    if (!captured) captured = capture(call);
    if (!captured) return std::nullopt;
    if (options_.check) check(*captured, call);
  }
  count_call();
  return FlatResult{captured->version->call(inputs_of(*captured, call)), captured->structure};
}

std::optional<std::string> Versions::cache_key(const FlatCall& flat, const FlatBody& body) {
  Call call(flat, body);
  std::scoped_lock lock(mutex_);
  if (flat.numbers != numbers_) return std::nullopt;
  try {
    auto run = [&](const Tensors& inside) { return call.run(inside).tensors; };
    return Version::cache_key(run, call.tensors, trace_options(flat.parameters), programs_);
  } catch (const capture::NumberAsked&) {
    capture::take_asked_inputs();
    if (!learn_numbers()) throw;
    return std::nullopt;  // the caller tries again with constants
  }
}

// Parameters are read again; what was reached in another way is what it was at capture.
Tensors Versions::inputs_of(const Captured& captured, const Call& call) {
  Tensors inputs = call.tensors;
  const Version& version = *captured.version;
  const Tensors& parameters = call.flat.parameters;
  for (size_t i = 0; i < version.lifted().size(); i++) {
    auto index = static_cast<size_t>(version.lifted_roles()[i].index);
    inputs.push_back(index < parameters.size() ? parameters[index] : version.lifted()[i]);
  }
  return inputs;
}

Versions::Captured* Versions::find(const Call& call) {
  timing::Span span("call", "find version");
  for (auto& captured : captured_) {
    if (captured->key != call.flat.key || captured->places != call.places) {
      difference_ = "other numbers, texts or equal arguments";
      continue;
    }
    if (!looks_the_same(captured->parameters, call.flat.parameters)) {
      difference_ = "other sizes, dtypes or layouts of parameters";
      continue;
    }
    if (captured->outdated || !captured->conditions_hold()) {
      difference_ = "a module in another mode, or something else that it holds";
      continue;
    }
    Tensors inputs = inputs_of(*captured, call);
    if (captured->version->matches(inputs)) return captured.get();
    difference_ = captured->version->difference(inputs);
  }
  return nullptr;
}

// C++ cannot look into a lambda: tensors and numbers that it holds by reference may have changed
// since. Such a function is traced again at some calls, and captured again if it changed.
bool Versions::is_outdated(Captured& captured, const Call& call) {
  if (!programs_.remember_trace || options_.check || !captured.is_due()) return false;
  auto run = [&](const Tensors& inside) { return call.run(inside).tensors; };
  const Tensors& parameters = call.flat.parameters;
  try {
    if (captured.version->is_current(run, call.tensors, trace_options(parameters),
                                     parameters.size())) {
      return false;
    }
  } catch (const capture::NumberAsked&) {
    capture::take_asked_inputs();
  } catch (const Error&) {  // capturing it again says why
  }
  logging::warn(
      fmt::format("{} holds something that has changed since it was captured (a number, or a "
                  "variable that names another tensor) and is captured again; such changes are "
                  "looked for at a few calls only, so results since the last of them may be "
                  "old: pass what changes as an argument",
                  options_.name));
  return captured.outdated = true;  // it stays: another thread may be running it
}

// Parameters are read anew at every call, anything else that is reached stays what it is.
capture::TraceOptions Versions::trace_options(const Tensors& parameters) {
  capture::TraceOptions trace;
  trace.on_lift = [&, others = parameters.size()](const Tensor& tensor, bool exactly) mutable {
    size_t index = 0;
    while (index < parameters.size() && !parameters[index].is_same(tensor)) index++;
    if (exactly && index == parameters.size()) return capture::LiftedAs{};
    if (index == parameters.size()) index = others++;
    ir::Role role{ir::Role::Kind::parameter, static_cast<int64_t>(index)};
    return capture::LiftedAs{tensor, role};
  };
  return trace;
}

std::unique_ptr<Versions::Captured> Versions::make(const Call& call) {
  auto captured = std::make_unique<Captured>();
  captured->key = call.flat.key;
  captured->seen_changes = changes.load(std::memory_order_acquire);
  CollectConditions collect(captured->conditions);
  captured->places = call.places;
  const Tensors& parameters = call.flat.parameters;
  for (const Tensor& parameter : parameters) captured->parameters.emplace_back(parameter);
  auto run = [&](const Tensors& inside) {
    FlatResult result = call.run(inside);
    captured->structure = result.structure;
    return result.tensors;
  };
  captured->version =
      std::make_unique<Version>(run, call.tensors, trace_options(parameters), programs_);
  captured->version->check_gradient(inputs_of(*captured, call));
  return captured;
}

Versions::Captured* Versions::capture(const Call& call) {
  // Every version counts as one of the same constants: C++ has eight in all.
  Decision decision = policy_.after_miss({.alike = captured_.size(), .difference = difference_});
  if (decision.kind == Decision::Kind::raise) fail("{}", decision.why);
  if (decision.is_new) logging::warn(decision.why);
  if (decision.kind != Decision::Kind::capture) return nullptr;
  try {
    captured_.push_back(make(call));
  } catch (const capture::NumberAsked& error) {
    return handle_failure(error, true), nullptr;
  } catch (const Error& error) {
    return handle_failure(error, false), nullptr;
  }
  count_capture();
  return captured_.back().get();
}

// The numbers of a call are one float to the policy: all of them are inputs, or all are constants.
bool Versions::learn_numbers() {
  if (!policy_.learn({.floats = 1}, {})) return false;
  numbers_ = Numbers::constants;
  return true;
}

// Called while the error is handled. `asked`: the function asked for the value of a number.
void Versions::handle_failure(const Error& error, bool asked) {
  capture::take_asked_inputs();
  if (asked && learn_numbers()) return;  // the caller tries again with constants
  Decision decision = policy_.after_failure({}, {}, [&] { return std::string(error.what()); });
  if (decision.kind == Decision::Kind::raise) throw;
  if (decision.is_new) logging::warn(decision.why);
}

void Versions::check(Captured& captured, const Call& call) {
  auto again = make(call);
  const std::string now = again->version->text(), before = captured.version->text();
  if (now == before) return;
  fail(
      "{} does something else than when it was captured: something that it holds has changed; "
      "pass it as an argument. Captured:\n{}\nNow:\n{}",
      options_.name, before, now);
}

std::optional<std::string> cache_key(Versions& versions, const FlatCall& call,
                                     const FlatBody& body) {
  return versions.cache_key(call, body);
}

Numbers numbers_of(const Versions& versions) { return versions.numbers(); }

std::shared_ptr<Versions> make_versions(CompileOptions options, bool holds_state) {
  ProgramOptions programs;
  programs.remember_trace = holds_state;
  return make_versions(std::move(options), std::move(programs));
}
std::shared_ptr<Versions> make_versions(CompileOptions options, ProgramOptions programs) {
  return std::make_shared<Versions>(std::move(options), std::move(programs));
}

std::optional<FlatResult> call_version(Versions& versions, const FlatCall& call,
                                       const FlatBody& body) {
  return versions.call(call, body);
}

}  // namespace fg::compiler
