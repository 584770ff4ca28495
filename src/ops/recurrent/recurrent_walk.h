// The loops that forward and backward of a recurrent layer share: a packed weight, and the order in
// which threads take rows, units and steps.
#pragma once

#include <algorithm>

#include "base/interrupt.h"
#include "base/pool.h"
#include "ops/kernels/matrix_rows.h"
#include "ops/matmul/gemm_block.h"
#include "ops/matmul/gemm_pack.h"
#include "ops/recurrent/recurrent_kernel.h"

namespace fg::kernels {

// Some rows and some columns of a step.
struct Part {
  int64_t row, rows, unit, units;
};

// Blocks of k, so that a panel of the weight stays in the first-level cache.
inline constexpr int64_t kRecurrentBlock = 384;

// The right operand of the products of all steps, as panels.
template <Level L, class T>
class PackedWeight {
 public:
  static constexpr int64_t kPanel = Registers<L, T>::kPanel;

  // `groups` matrices of k x cols; in memory each begins `group` elements after the one before it.
  PackedWeight(const T* weight, int64_t groups, int64_t group, int64_t cols, int64_t col_stride,
               int64_t k, int64_t k_stride)
      : k_(k), group_(round_up_to(cols, kPanel) * k), panels_(groups * group_) {
    const int64_t count = part_count(cols, kPanel);
    pool::parallel_for(
        groups * count, std::max<int64_t>(1, 16384 / (kPanel * k)),
        [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; i++) {
            const int64_t col = i % count * kPanel;
            pack<L, T, kPanel>(
                {weight + i / count * group + col * col_stride, col_stride, k_stride},
                std::min(kPanel, cols - col), k, panels_.get() + i / count * group_ + col * k);
          }
        });
  }

  // to = from @ matrix `group`, columns [col, col + cols); col begins a panel.
  void multiply(Rows<const T> from, int64_t group, int64_t col, int64_t cols, Rows<T> to,
                int64_t rows, Into into) const {
    const T* const panels = panels_.get() + group * group_ + col * k_;
    for (int64_t k = 0; k < k_; k += kRecurrentBlock) {
      const int64_t depth = std::min(kRecurrentBlock, k_ - k);
      multiply_block<L, T>({from.data + k, from.stride, from.stride, 1},
                           {panels + k * kPanel, kPanel, kPanel * k_},
                           {to.data, to.stride, k == 0 ? into : Into::resume}, rows, cols, depth);
    }
  }

 private:
  int64_t k_, group_;
  Buffer<T> panels_;
};

// Runs `step(index, part)` for all steps in order. With many rows a thread takes some of them
// through all steps, for rows are independent; with few, threads share the units of each step.
template <class Step>
void walk_steps(const RecurrentSizes& sizes, int64_t panel, const Step& step) {
  constexpr int64_t kLeastRows = 6, kMostRows = 48;
  constexpr double kWork = 1 << 20;  // for a thread of its own, in multiplications and additions
  const auto steps = static_cast<int64_t>(sizes.steps.size());
  const double row_work =
      2.0 * static_cast<double>(sizes.gates()) * static_cast<double>(sizes.width + 16);
  const int64_t threads = pool::num_threads();
  const bool small = row_work * static_cast<double>(sizes.total) < 2 * kWork;
  const bool few = sizes.batch < 2 * kLeastRows;
  if (!small && few && threads > 1 && row_work * static_cast<double>(sizes.batch) >= kWork / 8 &&
      sizes.hidden >= 2 * panel) {
    const int64_t panels = part_count(sizes.hidden, panel);
    const int64_t grain = std::max<int64_t>(1, panels / (2 * threads));
    for (int64_t s = 0; s < steps; s++) {
      poll_interrupt();
      pool::parallel_for(panels, grain, [&](int64_t begin, int64_t end) {
        const int64_t unit = begin * panel;
        step(s, Part{0, sizes.batch, unit, std::min(end * panel, sizes.hidden) - unit});
      });
    }
    return;
  }
  // Sequences of different lengths are different work.
  const bool uneven = sizes.total < steps * sizes.batch;
  int64_t rows = std::min(kMostRows, part_count(sizes.batch, uneven ? 4 * threads : threads));
  if (small) rows = sizes.batch;
  pool::parallel_for(part_count(sizes.batch, rows), 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      const Part part{i * rows, std::min(rows, sizes.batch - i * rows), 0, sizes.hidden};
      for (int64_t s = 0; s < steps; s++) {
        poll_interrupt();
        step(s, part);
      }
    }
  });
}

}  // namespace fg::kernels
