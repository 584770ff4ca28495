// Sixteen lanes of one element type in registers of an instruction-set level: the eager form of a
// formula's value. Chunks are GCC vectors (32 bytes at v3, 16 at baseline). Operations that need
// target intrinsics in g++ are inline assembly, so these functions need no attribute; they must be
// inlined into a kernel marked FG_KERNEL_V3 or FG_KERNEL_BASELINE (-O1 and -ffp-contract=off;
// -fno-ipa-sra -fno-ipa-cp keep g++ from cloning a formula, which `flatten` would not inline).
#pragma once

#include <utility>

#include "base/level.h"
#include "ir/formula.h"
#include "ir/lane_ops.h"

namespace fg::ir {

inline constexpr int kLanes = 16;

template <class T, int bytes>
struct Vector {
  typedef T type __attribute__((vector_size(bytes)));
  typedef T unaligned __attribute__((vector_size(bytes), aligned(1), may_alias));
};

// The integer with the size of T; bool computes as bytes 0 and 1.
template <class T>
using IntOf =
    std::conditional_t<sizeof(T) == 8, int64_t,
                       std::conditional_t<sizeof(T) == 4, int32_t,
                                          std::conditional_t<sizeof(T) == 2, int16_t, int8_t>>>;
template <class T>
using StoredLane = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
template <class T>
inline constexpr bool is_float = std::is_floating_point_v<T>;

template <class T, Level L>
struct Register {
  static constexpr int kWidth = L == Level::v3 ? 32 : 16;
  static constexpr int kBytes = kWidth < kLanes * int(sizeof(T)) ? kWidth : kLanes * sizeof(T);
  static constexpr int kChunks = kLanes * sizeof(T) / kBytes;
  static constexpr int kPerChunk = kLanes / kChunks;
  using Chunk = typename Vector<T, kBytes>::type;
  using Unaligned = typename Vector<T, kBytes>::unaligned;
};

template <class T, Level L>
struct Lanes : Register<StoredLane<T>, L> {
  using Element = T;
  using Base = Register<StoredLane<T>, L>;
  using typename Base::Chunk;
  static constexpr Level kLevel = L;
  Chunk chunk[Base::kChunks];

  T lane(int i) const { return chunk[i / Base::kPerChunk][i % Base::kPerChunk]; }
  void set_lane(int i, T x) { chunk[i / Base::kPerChunk][i % Base::kPerChunk] = x; }
};

// Results of a comparison of Lanes<T, L>: every lane is all ones or all zeros.
template <class T, Level L>
struct Mask : Register<IntOf<T>, L> {
  using Element = T;
  using Base = Register<IntOf<T>, L>;
  using typename Base::Chunk;
  static constexpr Level kLevel = L;
  Chunk chunk[Base::kChunks];

  bool lane(int i) const { return chunk[i / Base::kPerChunk][i % Base::kPerChunk] != 0; }
};

template <class T, Level L>
inline constexpr bool is_formula_value<Lanes<T, L>> = true;

template <class T, class U, Level L>
Mask<T, L> mask_of(const Mask<U, L>& mask);
template <class T, Level L>
Mask<T, L> mask_of(const Lanes<bool, L>& a);

// Builds a result chunk by chunk. No loop: constant indices from the start let g++ take the chunks
// apart early, which halves its time.
template <class R, class F, int... I>
FG_INLINE R each_chunk_of(F f, std::integer_sequence<int, I...>) {
  R result;
  ((result.chunk[I] = (typename R::Chunk)(f(I))), ...);
  return result;
}
template <class R, class F>
FG_INLINE R each_chunk(F f) {
  return each_chunk_of<R>(f, std::make_integer_sequence<int, R::kChunks>());
}

template <class T, Level L>
FG_INLINE Lanes<T, L> splat(T x) {
  using V = Lanes<T, L>;
  return each_chunk<V>([&](int) FG_INLINED { return typename V::Chunk{} + StoredLane<T>(x); });
}
template <class T, Level L, Number N>
FG_INLINE Lanes<T, L> like(const Lanes<T, L>&, N x) {
  return splat<T, L>(static_cast<T>(x));
}

// Arithmetic. Integers wrap, so they compute as unsigned; on bool + is or and * is and.
template <class T, Level L>
using Wrapping = typename Register<
    typename std::conditional_t<
        is_float<T>, std::type_identity<T>,
        std::type_identity<Unsigned<std::conditional_t<is_float<T>, int, T>>>>::type,
    L>::Chunk;

template <class T, Level L>
FG_INLINE Lanes<T, L> operator+(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  using W = Wrapping<T, L>;
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED {
    if constexpr (std::is_same_v<T, bool>)
      return a.chunk[i] | b.chunk[i];
    else
      return (W)a.chunk[i] + (W)b.chunk[i];
  });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator-(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  using W = Wrapping<T, L>;
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED {
    if constexpr (std::is_same_v<T, bool>)
      return a.chunk[i] ^ b.chunk[i];
    else
      return (W)a.chunk[i] - (W)b.chunk[i];
  });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator*(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  using W = Wrapping<T, L>;
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED {
    if constexpr (std::is_same_v<T, bool>)
      return a.chunk[i] & b.chunk[i];
    else
      return (W)a.chunk[i] * (W)b.chunk[i];
  });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator/(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  if constexpr (is_float<T>) {
    return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED { return a.chunk[i] / b.chunk[i]; });
  } else {
    Lanes<T, L> result;
    for (int i = 0; i < kLanes; ++i) result.set_lane(i, divide_lane<T>(a.lane(i), b.lane(i)));
    return result;
  }
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator-(const Lanes<T, L>& a) {
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED { return -(Wrapping<T, L>)a.chunk[i]; });
}

// a * b + c with one rounding at v3 and above, two at baseline: the level is part of the result.
template <class T, Level L>
FG_INLINE Lanes<T, L> mad(const Lanes<T, L>& a, const Lanes<T, L>& b, const Lanes<T, L>& c) {
#if FG_HAS_V3
  if constexpr (L == Level::v3 && is_float<T>) {
    return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED {
      auto sum = c.chunk[i];
      if constexpr (sizeof(T) == 4)
        asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a.chunk[i]), "xm"(b.chunk[i]));
      else
        asm("vfmadd231pd %2, %1, %0" : "+x"(sum) : "x"(a.chunk[i]), "xm"(b.chunk[i]));
      return sum;
    });
  }
#endif
  return a * b + c;
}

template <class T, Level L>
FG_INLINE Lanes<T, L> sqrt(const Lanes<T, L>& a) {
#if FG_HAS_V3
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED {
    typename Lanes<T, L>::Chunk root;
    if constexpr (L == Level::v3 && sizeof(T) == 4)
      asm("vsqrtps %1, %0" : "=x"(root) : "xm"(a.chunk[i]));
    else if constexpr (L == Level::v3)
      asm("vsqrtpd %1, %0" : "=x"(root) : "xm"(a.chunk[i]));
    else if constexpr (sizeof(T) == 4)
      root = __builtin_ia32_sqrtps(a.chunk[i]);
    else
      root = __builtin_ia32_sqrtpd(a.chunk[i]);
    return root;
  });
#else
  Lanes<T, L> result;
  for (int i = 0; i < kLanes; ++i) {
    if constexpr (sizeof(T) == 4)
      result.set_lane(i, __builtin_sqrtf(a.lane(i)));
    else
      result.set_lane(i, __builtin_sqrt(a.lane(i)));
  }
  return result;
#endif
}

// Comparisons. g++ turns bit operations on a mask it can see through into conditionals, and those
// of 64-bit lanes into scalar code where SSE2 has no such instruction: hence the empty assembly.
template <class T, Level L, class Chunk>
FG_INLINE Chunk opaque_mask(Chunk mask) {
#if FG_HAS_V3
  if constexpr (L == Level::baseline && is_float<T>) asm("" : "+x"(mask));
#endif
  return mask;
}
template <class T, Level L>
FG_INLINE Mask<T, L> operator<(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  return each_chunk<Mask<T, L>>(
      [&](int i) FG_INLINED { return opaque_mask<T, L>(a.chunk[i] < b.chunk[i]); });
}
template <class T, Level L>
FG_INLINE Mask<T, L> operator<=(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  return each_chunk<Mask<T, L>>(
      [&](int i) FG_INLINED { return opaque_mask<T, L>(a.chunk[i] <= b.chunk[i]); });
}
template <class T, Level L>
FG_INLINE Mask<T, L> operator==(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  return each_chunk<Mask<T, L>>(
      [&](int i) FG_INLINED { return opaque_mask<T, L>(a.chunk[i] == b.chunk[i]); });
}
template <class T, Level L>
FG_INLINE Mask<T, L> operator!=(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  return each_chunk<Mask<T, L>>(
      [&](int i) FG_INLINED { return opaque_mask<T, L>(a.chunk[i] != b.chunk[i]); });
}

// Bits of integers, bools and masks.
template <class T, Level L>
FG_INLINE Lanes<T, L> operator&(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED { return a.chunk[i] & b.chunk[i]; });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator|(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED { return a.chunk[i] | b.chunk[i]; });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator^(const Lanes<T, L>& a, const Lanes<T, L>& b) {
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED { return a.chunk[i] ^ b.chunk[i]; });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator~(const Lanes<T, L>& a) {
  if constexpr (std::is_same_v<T, bool>)
    return a ^ splat<bool, L>(true);
  else
    return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED { return ~a.chunk[i]; });
}
template <Level L>
FG_INLINE Lanes<bool, L> operator!(const Lanes<bool, L>& a) {
  return ~a;
}

template <class T, class U, Level L>
FG_INLINE Mask<T, L> operator&(const Mask<T, L>& a, const Mask<U, L>& other) {
  Mask<T, L> b = mask_of<T>(other);
  return each_chunk<Mask<T, L>>([&](int i) FG_INLINED { return a.chunk[i] & b.chunk[i]; });
}
template <class T, class U, Level L>
FG_INLINE Mask<T, L> operator|(const Mask<T, L>& a, const Mask<U, L>& other) {
  Mask<T, L> b = mask_of<T>(other);
  return each_chunk<Mask<T, L>>([&](int i) FG_INLINED { return a.chunk[i] | b.chunk[i]; });
}
template <class T, class U, Level L>
FG_INLINE Mask<T, L> operator^(const Mask<T, L>& a, const Mask<U, L>& other) {
  Mask<T, L> b = mask_of<T>(other);
  return each_chunk<Mask<T, L>>([&](int i) FG_INLINED { return a.chunk[i] ^ b.chunk[i]; });
}
template <class T, Level L>
FG_INLINE Mask<T, L> operator!(const Mask<T, L>& a) {
  return each_chunk<Mask<T, L>>([&](int i) FG_INLINED { return ~a.chunk[i]; });
}

// Shifts, counts modulo the width. A shift by a number compiles to one instruction.
template <class T, Level L>
FG_INLINE Lanes<T, L> operator<<(const Lanes<T, L>& a, const Lanes<T, L>& count) {
  using W = Wrapping<T, L>;
  auto width = splat<T, L>(8 * sizeof(T) - 1);
  return each_chunk<Lanes<T, L>>(
      [&](int i) FG_INLINED { return (W)a.chunk[i] << (W)(count.chunk[i] & width.chunk[i]); });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator>>(const Lanes<T, L>& a, const Lanes<T, L>& count) {
  auto width = splat<T, L>(8 * sizeof(T) - 1);
  return each_chunk<Lanes<T, L>>(
      [&](int i) FG_INLINED { return a.chunk[i] >> (count.chunk[i] & width.chunk[i]); });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> shift_right_logical(const Lanes<T, L>& a, const Lanes<T, L>& count) {
  using W = Wrapping<T, L>;
  auto width = splat<T, L>(8 * sizeof(T) - 1);
  return each_chunk<Lanes<T, L>>(
      [&](int i) FG_INLINED { return (W)a.chunk[i] >> (W)(count.chunk[i] & width.chunk[i]); });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator<<(const Lanes<T, L>& a, int count) {
  return each_chunk<Lanes<T, L>>([&](int i)
                                     FG_INLINED { return (Wrapping<T, L>)a.chunk[i] << count; });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> operator>>(const Lanes<T, L>& a, int count) {
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED { return a.chunk[i] >> count; });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> shift_right_logical(const Lanes<T, L>& a, int count) {
  return each_chunk<Lanes<T, L>>([&](int i)
                                     FG_INLINED { return (Wrapping<T, L>)a.chunk[i] >> count; });
}

// Choice by mask. SSE2 has no blend and g++ expands `?:` poorly there: plain bit operations.
template <class U, class T, Level L>
FG_INLINE Lanes<T, L> select(const Mask<U, L>& mask, const Lanes<T, L>& a, const Lanes<T, L>& b) {
  using I = typename Mask<T, L>::Chunk;
  Mask<T, L> m = mask_of<T>(mask);
  return each_chunk<Lanes<T, L>>([&](int i) FG_INLINED {
    if constexpr (L == Level::v3)
      return m.chunk[i] ? a.chunk[i] : b.chunk[i];
    else
      return ((I)a.chunk[i] & m.chunk[i]) | ((I)b.chunk[i] & ~m.chunk[i]);
  });
}
template <class T, Level L>
FG_INLINE Lanes<T, L> select(const Lanes<bool, L>& mask, const Lanes<T, L>& a,
                             const Lanes<T, L>& b) {
  return select(mask_of<T>(mask), a, b);
}

// The same bits read as the other type of that size.
template <class T, Level L>
FG_INLINE Lanes<IntOf<T>, L> bits(const Lanes<T, L>& a) {
  return each_chunk<Lanes<IntOf<T>, L>>(
      [&](int i) FG_INLINED { return (typename Lanes<IntOf<T>, L>::Chunk)a.chunk[i]; });
}
template <class T, Level L>
FG_INLINE auto float_of_bits(const Lanes<T, L>& a) {
  using V = Lanes<std::conditional_t<sizeof(T) == 8, double, float>, L>;
  return each_chunk<V>([&](int i) FG_INLINED { return (typename V::Chunk)a.chunk[i]; });
}

// Two forms of one formula, chosen by the element type of the first operand: only the chosen one is
// instantiated. `by_double` chooses a constant the same way.
template <class Double, class Single, class T, Level L, class... More>
FG_INLINE auto if_double(Double in_double, Single in_single, const Lanes<T, L>& x,
                         const More&... more) {
  if constexpr (sizeof(T) == 8)
    return in_double(x, more...);
  else
    return in_single(x, more...);
}
template <class Float, class Integer, class T, Level L, class... More>
FG_INLINE auto if_float(Float of_float, Integer of_integer, const Lanes<T, L>& x,
                        const More&... more) {
  if constexpr (is_float<T>)
    return of_float(x, more...);
  else
    return of_integer(x, more...);
}
template <Number N, class T, Level L>
FG_INLINE N by_double(const Lanes<T, L>&, N if_double, N if_single) {
  return sizeof(T) == 8 ? if_double : if_single;
}
template <class T, Level L>
FG_INLINE int lane_width(const Lanes<T, L>&) {
  return 8 * sizeof(T);
}
template <class T, Level L>
FG_INLINE bool is_signed_lane(const Lanes<T, L>&) {
  return std::is_signed_v<T>;
}

}  // namespace fg::ir

#include "ir/lanes_convert.h"
#include "ir/lanes_rare.h"
