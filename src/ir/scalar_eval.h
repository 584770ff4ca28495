// The interpreter of expressions: one lane at a time, with exactly the arithmetic of a level, so
// its results equal the vector lanes' and compiled code's bit for bit (any NaN equals any NaN).
#pragma once

#include <cstdint>
#include <cstring>
#include <span>

#include "base/level.h"
#include "ir/program.h"

namespace fg::ir {

// One value of any dtype: its bits, zero-extended.
template <class T>
uint64_t lane_bits(T value) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T lane_value(uint64_t bits) {
  T value;
  std::memcpy(static_cast<void*>(&value), &bits, sizeof(T));
  return value;
}

struct LaneArguments {
  std::span<const uint64_t> inputs;
  std::span<const uint64_t> parameters = {};
};

// Runs a program on one lane. `registers` is scratch, kept between calls to save allocations.
class LaneInterpreter {
 public:
  LaneInterpreter(Program program, Level level);
  void run(const LaneArguments& arguments);
  uint64_t output(int index = 0) const { return registers_[program_.outputs[index]]; }

 private:
  Program program_;
  Level level_;
  std::vector<uint64_t> registers_;
};

uint64_t evaluate(const Expr& expression, const LaneArguments& arguments, Level level);

}  // namespace fg::ir
