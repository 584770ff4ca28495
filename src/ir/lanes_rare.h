// The rare branch of a formula on vector lanes. Included by lanes.h.
#pragma once

#include "ir/lanes_convert.h"
#include "ir/runtime.h"

namespace fg::ir {

// Whether any lane is set: guards the rare branch.
template <class T, Level L>
FG_INLINE bool any(const Mask<T, L>& mask) {
  auto all = mask.chunk[0];
#pragma GCC unroll 16
  for (int i = 1; i < Mask<T, L>::kChunks; ++i) all |= mask.chunk[i];
#if FG_HAS_V3
  if constexpr (L == Level::v3) {
    bool nonzero;
    asm("vptest %1, %1" : "=@ccnz"(nonzero) : "x"(all));
    return nonzero;
  } else {
    return __builtin_ia32_pmovmskb128((typename Vector<char, 16>::type)all) != 0;
  }
#else
  auto words = (typename Vector<int64_t, 16>::type)all;
  return (words[0] | words[1]) != 0;
#endif
}

// Lanes where `bad` is set get the runtime function's value. The branch is not taken as a rule; it
// works on copies in memory so that the operands stay in registers on the usual path.
template <class T, Level L>
FG_INLINE Lanes<T, L> rare(const Mask<T, L>& bad, const Lanes<T, L>& fast, Runtime which,
                           const Lanes<T, L>& x, const Lanes<T, L>& y) {
  if (__builtin_expect(!any(bad), 1)) return fast;
  T xs[kLanes], ys[kLanes], results[kLanes];
  bool flags[kLanes];
  store(xs, x), store(ys, y), store(results, fast), store(flags, bad);
  RuntimeFunction function = runtime_function(which);
#pragma GCC unroll 1
  for (int i = 0; i < kLanes; ++i) {
    if (flags[i]) results[i] = static_cast<T>(function(xs[i], ys[i]));
  }
  return load<T, L>(results);
}

}  // namespace fg::ir
