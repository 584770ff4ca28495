// Exceptions of the standard library at the border to a user: their own texts ("vector::reserve",
// "std::bad_cast") say nothing there.
#pragma once

#include "base/error.h"

namespace fg {

// The same as one of ours, in a sentence. An exception of a type that others made keeps its text.
Error as_error(const std::exception& exception);

}  // namespace fg
