// Versions of one compiled function: the choice for a call, and captures for new kinds of calls.
// VersionPolicy decides when another one is captured, and when the function runs eagerly for good.
#pragma once

#include <atomic>
#include <mutex>

#include "compile/compile.h"
#include "compile/version.h"
#include "compile/version_policy.h"

namespace fg::compiler {

class Versions {
 public:
  Versions(CompileOptions options, ProgramOptions programs);
  ~Versions();

  // The result of captured code; nothing: the caller runs the function eagerly, or flattens the
  // call anew if numbers() has changed.
  std::optional<FlatResult> call(const FlatCall& flat, const FlatBody& body);
  std::optional<std::string> cache_key(const FlatCall& flat, const FlatBody& body);
  Numbers numbers() const { return numbers_; }

  const std::string& name() const { return options_.name; }
  std::string refused();  // the reason why it runs eagerly; empty: it does not
  // Calls `look` with every version there is, while none can be added.
  void each(const Callback<void(Version&)>& look);

 private:
  struct Captured;  // a version, and the conditions of the calls that it fits
  struct Call;

  static Tensors inputs_of(const Captured& captured, const Call& call);
  static capture::TraceOptions trace_options(const Tensors& parameters);
  Captured* find(const Call& call);
  bool is_outdated(Captured& captured, const Call& call);
  std::unique_ptr<Captured> make(const Call& call);
  Captured* capture(const Call& call);
  void handle_failure(const Error& error, bool asked);
  bool learn_numbers();
  void check(Captured& captured, const Call& call);

  CompileOptions options_;
  ProgramOptions programs_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Captured>> captured_;
  VersionPolicy policy_;
  std::string difference_;
  std::atomic<Numbers> numbers_ = Numbers::inputs;  // as the policy says, read without the lock
};

}  // namespace fg::compiler
