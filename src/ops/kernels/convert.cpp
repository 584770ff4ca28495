#include "ops/kernels/convert.h"

namespace fg::kernels {

namespace {

// Integers of up to 32 bits to float or to wider integers: a plain loop, of which the compiler
// makes the instructions that unpack bytes. Images are such: bytes to floats.
template <class From, class To>
constexpr bool is_plain =
    std::is_integral_v<From> && sizeof(From) <= 4 &&
    (std::is_same_v<To, float> ||
     (std::is_integral_v<To> && !std::is_same_v<To, bool> && sizeof(To) > sizeof(From)));

template <class From, class To, Level L>
struct Convert {
  static constexpr int kLanes = ir::kLanes;

  FG_INLINE static void run(int64_t n, void* out, const void* const* in, const void*) {
    const From* from = static_cast<const From*>(in[0]);
    To* to = static_cast<To*>(out);
    int64_t i = 0;
    for (; i + kLanes <= n; i += kLanes) block(from + i, to + i);
    if (i == n) return;
    From source[kLanes] = {};
    To target[kLanes];
    std::memcpy(source, from + i, static_cast<size_t>(n - i) * sizeof(From));
    block(source, target);
    std::memcpy(to + i, target, static_cast<size_t>(n - i) * sizeof(To));
  }
  FG_INLINE static void block(const From* __restrict from, To* __restrict to) {
    if constexpr (is_plain<From, To>) {
      auto stored = reinterpret_cast<const ir::StoredLane<From>*>(from);  // bools are bytes
      for (int i = 0; i < kLanes; ++i) to[i] = static_cast<To>(stored[i]);
      return;
    }
    ir::store(to, ir::convert<ir::compute_t<To>>(ir::load<From, L>(from)));
  }
};

template <class From, class To>
RowKernel pick() {
#if FG_HAS_V3
  if (level() >= Level::v3) return row_v3<Convert<From, To, Level::v3>>;
#endif
  return row_baseline<Convert<From, To, Level::baseline>>;
}

}  // namespace

RowKernel convert_kernel(DType from, DType to) {
  return visit(from, [&](auto f) {
    return visit(to, [&](auto t) { return pick<decltype(f), decltype(t)>(); });
  });
}

}  // namespace fg::kernels
