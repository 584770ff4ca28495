// Backward, from the last step to the first. d_hx and d_cx hold what flows from each step to the
// one before it; the product with the weight is made when that one begins, for the units it needs.
#include <type_traits>

#include "ops/kernels/flush_denormals.h"
#include "ops/recurrent/recurrent_kernel.h"
#include "ops/recurrent/recurrent_rows.h"
#include "ops/recurrent/recurrent_walk.h"

namespace fg::kernels {

namespace {

template <Level L, class T>
class Backward {
 public:
  explicit Backward(const RecurrentBackward& task)
      : task_(task),
        sizes_(task.sizes),
        last_(static_cast<int64_t>(sizes_.steps.size()) - 1),
        weight_(static_cast<const T*>(task.weight), 1, 0, sizes_.width, 1, sizes_.gates(),
                sizes_.width) {}

  void run() {
    constexpr int64_t kPanel = PackedWeight<L, T>::kPanel;
    walk_steps(sizes_, kPanel, [&](int64_t i, const Part& part) { step(last_ - i, part); });
    const int64_t panels = part_count(sizes_.width, kPanel);
    const double work =
        2.0 * static_cast<double>(kPanel * sizes_.batch) * static_cast<double>(sizes_.gates());
    pool::parallel_for(
        panels, static_cast<int64_t>((1 << 20) / (work + 1)) + 1, [&](int64_t begin, int64_t end) {
          const int64_t col = begin * kPanel;
          pass_back(0, {0, sizes_.batch, col, std::min(end * kPanel, sizes_.width) - col});
        });
  }

 private:
  const RecurrentBackward& task_;
  const RecurrentSizes& sizes_;
  const int64_t last_;
  PackedWeight<L, T> weight_;

  // d_hx = d_product @ W for the rows of step s; a gru adds to what its cell gave directly.
  void pass_back(int64_t s, const Part& part) const {
    [[maybe_unused]] std::conditional_t<std::is_same_v<T, float>, FlushDenormals, int> flushing{};
    const int64_t rows = std::min(part.rows, sizes_.steps[s].rows - part.row);
    if (rows <= 0) return;
    const bool gru = sizes_.kind == CellKind::gru;
    const auto* product = static_cast<const T*>(gru ? task_.d_product : task_.d_x);
    const int64_t gates = sizes_.gates();
    weight_.multiply(
        {product + (sizes_.steps[s].first + part.row) * gates, gates}, 0, part.unit, part.units,
        {static_cast<T*>(task_.d_hx) + part.row * sizes_.width + part.unit, sizes_.width}, rows,
        gru ? Into::resume : Into::set);
  }

  void step(int64_t s, const Part& part) const {
    [[maybe_unused]] std::conditional_t<std::is_same_v<T, float>, FlushDenormals, int> flushing{};
    const int64_t after = s < last_ ? sizes_.steps[s + 1].rows : 0;
    if (after > 0) pass_back(s + 1, part);
    const int64_t rows = std::min(part.rows, sizes_.steps[s].rows - part.row);
    const int64_t going_on = std::clamp<int64_t>(after - part.row, 0, std::max<int64_t>(rows, 0));
    differentiate(s, part, 0, going_on, task_.d_hx, task_.d_cx);
    differentiate(s, part, going_on, rows - going_on, task_.d_hn, task_.d_cn);
  }

  // Rows whose gradients of h and c after the step are in these matrices (null: none).
  void differentiate(int64_t s, const Part& part, int64_t from, int64_t rows, const void* after_h,
                     const void* after_c) const {
    if (rows <= 0) return;
    const int64_t row = part.row + from, at = sizes_.steps[s].first + row, unit = part.unit;
    const int64_t h = sizes_.hidden, saved = sizes_.saved(), gates = sizes_.gates();
    auto read = [&](const void* data, int64_t index, int64_t width) -> Rows<const T> {
      return {data ? static_cast<const T*>(data) + index * width + unit : nullptr, width};
    };
    auto write = [&](void* data, int64_t index, int64_t width) -> Rows<T> {
      return {data ? static_cast<T*>(data) + index * width + unit : nullptr, width};
    };
    run_cell({.rows = rows,
              .units = part.units,
              .hidden = h,
              .d_out = read(task_.d_out, at, h),
              .after_h = read(after_h, row, h),
              .after_c = read(after_c, row, h),
              .kept = read(task_.saved, at, saved),
              .d_x = write(task_.d_x, at, gates),
              .d_product = write(task_.d_product, at, gates),
              .d_h = write(task_.d_hx, row, h),
              .d_c = write(task_.d_cx, row, h)});
  }

  void run_cell(const CellBackwardRows<T>& cell) const {
    switch (sizes_.kind) {
      case CellKind::lstm:
        return run_step<L>(LstmBackwardRows<T>{cell});
      case CellKind::gru:
        return run_step<L>(GruBackwardRows<T>{cell});
      case CellKind::tanh:
        return run_step<L>(PlainBackwardRows<T, false>{cell});
      case CellKind::relu:
        return run_step<L>(PlainBackwardRows<T, true>{cell});
    }
  }
};

}  // namespace

void run_layer_backward(const RecurrentBackward& task) {
  visit_float(task.sizes.dtype, [&]<class T>(T) {
    if constexpr (FG_HAS_V3) {
      if (level() == Level::v4) return Backward<Level::v4, T>(task).run();
      if (level() == Level::v3) return Backward<Level::v3, T>(task).run();
    }
    Backward<Level::baseline, T>(task).run();
  });
}

}  // namespace fg::kernels
