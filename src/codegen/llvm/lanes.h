// Expressions on sixteen lanes as LLVM instructions. Follows ir/lane_ops.h and the interpreter of
// expressions to the bit.
#pragma once

#include <llvm/IR/IRBuilder.h>

#include "base/level.h"
#include "ir/program.h"

namespace fg::codegen {

inline constexpr int kLanes = 16;

// Functions that emitted code calls, in the table that it is handed.
enum class Service : int { rare_f32, rare_f64, copy, scatter };

class LaneEmitter {
 public:
  // `table` is the pointer to the services; scratch goes into the entry block of the function.
  LaneEmitter(llvm::IRBuilder<>& builder, llvm::Value* table, Level level)
      : b_(builder), table_(table), level_(level) {}

  // Emits all instructions, given the values of the inputs; returns the results.
  std::vector<llvm::Value*> emit(const ir::Program& program,
                                 const std::vector<llvm::Value*>& inputs);

  // A lane in memory and in a register: bools are bytes there and bits here.
  llvm::Type* memory_type(DType dtype);
  llvm::Value* from_memory(llvm::Value* value, DType dtype);
  llvm::Value* to_memory(llvm::Value* value, DType dtype);

  llvm::Value* scratch(llvm::Type* type);
  llvm::Value* call(Service service, llvm::ArrayRef<llvm::Value*> arguments);

 private:
  llvm::Value* instruction(const ir::Instruction& x, const ir::Program& program,
                           const std::vector<llvm::Value*>& values);
  llvm::Value* constant(DType dtype, uint64_t bits);
  llvm::Value* arithmetic(ir::Op op, DType dtype, llvm::ArrayRef<llvm::Value*> v);
  llvm::Value* multiply_add(DType dtype, llvm::ArrayRef<llvm::Value*> v);
  llvm::Value* divide(DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* bitwise(ir::Op op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* compare(ir::Op op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* convert(llvm::Value* value, DType from, DType to);
  llvm::Value* float_to_integer(llvm::Value* value, DType to);
  llvm::Value* round_to_bf16(llvm::Value* value);
  llvm::Value* rare(const ir::Instruction& x, llvm::ArrayRef<llvm::Value*> v);
  llvm::Type* lane_type(DType dtype);
  llvm::Type* vector_type(DType dtype);
  llvm::Value* number(llvm::Type* vector, int64_t value);

  llvm::IRBuilder<>& b_;
  llvm::Value* table_;
  Level level_;
};

}  // namespace fg::codegen
