// Exceptions of the standard library at the border to a user: their own texts ("vector::reserve",
// "std::bad_cast") say nothing there.
#pragma once

#include "base/error.h"

namespace fg {

// The exception as an Error with a sentence; exceptions of types of others keep their texts.
Error as_error(const std::exception& exception);

}  // namespace fg
