// Raising an Error inside the library. Kept apart from error.h so that users do not compile fmt.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/error.h"

namespace fg {

[[noreturn]] void raise(ErrorKind kind, std::string message);

template <class... Args>
[[noreturn]] __attribute__((cold, noinline)) void fail(ErrorKind kind,
                                                       fmt::format_string<Args...> text,
                                                       Args&&... args) {
  raise(kind, fmt::format(text, std::forward<Args>(args)...));
}

// The user's fault, PyTorch's RuntimeError: the most frequent kind.
template <class... Args>
[[noreturn]] __attribute__((cold, noinline)) void fail(fmt::format_string<Args...> text,
                                                       Args&&... args) {
  raise(ErrorKind::runtime, fmt::format(text, std::forward<Args>(args)...));
}

}  // namespace fg
