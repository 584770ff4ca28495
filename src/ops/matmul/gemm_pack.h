// Packing: copies a block of an operand into panels that the innermost loop reads in one stream.
// A "lane" is a row of a or a column of b; panel p holds lanes [p * width, (p + 1) * width), all
// lanes of one k side by side. The last panel is filled up with values that no result depends on.
// Elements are widened on the way to the type of the computation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "ops/matmul/gemm_micro.h"
#include "tensor/half.h"

namespace fg::kernels {

// The type that products of S are computed in. Integers wrap, so unsigned and wider is the same.
template <class S>
using ComputeType =
    std::conditional_t<std::is_same_v<S, Half> || std::is_same_v<S, BFloat16>, float,
                       std::conditional_t<std::is_floating_point_v<S>, S,
                                          std::conditional_t<sizeof(S) == 8, uint64_t, uint32_t>>>;

template <class S>
struct Source {
  const S* data;
  int64_t lane_stride, k_stride;
};

// 16 bytes of values: the most that can be transposed inside one register at any level.
template <class T>
inline constexpr int kGroup = 16 / sizeof(T);
template <class T>
using Group = Register<Level::baseline, T>;

template <Level L, class S>
FG_INLINE Group<ComputeType<S>> load_group(const S* p) {
  using T = ComputeType<S>;
  if constexpr (sizeof(S) == sizeof(T)) {
    return load<Group<T>>(p);
#if FG_HAS_V3
  } else if constexpr (L == Level::v3 && std::is_same_v<S, Half>) {
    Group<T> group;
    asm("vcvtph2ps %1, %0" : "=x"(group) : "m"(*reinterpret_cast<const uint64_t*>(p)));
    return group;
#endif
  } else {
    return Group<T>{T(p[0]), T(p[1]), T(p[2]), T(p[3])};
  }
}

// One register from two groups; at baseline a register is a group.
template <Level L, class T>
FG_INLINE Register<L, T> join(Group<T> low, [[maybe_unused]] Group<T> high) {
#if FG_HAS_V3
  if constexpr (L == Level::v3) {
    Register<L, T> both;
    asm("vinsertf128 $1, %2, %t1, %0" : "=x"(both) : "x"(low), "xm"(high));
    return both;
  } else
#endif
    return low;
}

template <Level L, class S>
FG_INLINE Register<L, ComputeType<S>> load_lanes(const S* p) {
  using T = ComputeType<S>;
  if constexpr (sizeof(S) == sizeof(T)) {
    return load<Register<L, T>>(p);
  } else if constexpr (L == Level::v3) {
    return join<L, T>(load_group<L>(p), load_group<L>(p + kGroup<T>));
  } else {
    return load_group<L>(p);
  }
}

// Takes turns between x and y inside each 16 bytes, from the lower or upper halves of both.
template <Level L, class T, bool kUpper>
FG_INLINE Register<L, T> interleave(Register<L, T> x, Register<L, T> y) {
#if FG_HAS_V3
  if constexpr (L == Level::v3) {
    if constexpr (sizeof(T) == 4 && kUpper) asm("vunpckhps %1, %0, %0" : "+x"(x) : "x"(y));
    if constexpr (sizeof(T) == 4 && !kUpper) asm("vunpcklps %1, %0, %0" : "+x"(x) : "x"(y));
    if constexpr (sizeof(T) == 8 && kUpper) asm("vunpckhpd %1, %0, %0" : "+x"(x) : "x"(y));
    if constexpr (sizeof(T) == 8 && !kUpper) asm("vunpcklpd %1, %0, %0" : "+x"(x) : "x"(y));
    return x;
  } else
#endif
  {
    constexpr int kFrom = kUpper ? kGroup<T> / 2 : 0;
    if constexpr (sizeof(T) == 4) {
      return __builtin_shufflevector(x, y, kFrom, kFrom + 4, kFrom + 1, kFrom + 5);
    } else {
      return __builtin_shufflevector(x, y, kFrom, kFrom + 2);
    }
  }
}

// Transposes each 16-byte column of the rows: interleaving as often as the group has bits.
template <Level L, class T>
FG_INLINE void transpose_groups(Register<L, T> (&rows)[kGroup<T>]) {
  constexpr int kSize = kGroup<T>;
  auto round = [&] {
    Register<L, T> next[kSize];
    unroll<kSize>([&](auto i) {
      constexpr int kFrom = i / 2;
      next[i] = interleave < L, T, i % 2 == 1 > (rows[kFrom], rows[kFrom + kSize / 2]);
    });
    unroll<kSize>([&](auto i) { rows[i] = next[i]; });
  };
  round();
  if constexpr (kSize == 4) round();
}

// The next lanes of kGroup steps of k, transposed: square[r] holds step r of all lanes.
template <Level L, class S>
FG_INLINE void load_square(const S* const* lane, int64_t k,
                           Register<L, ComputeType<S>> (&square)[kGroup<ComputeType<S>>]) {
  using T = ComputeType<S>;
  constexpr int kSize = kGroup<T>, kSecond = Registers<L, T>::kLanes - kSize;
  unroll<kSize>([&](auto r) {
    square[r] = join<L, T>(load_group<L>(lane[r] + k), load_group<L>(lane[kSecond + r] + k));
  });
  transpose_groups<L, T>(square);
}

// One panel from any strides, element by element.
template <class S>
FG_INLINE void pack_elements(Source<S> from, int64_t lanes, int64_t k, int width,
                             ComputeType<S>* to) {
  for (int64_t i = 0; i < k; ++i, to += width) {
    for (int64_t j = 0; j < lanes; ++j) {
      to[j] = static_cast<ComputeType<S>>(from.data[j * from.lane_stride + i * from.k_stride]);
    }
    for (int64_t j = lanes; j < width; ++j) to[j] = 0;
  }
}

// Steps of k that are asked for early: the CPU does not foresee long strides.
inline constexpr int64_t kAhead = 8;

// Full panels whose lanes are neighbours, several at once: so the lines of memory that are read
// are used up before a power-of-two stride throws them out of the cache.
template <Level L, class S, int kWidth>
FG_INLINE void pack_neighbours(Source<S> from, int64_t panels, int64_t k, ComputeType<S>* to) {
  using T = ComputeType<S>;
  constexpr int kLanes = Registers<L, T>::kLanes;
  for (int64_t i = 0; i < k; ++i) {
    const S* p = from.data + i * from.k_stride;
    const int64_t ahead = std::min(kAhead, k - 1 - i) * from.k_stride;
    for (int64_t panel = 0; panel < panels; ++panel, p += kWidth) {
      __builtin_prefetch(p + ahead);
      T* const at = to + (panel * k + i) * kWidth;
      if constexpr (kWidth % kLanes == 0) {
        unroll<kWidth / kLanes>(
            [&](auto j) { store(at + j * kLanes, load_lanes<L>(p + j * kLanes)); });
      } else if constexpr (std::is_same_v<S, T>) {
        std::memcpy(at, p, kWidth * sizeof(T));
      } else {
        for (int j = 0; j < kWidth; ++j) at[j] = static_cast<T>(p[j]);
      }
    }
  }
}

// A slice of one panel whose lanes run along k: small squares are transposed in registers.
// Returns how many steps of k it did; fewer than a square are left.
template <Level L, class S, int kWidth, int kSlice>
FG_INLINE int64_t pack_transposed(Source<S> from, int64_t lanes, int64_t k, ComputeType<S>* to) {
  using T = ComputeType<S>;
  constexpr int kLanes = Registers<L, T>::kLanes, kSize = kGroup<T>;
  const S* lane[kSlice * kLanes];  // lanes that do not exist repeat the last one
  unroll<kSlice * kLanes>(
      [&](auto i) { lane[i] = from.data + std::min<int64_t>(i, lanes - 1) * from.lane_stride; });
  int64_t i = 0;
  for (; i + kSize <= k; i += kSize) {
    Register<L, T> square[kSlice][kSize];
    unroll<kSlice>([&](auto s) { load_square<L>(lane + s * kLanes, i, square[s]); });
    unroll<kSize>([&](auto r) {
      unroll<kSlice>([&](auto s) { store(to + (i + r) * kWidth + s * kLanes, square[s][r]); });
    });
  }
  return i;
}

template <Level L, class S, int kWidth>
FG_INLINE void pack_along_k(Source<S> from, int64_t lanes, int64_t k, ComputeType<S>* to) {
  constexpr int kLanes = Registers<L, ComputeType<S>>::kLanes;
  int64_t done = 0;
  if constexpr (kWidth % kLanes == 0) {
    for (int j = 0; j < std::min<int64_t>(lanes, kWidth); j += kLanes) {
      const Source<S> slice{from.data + j * from.lane_stride, from.lane_stride, from.k_stride};
      done = pack_transposed<L, S, kWidth, 1>(slice, lanes - j, k, to + j);
    }
  } else {  // registers reach into the next step, so all of one step are stored before it
    done = pack_transposed<L, S, kWidth, kWidth / kLanes + 1>(from, lanes, k, to);
  }
  from.data += done;
  pack_elements(from, std::min<int64_t>(lanes, kWidth), k - done, kWidth, to + done * kWidth);
}

// Packs all panels; `to` has room for one register more than they hold.
template <Level L, class S, int kWidth>
FG_INLINE void pack_panels(Source<S> from, int64_t lanes, int64_t k, ComputeType<S>* to) {
  constexpr int64_t kTogether = 128 / kWidth;
  for (int64_t panels = 1; lanes > 0; lanes -= panels * kWidth) {
    const bool neighbours = from.lane_stride == 1 && lanes >= kWidth;
    panels = neighbours ? std::min(kTogether, lanes / kWidth) : 1;
    if (neighbours) {
      pack_neighbours<L, S, kWidth>(from, panels, k, to);
    } else if (from.k_stride == 1) {
      pack_along_k<L, S, kWidth>(from, lanes, k, to);
    } else {
      pack_elements(from, std::min<int64_t>(lanes, kWidth), k, kWidth, to);
    }
    to += panels * kWidth * k;
    from.data += panels * kWidth * from.lane_stride;
  }
}

template <class S, int kWidth>
FG_KERNEL_V3 void pack_v3(Source<S> from, int64_t lanes, int64_t k, ComputeType<S>* to) {
  pack_panels<Level::v3, S, kWidth>(from, lanes, k, to);
}
template <class S, int kWidth>
FG_KERNEL_BASELINE void pack_baseline(Source<S> from, int64_t lanes, int64_t k,
                                      ComputeType<S>* to) {
  pack_panels<Level::baseline, S, kWidth>(from, lanes, k, to);
}

template <Level L, class S, int kWidth>
void pack(Source<S> from, int64_t lanes, int64_t k, ComputeType<S>* to) {
  if constexpr (narrowed(L) == Level::v3) {
    pack_v3<S, kWidth>(from, lanes, k, to);
  } else {
    pack_baseline<S, kWidth>(from, lanes, k, to);
  }
}

}  // namespace fg::kernels
