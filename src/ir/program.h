// Expressions in the order of evaluation: one instruction per distinct value, equal values merged.
// The interpreter runs it, the printer prints it (deterministically), and a compiler lowers it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/scalar.h"

namespace fg::ir {

struct Instruction {
  Op op{};
  DType dtype{};
  Runtime runtime{};
  uint8_t arity = 0;
  uint64_t payload = 0;
  int32_t operand[kMaxOperands] = {};  // indices of earlier instructions
  bool operator==(const Instruction&) const = default;
};

struct Program {
  std::vector<Instruction> instructions;
  std::vector<int32_t> outputs;

  Program() = default;
  explicit Program(std::span<const Expr> expressions);
  explicit Program(const Expr& expression) : Program(std::span(&expression, 1)) {}
};

int64_t node_count(const Expr& expression);

// One line per value: `%3 = f32 mad %0 %1 %2`, then `return %3`. Floats print as hexadecimal.
std::string to_text(const Program& program);

}  // namespace fg::ir
