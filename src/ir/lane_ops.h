// One lane of the operations whose result C++ leaves undefined: division by zero, conversion out of
// range, long shifts. The vector lanes, the interpreter and compiled code follow these definitions.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/level.h"

namespace fg::ir {

template <class T>
using Unsigned = typename std::conditional_t<std::is_same_v<T, bool>, std::type_identity<uint8_t>,
                                             std::make_unsigned<T>>::type;

// x86's behaviour, on every machine: NaN and values out of range give the smallest integer, and
// types below 32 bits wrap the 32-bit result. Anything but zero (so NaN too) is true.
template <class To, class From>
FG_INLINE To convert_lane(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    using Wide = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
    constexpr Wide lowest = std::numeric_limits<Wide>::min();
    bool fits = x >= From(lowest) && x < -From(lowest);
    if constexpr (sizeof(Wide) < sizeof(From)) fits = x > From(lowest) - 1 && x < -From(lowest);
    return static_cast<To>(fits ? static_cast<Wide>(x) : lowest);
  } else {
    return static_cast<To>(x);
  }
}

// Truncates; x / 0 is 0 (the function layer raises before a kernel runs) and lowest / -1 wraps.
template <class T>
FG_INLINE T divide_lane(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    if constexpr (std::is_signed_v<T>) {
      if (b == T(-1)) return static_cast<T>(Unsigned<T>(0) - static_cast<Unsigned<T>>(a));
    }
    return static_cast<T>(a / b);
  }
}

// Shift counts are taken modulo the width; left_shift and right_shift add PyTorch's rule on top.
template <class T>
FG_INLINE T shift_left_lane(T a, T count) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) << (count & T(8 * sizeof(T) - 1)));
}
template <class T>
FG_INLINE T shift_right_lane(T a, T count) {
  return static_cast<T>(a >> (count & T(8 * sizeof(T) - 1)));
}
template <class T>
FG_INLINE T shift_right_logical_lane(T a, T count) {
  return static_cast<T>(static_cast<Unsigned<T>>(a) >> (count & T(8 * sizeof(T) - 1)));
}

}  // namespace fg::ir
