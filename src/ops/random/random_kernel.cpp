#include "ops/random/random_kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/pool.h"
#include "ir/lanes.h"
#include "ir/math.h"

namespace fg::kernels {
namespace {

using ir::kLanes;
using ir::Lanes;
constexpr int64_t kGrain = 4096;

// ---- sixteen blocks at once, as words of their own

template <Level L>
struct WordsOf {
  static constexpr int kBytes = L == Level::v3 ? 32 : 16;
  typedef uint64_t type __attribute__((vector_size(kBytes)));
};

// The product of the low halves. g++ does not find the instruction by itself.
template <Level L>
FG_INLINE typename WordsOf<L>::type multiply_low(typename WordsOf<L>::type words, uint32_t m) {
  using Words = typename WordsOf<L>::type;
  Words factor = Words{} + uint64_t{m};
#if FG_HAS_V3
  if constexpr (L == Level::v3)
    asm("vpmuludq %1, %0, %0" : "+x"(words) : "x"(factor));
  else
    asm("pmuludq %1, %0" : "+x"(words) : "x"(factor));
  return words;
#else
  return (words & 0xffffffffu) * factor;
#endif
}

struct Blocks {
  alignas(64) uint32_t word[4][kLanes];
  uint64_t bits(int half, int lane) const {
    return word[2 * half][lane] | uint64_t{word[2 * half + 1][lane]} << 32;
  }
};

template <Level L>
FG_INLINE void draw_blocks(uint64_t seed, uint64_t counter, Blocks& out) {
  using Words = typename WordsOf<L>::type;
  constexpr int kPer = sizeof(Words) / 8;
#pragma GCC unroll 8
  for (int chunk = 0; chunk < kLanes / kPer; chunk++) {
    Words counters;
    for (int i = 0; i < kPer; i++) counters[i] = counter + static_cast<uint64_t>(chunk * kPer + i);
    auto words = philox_rounds<Words>(
        {counters, counters >> 32, Words{}, Words{}},
        {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)}, multiply_low<L>);
    for (int w = 0; w < 4; w++) {
      for (int i = 0; i < kPer; i++) {
        out.word[w][chunk * kPer + i] = static_cast<uint32_t>(words[static_cast<size_t>(w)][i]);
      }
    }
  }
}

// ---- uniform numbers of a compute type from the words

template <class C, Level L>
FG_INLINE Lanes<C, L> uniform_lanes(const Blocks& blocks, int bits) {
  alignas(64) C u[kLanes];
  for (int i = 0; i < kLanes; i++) {
    if constexpr (std::is_same_v<C, double>)
      u[i] = uniform_double(blocks.bits(0, i));
    else
      u[i] = uniform_float(blocks.word[0][i], bits);
  }
  return ir::load<C, L>(u);
}

template <class C, Level L>
struct Pair {
  Lanes<C, L> radius, angle;
};
template <class C, Level L>
FG_INLINE Pair<C, L> pair_lanes(const Blocks& blocks) {
  alignas(64) C radius[kLanes], angle[kLanes];
  for (int i = 0; i < kLanes; i++) {
    if constexpr (std::is_same_v<C, double>) {
      radius[i] = uniform_double(blocks.bits(0, i)) + 0x1p-53;
      angle[i] = uniform_double(blocks.bits(1, i));
    } else {
      radius[i] = (static_cast<float>(static_cast<int32_t>(blocks.word[0][i] >> 1)) + 1) * 0x1p-31f;
      angle[i] = uniform_float(blocks.word[1][i]);
    }
  }
  return {ir::load<C, L>(radius), ir::load<C, L>(angle)};
}

struct Numbers {
  double a, b;
  int bits;  // of a uniform number narrower than double
};

// Sixteen values of a distribution, by the formulas in random_kernel.h.
template <Distribution kind, class C, Level L>
FG_INLINE Lanes<C, L> distributed(const Blocks& blocks, const Numbers& n) {
  const C a = static_cast<C>(n.a), b = static_cast<C>(n.b);
  if constexpr (kind == Distribution::uniform) {
    return uniform_lanes<C, L>(blocks, n.bits) * (b - a) + a;
  } else if constexpr (kind == Distribution::cauchy) {
    auto u = uniform_lanes<C, L>(blocks, n.bits);
    return ir::tan((u - C(0.5)) * C(M_PI)) * b + a;
  } else {
    auto [radius, angle] = pair_lanes<C, L>(blocks);
    auto logarithm = ir::log(radius);
    if constexpr (kind == Distribution::exponential) {
      // r = 1 would give 0, which the distribution does not contain.
      const C least = std::numeric_limits<C>::epsilon() / 2;
      return select(logarithm >= -least, ir::like(logarithm, least), -logarithm) / a;
    } else {
      auto z = ir::sqrt(logarithm * C(-2)) * ir::cos(angle * C(2 * M_PI)) * b + a;
      if constexpr (kind == Distribution::log_normal)
        return ir::exp(z);
      else
        return z;
    }
  }
}

template <Distribution kind, class T, Level L>
FG_INLINE void run_floats(int64_t begin, int64_t end, T* out, const Numbers& numbers,
                          PhiloxKey key) {
  using C = typename UniformFormat<T>::Compute;
  Blocks blocks;
  for (int64_t i = begin; i < end; i += kLanes) {
    draw_blocks<L>(key.seed, key.offset + static_cast<uint64_t>(i), blocks);
    alignas(64) T values[kLanes];
    ir::store(values, distributed<kind, C, L>(blocks, numbers));
    std::memcpy(static_cast<void*>(out + i), values,
                static_cast<size_t>(std::min<int64_t>(kLanes, end - i)) * sizeof(T));
  }
}
template <Distribution kind, class T>
FG_KERNEL_BASELINE void floats_baseline(int64_t begin, int64_t end, T* out, const Numbers& numbers,
                                        PhiloxKey key) {
  run_floats<kind, T, Level::baseline>(begin, end, out, numbers, key);
}
template <Distribution kind, class T>
FG_KERNEL_V3 void floats_v3(int64_t begin, int64_t end, T* out, const Numbers& numbers,
                            PhiloxKey key) {
  run_floats<kind, T, Level::v3>(begin, end, out, numbers, key);
}

template <Distribution kind>
void fill_floats(const Tensor& out, double a, double b, PhiloxKey key) {
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    if constexpr (!std::is_integral_v<T>) {
      auto kernel = floats_baseline<kind, T>;
#if FG_HAS_V3
      if (level() >= Level::v3) kernel = floats_v3<kind, T>;
#endif
      Numbers numbers{a, b, UniformFormat<T>::kBits};
      T* data = out.data_ptr<T>();
      pool::parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
        kernel(begin, end, data, numbers, key);
      });
    }
  });
}

// ---- distributions whose values are whole numbers: one element at a time

template <class F>
void fill_each(const Tensor& out, PhiloxKey key, F value) {
  visit(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* data = out.data_ptr<T>();
    pool::parallel_for(out.numel(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; i++) {
        auto block = philox(key.seed, key.offset + static_cast<uint64_t>(i));
        data[i] = Scalar(value(block, i)).template to<T>();
      }
    });
  });
}

}  // namespace

void fill_random(const Tensor& out, Distribution distribution, double a, double b, PhiloxKey key) {
  switch (distribution) {
    case Distribution::uniform:
      return fill_floats<Distribution::uniform>(out, a, b, key);
    case Distribution::normal:
      return fill_floats<Distribution::normal>(out, a, b, key);
    case Distribution::log_normal:
      return fill_floats<Distribution::log_normal>(out, a, b, key);
    case Distribution::exponential:
      return fill_floats<Distribution::exponential>(out, a, b, key);
    case Distribution::cauchy:
      return fill_floats<Distribution::cauchy>(out, a, b, key);
    case Distribution::geometric: {
      double scale = 1 / std::log1p(-a);
      return fill_each(out, key, [=](const PhiloxBlock& block, int64_t) {
        return std::max(1.0, std::ceil(std::log(uniform_pair<double>(block).radius) * scale));
      });
    }
    case Distribution::bernoulli:
      return fill_each(out, key, [=](const PhiloxBlock& block, int64_t) {
        return uniform_double(random_bits(block)) < a;
      });
  }
}

void fill_integers(const Tensor& out, int64_t low, int64_t high, PhiloxKey key) {
  fill_each(out, key,
            [=](const PhiloxBlock& block, int64_t) { return uniform_integer(block, low, high); });
}

void fill_bits(const Tensor& out, PhiloxKey key) {
  fill_each(out, key, [](const PhiloxBlock& block, int64_t) {
    return static_cast<int64_t>(random_bits(block));
  });
}

}  // namespace fg::kernels
