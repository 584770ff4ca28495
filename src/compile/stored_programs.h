// Compiled forwards and backwards as entries of the cache, and back.
#pragma once

#include <chrono>

#include "cache/cache.h"
#include "capture/identity.h"
#include "codegen/executable.h"
#include "compile/programs_parts.h"

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
  std::string meta, plan, graph, joint, partition, guards;  // the last four as pack_text() has them
  std::string_view object;
  cache::Entry entry(double milliseconds) const;
};
// `lines` are those of the graph in the key.
StoredSections store_forward(const Forward& forward, const ForwardTexts& texts,
                             const codegen::Executable& code, const capture::Lines& lines);
StoredSections store_backward(const Backward& backward, const codegen::Executable& code,
                              const capture::Lines& lines);

// What cannot be written down is compiled again by the next process; that is counted.
template <class Sections>
void store_or_count(const cache::Key& key, const Sections& sections, const Stopwatch& watch) {
  double milliseconds = watch.milliseconds();
  std::optional<StoredSections> made;
  try {
    made = sections();
  } catch (const std::exception& error) {
    cache::note_bypass(std::string("compiled code cannot be stored: ") + error.what());
  }
  if (made) cache::store(key, made->entry(milliseconds));
}

// FOREGRAD_LOG=graph: what the passes do not log. `from`: the cache, or nothing.
void log_texts(const ForwardTexts& texts, const std::string& from);

// How the program that runs calls what another one may have compiled: its lines, in the order of
// the graph in the key, and its inputs.
struct CalledHere {
  const capture::Lines& lines;
  const capture::Function& function;            // lives as long as what is loaded
  const capture::Function* gradient = nullptr;  // where it was traced: code of the user runs in it
};

// An Error if the entry is not whole. Graphs and errors of what is loaded have the names of here.
Forward load_forward(const cache::Entry& entry, bool record, const CalledHere& here);
Backward load_backward(const cache::Entry& entry, const CalledHere& here);

}  // namespace fg::compiler
