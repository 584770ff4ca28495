#include "ir/scalar.h"

#include <atomic>
#include <bit>
#include <cstring>

#include "base/fail.h"
#include "ir/lane_ops.h"

namespace fg::ir {

const char* name(Op op) {
  static constexpr const char* kNames[] = {
      "input", "parameter", "constant", "add", "sub",    "mul",     "div",     "neg",
      "mad",   "sqrt",      "lt",       "le",  "eq",     "and",     "or",      "xor",
      "not",   "shl",       "shr",      "sar", "select", "bitcast", "convert", "rare"};
  return kNames[static_cast<int>(op)];
}

namespace {

void retain(const ExprNode* node) {
  std::atomic_ref(node->references).fetch_add(1, std::memory_order_relaxed);
}

bool drop(const ExprNode* node) {
  return std::atomic_ref(node->references).fetch_sub(1, std::memory_order_acq_rel) == 1;
}

void check_same(const char* who, const Expr& a, const Expr& b) {
  if (a.dtype() != b.dtype()) {
    fail(ErrorKind::internal,
         "{}: operands of a formula have dtypes {} and {}; convert one of them", who,
         name(a.dtype()), name(b.dtype()));
  }
}

void check_computes(const char* who, DType dtype) {
  if (compute_dtype(dtype) != dtype) {
    fail(ErrorKind::internal, "{}: {} does not compute; widen it to float32 first", who,
         name(dtype));
  }
}

Expr binary(Op op, const Expr& a, const Expr& b) {
  check_same(name(op), a, b);
  check_computes(name(op), a.dtype());
  return Expr::make(op, a.dtype(), {&a, &b});
}

Expr compare(Op op, const Expr& a, const Expr& b) {
  check_same(name(op), a, b);
  check_computes(name(op), a.dtype());
  return Expr::make(op, DType::boolean, {&a, &b});
}

Expr unary(Op op, const Expr& a) {
  check_computes(name(op), a.dtype());
  return Expr::make(op, a.dtype(), {&a});
}

template <class From>
uint64_t constant_bits(DType dtype, From value) {
  return visit(dtype, [&](auto zero) -> uint64_t {
    using T = decltype(zero);
    T converted{};
    if constexpr (std::is_class_v<T>)
      converted = T(static_cast<float>(value));
    else if constexpr (std::is_arithmetic_v<T>)
      converted = convert_lane<T>(value);
    uint64_t bits = 0;
    std::memcpy(&bits, &converted, sizeof(T));
    return bits;
  });
}

}  // namespace

Expr::Expr(const Expr& other) : node_(other.node_) {
  if (node_) retain(node_);
}

Expr Expr::make(Op op, DType dtype, std::initializer_list<const Expr*> operands, uint64_t payload,
                Runtime runtime) {
  auto* node =
      new ExprNode{1, op, dtype, runtime, static_cast<uint8_t>(operands.size()), payload, {}};
  int i = 0;
  for (const Expr* operand : operands) {
    retain(operand->node_);
    node->operand[i++] = operand->node_;
  }
  return Expr(node);
}

// Dead nodes wait in a list threaded through their payload: a long chain of fused operations must
// not recurse.
void Expr::release(const ExprNode* node) {
  if (!drop(node)) return;
  const ExprNode* next = nullptr;
  while (node) {
    auto* dead = const_cast<ExprNode*>(node);
    node = next;
    const ExprNode* operands[kMaxOperands];
    std::memcpy(operands, dead->operand, sizeof operands);
    int arity = dead->arity;
    delete dead;
    for (int i = 0; i < arity; ++i) {
      if (!drop(operands[i])) continue;
      const_cast<ExprNode*>(operands[i])->payload = reinterpret_cast<uintptr_t>(node);
      node = operands[i];
    }
    next =
        node ? reinterpret_cast<const ExprNode*>(static_cast<uintptr_t>(node->payload)) : nullptr;
  }
}

Expr Expr::input(int index, DType dtype) {
  return make(Op::input, dtype, {}, static_cast<uint64_t>(index));
}
Expr Expr::parameter(int index, DType dtype) {
  return make(Op::parameter, dtype, {}, static_cast<uint64_t>(index));
}
Expr Expr::loaded(int index, DType dtype) {
  return convert(input(index, dtype), compute_dtype(dtype));
}
Expr Expr::constant(DType dtype, double value) {
  return make(Op::constant, dtype, {}, constant_bits(dtype, value));
}
Expr Expr::constant(DType dtype, int64_t value) {
  return make(Op::constant, dtype, {}, constant_bits(dtype, value));
}

Expr operator+(const Expr& a, const Expr& b) {
  return binary(a.dtype() == DType::boolean ? Op::bit_or : Op::add, a, b);
}
Expr operator-(const Expr& a, const Expr& b) {
  return binary(a.dtype() == DType::boolean ? Op::bit_xor : Op::sub, a, b);
}
Expr operator*(const Expr& a, const Expr& b) {
  return binary(a.dtype() == DType::boolean ? Op::bit_and : Op::mul, a, b);
}
Expr operator/(const Expr& a, const Expr& b) { return binary(Op::div, a, b); }
Expr operator-(const Expr& a) { return unary(Op::neg, a); }
Expr sqrt(const Expr& a) { return unary(Op::sqrt, a); }
Expr mad(const Expr& a, const Expr& b, const Expr& c) {
  check_same("mad", a, b);
  check_same("mad", a, c);
  if (a.dtype() == DType::boolean) return a * b + c;
  return Expr::make(Op::mad, a.dtype(), {&a, &b, &c});
}
Expr operator<(const Expr& a, const Expr& b) { return compare(Op::lt, a, b); }
Expr operator<=(const Expr& a, const Expr& b) { return compare(Op::le, a, b); }
Expr operator==(const Expr& a, const Expr& b) { return compare(Op::eq, a, b); }
Expr operator&(const Expr& a, const Expr& b) { return binary(Op::bit_and, a, b); }
Expr operator|(const Expr& a, const Expr& b) { return binary(Op::bit_or, a, b); }
Expr operator^(const Expr& a, const Expr& b) { return binary(Op::bit_xor, a, b); }
Expr operator~(const Expr& a) { return unary(Op::bit_not, a); }
Expr operator<<(const Expr& a, const Expr& count) { return binary(Op::shl, a, count); }
Expr operator>>(const Expr& a, const Expr& count) { return binary(Op::sar, a, count); }
Expr shift_right_logical(const Expr& a, const Expr& count) { return binary(Op::shr, a, count); }

Expr select(const Expr& mask, const Expr& a, const Expr& b) {
  check_same("select", a, b);
  return Expr::make(Op::select, a.dtype(), {&mask, &a, &b});
}

Expr bits(const Expr& a) {
  DType to = a.dtype() == DType::f64   ? DType::i64
             : a.dtype() == DType::f32 ? DType::i32
                                       : a.dtype();
  return to == a.dtype() ? a : Expr::make(Op::bitcast, to, {&a});
}

Expr float_of_bits(const Expr& a) {
  DType to = a.dtype() == DType::i64 ? DType::f64 : DType::f32;
  return Expr::make(Op::bitcast, to, {&a});
}

static thread_local std::span<const Expr> symbol_expressions;

SymbolExpressions::SymbolExpressions(std::span<const Expr> expressions)
    : outer_(std::exchange(symbol_expressions, expressions)) {}
SymbolExpressions::~SymbolExpressions() { symbol_expressions = outer_; }

const Expr& symbol_expression(const Scalar& symbol) {
  if (symbol.symbol() > symbol_expressions.size()) (void)symbol.to_double();  // refuses
  return symbol_expressions[symbol.symbol() - 1];
}

Expr convert(const Expr& a, DType to) {
  if (a.dtype() == to) return a;
  if (compute_dtype(a.dtype()) != a.dtype() && to != DType::f32) {
    return convert(convert(a, DType::f32), to);
  }
  if (compute_dtype(to) != to && a.dtype() != DType::f32)
    return convert(convert(a, DType::f32), to);
  return Expr::make(Op::convert, to, {&a});
}

Expr rare(const Expr& bad, const Expr& fast, Runtime which, const Expr& x, const Expr& y) {
  return Expr::make(Op::rare, fast.dtype(), {&bad, &fast, &x, &y}, 0, which);
}

}  // namespace fg::ir
