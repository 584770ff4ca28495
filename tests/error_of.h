// The message of a refused call.
#pragma once

#include <string>

#include "base/error.h"

namespace fg {

template <class F>
std::string error_of(const F& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

// EXPECT_THAT(text, HasSubstr) without gmock.
inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_HAS(text, part) EXPECT_PRED2(fg::has, text, part)

}  // namespace fg
