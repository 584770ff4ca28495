// Compiled forwards and backwards as entries of the cache, and back.
#pragma once

#include <chrono>

#include "cache/cache.h"
#include "capture/identity.h"
#include "codegen/executable.h"
#include "compile/kernel_parts.h"

namespace fg::compiler {

class Stopwatch {
 public:
  double milliseconds() const {
    return std::chrono::duration<double, std::milli>(Clock::now() - start_).count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// The sections of an entry, owned.
struct StoredSections {
  std::string meta, plan, graph;
  std::string_view object;
  cache::Entry entry(double milliseconds) const;
};
// `lines` are those of the graph in the key.
StoredSections store_forward(const Forward& forward, const codegen::Executable& code,
                             const capture::Lines& lines);
StoredSections store_backward(const Backward& backward, const codegen::Executable& code,
                              const capture::Lines& lines);

// An Error if the entry is not whole. Errors of what is loaded name `lines`.
Forward load_forward(const cache::Entry& entry, bool record, const capture::Lines& lines);
Backward load_backward(const cache::Entry& entry, const capture::Lines& lines);

}  // namespace fg::compiler
