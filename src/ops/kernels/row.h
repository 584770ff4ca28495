// A formula as a loop over contiguous elements: one kernel per element type and level, all made
// from the same lambda. Tails go through scratch padded to sixteen lanes, so there is one loop
// body.
#pragma once

#include <cstring>
#include <utility>

#include "ir/lanes.h"
#include "tensor/dtype.h"

namespace fg::kernels {

// out[i] = formula(in[0][i], in[1][i], ..., params) for i < n.
using RowKernel = void (*)(int64_t n, void* out, const void* const* in, const void* params);

template <class F, class P, class... V>
FG_INLINE auto apply_formula(const void* params, const V&... values) {
  if constexpr (std::is_invocable_v<F, const V&..., const P&>) {
    return F{}(values..., *static_cast<const P*>(params));
  } else {
    return F{}(values...);
  }
}

// Comparisons and tests give bools, everything else the type of the inputs.
template <class S, class R>
struct ResultStorage {
  using Type = S;
};
template <class S, class T, Level L>
struct ResultStorage<S, ir::Mask<T, L>> {
  using Type = bool;
};
template <class S, Level L>
struct ResultStorage<S, ir::Lanes<bool, L>> {
  using Type = bool;
};

template <class S, class V>
FG_INLINE void store_result(S* out, const V& value) {
  ir::store(out, value);
}

template <class F, class P, class S, Level L, bool mask_first, class Sequence>
struct Row;
template <class F, class P, class S, Level L, bool mask_first, size_t... I>
struct Row<F, P, S, L, mask_first, std::index_sequence<I...>> {
  template <size_t J>
  using In = std::conditional_t<mask_first && J == 0, bool, S>;
  using Result = decltype(apply_formula<F, P>(nullptr, ir::load<In<I>, L>(nullptr)...));
  using Out = typename ResultStorage<S, Result>::Type;
  static constexpr int kLanes = ir::kLanes;

  FG_INLINE static void run(int64_t n, void* out, const void* const* in, const void* params) {
    Out* to = static_cast<Out*>(out);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) {
      store_result(
          to + i,
          apply_formula<F, P>(params, ir::load<In<I>, L>(static_cast<const In<I>*>(in[I]) + i)...));
    }
    if (i == n) return;
    // Unused lanes hold zeros: no formula traps.
    std::tuple<Padded<In<I>>...> scratch;
    (std::memcpy(std::get<I>(scratch).lane, static_cast<const In<I>*>(in[I]) + i,
                 static_cast<size_t>(n - i) * sizeof(In<I>)),
     ...);
    Padded<Out> result;
    store_result(result.lane,
                 apply_formula<F, P>(params, ir::load<In<I>, L>(std::get<I>(scratch).lane)...));
    std::memcpy(to + i, result.lane, static_cast<size_t>(n - i) * sizeof(Out));
  }

 private:
  template <class T>
  struct Padded {
    T lane[kLanes] = {};
  };
};

template <class R>
FG_KERNEL_BASELINE void row_baseline(int64_t n, void* out, const void* const* in, const void* p) {
  R::run(n, out, in, p);
}
template <class R>
FG_KERNEL_V3 void row_v3(int64_t n, void* out, const void* const* in, const void* p) {
  R::run(n, out, in, p);
}

template <class F, class P, class S, int arity, bool mask_first>
RowKernel row_kernel(Level level) {
  using Sequence = std::make_index_sequence<arity>;
#if FG_HAS_V3
  if (level >= Level::v3) return row_v3<Row<F, P, S, Level::v3, mask_first, Sequence>>;
#endif
  (void)level;
  return row_baseline<Row<F, P, S, Level::baseline, mask_first, Sequence>>;
}

}  // namespace fg::kernels
