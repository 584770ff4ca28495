#include "compile/versions.h"

#include "base/fail.h"
#include "base/log.h"
#include "base/trace.h"

namespace fg::compiler {

namespace {

constexpr size_t kMostVersions = 8;

using Conditions = std::vector<Callback<bool()>>;
// Collects the conditions of the capture that runs on this thread.
thread_local Conditions* conditions_of_capture = nullptr;
std::atomic<uint64_t> changes = 0;

}  // namespace

struct Versions::Entry {
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

// Each tensor once, and where each argument is among them.
struct Versions::Different {
  Tensors tensors;
  std::vector<size_t> places;

  explicit Different(const Tensors& arguments) {
    std::unordered_map<const TensorImpl*, size_t> known;
    for (const Tensor& argument : arguments) {
      auto [place, fresh] = known.try_emplace(argument.impl(), tensors.size());
      if (fresh) tensors.push_back(argument);
      places.push_back(place->second);
    }
  }
  Tensors all(const Tensors& different) const {
    Tensors result;
    for (size_t place : places) result.push_back(different[place]);
    return result;
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
    : options_(std::move(options)), programs_(std::move(programs)) {}
Versions::~Versions() = default;

std::string Versions::refused() {
  std::scoped_lock lock(mutex_);
  return refused_;
}

void Versions::each(const Callback<void(Version&)>& look) {
  std::scoped_lock lock(mutex_);
  for (const auto& entry : entries_) look(*entry->version);
}

std::optional<FlatResult> Versions::call(const std::string& key, const Tensors& arguments,
                                         const Tensors& parameters, const FlatBody& body) {
  Different different(arguments);
  Entry* entry = nullptr;
  {
    std::scoped_lock lock(mutex_);
    if (!refused_.empty()) return count_eager(refused_), std::nullopt;
    entry = find(key, different, parameters);
    if (entry && is_outdated(*entry, different, parameters, body)) entry = nullptr;
    if (!entry) entry = capture(key, different, parameters, body);
    if (!entry) return std::nullopt;
    if (options_.check) check(*entry, different, parameters, body);
  }
  count_call();
  return FlatResult{entry->version->call(inputs_of(*entry, different, parameters)),
                    entry->structure};
}

std::optional<std::string> Versions::cache_key(const Tensors& arguments, const Tensors& parameters,
                                               const FlatBody& body) {
  Different different(arguments);
  std::scoped_lock lock(mutex_);
  try {
    auto flat = [&](const Tensors& inside) { return body(different.all(inside)).tensors; };
    return Version::cache_key(flat, different.tensors, trace_options(parameters), programs_);
  } catch (const capture::NumberAsked&) {
    capture::take_asked_inputs();
    if (reads_numbers_.exchange(true)) throw;
    return std::nullopt;  // the caller tries again with constants
  }
}

// Parameters are read again; what was reached in another way is what it was at capture.
Tensors Versions::inputs_of(const Entry& entry, const Different& different,
                            const Tensors& parameters) {
  Tensors inputs = different.tensors;
  const Version& version = *entry.version;
  for (size_t i = 0; i < version.lifted().size(); i++) {
    auto index = static_cast<size_t>(version.lifted_roles()[i].index);
    inputs.push_back(index < parameters.size() ? parameters[index] : version.lifted()[i]);
  }
  return inputs;
}

Versions::Entry* Versions::find(const std::string& key, const Different& different,
                                const Tensors& parameters) {
  timing::Span span("call", "find version");
  for (auto& entry : entries_) {
    if (entry->key != key || entry->places != different.places) {
      difference_ = "other numbers, texts or equal arguments";
      continue;
    }
    if (!looks_the_same(entry->parameters, parameters)) {
      difference_ = "other sizes, dtypes or layouts of parameters";
      continue;
    }
    if (entry->outdated || !entry->conditions_hold()) {
      difference_ = "a module in another mode, or something else that it holds";
      continue;
    }
    Tensors inputs = inputs_of(*entry, different, parameters);
    if (entry->version->matches(inputs)) return entry.get();
    difference_ = entry->version->difference(inputs);
  }
  return nullptr;
}

// C++ cannot look into a lambda: tensors and numbers that it holds by reference may have changed
// since. Such a function is traced again at some calls, and captured again if it changed.
bool Versions::is_outdated(Entry& entry, const Different& different, const Tensors& parameters,
                           const FlatBody& body) {
  if (!programs_.remember_trace || options_.check || !entry.is_due()) return false;
  auto flat = [&](const Tensors& inside) { return body(different.all(inside)).tensors; };
  try {
    if (entry.version->is_current(flat, different.tensors, trace_options(parameters),
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
  return entry.outdated = true;  // it stays: another thread may be running it
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

std::unique_ptr<Versions::Entry> Versions::make(const std::string& key, const Different& different,
                                                const Tensors& parameters, const FlatBody& body) {
  auto entry = std::make_unique<Entry>();
  entry->key = key;
  entry->seen_changes = changes.load(std::memory_order_acquire);
  CollectConditions collect(entry->conditions);
  entry->places = different.places;
  for (const Tensor& parameter : parameters) entry->parameters.emplace_back(parameter);
  auto flat = [&](const Tensors& inside) {
    FlatResult result = body(different.all(inside));
    entry->structure = result.structure;
    return result.tensors;
  };
  entry->version =
      std::make_unique<Version>(flat, different.tensors, trace_options(parameters), programs_);
  entry->version->check_gradient(inputs_of(*entry, different, parameters));
  return entry;
}

Versions::Entry* Versions::capture(const std::string& key, const Different& different,
                                   const Tensors& parameters, const FlatBody& body) {
  if (entries_.size() >= kMostVersions) {
    Versions::refuse(
        fmt::format("{} was captured {} times and a call differs again ({}); it runs eagerly "
                    "from now on",
                    options_.name, kMostVersions, difference_));
    return nullptr;
  }
  try {
    entries_.push_back(make(key, different, parameters, body));
  } catch (const capture::NumberAsked&) {
    capture::take_asked_inputs();
    reads_numbers_ = true;  // the caller tries again with constants
    return nullptr;
  } catch (const Error& error) {
    if (options_.fullgraph) throw;
    refuse(fmt::format("{} runs eagerly: {}", options_.name, error.what()));
    return nullptr;
  }
  count_capture();
  return entries_.back().get();
}

void Versions::refuse(const std::string& why) {
  if (options_.fullgraph) fail("{}", why);
  refused_ = why;
  if (count_eager(why)) logging::warn(why);
}

void Versions::check(Entry& entry, const Different& different, const Tensors& parameters,
                     const FlatBody& body) {
  auto again = make(entry.key, different, parameters, body);
  const std::string now = again->version->text(), before = entry.version->text();
  if (now == before) return;
  fail(
      "{} does something else than when it was captured: something that it holds has changed; "
      "pass it as an argument. Captured:\n{}\nNow:\n{}",
      options_.name, before, now);
}

std::optional<std::string> cache_key(Versions& versions, const Tensors& arguments,
                                     const Tensors& parameters, const FlatBody& body) {
  return versions.cache_key(arguments, parameters, body);
}

bool reads_numbers(const Versions& versions) { return versions.reads_numbers(); }

std::shared_ptr<Versions> make_versions(CompileOptions options, bool holds_state) {
  ProgramOptions programs;
  programs.remember_trace = holds_state;
  return make_versions(std::move(options), std::move(programs));
}
std::shared_ptr<Versions> make_versions(CompileOptions options, ProgramOptions programs) {
  return std::make_shared<Versions>(std::move(options), std::move(programs));
}

std::optional<FlatResult> call_version(Versions& versions, const std::string& key,
                                       const Tensors& arguments, const Tensors& parameters,
                                       const FlatBody& body) {
  return versions.call(key, arguments, parameters, body);
}

}  // namespace fg::compiler
