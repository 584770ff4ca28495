// Dim: the size of a dimension, a constant or an expression of symbols in normal form. Eight bytes:
// expressions are the lowest values of int64_t, which no real size can have and which are refused
// as numbers; symbols.h has the space that owns them. Arithmetic on constants is checked: a result
// that needs more than 64 bits is an error. Three questions, three names: same() is structure, ==
// and < may add a guard to the capture that runs, known_equal() and known_less() never do.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <string>

namespace fg {

// An answer that holds for all sizes that fulfil the guards of the capture.
enum class Known : uint8_t { no, yes, unknown };

class Dim {
 public:
  Dim() = default;  // not initialised, as an int
  template <std::integral T>
  constexpr Dim(T value) : bits_(checked(value)) {}  // NOLINT: a number is a Dim
  // A bound that is clipped to a size later: the numbers that are refused above, which lie below
  // every size, become the lowest one that is not.
  static constexpr Dim bound(int64_t value) { return raw(value < kLowest ? kLowest : value); }

  constexpr bool is_constant() const { return bits_ >= kLowest; }
  // The number; an error for a symbol: use it only where nothing symbolic may come.
  constexpr int64_t value() const { return is_constant() ? bits_ : symbolic_value(); }
  // The number, or that of the expression in the traced example. Adds no guard.
  int64_t hint() const { return is_constant() ? bits_ : symbolic_hint(); }
  std::string text() const;
#ifndef FOREGRAD_LIBRARY  // inside of the library any size may be a symbol: value() says where not
  constexpr operator int64_t() const { return value(); }  // NOLINT: int64_t n = x.sizes()[0];
#endif

  enum class Op : uint8_t { add, sub, mul, floor_div, mod, min, max };

  friend Dim operator+(Dim a, Dim b) {
    int64_t sum;
    bool fits = both(a, b) && !__builtin_add_overflow(a.bits_, b.bits_, &sum) && sum >= kLowest;
    return fits ? raw(sum) : combine(Op::add, a, b);
  }
  friend Dim operator-(Dim a, Dim b) {
    int64_t difference;
    bool fits = both(a, b) && !__builtin_sub_overflow(a.bits_, b.bits_, &difference) &&
                difference >= kLowest;
    return fits ? raw(difference) : combine(Op::sub, a, b);
  }
  friend Dim operator*(Dim a, Dim b) {
    int64_t product;
    bool fits =
        both(a, b) && !__builtin_mul_overflow(a.bits_, b.bits_, &product) && product >= kLowest;
    return fits ? raw(product) : combine(Op::mul, a, b);
  }
  friend Dim operator/(Dim a, Dim b) { return combine(Op::floor_div, a, b); }  // floors
  friend Dim operator%(Dim a, Dim b) { return combine(Op::mod, a, b); }        // sign of b
  friend Dim min(Dim a, Dim b) { return combine(Op::min, a, b); }
  friend Dim max(Dim a, Dim b) { return combine(Op::max, a, b); }
  friend Dim operator-(Dim a) { return Dim(0) - a; }
  Dim& operator+=(Dim b) { return *this = *this + b; }
  Dim& operator-=(Dim b) { return *this = *this - b; }
  Dim& operator*=(Dim b) { return *this = *this * b; }

  // One expression: the same number for whatever sizes.
  friend bool same(Dim a, Dim b) { return a.bits_ == b.bits_; }
  friend Known known_equal(Dim a, Dim b) {
    if (both(a, b)) return a.bits_ == b.bits_ ? Known::yes : Known::no;
    return symbolic_equal(a, b);
  }
  friend Known known_less(Dim a, Dim b) {
    if (both(a, b)) return a.bits_ < b.bits_ ? Known::yes : Known::no;
    return symbolic_less(a, b);
  }
#ifdef FOREGRAD_ASKS_KNOWN  // layers behind the capture: only a capture adds guards
  friend bool operator==(Dim, Dim) = delete;
  friend bool operator<(Dim, Dim) = delete;
  friend bool operator>(Dim, Dim) = delete;
  friend bool operator<=(Dim, Dim) = delete;
  friend bool operator>=(Dim, Dim) = delete;
#else
  // Beyond what is known the hints decide, and the capture gets a guard; an error without one.
  friend bool operator==(Dim a, Dim b) {
    return both(a, b) ? a.bits_ == b.bits_ : decide_equal(a, b);
  }
  friend bool operator<(Dim a, Dim b) { return both(a, b) ? a.bits_ < b.bits_ : decide_less(a, b); }
  friend bool operator>(Dim a, Dim b) { return b < a; }
  friend bool operator<=(Dim a, Dim b) { return !(b < a); }
  friend bool operator>=(Dim a, Dim b) { return !(a < b); }
#endif

 private:
  friend class Symbols;
  static constexpr int64_t kLowest = std::numeric_limits<int64_t>::min() + (1LL << 32);

  static constexpr Dim raw(int64_t bits) {
    Dim result{};
    result.bits_ = bits;
    return result;
  }
  // Costs nothing for constants and for types that hold no number of 64 bits.
  template <std::integral T>
  static constexpr int64_t checked(T value) {
    if constexpr (sizeof(T) == sizeof(int64_t)) {
      if constexpr (std::unsigned_integral<T>) {
        if (value > static_cast<T>(std::numeric_limits<int64_t>::max())) [[unlikely]]
          refuse_high(value);
      } else {
        if (value < kLowest) [[unlikely]]
          refuse_low(value);
      }
    }
    return static_cast<int64_t>(value);
  }
  static constexpr bool both(Dim a, Dim b) { return a.is_constant() && b.is_constant(); }
  static Dim combine(Op op, Dim a, Dim b);
  static bool decide_equal(Dim a, Dim b);
  static bool decide_less(Dim a, Dim b);
  static Known symbolic_equal(Dim a, Dim b);
  static Known symbolic_less(Dim a, Dim b);
  [[noreturn, gnu::cold]] static void refuse_low(int64_t value);
  [[noreturn, gnu::cold]] static void refuse_high(uint64_t value);
  int64_t symbolic_hint() const;
  [[noreturn]] int64_t symbolic_value() const;

  int64_t bits_;
};

// A size may stand for a number in a program that uses the library.
#ifdef FOREGRAD_LIBRARY
template <class T>
concept is_size = false;
#else
template <class T>
concept is_size = std::same_as<T, Dim>;
// Beside an integer either operand could become the other's type: these stay sizes.
#define FG_WITH_INTEGER(op, Result) \
  template <std::integral T>        \
  Result operator op(Dim a, T b) {  \
    return a op Dim(b);             \
  }                                 \
  template <std::integral T>        \
  Result operator op(T a, Dim b) {  \
    return Dim(a) op b;             \
  }
FG_WITH_INTEGER(+, Dim)
FG_WITH_INTEGER(-, Dim)
FG_WITH_INTEGER(*, Dim)
FG_WITH_INTEGER(/, Dim)
FG_WITH_INTEGER(%, Dim)
FG_WITH_INTEGER(==, bool)
FG_WITH_INTEGER(<, bool)
FG_WITH_INTEGER(>, bool)
FG_WITH_INTEGER(<=, bool)
FG_WITH_INTEGER(>=, bool)
#undef FG_WITH_INTEGER
#endif

}  // namespace fg
