// Counters of captures, of calls of captured code, and of eager calls with their reasons.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "cache/cache.h"

namespace fg::compiler {

struct Counters {
  int64_t captured = 0;     // versions made
  int64_t calls = 0;        // of captured code
  int64_t eager = 0;        // calls of compiled functions that ran eagerly
  int64_t interpreted = 0;  // graphs for which no native code could be made
  double seconds = 0;       // until versions were ready: capturing them, compiling or finding code
  std::map<std::string, int64_t> reasons{};
};
Counters counters();  // a copy
void reset_counters();

void count_capture();
void count_seconds(double seconds);
void count_call();
// Counts a call that ran eagerly. True: the reason is new, and worth a warning.
bool count_eager(const std::string& reason);
bool count_interpreted(const std::string& reason);

inline cache::Stats cache_stats() { return cache::stats(); }

}  // namespace fg::compiler
