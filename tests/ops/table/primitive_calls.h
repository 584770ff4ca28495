// The calls of primitives that the samples of the table make: tests of facts that stand on a
// primitive look at each of them, with the parameters that really occur.
#pragma once

#include "ir/call.h"
#include "ir/primitive.h"
#include "tests/ops/table/table_cases.h"

namespace fg::table {

// Outputs of a primitive by its shape rule and its kernel alone.
Tensors evaluated(const ir::PrimitiveInfo& primitive, ir::Operands inputs, const void* params);

// Evaluates primitives and shows them to `look`.
class PrimitiveCalls : public ir::Interpreter {
 public:
  void call(ir::Call& call) override;
  bool write(const Tensor&, const Tensor&) override { return false; }

 protected:
  virtual void look(const ir::PrimitiveInfo& primitive, ir::Operands inputs,
                    const void* params) = 0;
};

// Runs every function and its gradient at every sample.
void run_table(PrimitiveCalls& calls);

}  // namespace fg::table
