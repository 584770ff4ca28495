#include "ops/reduce/reduce_kernel.h"

#include <algorithm>
#include <cstring>

#include "base/pool.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/reduce_lanes.h"

namespace fg::kernels {

namespace {

constexpr int64_t kGrain = 16384;  // elements that are worth a thread

// Dimensions in logical order, neighbours that lie densely behind each other merged.
struct Axes {
  std::vector<int64_t> sizes, strides;

  void add(int64_t size, int64_t stride) {
    if (size == 1) return;
    if (!sizes.empty() && strides.back() == stride * size) {
      sizes.back() *= size;
      strides.back() = stride;
    } else {
      sizes.push_back(size);
      strides.push_back(stride);
    }
  }
  int64_t count() const {
    int64_t total = 1;
    for (int64_t size : sizes) total *= size;
    return total;
  }
  int64_t offset(int64_t index) const {
    int64_t result = 0;
    for (size_t i = sizes.size(); i-- > 0; index /= sizes[i])
      result += index % sizes[i] * strides[i];
    return result;
  }
  // Takes the last dimension away; {1, 0} if there is none.
  std::pair<int64_t, int64_t> pop() {
    if (sizes.empty()) return {1, 0};
    std::pair<int64_t, int64_t> last{sizes.back(), strides.back()};
    sizes.pop_back();
    strides.pop_back();
    return last;
  }
};

struct Task {
  Reduction reduction;
  DType dtype;
  const char* data;

  int64_t item() const { return static_cast<int64_t>(item_size(dtype)); }
  ReduceKernels kernels() const { return reduce_kernels(reduction, dtype); }
  const char* at(int64_t element) const { return data + element * item(); }
  Task over(const Tensor& partials) const {
    return {reduction, partials.dtype(), static_cast<const char*>(partials.data_ptr())};
  }
};

int64_t blocks_of(int64_t n) { return std::max<int64_t>(1, (n + kReduceBlock - 1) / kReduceBlock); }
int64_t block_length(int64_t n, int64_t block) {
  return std::min(kReduceBlock, n - block * kReduceBlock);
}
int64_t grain_of(int64_t elements_each) {
  return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, elements_each));
}

// Rows of up to 512 elements that are contiguous in memory: several rows in one call.
void reduce_short_rows(const Task& task, Axes kept, int64_t n, char* out) {
  ReduceKernels kernels = task.kernels();
  int64_t item = static_cast<int64_t>(item_size(accumulate_dtype(task.dtype)));
  int64_t rows = kept.count();
  auto [run, step] = kept.pop();
  pool::parallel_for(rows, grain_of(n), [&, run = run, step = step](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end;) {
      int64_t place = row % run, count = std::min(run - place, end - row);
      int64_t element = kept.offset(row / run) + place * step;
      kernels.blocks(task.at(element), step, n, count, out + row * item);
      row += count;
    }
  });
}

Tensor make_partials(const Task& task, const Dims& sizes) {
  return empty_tensor(sizes, accumulate_dtype(task.dtype));
}

// Rows that are contiguous in memory.
void reduce_rows(const Task& task, const Axes& kept, int64_t n, char* out) {
  int64_t blocks = blocks_of(n), rows = kept.count();
  if (blocks == 1) return reduce_short_rows(task, kept, n, out);
  ReduceKernels kernels = task.kernels();
  Tensor partials = make_partials(task, {rows, blocks});
  Task next = task.over(partials);
  char* to = static_cast<char*>(partials.data_ptr());
  int64_t item = next.item();
  // Whole blocks behind each other need not know where a row ends.
  bool dense = n % kReduceBlock == 0 && (rows == 1 || kept.strides == std::vector<int64_t>{n});
  pool::parallel_for(rows * blocks, grain_of(kReduceBlock), [&](int64_t begin, int64_t end) {
    if (dense) {
      kernels.blocks(task.at(begin * kReduceBlock), kReduceBlock, kReduceBlock, end - begin,
                     to + begin * item);
      return;
    }
    for (int64_t i = begin; i < end;) {
      int64_t block = i % blocks, last = std::min(blocks, block + end - i);
      int64_t element = kept.offset(i / blocks) + block * kReduceBlock;
      bool short_end = last == blocks && n % kReduceBlock;
      int64_t full = last - block - short_end;
      if (full) kernels.blocks(task.at(element), kReduceBlock, kReduceBlock, full, to + i * item);
      if (short_end)
        kernels.blocks(task.at(element + full * kReduceBlock), 0, n % kReduceBlock, 1,
                       to + (i + full) * item);
      i += last - block;
    }
  });
  Axes partial_rows;
  partial_rows.add(rows, blocks);
  reduce_rows(next, partial_rows, blocks, out);
}

// Reduces over n elements that lie `stride` apart, for `width` >= 16 neighbouring columns at once.
void reduce_columns(const Task& task, const Axes& outer, int64_t n, int64_t stride, int64_t width,
                    char* out) {
  constexpr int64_t kTile = 512;
  ReduceKernels kernels = task.kernels();
  int64_t count = outer.count(), blocks = blocks_of(n);
  int64_t tiles = std::max<int64_t>(1, width / kTile);
  Tensor partials;
  if (blocks > 1) partials = make_partials(task, {count, blocks, width});
  char* to = blocks > 1 ? static_cast<char*>(partials.data_ptr()) : out;
  int64_t item = static_cast<int64_t>(item_size(accumulate_dtype(task.dtype)));
  int64_t grain = grain_of(std::min(n, kReduceBlock) * std::min(width, kTile));
  pool::parallel_for(count * blocks * tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
      int64_t tile = i % tiles, block = i / tiles % blocks, index = i / tiles / blocks;
      int64_t first = tile * kTile, last = tile + 1 == tiles ? width : first + kTile;
      int64_t element = outer.offset(index) + block * kReduceBlock * stride + first;
      kernels.columns(task.at(element), stride, block_length(n, block), last - first,
                      to + ((index * blocks + block) * width + first) * item);
    }
  });
  if (blocks == 1) return;
  Axes dense;
  dense.add(count, blocks * width);
  reduce_columns(task.over(partials), dense, blocks, width, width, out);
}

// `length` rows of a few columns, from row `first` on; copied to `scratch` unless they lie
// together.
const char* rows_together(const Task& task, const Axes& rows, const char* start, int64_t first,
                          int64_t length, char* scratch) {
  const int64_t run = rows.sizes.back(), bytes = kFewColumns * task.item();
  auto at = [&](int64_t row) { return start + rows.offset(row) * task.item(); };
  if (first / run == (first + length - 1) / run) return at(first);
  char* to = scratch;
  for (int64_t row = first; row < first + length;) {
    int64_t count = std::min(run - row % run, first + length - row);
    std::memcpy(to, at(row), static_cast<size_t>(count * bytes));
    to += count * bytes;
    row += count;
  }
  return scratch;
}

// Reduces over rows of eight neighbouring columns; the innermost rows lie one behind the other.
void reduce_few_columns(const Task& task, const Axes& outer, const Axes& rows, char* out) {
  ReduceKernels kernels = task.kernels();
  int64_t count = outer.count(), n = rows.count(), blocks = blocks_of(n);
  Tensor partials;
  if (blocks > 1) partials = make_partials(task, {count, blocks, kFewColumns});
  char* to = blocks > 1 ? static_cast<char*>(partials.data_ptr()) : out;
  int64_t result = kFewColumns * static_cast<int64_t>(item_size(accumulate_dtype(task.dtype)));
  int64_t grain = grain_of(std::min(n, kReduceBlock) * kFewColumns);
  pool::parallel_for(count * blocks, grain, [&](int64_t begin, int64_t end) {
    alignas(64) char scratch[kReduceBlock * kFewColumns * 8];
    for (int64_t i = begin; i < end; i++) {
      int64_t block = i % blocks, length = block_length(n, block);
      const char* from = rows_together(task, rows, task.at(outer.offset(i / blocks)),
                                       block * kReduceBlock, length, scratch);
      kernels.few_columns(from, 0, length, 0, to + i * result);
    }
  });
  if (blocks == 1) return;
  Axes dense, partial_rows;
  dense.add(count, blocks * kFewColumns);
  partial_rows.add(blocks, kFewColumns);
  reduce_few_columns(task.over(partials), dense, partial_rows, out);
}

// Any layout: the elements of a block are gathered first.
void reduce_gathered(const Task& task, const Tensor& rows_last, int64_t rows, int64_t n,
                     char* out) {
  ReduceKernels kernels = task.kernels();
  int64_t blocks = blocks_of(n);
  Tensor partials;
  if (blocks > 1) partials = make_partials(task, {rows, blocks});
  char* to = blocks > 1 ? static_cast<char*>(partials.data_ptr()) : out;
  int64_t item = static_cast<int64_t>(item_size(accumulate_dtype(task.dtype)));
  StridedOperand source(*rows_last.impl(), rows_last.sizes());
  pool::parallel_for(rows * blocks, grain_of(std::min(n, kReduceBlock)),
                     [&](int64_t begin, int64_t end) {
                       alignas(64) char scratch[kReduceBlock * 8];
                       for (int64_t i = begin; i < end; i++) {
                         int64_t row = i / blocks, block = i % blocks;
                         int64_t length = block_length(n, block);
                         source.gather(row * n + block * kReduceBlock, length, scratch);
                         kernels.blocks(scratch, 0, length, 1, to + i * item);
                       }
                     });
  if (blocks == 1) return;
  Axes dense;
  dense.add(rows, blocks);
  reduce_rows(task.over(partials), dense, blocks, out);
}

// The kept dimensions in front, the reduced ones behind them.
Tensor reduced_last(const Tensor& self, const std::vector<bool>& axes) {
  Dims sizes, strides;
  for (bool reduced : {false, true}) {
    for (size_t i = 0; i < axes.size(); i++) {
      if (axes[i] != reduced) continue;
      sizes.push_back(self.sizes()[i]);
      strides.push_back(self.strides()[i]);
    }
  }
  return alias(self, sizes, strides, self.impl()->offset);
}

}  // namespace

void reduce(Reduction reduction, const Tensor& self, const std::vector<bool>& axes,
            const Tensor& out) {
  Task task{reduction, self.dtype(), static_cast<const char*>(self.data_ptr())};
  char* to = static_cast<char*>(out.data_ptr());
  if (self.numel() == 0) {
    Axes kept;
    kept.add(out.numel(), 0);
    if (out.numel() > 0) reduce_short_rows(task, kept, 0, to);
    return;
  }
  Axes kept, reduced;
  for (size_t i = 0; i < axes.size(); i++) {
    (axes[i] ? reduced : kept).add(self.sizes()[i].value(), self.strides()[i].value());
  }
  int64_t n = reduced.count();
  if (n == 1 || (reduced.sizes.size() == 1 && reduced.strides[0] == 1)) {
    return reduce_rows(task, kept, n, to);
  }
  bool columns = reduced.sizes.size() == 1 && !kept.sizes.empty() && kept.strides.back() == 1 &&
                 kept.sizes.back() >= ir::kLanes;
  if (columns) {
    int64_t width = kept.pop().first;
    return reduce_columns(task, kept, n, reduced.strides[0], width, to);
  }
  bool few_columns = !kept.sizes.empty() && kept.sizes.back() == kFewColumns &&
                     kept.strides.back() == 1 && reduced.strides.back() == kFewColumns;
  if (few_columns) {
    kept.pop();
    return reduce_few_columns(task, kept, reduced, to);
  }
  reduce_gathered(task, reduced_last(self, axes), kept.count(), n, to);
}

}  // namespace fg::kernels
