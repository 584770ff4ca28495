#include "ops/norm/norm_kernel.h"

#include <memory>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/reduce/reduce_rows.h"

namespace fg::kernels {

namespace {

template <class T>
T* data(const Tensor& tensor) {
  return tensor.defined() ? reinterpret_cast<T*>(tensor.data_ptr()) : nullptr;
}

template <class S, Level L>
struct NormRows {
  using T = ir::compute_t<S>;
  using V = ir::Lanes<T, L>;

  FG_INLINE static V splat(T x) { return ir::splat<T, L>(x); }

  // y = (x - mean) * rstd * weight + bias with rstd = 1 / sqrt(mean((x - mean)^2) + eps)
  FG_INLINE static void forward(const NormForward& task, int64_t begin, int64_t end, T* partials) {
    const T *weight = data<T>(task.weight), *bias = data<T>(task.bias);
    int64_t n = task.n;
    for (int64_t r = begin; r < end; r++) {
      const S* x = data<S>(task.x) + r * n;
      S* y = data<S>(task.y) + r * n;
      T mean = sum_of_row<T, L>(n, partials,
                                [&](int64_t i, int64_t count)
                                    FG_INLINED { return load_group<L>(x + i, count); }) /
               T(n);
      V center = splat(mean);
      T squares = sum_of_row<T, L>(n, partials, [&](int64_t i, int64_t count) FG_INLINED {
        V rest = load_group<L>(x + i, count) - center;
        return rest * rest;
      });
      T rstd = 1 / root(squares / T(n) + T(task.eps));
      data<T>(task.mean)[r] = mean;
      data<T>(task.rstd)[r] = rstd;
      V scale = splat(rstd);
      each_group(n, [&](int64_t i, int64_t count) FG_INLINED {
        V value = (load_group<L>(x + i, count) - center) * scale;
        if (weight) value = value * load_group<L>(weight + i, count);
        if (bias) value = value + load_group<L>(bias + i, count);
        store_group<L>(y + i, value, count);
      });
    }
  }

  // dx = rstd * (g - mean(g) - xhat * mean(g * xhat)) with g = grad * weight
  FG_INLINE static void backward(const NormBackward& task, int64_t begin, int64_t end,
                                 T* partials) {
    const T* weight = data<T>(task.weight);
    int64_t n = task.n;
    for (int64_t r = begin; r < end; r++) {
      const S *x = data<S>(task.x) + r * n, *grad = data<S>(task.grad) + r * n;
      S *dx = data<S>(task.dx) + r * n, *scaled = data<S>(task.scaled) + r * n;
      V center = splat(data<T>(task.mean)[r]), scale = splat(data<T>(task.rstd)[r]);
      auto weighted = [&](int64_t i, int64_t count) FG_INLINED {
        V g = load_group<L>(grad + i, count);
        return weight ? g * load_group<L>(weight + i, count) : g;
      };
      auto normal = [&](int64_t i, int64_t count)
                        FG_INLINED { return (load_group<L>(x + i, count) - center) * scale; };
      V level = splat(sum_of_row<T, L>(n, partials, weighted) / T(n));
      V slope = splat(sum_of_row<T, L>(n, partials,
                                       [&](int64_t i, int64_t count) FG_INLINED {
                                         return weighted(i, count) * normal(i, count);
                                       }) /
                      T(n));
      each_group(n, [&](int64_t i, int64_t count) FG_INLINED {
        V xhat = normal(i, count);
        store_group<L>(dx + i, scale * (weighted(i, count) - level - xhat * slope), count);
        store_group<L>(scaled + i, load_group<L>(grad + i, count) * xhat, count);
      });
    }
  }

  FG_INLINE static T root(T x) {
    if constexpr (sizeof(T) == 4)
      return __builtin_sqrtf(x);
    else
      return __builtin_sqrt(x);
  }
};

template <class S, Level L, class Task>
FG_INLINE void run(const Task& task, int64_t begin, int64_t end, void* partials) {
  using T = ir::compute_t<S>;
  if constexpr (std::is_same_v<Task, NormForward>)
    NormRows<S, L>::forward(task, begin, end, static_cast<T*>(partials));
  else
    NormRows<S, L>::backward(task, begin, end, static_cast<T*>(partials));
}
template <class S, class Task>
FG_KERNEL_BASELINE void run_baseline(const Task& task, int64_t begin, int64_t end, void* partials) {
  run<S, Level::baseline>(task, begin, end, partials);
}
template <class S, class Task>
FG_KERNEL_V3 void run_v3(const Task& task, int64_t begin, int64_t end, void* partials) {
  run<S, Level::v3>(task, begin, end, partials);
}

template <class S, class Task>
void run_level(const Task& task, int64_t begin, int64_t end, void* partials) {
#if FG_HAS_V3
  if (level() >= Level::v3) return run_v3<S>(task, begin, end, partials);
#endif
  run_baseline<S>(task, begin, end, partials);
}

template <class Task>
void run_rows(const Task& task) {
  if (task.rows == 0 || task.n == 0) return;
  pool::parallel_for(task.rows, 8192 / task.n + 1, [&](int64_t begin, int64_t end) {
    std::unique_ptr<double[]> partials(new double[static_cast<size_t>(partials_of(task.n))]);
    visit(task.x.dtype(), [&](auto zero) {
      using S = decltype(zero);
      if constexpr (std::is_floating_point_v<ir::compute_t<S>>)
        run_level<S>(task, begin, end, partials.get());
      else
        fail("normalize: expected a floating dtype, got {}; convert it with to()",
             name(task.x.dtype()));
    });
  });
}

}  // namespace

void normalize_rows(const NormForward& task) { run_rows(task); }
void normalize_rows_backward(const NormBackward& task) { run_rows(task); }

}  // namespace fg::kernels
