#include "ops/norm/softmax_kernel.h"

#include <algorithm>
#include <memory>

#include "base/fail.h"
#include "base/pool.h"
#include "ir/math.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/reduce_rows.h"

namespace fg::kernels {

namespace {

// One contiguous row. `scratch` has room for the row and its partial sums in the type that
// computes.
using SoftmaxKernel = void (*)(const void* first, const void* second, void* out, int64_t n,
                               int64_t rows, void* scratch);

// The largest element. Order does not matter, and NaN need not be seen: the sum brings it back.
template <class S, Level L>
FG_INLINE ir::compute_t<S> row_max(const S* x, int64_t n) {
  using T = ir::compute_t<S>;
  constexpr int kStreams = 4;
  constexpr T lowest = -std::numeric_limits<T>::infinity();
  ir::Lanes<T, L> best[kStreams];
  auto larger = [](const auto& a, const auto& b) FG_INLINED { return ir::select(b < a, a, b); };
#pragma GCC unroll 4
  for (int k = 0; k < kStreams; k++) best[k] = ir::splat<T, L>(lowest);
  int64_t i = 0;
  for (; i + kStreams * ir::kLanes <= n; i += kStreams * ir::kLanes) {
#pragma GCC unroll 4
    for (int k = 0; k < kStreams; k++)
      best[k] = larger(ir::load<S, L>(x + i + k * ir::kLanes), best[k]);
  }
  for (; i + ir::kLanes <= n; i += ir::kLanes) best[0] = larger(ir::load<S, L>(x + i), best[0]);
  if (i < n) best[0] = larger(load_tail<S, L>(x + i, n - i, lowest), best[0]);
  best[0] = larger(larger(best[0], best[1]), larger(best[2], best[3]));
  return fold<MaxOp>(best[0]);
}

template <class S, Level L>
struct SoftmaxRow {
  using T = ir::compute_t<S>;
  using V = ir::Lanes<T, L>;

  // out = e / sum(e) with e = exp(x - max(x))
  FG_INLINE static void softmax(const S* x, const S*, S* out, int64_t n, T* scratch) {
    V largest = ir::splat<T, L>(row_max<S, L>(x, n));
    // 16-bit floats are rounded once, so e waits in the scratch for its division.
    T* e = scratch;
    if constexpr (std::is_same_v<S, T>) e = out;
    V total =
        ir::splat<T, L>(sum_of_row<T, L>(n, scratch + n, [&](int64_t i, int64_t count) FG_INLINED {
          V value = ir::exp(load_group<L>(x + i, count) - largest);
          store_group<L>(e + i, value, count);
          return value;
        }));
    each_group(n, [&](int64_t i, int64_t count) FG_INLINED {
      store_group<L>(out + i, load_group<L>(e + i, count) / total, count);
    });
  }

  // out = x - max(x) - log(sum(exp(x - max(x))))
  FG_INLINE static void log_softmax(const S* x, const S*, S* out, int64_t n, T* scratch) {
    V largest = ir::splat<T, L>(row_max<S, L>(x, n));
    V total =
        ir::splat<T, L>(sum_of_row<T, L>(n, scratch + n, [&](int64_t i, int64_t count) FG_INLINED {
          return ir::exp(load_group<L>(x + i, count) - largest);
        }));
    V offset = ir::log(total);
    each_group(n, [&](int64_t i, int64_t count) FG_INLINED {
      store_group<L>(out + i, load_group<L>(x + i, count) - largest - offset, count);
    });
  }

  // out = y * (grad - sum(grad * y))
  FG_INLINE static void softmax_gradient(const S* grad, const S* y, S* out, int64_t n, T* scratch) {
    V dot =
        ir::splat<T, L>(sum_of_row<T, L>(n, scratch + n, [&](int64_t i, int64_t count) FG_INLINED {
          return load_group<L>(grad + i, count) * load_group<L>(y + i, count);
        }));
    each_group(n, [&](int64_t i, int64_t count) FG_INLINED {
      V value = load_group<L>(y + i, count) * (load_group<L>(grad + i, count) - dot);
      store_group<L>(out + i, value, count);
    });
  }

  // out = grad - exp(y) * sum(grad)
  FG_INLINE static void log_softmax_gradient(const S* grad, const S* y, S* out, int64_t n,
                                             T* scratch) {
    V total =
        ir::splat<T, L>(sum_of_row<T, L>(n, scratch + n, [&](int64_t i, int64_t count) FG_INLINED {
          return load_group<L>(grad + i, count);
        }));
    each_group(n, [&](int64_t i, int64_t count) FG_INLINED {
      V value = load_group<L>(grad + i, count) - ir::exp(load_group<L>(y + i, count)) * total;
      store_group<L>(out + i, value, count);
    });
  }

  template <SoftmaxKind kind>
  FG_INLINE static void run(const void* first, const void* second, void* out, int64_t n,
                            int64_t rows, void* scratch) {
    for (int64_t r = 0; r < rows; r++) {
      const S* a = static_cast<const S*>(first) + r * n;
      const S* b = static_cast<const S*>(second) + r * n;
      S* to = static_cast<S*>(out) + r * n;
      T* room = static_cast<T*>(scratch);
      if constexpr (kind == SoftmaxKind::softmax)
        softmax(a, b, to, n, room);
      else if constexpr (kind == SoftmaxKind::log_softmax)
        log_softmax(a, b, to, n, room);
      else if constexpr (kind == SoftmaxKind::softmax_gradient)
        softmax_gradient(a, b, to, n, room);
      else
        log_softmax_gradient(a, b, to, n, room);
    }
  }
};

template <SoftmaxKind kind, class S>
FG_KERNEL_BASELINE void run_baseline(const void* a, const void* b, void* out, int64_t n,
                                     int64_t rows, void* scratch) {
  SoftmaxRow<S, Level::baseline>::template run<kind>(a, b, out, n, rows, scratch);
}
template <SoftmaxKind kind, class S>
FG_KERNEL_V3 void run_v3(const void* a, const void* b, void* out, int64_t n, int64_t rows,
                         void* scratch) {
  SoftmaxRow<S, Level::v3>::template run<kind>(a, b, out, n, rows, scratch);
}

template <SoftmaxKind kind>
SoftmaxKernel kernel_of(DType dtype) {
  return visit(dtype, [&](auto zero) -> SoftmaxKernel {
    using S = decltype(zero);
    if constexpr (std::is_floating_point_v<ir::compute_t<S>>) {
#if FG_HAS_V3
      if (level() >= Level::v3) return run_v3<kind, S>;
#endif
      return run_baseline<kind, S>;
    } else {
      fail("softmax: expected a floating dtype, got {}; convert it with to()", name(dtype));
    }
  });
}

SoftmaxKernel softmax_kernel(SoftmaxKind kind, DType dtype) {
  switch (kind) {
    case SoftmaxKind::softmax:
      return kernel_of<SoftmaxKind::softmax>(dtype);
    case SoftmaxKind::log_softmax:
      return kernel_of<SoftmaxKind::log_softmax>(dtype);
    case SoftmaxKind::softmax_gradient:
      return kernel_of<SoftmaxKind::softmax_gradient>(dtype);
    case SoftmaxKind::log_softmax_gradient:
      return kernel_of<SoftmaxKind::log_softmax_gradient>(dtype);
  }
  __builtin_unreachable();
}

using Room = std::unique_ptr<char[]>;
Room make_room(int64_t bytes) { return Room(new char[static_cast<size_t>(bytes)]); }
int64_t scratch_bytes(int64_t n) { return (n + partials_of(n)) * 8; }

// Copies n rows of `width` elements that lie `inner` apart to columns, or columns back to rows.
template <bool back>
void transpose_tile(int64_t item, char* rows, char* columns, int64_t n, int64_t inner,
                    int64_t width) {
  auto copy = [&](auto zero) {
    using T = decltype(zero);
    T *a = reinterpret_cast<T*>(rows), *b = reinterpret_cast<T*>(columns);
    for (int64_t k = 0; k < n; k++) {
      for (int64_t c = 0; c < width; c++) {
        T &row = a[k * inner + c], &column = b[c * n + k];
        if constexpr (back)
          row = column;
        else
          column = row;
      }
    }
  };
  item == 2 ? copy(uint16_t{}) : item == 4 ? copy(uint32_t{}) : copy(uint64_t{});
}

// A dimension that is not the last one: sixteen neighbouring rows at a time are made contiguous.
void softmax_tiles(SoftmaxKernel kernel, const Tensor& first, const Tensor& second,
                   const Tensor& out, int64_t n, int64_t inner) {
  constexpr int64_t kWidth = 16;
  int64_t item = static_cast<int64_t>(item_size(out.dtype()));
  int64_t tiles = (inner + kWidth - 1) / kWidth, outer = out.numel() / n / inner;
  auto bytes = [](const Tensor& tensor) { return static_cast<char*>(tensor.data_ptr()); };
  pool::parallel_for(outer * tiles, 16384 / (n * kWidth) + 1, [&](int64_t begin, int64_t end) {
    Room room = make_room(scratch_bytes(n)), a = make_room(n * kWidth * item),
         b = make_room(n * kWidth * item);
    for (int64_t i = begin; i < end; i++) {
      int64_t column = i % tiles * kWidth, width = std::min(kWidth, inner - column);
      int64_t at = (i / tiles * n * inner + column) * item;
      transpose_tile<false>(item, bytes(first) + at, a.get(), n, inner, width);
      if (second.defined())
        transpose_tile<false>(item, bytes(second) + at, b.get(), n, inner, width);
      kernel(a.get(), b.get(), a.get(), n, width, room.get());
      transpose_tile<true>(item, bytes(out) + at, a.get(), n, inner, width);
    }
  });
}

}  // namespace

void softmax(SoftmaxKind kind, const Tensor& first, const Tensor& second, int64_t axis,
             const Tensor& out) {
  if (out.numel() == 0) return;
  Tensor a = as_contiguous(first), b = second.defined() ? as_contiguous(second) : second;
  SoftmaxKernel kernel = softmax_kernel(kind, out.dtype());
  int64_t n = out.dim() ? out.sizes()[axis].value() : 1, inner = 1;
  for (int64_t i = axis + 1; i < out.dim(); i++) inner *= out.sizes()[i].value();
  if (inner > 1) return softmax_tiles(kernel, a, b, out, n, inner);
  int64_t row = n * static_cast<int64_t>(item_size(out.dtype()));
  auto at = [&](const Tensor& tensor, int64_t r) {
    return tensor.defined() ? static_cast<char*>(tensor.data_ptr()) + r * row : nullptr;
  };
  pool::parallel_for(out.numel() / n, 8192 / n + 1, [&](int64_t begin, int64_t end) {
    Room room = make_room(scratch_bytes(n));
    kernel(at(a, begin), at(b, begin), at(out, begin), n, end - begin, room.get());
  });
}

}  // namespace fg::kernels
