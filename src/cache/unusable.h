// The error of an entry, a store or a cache that cannot be used. The reason is one of a few short
// texts that are counted; the sentence says more, once.
#pragma once

#include "base/fail.h"

namespace fg::cache {

class Unusable : public Error {
 public:
  Unusable(const char* reason, const std::string& sentence)
      : Error(ErrorKind::runtime, sentence), reason_(reason) {}
  const char* reason() const { return reason_; }

 private:
  const char* reason_;
};

// In strict mode, the error of a failure that would only be counted otherwise.
class StrictError : public Error {
 public:
  explicit StrictError(const std::string& sentence)
      : Error(ErrorKind::runtime, "cache, in strict mode: " + sentence) {}
};

template <class... Args>
[[noreturn]] __attribute__((cold, noinline)) void refuse(const char* reason,
                                                         fmt::format_string<Args...> text,
                                                         Args&&... args) {
  throw Unusable(reason, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace fg::cache
