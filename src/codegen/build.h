// From kernels to callable functions. The generator itself (LLVM, lld) is a library of its own,
// opened when something is compiled for the first time: who only runs eagerly never loads it.
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

// What emitted code calls, see Service.
extern const void* const services[];

// Loaded code; closed with the last one who holds it.
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

// For the end of a program: waits for what other threads compile, for a while. Those that come
// later get an Error; this thread may go on.
void end_compiling();

// The bytes of a shared object with one function per kernel. An error if there is no generator.
std::string build(const std::vector<NamedKernel>& kernels, Level level);

}  // namespace fg::codegen
