// A number with the category it was written in: bool, integer or float. Categories matter for
// promotion: `int_tensor + 1` stays integer, `int_tensor + 1.5` becomes the default float dtype.
// While a function is captured, a float argument of it is a symbol: a number of unknown value, for
// which a tensor of the graph stands. Asking for its value ends the capture (Scalar::ask).
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "tensor/dim.h"
#include "tensor/dtype.h"

namespace fg {

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value)
      : dtype_(number(DType::boolean)), integer_(value) {}  // NOLINT: numbers are Scalars
  template <std::integral T>
  Scalar(T value) : dtype_(number(DType::i64)), integer_(static_cast<int64_t>(value)) {}  // NOLINT
  template <std::floating_point T>
  Scalar(T value) : dtype_(number(DType::f64)), real_(value) {}  // NOLINT
  template <is_size T>
  Scalar(T size) : Scalar(size.value()) {}  // NOLINT

  // A symbol; `id` is not 0 and is resolved by the capture that gave it.
  static Scalar symbol(uint32_t id) {
    Scalar unknown(__builtin_nan(""));
    unknown.symbol_ = id;
    return unknown;
  }
  uint32_t symbol() const { return symbol_; }  // 0: the value is known
  bool is_known() const { return symbol_ == 0; }

  // DType::boolean, i64 or f64: the category.
  DType dtype() const { return static_cast<DType>(dtype_); }
  bool is_floating() const { return dtype_ == number(DType::f64); }

  double to_double() const {
    if (symbol_ != 0) [[unlikely]]
      ask();
    return real();
  }
  // Truncates a float as a C++ cast does.
  int64_t to_int() const {
    if (symbol_ != 0) [[unlikely]]
      ask();
    return integer();
  }
  bool to_bool() const {
    if (symbol_ != 0) [[unlikely]]
      ask();
    return is_floating() ? real_ != 0 : integer_ != 0;
  }
  double toDouble() const { return to_double(); }  // libtorch's names
  int64_t toInt() const { return to_int(); }
  int64_t toLong() const { return to_int(); }
  float toFloat() const { return static_cast<float>(to_double()); }
  bool toBool() const { return to_bool(); }
  // Whether the value is known to be this one.
  bool equal(double value) const { return symbol_ == 0 && real() == value; }

  // The value for loops of kernels, which never see symbols.
  double real() const { return is_floating() ? real_ : static_cast<double>(integer_); }
  int64_t integer() const { return is_floating() ? static_cast<int64_t>(real_) : integer_; }

  template <class T>
  T to() const {
    if constexpr (std::is_same_v<T, bool>)
      return to_bool();
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(to_int());
    else if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(to_double());
    else
      return T(static_cast<float>(to_double()));
  }
  std::string text() const;

  friend bool operator==(const Scalar& a, const Scalar& b) {
    if (a.dtype_ != b.dtype_ || a.symbol_ != b.symbol_) return false;
    if (a.symbol_ != 0) return true;
    return a.is_floating() ? a.real_ == b.real_ : a.integer_ == b.integer_;
  }
  Scalar operator-() const {
    return is_floating() ? Scalar(-to_double())
                         : Scalar(static_cast<int64_t>(0 - static_cast<uint64_t>(integer_)));
  }

 private:
  [[noreturn]] void ask() const;

  static constexpr uint32_t number(DType dtype) { return static_cast<uint32_t>(dtype); }

  // Two halves of one word: written and copied at once.
  uint32_t dtype_, symbol_ = 0;
  union {
    int64_t integer_;
    double real_;
  };
};

using OptScalar = std::optional<Scalar>;

}  // namespace fg
