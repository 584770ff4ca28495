// Loop kernels as functions of an LLVM module.
#pragma once

#include <llvm/IR/Module.h>

#include "base/level.h"
#include "codegen/loop.h"

namespace fg::codegen {

// void name(char** operands, int64_t begin, int64_t end, void** services): the elements (flat) or
// rows from begin to end.
void emit_loop(llvm::Module& module, const std::string& name, const LoopKernel& kernel,
               Level level);

}  // namespace fg::codegen
