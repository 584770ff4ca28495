// The innermost loop of a matrix product: a tile of c, held in registers, over one block of k.
// Every element is summed over k in order whatever the tile's size, so tiles of all sizes agree.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "base/level.h"

namespace fg::kernels {

template <Level L, class T>
struct Registers {
  static constexpr int kBytes = L == Level::v4 ? 64 : L == Level::v3 ? 32 : 16;
  static constexpr int kLanes = kBytes / sizeof(T);
  static constexpr int kPanel = 2 * kLanes;  // columns of b that are packed together
  // Rows of a tile, of 2 registers each: 12 accumulators, two registers for b and one for a of the
  // 16 there are; twice as many of the 32 at v4.
  static constexpr int kRows = L == Level::v4 ? 12 : 6;
  typedef T Type __attribute__((vector_size(kBytes)));
};
template <Level L, class T>
using Register = typename Registers<L, T>::Type;

// The level for code that gains nothing from the registers of v4, such as moving elements: v3.
constexpr Level narrowed(Level level) { return level == Level::v4 ? Level::v3 : level; }

// The registers per row in a tile of fewer rows: 8 sums at least are needed to keep both
// multipliers busy while each waits for its previous step.
template <Level L>
constexpr int widest_tile(int rows) {
  return rows == 1 ? 8 : rows <= (L == Level::v4 ? 6 : 3) ? 4 : 2;
}

// set: c = sum. add: c += sum. resume: the sum begins with c, so that a block of k can be done in
// several steps without a change of bits.
enum class Into : uint8_t { set, add, resume };

template <class T>
struct Tile {
  int64_t k;
  const T* a;
  int64_t a_row, a_k;
  const T* b;  // row k of a panel is at b + k * b_k, the next panel at b + b_panel
  int64_t b_k, b_panel;
  T* c;
  int64_t c_row;
  Into into;
};

// f(0), f(1) ... with constants: arrays indexed by them can live in registers. (A loop with an
// unroll pragma is not enough where arrays are passed on: they stay in memory.)
template <int kCount, class F>
FG_INLINE void unroll(const F& f) {
  [&]<int... I>(std::integer_sequence<int, I...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, I>{}), ...);
  }(std::make_integer_sequence<int, kCount>{});
}

template <class V, class T>
FG_INLINE V load(const T* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

template <class V, class T>
FG_INLINE void store(T* p, V v) {
  std::memcpy(p, &v, sizeof v);
}

// All lanes the same. In asm from v3 on, since g++ takes vectors apart that it builds lane by lane
// outside of a function marked for them.
template <Level L, class T>
FG_INLINE Register<L, T> splat(const T* p) {
#if FG_HAS_V3
  if constexpr (L >= Level::v3) {
    Register<L, T> all;
    if constexpr (sizeof(T) == 4) {
      asm("vbroadcastss %1, %0" : "=v"(all) : "m"(*p));
    } else {
      asm("vbroadcastsd %1, %0" : "=v"(all) : "m"(*p));
    }
    return all;
  }
#endif
  return *p - Register<L, T>{};  // -0 stays -0
}

template <Level L, class T>
FG_INLINE Register<L, T> multiply_add(Register<L, T> sum, Register<L, T> a, Register<L, T> b) {
#if FG_HAS_V3
  if constexpr (L >= Level::v3 && std::is_same_v<T, float>) {
    asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "vm"(b));
    return sum;
  } else if constexpr (L >= Level::v3 && std::is_same_v<T, double>) {
    asm("vfmadd231pd %2, %1, %0" : "+v"(sum) : "v"(a), "vm"(b));
    return sum;
  }
#endif
  return sum + a * b;
}

template <Level L, class T>
FG_INLINE T multiply_add_one(T sum, T a, T b) {
#if FG_HAS_V3
  if constexpr (L >= Level::v3 && std::is_same_v<T, float>) {
    asm("vfmadd231ss %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
  } else if constexpr (L >= Level::v3 && std::is_same_v<T, double>) {
    asm("vfmadd231sd %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
    return sum;
  }
#endif
  return sum + a * b;
}

// sum[r][v] += a[r] * b[v], one step of k. The operand that is used more often stays in registers.
template <Level L, class T, int R, int V>
FG_INLINE void step(Register<L, T> (&sum)[R][V], const T* a, int64_t a_row, const T* b,
                    int64_t b_panel) {
  using Vec = Register<L, T>;
  constexpr int kLanes = Registers<L, T>::kLanes;
  auto column = [&](int v) { return load<Vec>(b + v / 2 * b_panel + v % 2 * kLanes); };
  auto row = [&](int r) { return splat<L>(a + r * a_row); };
  if constexpr (V <= 2) {
    Vec right[V];
    unroll<V>([&](auto v) { right[v] = column(v); });
    unroll<R>([&](auto r) {
      const Vec left = row(r);
      unroll<V>([&](auto v) { sum[r][v] = multiply_add<L, T>(sum[r][v], left, right[v]); });
    });
  } else {
    Vec left[R];
    unroll<R>([&](auto r) { left[r] = row(r); });
    unroll<V>([&](auto v) {
      const Vec right = column(v);
      unroll<R>([&](auto r) { sum[r][v] = multiply_add<L, T>(sum[r][v], left[r], right); });
    });
  }
}

template <Level L, class T, int R, int V>
FG_INLINE void multiply_tile(const Tile<T>& tile) {
  using Vec = Register<L, T>;
  T* const c = tile.c;
  const int64_t c_row = tile.c_row;
  Vec sum[R][V];
  auto each = [&](auto&& f) {
    unroll<R>([&](auto r) {
      unroll<V>(
          [&](auto v) { sum[r][v] = f(sum[r][v], c + r * c_row + v * Registers<L, T>::kLanes); });
    });
  };
  if (tile.into == Into::resume) {
    each([](Vec, const T* at) { return load<Vec>(at); });
  } else {
    each([](Vec, const T*) { return Vec{}; });
  }
  if constexpr (L == Level::v4) {  // fetches c, which is written at the end
    unroll<R>([&](auto r) {
      unroll<V>(
          [&](auto v) { __builtin_prefetch(c + r * c_row + v * Registers<L, T>::kLanes, 1); });
    });
  }
  const T *a = tile.a, *b = tile.b;
  const int64_t a_row = tile.a_row, a_k = tile.a_k, b_k = tile.b_k, b_panel = tile.b_panel;
  for (int64_t k = tile.k; k > 0; --k, a += a_k, b += b_k) {
    step<L, T, R, V>(sum, a, a_row, b, b_panel);
  }
  if (tile.into == Into::add) each([](Vec x, const T* at) { return x + load<Vec>(at); });
  each([](Vec x, T* at) {
    store(at, x);
    return x;
  });
}

// Tiles side by side, two registers wide: few rows of a over few rows of b, which are read where
// they are, in as many streams as there are rows.
template <Level L, class T, int R>
FG_INLINE void multiply_stream(Tile<T> tile, int64_t cols) {
  for (; cols > 0; cols -= Registers<L, T>::kPanel) {
    multiply_tile<L, T, R, 2>(tile);
    tile.b += Registers<L, T>::kPanel;
    tile.c += Registers<L, T>::kPanel;
  }
}

// One function per size, since the registers are all taken.
template <class T, int R, int V>
FG_KERNEL_V4 void multiply_tile_v4(const Tile<T>& tile) {
  multiply_tile<Level::v4, T, R, V>(tile);
}
template <class T, int R, int V>
FG_KERNEL_V3 void multiply_tile_v3(const Tile<T>& tile) {
  multiply_tile<Level::v3, T, R, V>(tile);
}
template <class T, int R, int V>
FG_KERNEL_BASELINE void multiply_tile_baseline(const Tile<T>& tile) {
  multiply_tile<Level::baseline, T, R, V>(tile);
}
template <class T, int R>
FG_KERNEL_V4 void multiply_stream_v4(const Tile<T>& tile, int64_t cols) {
  multiply_stream<Level::v4, T, R>(tile, cols);
}
template <class T, int R>
FG_KERNEL_V3 void multiply_stream_v3(const Tile<T>& tile, int64_t cols) {
  multiply_stream<Level::v3, T, R>(tile, cols);
}
template <class T, int R>
FG_KERNEL_BASELINE void multiply_stream_baseline(const Tile<T>& tile, int64_t cols) {
  multiply_stream<Level::baseline, T, R>(tile, cols);
}

template <class T>
using TileKernel = void (*)(const Tile<T>&);

template <Level L, class T, int R, int V>
constexpr TileKernel<T> tile_kernel() {
  if constexpr (V > widest_tile<L>(R)) {
    return nullptr;
  } else if constexpr (L == Level::v4) {
    return multiply_tile_v4<T, R, V>;
  } else if constexpr (L == Level::v3) {
    return multiply_tile_v3<T, R, V>;
  } else {
    return multiply_tile_baseline<T, R, V>;
  }
}

// The kernels for one number of rows, of 1, 2, 4 and 8 registers.
template <class T>
using TileKernels = std::array<TileKernel<T>, 4>;

// The kernel for a tile of 1 to kRows rows and of 1, 2, 4 or 8 registers, up to widest_tile(rows).
template <Level L, class T>
TileKernel<T> tile_kernel(int rows, int registers) {
  static constexpr auto kKernels = []<int... R>(std::integer_sequence<int, R...>) {
    return std::array{TileKernels<T>{tile_kernel<L, T, R + 1, 1>(), tile_kernel<L, T, R + 1, 2>(),
                                     tile_kernel<L, T, R + 1, 4>(),
                                     tile_kernel<L, T, R + 1, 8>()}...};
  }(std::make_integer_sequence<int, Registers<L, T>::kRows>{});
  return kKernels[rows - 1][std::countr_zero(static_cast<unsigned>(registers))];
}

template <class T>
using StreamKernel = void (*)(const Tile<T>&, int64_t cols);

template <Level L, class T, int R>
constexpr StreamKernel<T> stream_kernel() {
  if constexpr (L == Level::v4) {
    return multiply_stream_v4<T, R>;
  } else if constexpr (L == Level::v3) {
    return multiply_stream_v3<T, R>;
  } else {
    return multiply_stream_baseline<T, R>;
  }
}

// The kernel for 1 to 6 rows.
template <Level L, class T>
StreamKernel<T> stream_kernel(int64_t rows) {
  constexpr StreamKernel<T> kKernels[] = {stream_kernel<L, T, 1>(), stream_kernel<L, T, 2>(),
                                          stream_kernel<L, T, 3>(), stream_kernel<L, T, 4>(),
                                          stream_kernel<L, T, 5>(), stream_kernel<L, T, 6>()};
  return kKernels[rows - 1];
}

}  // namespace fg::kernels
