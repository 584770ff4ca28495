// A loop nest: the computation of a group of elementwise operations for every index. Sizes and
// strides are numbers; views and broadcasts are strides. The emitter makes one function of it.
#pragma once

#include <span>

#include "ir/graph.h"
#include "ir/program.h"
#include "schedule/fuse.h"

namespace fg::codegen {

inline constexpr int64_t kFlatBlock = 512;  // elements of one loop alone that are never split

struct LoopOperand {
  DType dtype{};
  std::vector<int64_t> strides;  // in elements, one per loop, outer to inner
  int64_t period = 0;            // so many elements come again and again, see schedule::Nest
  bool operator==(const LoopOperand&) const = default;
};

struct LoopKernel {
  std::vector<int64_t> sizes;         // of the loops, outer to inner; see is_flat
  std::vector<LoopOperand> operands;  // those that are read, then those that are written
  size_t inputs = 0;
  ir::Program program;
  // The last operands are written block by block: each block of the elements becomes one number.
  // Then `unit_loops` inner loops go over a block, the innermost in `blocks` parts of 512 elements,
  // each of them `columns` numbers side by side; see schedule::Nest.
  std::vector<ir::Combine> reductions{};
  size_t unit_loops = 0;
  int64_t blocks = 1, units = 1, columns = 1;

  // One loop only: the same code serves any length, so its size is not part of the kernel.
  bool is_flat() const { return sizes.size() == 1 && reductions.empty(); }
  // Equal texts are equal code.
  std::string text() const;
};

// A kernel and what one call of it works on.
struct Loop {
  LoopKernel kernel;
  std::vector<ir::ValueId> operands;  // of reductions: what is made of the blocks
  int64_t length = 0;  // elements if flat, rows (indices of all loops but the innermost), or blocks
  int64_t row = 1;     // elements of a row or block
};

const char* name(ir::Combine combine);
// Two elements of a reduction made one, and the neutral element.
ir::Expr combined(ir::Combine combine, const ir::Expr& a, const ir::Expr& b);
ir::Expr identity_of(ir::Combine combine, DType dtype);

// Facts about the graph around a loop, per value.
struct Surroundings {
  const ir::Graph& graph;
  std::vector<bool> stored{};              // read outside of the loop that makes it
  std::vector<const Tensor*> constants{};  // null where it is none
};
Loop make_loop(const Surroundings& around, const schedule::Group& group);

}  // namespace fg::codegen
