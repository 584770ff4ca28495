// A string literal as a template argument, so that it is known, and can be checked, while
// compiling.
#pragma once

#include <cstddef>
#include <string_view>

namespace fg {

template <size_t N>
struct Text {
  char chars[N];
  constexpr Text(const char (&text)[N]) {  // NOLINT: literals convert
    for (size_t i = 0; i < N; ++i) chars[i] = text[i];
  }
  constexpr std::string_view view() const { return {chars, N - 1}; }
};

}  // namespace fg
