// Instruction-set levels: the width of vectors, and whether `mad` is fused.
// One translation unit holds the kernels of every level: the level is a template argument, so no
// inline function is shared between levels and the linker never picks an AVX2 copy for all of them.
#pragma once

#include <cstdint>

namespace fg {

// Levels in order; each has all features of those before it. v4 computes the bits of v3, but for
// convolutions; only kernels that gain from wider registers (products, attention, compiled loops,
// convolutions) have code of their own for it.
enum class Level : uint8_t { baseline, v3, v4 };

// The level in use: the best of the CPU, or FOREGRAD_LEVEL=baseline|v3|v4. Read once.
Level level();
const char* name(Level level);

}  // namespace fg

// A v3 kernel is a function template with this attribute whose callees are all inlined (`flatten`).
// Features are listed one by one: `arch=` would stop g++ from inlining unmarked callees.
// (One level is enough to sanitize. clang refuses vector asm in the functions that g++ inlines.)
#if defined(__x86_64__) && !defined(FOREGRAD_SANITIZE) && !defined(__clang__)
#define FG_HAS_V3 1
#define FG_KERNEL_V3 __attribute__((target("avx2,fma,f16c,bmi,bmi2"), flatten, noinline))
#define FG_KERNEL_V4                                                                           \
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,avx2,fma,f16c,bmi,bmi2"), flatten, \
                 noinline))
#else
#define FG_HAS_V3 0
#define FG_KERNEL_V3 __attribute__((flatten, noinline))
#define FG_KERNEL_V4 __attribute__((flatten, noinline))
#endif
namespace fg {
// The best level of this build that lanes of formulas are compiled for.
inline constexpr Level kBestLevel = FG_HAS_V3 ? Level::v3 : Level::baseline;
}  // namespace fg
#define FG_KERNEL_BASELINE __attribute__((flatten, noinline))
#define FG_INLINE inline __attribute__((always_inline))
