// Compiled code as a file that the system's loader takes; no other process may change its bytes.
#pragma once

#include <string>

namespace fg::codegen {

enum class CodeFile {
  memory,    // sealed, without a name; needs memfd_create and /proc
  temporary  // in a folder of ours, gone as soon as it is loaded
};

// The loader's handle of these bytes. Code that cannot be loaded from memory is loaded from a
// temporary file; `first` is for tests.
void* load_code(const std::string& bytes, CodeFile first = CodeFile::memory);

}  // namespace fg::codegen
