// A loop nest: what a group of elementwise operations computes for every index. Sizes and strides
// are numbers; views and broadcasts are strides. The emitter makes one function of it.
#pragma once

#include <span>

#include "ir/graph.h"
#include "ir/program.h"
#include "passes/fuse.h"

namespace fg::codegen {

struct LoopOperand {
  DType dtype{};
  std::vector<int64_t> strides;  // in elements, one per loop, outer to inner
  bool operator==(const LoopOperand&) const = default;
};

struct LoopKernel {
  std::vector<int64_t> sizes;         // of the loops, outer to inner; see is_flat
  std::vector<LoopOperand> operands;  // what is read, then what is written
  size_t inputs = 0;
  ir::Program program;

  // One loop only: the same code serves any length, so its size is not part of the kernel.
  bool is_flat() const { return sizes.size() == 1; }
  // Equal texts are equal code.
  std::string text() const;
};

// A kernel and what one call of it works on.
struct Loop {
  LoopKernel kernel;
  std::vector<ir::ValueId> operands;
  int64_t length = 0;  // elements if flat, otherwise rows: indices of all loops but the innermost
  int64_t row = 1;     // elements of a row
};

// What a loop must know of the graph around it, per value.
struct Surroundings {
  const ir::Graph& graph;
  std::vector<bool> stored{};              // something outside of the loop that makes it reads it
  std::vector<const Tensor*> constants{};  // null where it is none
};
Loop make_loop(const Surroundings& around, const passes::Group& group);

}  // namespace fg::codegen
