// A formula as data: an immutable, shared expression DAG over one lane, which a compiler lowers
// later. Every node has an explicit dtype; operands of arithmetic have equal dtypes. The 16-bit
// floats occur only as inputs that are widened and as results that are rounded (`convert`).
// Building is cheap and does no folding; equal subexpressions are merged by Program (program.h).
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "ir/formula.h"
#include "ir/runtime.h"
#include "tensor/dtype.h"
#include "tensor/scalar.h"

namespace fg::ir {

// Comparisons give boolean. `div` of integers truncates, x / 0 = 0, lowest / -1 wraps. Shift counts
// are taken modulo the width; `shr` is logical, `sar` arithmetic. `mad` is fused at v3 and above.
// `convert` follows convert_lane. `rare`: (bad, fast, x, y) -> bad ? runtime(x, y) : fast.
enum class Op : uint8_t {
  input,
  parameter,
  constant,
  add,
  sub,
  mul,
  div,
  neg,
  mad,
  sqrt,
  lt,
  le,
  eq,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shl,
  shr,
  sar,
  select,
  bitcast,
  convert,
  rare
};
inline constexpr int kMaxOperands = 4;
const char* name(Op op);

struct ExprNode {
  mutable uint32_t references;  // changed atomically
  Op op;
  DType dtype;
  Runtime runtime;  // of rare
  uint8_t arity;
  uint64_t payload;  // index of an input or parameter, bits of a constant
  const ExprNode* operand[kMaxOperands];
};

class Expr {
 public:
  static Expr input(int index, DType dtype);
  static Expr parameter(int index, DType dtype);  // one value for all lanes
  // An input as its lanes compute: 16-bit floats widened to f32.
  static Expr loaded(int index, DType dtype);
  static Expr constant(DType dtype, double value);
  static Expr constant(DType dtype, int64_t value);
  template <Number N>
  static Expr constant(DType dtype, N value) {
    if constexpr (std::is_floating_point_v<N>)
      return constant(dtype, double{value});
    else
      return constant(dtype, static_cast<int64_t>(value));
  }

  Expr(const Expr& other);
  Expr(Expr&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Expr& operator=(Expr other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Expr() {
    if (node_) release(node_);
  }

  DType dtype() const { return node_->dtype; }
  const ExprNode* node() const { return node_; }

  // For the operations below: takes over no reference, checks nothing.
  static Expr make(Op op, DType dtype, std::initializer_list<const Expr*> operands,
                   uint64_t payload = 0, Runtime runtime = {});

 private:
  explicit Expr(const ExprNode* node) : node_(node) {}
  static void release(const ExprNode* node);
  const ExprNode* node_;
};

template <>
inline constexpr bool is_formula_value<Expr> = true;

// The dtype in which elements of a storage dtype are computed.
constexpr DType compute_dtype(DType dtype) { return is_half(dtype) ? DType::f32 : dtype; }

template <Number N>
Expr like(const Expr& x, N value) {
  return Expr::constant(x.dtype(), value);
}

Expr operator+(const Expr& a, const Expr& b);  // of bool: or
Expr operator-(const Expr& a, const Expr& b);  // of bool: xor
Expr operator*(const Expr& a, const Expr& b);  // of bool: and
Expr operator/(const Expr& a, const Expr& b);
Expr operator-(const Expr& a);
Expr mad(const Expr& a, const Expr& b, const Expr& c);
Expr sqrt(const Expr& a);
Expr operator<(const Expr& a, const Expr& b);
Expr operator<=(const Expr& a, const Expr& b);
Expr operator==(const Expr& a, const Expr& b);
Expr operator&(const Expr& a, const Expr& b);
Expr operator|(const Expr& a, const Expr& b);
Expr operator^(const Expr& a, const Expr& b);
Expr operator~(const Expr& a);
inline Expr operator!(const Expr& a) { return ~a; }
inline Expr operator!=(const Expr& a, const Expr& b) { return !(a == b); }
Expr operator<<(const Expr& a, const Expr& count);
Expr operator>>(const Expr& a, const Expr& count);
Expr shift_right_logical(const Expr& a, const Expr& count);
inline Expr operator<<(const Expr& a, int count) { return a << like(a, count); }
inline Expr operator>>(const Expr& a, int count) { return a >> like(a, count); }
inline Expr shift_right_logical(const Expr& a, int count) {
  return shift_right_logical(a, like(a, count));
}
Expr select(const Expr& mask, const Expr& a, const Expr& b);
Expr bits(const Expr& a);
Expr float_of_bits(const Expr& a);
Expr convert(const Expr& a, DType to);

// While alive, symbols among the numbers of a formula are these expressions of f64: symbol i is the
// i-th, counted from one.
class SymbolExpressions {
 public:
  explicit SymbolExpressions(std::span<const Expr> expressions);
  ~SymbolExpressions();
  SymbolExpressions(const SymbolExpressions&) = delete;
  SymbolExpressions& operator=(const SymbolExpressions&) = delete;

 private:
  std::span<const Expr> outer_;
};
// The expression that stands for a symbol; an error if there is none.
const Expr& symbol_expression(const Scalar& symbol);
Expr rare(const Expr& bad, const Expr& fast, Runtime which, const Expr& x, const Expr& y);

template <class To>
Expr convert(const Expr& a) {
  return convert(a, DTypeOf<To>::value);
}
// A mask and a bool are the same thing here; vector lanes tell them apart.
template <class T>
Expr mask_of(const Expr& mask) {
  return mask;
}
inline Expr bool_of(const Expr& mask) { return mask; }

// Two forms of one formula, chosen by the dtype of the first operand.
template <class Double, class Single, class... More>
Expr if_double(Double in_double, Single in_single, const Expr& x, const More&... more) {
  return x.dtype() == DType::f64 ? in_double(x, more...) : in_single(x, more...);
}
template <class Float, class Integer, class... More>
Expr if_float(Float of_float, Integer of_integer, const Expr& x, const More&... more) {
  return is_floating(x.dtype()) ? of_float(x, more...) : of_integer(x, more...);
}
template <Number N>
N by_double(const Expr& x, N if_double, N if_single) {
  return x.dtype() == DType::f64 || x.dtype() == DType::i64 ? if_double : if_single;
}
inline int lane_width(const Expr& x) { return 8 * static_cast<int>(item_size(x.dtype())); }
inline bool is_signed_lane(const Expr& x) { return is_signed(x.dtype()); }

}  // namespace fg::ir
