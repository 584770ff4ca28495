// One run of an executable: the memory of its values, and its steps on them.
#pragma once

#include "codegen/executable.h"

namespace fg::codegen {

class Executable::Call {
 public:
  Call(const Executable& executable, Tensors inputs);
  void run(const Step& step);
  Tensors outputs();

 private:
  class TileRun;

  bool may_consume() const;
  void set(ir::ValueId value, Tensor tensor);
  char* address(ir::ValueId value) const;
  // The value as a tensor for kernels; made for them if it is in the arena or seen through a view.
  Tensor tensor(ir::ValueId value) const;
  void find_pointers(const Step::LoopCall& part, char** pointers) const;

  void run_loop(const Step& step);
  void run_parts(const Step& step);
  void run_reductions(const Step& step, char** pointers);
  void run_tiles(const Step& step);
  void run_operation(const ir::Operation& operation);
  void evaluate(const ir::Operation& operation, ir::Operands operands, const void* params);

  const Executable& code_;
  const ir::Graph& graph_;
  Ref<Storage> arena_;
  std::vector<char*> data_;  // per value that is in memory of its own
  Tensors tensors_;
  std::vector<ir::ValueId> made_;  // for one operation
  const schedule::MemoryPlan* memory_;
};

}  // namespace fg::codegen
