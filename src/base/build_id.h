// The build-id: the linker's digest of an executable or library. Equal ids, equal code.
#pragma once

#include <string>

namespace fg {

// The build-id of the executable or library that holds this address, in hexadecimal; empty: none.
std::string build_id_of(const void* address);
// The build-id of this library.
const std::string& build_id();
// Whether this library holds the address: its code is known by the build-id of the library.
bool is_in_this_library(const void* address);

}  // namespace fg
