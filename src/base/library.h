// The folder of this library, which also holds the libraries that it opens later.
#pragma once

#include <string>

namespace fg {

// The absolute path of a file beside this library, or beside the program that holds it. The folder
// is that of the time when the library was loaded: a later chdir leads to no other one.
std::string beside_this_library(const char* name);

}  // namespace fg
