#include "ops/attention/attention_kernel.h"

#include "base/interrupt.h"
#include "base/pool.h"
#include "ops/attention/attention_rows.h"

// A block of queries meets a tile of keys: scores, weights and weighted values while all of it is
// in the caches. On the diagonal of a causal mask six queries at a time meet no more than they see.
namespace fg::kernels {

namespace {

constexpr int64_t kBlockRows = 96, kTileKeys = 128;
constexpr double kMinWork = 1 << 20;  // for a thread of its own, in multiplications and additions

// One head: its operands, and its keys and values as packed panels.
template <Level L, class T>
struct ForwardHead {
  static constexpr int kPanel = Registers<L, T>::kPanel;

  AttentionSizes sizes;
  Rows<const T> q, mask;
  Rows<T> out;
  T* sums = nullptr;
  Buffer<T> keys, values;  // panels of keys, panels of columns of values
  int64_t padded;          // the width of values in whole groups
  Buffer<T> block, totals, scores;

  explicit ForwardHead(const AttentionSizes& s)
      : sizes(s),
        keys(round_up_to(s.keys, kPanel) * s.width),
        values(round_up_to(s.value_width, kPanel) * s.keys),
        padded(round_up_to(s.value_width, kGroupSize)),
        block(kBlockRows * (s.width + padded)),
        totals(2 * kBlockRows),
        scores(kBlockRows * kTileKeys) {}

  void open(const AttentionForward& task, int64_t index) {
    auto read = [&](const Heads& heads) {
      return head_of<const T>(heads, index / sizes.heads, index % sizes.heads);
    };
    q = read(task.q);
    mask = read(task.mask);
    out = head_of<T>(task.out, index / sizes.heads, index % sizes.heads);
    sums = static_cast<T*>(task.sums) + index * sizes.queries;
    const Rows<const T> k = read(task.k), v = read(task.v);
    pack<L, T, kPanel>({k.data, k.stride, 1}, sizes.keys, sizes.width, keys.get());
    pack<L, T, kPanel>({v.data, 1, v.stride}, sizes.value_width, sizes.keys, values.get());
  }

  // mixed += exp(scale q @ k^T + mask - max) @ v for `rows` queries of a block and a tile of keys.
  void attend_rows(int64_t begin, int64_t row, int64_t rows, int64_t key) {
    const int64_t seen = sizes.causal ? begin + row + 1 - key : sizes.keys;
    const int64_t cols = std::min({kTileKeys, sizes.keys - key, seen + rows - 1});
    if (cols <= 0) return;
    T* const mixed = block.get() + kBlockRows * sizes.width + row * padded;
    multiply_block<L, T>({block.get() + row * sizes.width, sizes.width, sizes.width, 1},
                         {keys.get() + key * sizes.width, kPanel, kPanel * sizes.width},
                         {scores.get(), kTileKeys, Into::set}, rows, round_up_to(cols, kPanel),
                         sizes.width);
    T* const largest = totals.get() + row;
    const T* added = mask.at(begin + row);
    run_step<L>(WeighRows<T>{{scores.get(), kTileKeys},
                             rows,
                             {cols, seen, sizes.causal ? 1 : 0},
                             {added ? added + key : nullptr, mask.stride},
                             largest,
                             largest + kBlockRows,
                             {mixed, padded},
                             padded,
                             key == 0});
    multiply_block<L, T>({scores.get(), kTileKeys, kTileKeys, 1},
                         {values.get() + key * kPanel, kPanel, kPanel * sizes.keys},
                         {mixed, padded, key == 0 ? Into::set : Into::resume}, rows,
                         std::min(padded, round_up_to(sizes.value_width, kPanel)), cols);
  }

  void attend_block(int64_t begin) {
    const int64_t rows = std::min(kBlockRows, sizes.queries - begin);
    T* const mixed = block.get() + kBlockRows * sizes.width;
    run_step<L>(CopyRows<T>{{q.at(begin), q.stride},
                            {block.get(), sizes.width},
                            rows,
                            sizes.width,
                            static_cast<T>(sizes.scale)});
    const int64_t keys_seen = sizes.causal ? std::min(sizes.keys, begin + rows) : sizes.keys;
    for (int64_t key = 0; key < keys_seen; key += kTileKeys) {
      const bool whole = !sizes.causal || key + kTileKeys <= begin + 1;
      const int64_t together = whole ? rows : kTileRows;
      for (int64_t row = 0; row < rows; row += together)
        attend_rows(begin, row, std::min(together, rows - row), key);
    }
    run_step<L>(FinishRows<T>{{mixed, padded},
                              {out.at(begin), out.stride},
                              rows,
                              sizes.value_width,
                              totals.get(),
                              totals.get() + kBlockRows,
                              sums + begin});
  }
};

template <Level L, class T>
void attend_at(const AttentionForward& task) {
  AttentionSizes sizes = task.sizes;
  if (sizes.causal) sizes.keys = std::min(sizes.keys, sizes.queries);
  const int64_t blocks = part_count(sizes.queries, kBlockRows);
  const double work = 2.0 * kBlockRows * static_cast<double>(sizes.keys) *
                      static_cast<double>(sizes.width + sizes.value_width);
  pool::parallel_for(sizes.batch * sizes.heads * blocks,
                     static_cast<int64_t>(kMinWork / (work + 1000)) + 1,
                     [&](int64_t begin, int64_t end) {
                       ForwardHead<L, T> head(sizes);
                       for (int64_t i = begin; i < end; i++) {
                         poll_interrupt();
                         if (i == begin || i % blocks == 0) head.open(task, i / blocks);
                         head.attend_block(i % blocks * kBlockRows);
                       }
                     });
}

}  // namespace

void attend(const AttentionForward& task) {
  visit_float(task.sizes.dtype, [&]<class T>(T) {
    if constexpr (FG_HAS_V3) {
      if (level() == Level::v4) return attend_at<Level::v4, T>(task);
      if (level() == Level::v3) return attend_at<Level::v3, T>(task);
    }
    attend_at<Level::baseline, T>(task);
  });
}

}  // namespace fg::kernels
