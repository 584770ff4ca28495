// The build-id: the linker's digest of an executable or library. Equal ids, equal code.
#pragma once

#include <string>

namespace fg {

// Of the executable or library that holds this address, in hexadecimal; empty when it has none.
std::string build_id_of(const void* address);
// Of this library.
const std::string& build_id();

}  // namespace fg
