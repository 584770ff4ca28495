// Builds callable functions from kernels. The generator itself (LLVM, lld) is a library of its own,
// opened when something is compiled for the first time: an eager program never loads it.
#pragma once

#include <memory>

#include "base/level.h"
#include "codegen/code_file.h"
#include "codegen/loop.h"

namespace fg::codegen {

struct NamedKernel {
  std::string name;
  const LoopKernel* kernel;
};

using LoopFunction = void (*)(char* const* operands, int64_t begin, int64_t end,
                              const void* const* services);

// Functions that emitted code calls, see Service.
extern const void* const services[];

// Loaded code; its destructor closes it.
class Library {
 public:
  explicit Library(const std::string& bytes, CodeFile file = CodeFile::memory);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  LoopFunction find(const std::string& name) const;

 private:
  void* handle_;
};

// Ends compiling with the program: waits a while for compilations of other threads. Later ones get
// an Error; this thread may go on.
void end_compiling();

// The bytes of a shared object with one function per kernel. An error if there is no generator.
std::string build(const std::vector<NamedKernel>& kernels, Level level);

}  // namespace fg::codegen
