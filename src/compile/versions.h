// Versions of one compiled function: which of them fits a call, when another one is captured, and
// when the function runs eagerly from now on.
#pragma once

#include <atomic>
#include <mutex>

#include "compile/compile.h"
#include "compile/version.h"

namespace fg::compiler {

class Versions {
 public:
  Versions(CompileOptions options, ProgramOptions programs);
  ~Versions();

  // The result of captured code; nothing: the caller runs the function eagerly, or tries again with
  // numbers as constants, see reads_numbers.
  std::optional<FlatResult> call(const std::string& key, const Tensors& arguments,
                                 const Tensors& parameters, const FlatBody& body);
  std::optional<std::string> cache_key(const Tensors& arguments, const Tensors& parameters,
                                       const FlatBody& body);
  bool reads_numbers() const { return reads_numbers_; }

  const std::string& name() const { return options_.name; }
  std::string refused();  // the reason why it runs eagerly; empty: it does not
  // Calls `look` with every version there is, while none can be added.
  void each(const Callback<void(Version&)>& look);

 private:
  struct Entry;
  struct Different;  // tensors among the arguments

  static Tensors inputs_of(const Entry& entry, const Different& different,
                           const Tensors& parameters);
  static capture::TraceOptions trace_options(const Tensors& parameters);
  Entry* find(const std::string& key, const Different& different, const Tensors& parameters);
  bool is_outdated(Entry& entry, const Different& different, const Tensors& parameters,
                   const FlatBody& body);
  std::unique_ptr<Entry> make(const std::string& key, const Different& different,
                              const Tensors& parameters, const FlatBody& body);
  Entry* capture(const std::string& key, const Different& different, const Tensors& parameters,
                 const FlatBody& body);
  void refuse(const std::string& why);
  void check(Entry& entry, const Different& different, const Tensors& parameters,
             const FlatBody& body);

  CompileOptions options_;
  ProgramOptions programs_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Entry>> entries_;
  std::string refused_, difference_;
  std::atomic<bool> reads_numbers_ = false;
};

}  // namespace fg::compiler
