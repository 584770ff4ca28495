// Lanes to and from memory, and between element types. Included by lanes.h. The usual pairs are a
// few instructions per chunk; every other pair goes lane by lane through convert_lane.
#pragma once

#include "ir/lanes.h"
#include "tensor/half.h"

namespace fg::ir {

// The type an element computes in: the 16-bit floats are storage only.
template <class S>
using compute_t =
    std::conditional_t<std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>, float, S>;

// An array of lanes in memory, the way between shapes that have no instruction of their own.
template <class T>
struct Spilled {
  alignas(32) T lane[kLanes];
};

template <class R, class S>
FG_INLINE R load_chunks(const S* p) {
  using Unaligned = typename R::Base::Unaligned;
  return each_chunk<R>([&](int i) FG_INLINED { return reinterpret_cast<const Unaligned*>(p)[i]; });
}
template <class V, class S>
FG_INLINE void store_chunks(S* p, const V& v) {
#pragma GCC unroll 16
  for (int i = 0; i < V::kChunks; ++i)
    reinterpret_cast<typename V::Base::Unaligned*>(p)[i] = v.chunk[i];
}

// ---- f32 <-> f64 and 32 <-> 64 bit integers, whole registers ----

// The halves of a register, and the two joined again.
#if FG_HAS_V3
template <class T>
FG_INLINE typename Vector<T, 16>::type upper_half(typename Vector<T, 32>::type v) {
  typename Vector<T, 16>::type half;
  asm("vextractf128 $1, %1, %0" : "=x"(half) : "x"(v));
  return half;
}
template <class T>
FG_INLINE typename Vector<T, 16>::type lower_half(typename Vector<T, 32>::type v) {
  return __builtin_shufflevector(v, v, 0, 1, 2, 3);
}
template <class T>
FG_INLINE typename Vector<T, 32>::type join_halves(typename Vector<T, 16>::type low,
                                                   typename Vector<T, 16>::type high) {
  typename Vector<T, 32>::type whole;
  asm("vinsertf128 $1, %2, %t1, %0" : "=x"(whole) : "x"(low), "x"(high));
  return whole;
}

FG_INLINE Lanes<double, Level::v3> widen(const Lanes<float, Level::v3>& a) {
  return each_chunk<Lanes<double, Level::v3>>([&](int i) FG_INLINED {
    auto half = i % 2 ? upper_half<float>(a.chunk[i / 2]) : lower_half<float>(a.chunk[i / 2]);
    Lanes<double, Level::v3>::Chunk wide;
    asm("vcvtps2pd %1, %0" : "=x"(wide) : "x"(half));
    return wide;
  });
}
FG_INLINE Lanes<float, Level::v3> narrow(const Lanes<double, Level::v3>& a) {
  return each_chunk<Lanes<float, Level::v3>>([&](int i) FG_INLINED {
    typename Vector<float, 16>::type low, high;
    asm("vcvtpd2ps %1, %0" : "=x"(low) : "x"(a.chunk[2 * i]));
    asm("vcvtpd2ps %1, %0" : "=x"(high) : "x"(a.chunk[2 * i + 1]));
    return join_halves<float>(low, high);
  });
}
FG_INLINE Lanes<double, Level::baseline> widen(const Lanes<float, Level::baseline>& a) {
  return each_chunk<Lanes<double, Level::baseline>>([&](int i) FG_INLINED {
    auto four = a.chunk[i / 2];
    return __builtin_ia32_cvtps2pd(i % 2 ? __builtin_shufflevector(four, four, 2, 3, 2, 3) : four);
  });
}
FG_INLINE Lanes<float, Level::baseline> narrow(const Lanes<double, Level::baseline>& a) {
  return each_chunk<Lanes<float, Level::baseline>>([&](int i) FG_INLINED {
    auto low = __builtin_ia32_cvtpd2ps(a.chunk[2 * i]);
    auto high = __builtin_ia32_cvtpd2ps(a.chunk[2 * i + 1]);
    return __builtin_shufflevector(low, high, 0, 1, 4, 5);
  });
}
#endif

// ---- conversion of elements ----

template <class To, class From, Level L>
FG_INLINE Lanes<To, L> convert(const Lanes<From, L>& a) {
  if constexpr (std::is_same_v<To, From>) {
    return a;
  } else if constexpr (FG_HAS_V3 && std::is_same_v<To, double> && std::is_same_v<From, float>) {
    return widen(a);
  } else if constexpr (FG_HAS_V3 && std::is_same_v<To, float> && std::is_same_v<From, double>) {
    return narrow(a);
  } else if constexpr (std::is_same_v<To, bool>) {
    return bool_of(!(a == like(a, 0)));
  } else if constexpr (std::is_integral_v<To> && std::is_integral_v<From> &&
                       sizeof(To) == sizeof(From)) {
    return each_chunk<Lanes<To, L>>(
        [&](int i) FG_INLINED { return (typename Lanes<To, L>::Chunk)a.chunk[i]; });
  } else {
    Spilled<From> from;
    Spilled<To> to;
    store_chunks(from.lane, a);
    for (int i = 0; i < kLanes; ++i) to.lane[i] = convert_lane<To>(from.lane[i]);
    return load_chunks<Lanes<To, L>>(to.lane);
  }
}

// ---- masks of different lane sizes, and bools ----

// Sign extends or truncates lanes that are all ones or all zeros.
template <class R, class M>
FG_INLINE R resize_mask(const M& mask) {
  using To = std::remove_cvref_t<decltype(std::declval<R>().chunk[0][0])>;
  using From = std::remove_cvref_t<decltype(mask.chunk[0][0])>;
  Spilled<From> from;
  Spilled<To> to;
  store_chunks(from.lane, mask);
  for (int i = 0; i < kLanes; ++i) to.lane[i] = static_cast<To>(from.lane[i]);
  return load_chunks<R>(to.lane);
}
#if FG_HAS_V3
// At v3 the frequent directions are one instruction per chunk.
template <class T>
FG_INLINE Mask<T, Level::v3> extend_bytes(typename Vector<int8_t, 16>::type bytes) {
  using M = Mask<T, Level::v3>;
  return each_chunk<M>([&](int i) FG_INLINED {
    auto words = (typename Vector<int64_t, 16>::type)bytes;
    typename M::Chunk wide;
    if constexpr (sizeof(T) == 2) {
      asm("vpmovsxbw %1, %0" : "=x"(wide) : "x"(bytes));
    } else if constexpr (sizeof(T) == 4) {
      if (i == 1) words = __builtin_shufflevector(words, words, 1, 1);
      asm("vpmovsxbd %1, %0" : "=x"(wide) : "x"(words));
    } else {
      auto quads = (typename Vector<int32_t, 16>::type)bytes;
      if (i == 1) quads = __builtin_shufflevector(quads, quads, 1, 1, 1, 1);
      if (i == 2) quads = __builtin_shufflevector(quads, quads, 2, 2, 2, 2);
      if (i == 3) quads = __builtin_shufflevector(quads, quads, 3, 3, 3, 3);
      asm("vpmovsxbq %1, %0" : "=x"(wide) : "x"(quads));
    }
    return wide;
  });
}
template <class T>
FG_INLINE typename Vector<int8_t, 16>::type pack_to_bytes(const Mask<T, Level::v3>& mask) {
  typename Vector<int8_t, 16>::type bytes;
  if constexpr (sizeof(T) == 8) {
    return pack_to_bytes<float>(halve_mask<float>(mask));
  } else if constexpr (sizeof(T) == 4) {
    typename Vector<int16_t, 16>::type low, high;
    asm("vpackssdw %2, %1, %0"
        : "=x"(low)
        : "x"(lower_half<int32_t>(mask.chunk[0])), "x"(upper_half<int32_t>(mask.chunk[0])));
    asm("vpackssdw %2, %1, %0"
        : "=x"(high)
        : "x"(lower_half<int32_t>(mask.chunk[1])), "x"(upper_half<int32_t>(mask.chunk[1])));
    asm("vpacksswb %2, %1, %0" : "=x"(bytes) : "x"(low), "x"(high));
    return bytes;
  } else {
    auto words = (typename Vector<int32_t, 32>::type)mask.chunk[0];
    asm("vpacksswb %2, %1, %0"
        : "=x"(bytes)
        : "x"(lower_half<int32_t>(words)), "x"(upper_half<int32_t>(words)));
    return bytes;
  }
}
// 64-bit lanes to 32-bit lanes: the even words of both registers, then their quarters in order.
template <class T, class U>
FG_INLINE Mask<T, Level::v3> halve_mask(const Mask<U, Level::v3>& mask) {
  return each_chunk<Mask<T, Level::v3>>([&](int i) FG_INLINED {
    auto low = (typename Vector<int32_t, 32>::type)mask.chunk[2 * i];
    auto high = (typename Vector<int32_t, 32>::type)mask.chunk[2 * i + 1];
    typename Vector<int64_t, 32>::type words;
    asm("vshufps $0x88, %2, %1, %0" : "=x"(words) : "x"(low), "x"(high));
    asm("vpermq $0xd8, %1, %0" : "=x"(words) : "x"(words));
    return words;
  });
}
template <class T, class U>
FG_INLINE Mask<T, Level::v3> double_mask(const Mask<U, Level::v3>& mask) {
  return each_chunk<Mask<T, Level::v3>>([&](int i) FG_INLINED {
    auto four =
        i % 2 ? upper_half<int32_t>(mask.chunk[i / 2]) : lower_half<int32_t>(mask.chunk[i / 2]);
    typename Vector<int64_t, 32>::type wide;
    asm("vpmovsxdq %1, %0" : "=x"(wide) : "x"(four));
    return wide;
  });
}
#endif

template <class T, class U, Level L>
FG_INLINE Mask<T, L> mask_of(const Mask<U, L>& mask) {
  if constexpr (sizeof(T) == sizeof(U)) {
    return each_chunk<Mask<T, L>>([&](int i) FG_INLINED { return mask.chunk[i]; });
  } else if constexpr (L == Level::v3 && sizeof(U) == 1) {
    return extend_bytes<T>(mask.chunk[0]);
  } else if constexpr (L == Level::v3 && sizeof(T) == 1) {
    auto bytes = pack_to_bytes(mask);
    return each_chunk<Mask<T, L>>([&](int) FG_INLINED { return bytes; });
  } else if constexpr (L == Level::v3 && sizeof(T) == 4 && sizeof(U) == 8) {
    return halve_mask<T>(mask);
  } else if constexpr (L == Level::v3 && sizeof(T) == 8 && sizeof(U) == 4) {
    return double_mask<T>(mask);
  } else {
    return resize_mask<Mask<T, L>>(mask);
  }
}
template <class T, Level L>
FG_INLINE Mask<T, L> mask_of(const Lanes<bool, L>& a) {
  return mask_of<T>(!(a == splat<bool, L>(false)));
}
template <class T, Level L>
FG_INLINE Lanes<bool, L> bool_of(const Mask<T, L>& mask) {
  Mask<bool, L> bytes = mask_of<bool>(mask);
  return each_chunk<Lanes<bool, L>>(
      [&](int i) FG_INLINED { return (typename Lanes<bool, L>::Chunk)(bytes.chunk[i] & 1); });
}
template <class To, class T, Level L>
FG_INLINE Lanes<To, L> convert(const Mask<T, L>& mask) {
  return convert<To>(bool_of(mask));
}

// ---- 16-bit floats ----

template <Level L>
FG_INLINE Lanes<float, L> load_bfloat16(const BFloat16* p) {
#if FG_HAS_V3
  if constexpr (L == Level::v3) {
    return each_chunk<Lanes<float, L>>([&](int i) FG_INLINED {
      typename Vector<int32_t, 32>::type wide;
      asm("vpmovzxwd %1, %0" : "=x"(wide) : "m"(*reinterpret_cast<const char(*)[16]>(p + 8 * i)));
      return wide << 16;
    });
  }
#endif
  Spilled<float> wide;
  for (int i = 0; i < kLanes; ++i) wide.lane[i] = p[i];
  return load_chunks<Lanes<float, L>>(wide.lane);
}

template <Level L>
FG_INLINE void store_bfloat16(BFloat16* p, const Lanes<float, L>& a) {
  auto u = bits(a);
  auto rounded =
      u + ((shift_right_logical(u, 16) & splat<int32_t, L>(1)) + splat<int32_t, L>(0x7fff));
  u = shift_right_logical(select(a == a, rounded, splat<int32_t, L>(0x7fc00000)), 16);
#if FG_HAS_V3
  if constexpr (L == Level::v3) {
    typename Vector<int64_t, 32>::type packed;
    asm("vpackusdw %2, %1, %0" : "=x"(packed) : "x"(u.chunk[0]), "x"(u.chunk[1]));
    asm("vpermq $0xd8, %1, %0" : "=x"(packed) : "x"(packed));
    *reinterpret_cast<typename Vector<int64_t, 32>::unaligned*>(p) = packed;
    return;
  }
#endif
  Spilled<int32_t> wide;
  store_chunks(wide.lane, u);
  for (int i = 0; i < kLanes; ++i) p[i].bits = static_cast<uint16_t>(wide.lane[i]);
}

template <Level L>
FG_INLINE Lanes<float, L> load_half(const Half* p) {
#if FG_HAS_V3
  if constexpr (L == Level::v3) {
    return each_chunk<Lanes<float, L>>([&](int i) FG_INLINED {
      typename Vector<float, 32>::type wide;
      asm("vcvtph2ps %1, %0" : "=x"(wide) : "m"(*reinterpret_cast<const char(*)[16]>(p + 8 * i)));
      return wide;
    });
  }
#endif
  Spilled<float> wide;
  for (int i = 0; i < kLanes; ++i) wide.lane[i] = p[i];
  return load_chunks<Lanes<float, L>>(wide.lane);
}

template <Level L>
FG_INLINE void store_half(Half* p, const Lanes<float, L>& a) {
#if FG_HAS_V3
  if constexpr (L == Level::v3) {
#pragma GCC unroll 16
    for (int i = 0; i < 2; ++i) {
      asm("vcvtps2ph $0, %1, %0"
          : "=m"(*reinterpret_cast<char(*)[16]>(p + 8 * i))
          : "x"(a.chunk[i]));
    }
    return;
  }
#endif
  Spilled<float> wide;
  store_chunks(wide.lane, a);
  for (int i = 0; i < kLanes; ++i) p[i] = Half(wide.lane[i]);
}

// ---- memory ----

template <class S, Level L>
FG_INLINE Lanes<compute_t<S>, L> load(const S* p) {
  if constexpr (std::is_same_v<S, BFloat16>)
    return load_bfloat16<L>(p);
  else if constexpr (std::is_same_v<S, Half>)
    return load_half<L>(p);
  else
    return load_chunks<Lanes<S, L>>(p);
}
template <class S, Level L>
FG_INLINE void store(S* p, const Lanes<compute_t<S>, L>& a) {
  if constexpr (std::is_same_v<S, BFloat16>)
    store_bfloat16(p, a);
  else if constexpr (std::is_same_v<S, Half>)
    store_half(p, a);
  else
    store_chunks(p, a);
}
template <class T, Level L>
FG_INLINE void store(bool* p, const Mask<T, L>& mask) {
  store_chunks(p, bool_of(mask));
}

}  // namespace fg::ir
