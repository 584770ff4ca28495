// Forward. A row of `saved` is where the gates of a step are made and where the state before it
// lies, so the end of a step writes the state into the row of the next one.
#include "ops/recurrent/recurrent_kernel.h"

#include <type_traits>

#include "ops/kernels/flush_denormals.h"
#include "ops/recurrent/recurrent_rows.h"
#include "ops/recurrent/recurrent_walk.h"

namespace fg::kernels {

namespace {

template <Level L, class T>
class Forward {
 public:
  explicit Forward(const RecurrentForward& task)
      : task_(task),
        sizes_(task.sizes),
        weight_(static_cast<const T*>(task.weight), gate_count(sizes_.kind),
                sizes_.hidden * sizes_.width, sizes_.hidden, sizes_.width, sizes_.width, 1),
        rows_(task.saved ? 0 : 2 * sizes_.batch * sizes_.saved()) {}

  void run() {
    enter(0, {0, sizes_.batch, 0, sizes_.hidden});
    walk_steps(sizes_, PackedWeight<L, T>::kPanel,
               [&](int64_t s, const Part& part) { step(s, part); });
  }

 private:
  const RecurrentForward& task_;
  const RecurrentSizes& sizes_;
  PackedWeight<L, T> weight_;
  Buffer<T> rows_;  // of two steps, where they are not kept

  int64_t rows_of(int64_t s) const {
    return s < static_cast<int64_t>(sizes_.steps.size()) ? sizes_.steps[s].rows : 0;
  }
  Rows<T> saved(int64_t s, int64_t row) const {
    const int64_t width = sizes_.saved();
    if (!task_.saved) return {rows_.get() + (s % 2 * sizes_.batch + row) * width, width};
    return {static_cast<T*>(task_.saved) + (sizes_.steps[s].first + row) * width, width};
  }
  Rows<T> saved_h(int64_t s, int64_t row) const {
    const Rows<T> rows = saved(s, row);
    return {rows.data + kept_count(sizes_.kind) * sizes_.hidden, rows.stride};
  }
  Rows<T> saved_c(int64_t s, int64_t row) const {
    const Rows<T> rows = saved(s, row);
    return {rows.data + 4 * sizes_.hidden, rows.stride};
  }

  static void copy(Rows<const T> from, Rows<T> to, int64_t rows, int64_t width) {
    if (rows > 0 && width > 0) run_step<L>(CopyRows{from, to, rows, width});
  }
  struct CopyRows {
    Rows<const T> from;
    Rows<T> to;
    int64_t rows, width;
    template <Level level>
    FG_INLINE void run() const {
      each_element(rows, width, [&](int64_t r, int64_t c, int64_t count) FG_INLINED {
        store_part<level>(to, r, c, load_part<level>(from, r, c, count), count);
      });
    }
  };

  // Sequences that begin with step s start from hx and cx.
  void enter(int64_t s, const Part& part) const {
    const int64_t row = std::max(part.row, s > 0 ? rows_of(s - 1) : 0);
    const int64_t rows = std::min(part.row + part.rows, rows_of(s)) - row;
    if (rows <= 0) return;
    const bool whole = s == 0;  // all of the state, whose width may be another one
    const int64_t unit = whole ? 0 : part.unit;
    const int64_t width = sizes_.width;
    const Rows<T> h = saved_h(s, row);
    copy({static_cast<const T*>(task_.hx) + row * width + unit, width}, {h.data + unit, h.stride},
         rows, whole ? width : part.units);
    if (sizes_.kind != CellKind::lstm) return;
    const Rows<T> c = saved_c(s, row);
    copy({static_cast<const T*>(task_.cx) + row * sizes_.hidden + part.unit, sizes_.hidden},
         {c.data + part.unit, c.stride}, rows, part.units);
  }

  void step(int64_t s, const Part& part) const {
    [[maybe_unused]] std::conditional_t<std::is_same_v<T, float>, FlushDenormals, int> flushing{};
    const int64_t rows = std::min(part.rows, rows_of(s) - part.row);
    if (rows > 0) {
      const Rows<T> to = saved(s, part.row), h = saved_h(s, part.row);
      for (int64_t gate = 0; gate < gate_count(sizes_.kind); gate++) {
        const int64_t at = sizes_.kind == CellKind::gru && gate == 2 ? 3 : gate;
        weight_.multiply({h.data, h.stride}, gate, part.unit, part.units,
                         {to.data + at * sizes_.hidden + part.unit, to.stride}, rows, Into::set);
      }
      const int64_t going_on = std::clamp<int64_t>(rows_of(s + 1) - part.row, 0, rows);
      finish(s, part, 0, going_on, true);
      finish(s, part, going_on, rows - going_on, false);
    }
    if (s + 1 < static_cast<int64_t>(sizes_.steps.size())) enter(s + 1, part);
  }

  // Rows whose state goes to the next step, or to the results.
  void finish(int64_t s, const Part& part, int64_t from, int64_t rows, bool goes_on) const {
    if (rows <= 0) return;
    const int64_t row = part.row + from, at = sizes_.steps[s].first + row, h = sizes_.hidden;
    auto shifted = [&](Rows<T> r) { return Rows<T>{r.data + part.unit, r.stride}; };
    auto result = [&](void* data) { return Rows<T>{static_cast<T*>(data) + row * h, h}; };
    const bool lstm = sizes_.kind == CellKind::lstm;
    CellRows<T> cell{
        .rows = rows,
        .units = part.units,
        .hidden = h,
        .x = {static_cast<const T*>(task_.x) + at * sizes_.gates() + part.unit, sizes_.gates()},
        .bias = task_.bias ? static_cast<const T*>(task_.bias) + part.unit : nullptr,
        .kept = shifted(saved(s, row)),
        .out = {static_cast<T*>(task_.out) + at * h + part.unit, h},
        .next_h = shifted(goes_on ? saved_h(s + 1, row) : result(task_.hn)),
        .next_c = {}};
    if (lstm) cell.next_c = shifted(goes_on ? saved_c(s + 1, row) : result(task_.cn));
    run_cell(cell);
  }

  void run_cell(const CellRows<T>& cell) const {
    switch (sizes_.kind) {
      case CellKind::lstm:
        return run_step<L>(LstmRows<T>{cell});
      case CellKind::gru:
        return run_step<L>(GruRows<T>{cell});
      case CellKind::tanh:
        return run_step<L>(PlainRows<T, false>{cell});
      case CellKind::relu:
        return run_step<L>(PlainRows<T, true>{cell});
    }
  }
};

}  // namespace

void run_layer(const RecurrentForward& task) {
  visit_float(task.sizes.dtype, [&]<class T>(T) {
    if constexpr (FG_HAS_V3) {
      if (level() == Level::v4) return Forward<Level::v4, T>(task).run();
      if (level() == Level::v3) return Forward<Level::v3, T>(task).run();
    }
    Forward<Level::baseline, T>(task).run();
  });
}

}  // namespace fg::kernels
