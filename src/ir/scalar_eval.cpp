#include "ir/scalar_eval.h"

#include <cmath>

#include "base/fail.h"
#include "ir/lane_ops.h"

namespace fg::ir {
namespace {

// Integers wrap: arithmetic happens in 64 unsigned bits, the store keeps the low ones.
template <class T>
using Carrier = std::conditional_t<std::is_floating_point_v<T>, T, uint64_t>;

template <class T>
T multiply_add(T a, T b, T c, Level level) {
  if constexpr (std::is_floating_point_v<T>) {
    return level == Level::baseline ? a * b + c : std::fma(a, b, c);
  } else {
    return static_cast<T>(Carrier<T>(a) * Carrier<T>(b) + Carrier<T>(c));
  }
}

[[noreturn]] void fail_operation(Op op) {
  fail(ErrorKind::internal, "evaluate: no operation {} on this dtype", name(op));
}

template <class T>
T bitwise(Op op, T a, T b) {
  switch (op) {
    case Op::bit_and:
      return a & b;
    case Op::bit_or:
      return a | b;
    case Op::bit_xor:
      return a ^ b;
    case Op::bit_not:
      return static_cast<T>(~a);
    case Op::shl:
      return shift_left_lane<T>(a, b);
    case Op::shr:
      return shift_right_logical_lane<T>(a, b);
    case Op::sar:
      return shift_right_lane<T>(a, b);
    default:
      fail_operation(op);
  }
}

template <class T>
T arithmetic(Op op, T a, T b, T c, Level level) {
  using W = Carrier<T>;
  switch (op) {
    case Op::add:
      return static_cast<T>(W(a) + W(b));
    case Op::sub:
      return static_cast<T>(W(a) - W(b));
    case Op::mul:
      return static_cast<T>(W(a) * W(b));
    case Op::div:
      return divide_lane<T>(a, b);
    case Op::neg:
      return static_cast<T>(-W(a));
    case Op::mad:
      return multiply_add<T>(a, b, c, level);
    default:
      break;
  }
  if constexpr (!std::is_floating_point_v<T>) return bitwise<T>(op, a, b);
  if (op != Op::sqrt) fail_operation(op);
  return static_cast<T>(std::sqrt(a));
}

bool logic(Op op, bool a, bool b) {
  switch (op) {
    case Op::bit_and:
      return a && b;
    case Op::bit_or:
      return a || b;
    case Op::bit_xor:
      return a != b;
    case Op::bit_not:
      return !a;
    default:
      fail(ErrorKind::internal, "evaluate: no operation {} on bool", name(op));
  }
}

// Calls f with a zero of the C++ type; the 16-bit floats never compute.
template <class F>
uint64_t with_type(DType dtype, F f) {
  return visit(dtype, [&](auto zero) -> uint64_t {
    if constexpr (std::is_class_v<decltype(zero)>) {
      fail(ErrorKind::internal, "evaluate: {} does not compute", name(dtype));
    } else {
      return f(zero);
    }
  });
}

uint64_t compare(Op op, DType dtype, uint64_t a, uint64_t b) {
  return with_type(dtype, [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    T x = lane_value<T>(a), y = lane_value<T>(b);
    return op == Op::lt ? x < y : op == Op::le ? x <= y : x == y;
  });
}

uint64_t convert_bits(DType from, DType to, uint64_t bits) {
  if (from == DType::f16) return lane_bits<float>(lane_value<Half>(bits));
  if (from == DType::bf16) return lane_bits<float>(lane_value<BFloat16>(bits));
  if (to == DType::f16) return lane_bits(Half(lane_value<float>(bits)));
  if (to == DType::bf16) return lane_bits(BFloat16(lane_value<float>(bits)));
  return with_type(from, [&](auto from_zero) {
    auto value = lane_value<decltype(from_zero)>(bits);
    return with_type(
        to, [&](auto to_zero) { return lane_bits(convert_lane<decltype(to_zero)>(value)); });
  });
}

uint64_t call_runtime(const Instruction& x, uint64_t a, uint64_t b) {
  RuntimeFunction function = runtime_function(x.runtime);
  if (x.dtype == DType::f64)
    return lane_bits(function(lane_value<double>(a), lane_value<double>(b)));
  return lane_bits(static_cast<float>(function(lane_value<float>(a), lane_value<float>(b))));
}

uint64_t compute(const Instruction& x, const uint64_t* value, Level level) {
  if (x.dtype == DType::boolean) return logic(x.op, value[0], value[1]);
  return with_type(x.dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_same_v<T, bool>) {
      return uint64_t{0};
    } else {
      return lane_bits(arithmetic<T>(x.op, lane_value<T>(value[0]), lane_value<T>(value[1]),
                                     lane_value<T>(value[2]), level));
    }
  });
}

}  // namespace

LaneInterpreter::LaneInterpreter(Program program, Level level)
    : program_(std::move(program)), level_(level), registers_(program_.instructions.size()) {}

void LaneInterpreter::run(const LaneArguments& arguments) {
  for (size_t i = 0; i < registers_.size(); ++i) {
    const Instruction& x = program_.instructions[i];
    uint64_t value[kMaxOperands] = {};
    for (int k = 0; k < x.arity; ++k) value[k] = registers_[x.operand[k]];
    auto operand_dtype = [&](int k) { return program_.instructions[x.operand[k]].dtype; };
    uint64_t& result = registers_[i];
    switch (x.op) {
      case Op::input:
        result = arguments.inputs[x.payload];
        break;
      case Op::parameter:
        result = arguments.parameters[x.payload];
        break;
      case Op::constant:
        result = x.payload;
        break;
      case Op::lt:
      case Op::le:
      case Op::eq:
        result = compare(x.op, operand_dtype(0), value[0], value[1]);
        break;
      case Op::select:
        result = value[0] ? value[1] : value[2];
        break;
      case Op::bitcast:
        result = value[0];
        break;
      case Op::convert:
        result = convert_bits(operand_dtype(0), x.dtype, value[0]);
        break;
      case Op::rare:
        result = value[0] ? call_runtime(x, value[2], value[3]) : value[1];
        break;
      default:
        result = compute(x, value, level_);
    }
  }
}

uint64_t evaluate(const Expr& expression, const LaneArguments& arguments, Level level) {
  LaneInterpreter interpreter(Program(expression), level);
  interpreter.run(arguments);
  return interpreter.output();
}

}  // namespace fg::ir
