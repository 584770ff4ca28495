// A formula as calls of row kernels: it runs once on tensors of one element, which are watched, and
// then over the elements of all parameters that have the same numbers, block after block. So
// hundreds of small parameters cost no calls of functions and no new tensors, and the operations of
// a formula find each other's results in the nearest cache. The kernels are those of eager
// operations: equal bits.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "ir/params.h"
#include "ops/kernels/row.h"
#include "optim/description.h"

namespace fg::optim {

class RowProgram {
 public:
  // The formula for a parameter of this dtype with so many tensors of state; nothing if it
  // calls more than kernels of rows.
  static std::optional<RowProgram> record(const Formula& formula, DType dtype, size_t states);

  // Elements of a parameter: where those of parameter, state and gradient begin.
  struct Elements {
    std::array<char*, 8> rows;
    int64_t count;
  };
  // Updates them in place.
  void run(std::span<const Elements> all) const;

 private:
  friend class RowRecorder;
  struct Step {
    kernels::RowKernel kernel;
    ir::ParamsRef params;
    int output, arity, input[4];
  };
  struct Copy {
    int from, to;
  };
  bool finish(std::span<const int> results);
  void redirect(int result, int place);
  void run_block(char* const* row, int64_t count) const;

  size_t item_ = 0;  // bytes of an element
  int outside_ = 0;  // rows of parameter, state and gradient; inner rows follow
  int inside_ = 0;   // rows of values between two operations
  std::vector<Step> steps_;
  std::vector<Copy> copies_;             // at the end
  std::vector<std::vector<char>> same_;  // rows of one number each, after the inner rows
};

}  // namespace fg::optim
