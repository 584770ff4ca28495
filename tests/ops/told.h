// A child that tries many things with little memory, and tells of them in memory that both see: a
// crash or a hang loses nothing.
#pragma once

#include <sys/mman.h>
#include <sys/resource.h>

#include <cstring>
#include <new>
#include <string>

#include "tests/base/child_process.h"

struct Told {
  int status = 0;  // of the child
  int64_t succeeded = 0;
  char now[8192] = "";    // the thing that it is at
  char wrong[4096] = "";  // the first finding

  void begin(const std::string& text) { std::strncpy(now, text.c_str(), sizeof(now) - 1); }
  void blame(const std::string& why) {
    if (!*wrong) std::strncpy(wrong, (now + (": " + why)).c_str(), sizeof(wrong) - 1);
  }
};

// Enough for all that succeeds; a sanitizer needs room for itself and has a limit of its own.
inline void limit_memory() {
#ifndef FOREGRAD_SANITIZE
  rlimit limit{rlim_t{1} << 30, rlim_t{1} << 30};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

template <class F>
Told told_by_child(const F& body) {
  void* shared =
      mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return {-2};
  auto* told = new (shared) Told;
  int status = in_forked_child([&] {
    limit_memory();
    body(*told);
  });
  Told copied = *told;
  copied.status = status;
  munmap(shared, sizeof(Told));
  return copied;
}
