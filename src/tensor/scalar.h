// A number with the category it was written in: bool, integer or float. Categories matter for
// promotion: `int_tensor + 1` stays integer, `int_tensor + 1.5` becomes the default float dtype.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include "tensor/dtype.h"

namespace fg {

class Scalar {
 public:
  Scalar() : Scalar(int64_t{0}) {}
  Scalar(bool value) : dtype_(DType::boolean), integer_(value) {}  // NOLINT: numbers are Scalars
  template <std::integral T>
  Scalar(T value) : dtype_(DType::i64), integer_(static_cast<int64_t>(value)) {}  // NOLINT
  template <std::floating_point T>
  Scalar(T value) : dtype_(DType::f64), real_(value) {}  // NOLINT

  // DType::boolean, i64 or f64: the category.
  DType dtype() const { return dtype_; }
  bool is_floating() const { return dtype_ == DType::f64; }

  double to_double() const { return is_floating() ? real_ : static_cast<double>(integer_); }
  // Truncates a float as a C++ cast does.
  int64_t to_int() const { return is_floating() ? static_cast<int64_t>(real_) : integer_; }
  bool to_bool() const { return is_floating() ? real_ != 0 : integer_ != 0; }
  bool equal(double value) const { return to_double() == value; }

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
    if (a.dtype_ != b.dtype_) return false;
    return a.is_floating() ? a.real_ == b.real_ : a.integer_ == b.integer_;
  }
  Scalar operator-() const { return is_floating() ? Scalar(-real_) : Scalar(-integer_); }

 private:
  DType dtype_;
  union {
    int64_t integer_;
    double real_;
  };
};

using OptScalar = std::optional<Scalar>;

}  // namespace fg
