// What a refused call says.
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

}  // namespace fg
