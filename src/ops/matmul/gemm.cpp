// The loops around the innermost one. c is cut into a grid of parts that follows from the sizes;
// threads take runs of parts. Inside a run, blocks of k are packed so that what is read again and
// again stays in a cache: a panel of b in the first level, a block of a in the second.
#include "ops/matmul/gemm.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <type_traits>

#include "base/fail.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "ops/kernels/flush_denormals.h"
#include "ops/matmul/gemm_add.h"
#include "ops/matmul/gemm_block.h"
#include "ops/matmul/gemm_dots.h"
#include "ops/matmul/gemm_pack.h"

namespace fg::kernels {

namespace {

constexpr int64_t kMaxBlock = 384;            // of k: a panel of b has 24 KiB
constexpr int64_t kBlockRows = 96;            // a block of a has 144 KiB (f32)
constexpr int64_t kMaxRows = 8 * kBlockRows;  // how long a packed block of b is used
constexpr int64_t kMaxCols = 512;             // a block of b has 768 KiB (f32)
constexpr int64_t kFewRows = 6;               // up to here b is streamed
constexpr int64_t kRowsInPlace = 12;          // up to here it is not packed
constexpr int64_t kStreamedRows = 8;          // rows of b at a time when it is read in place
constexpr int64_t kStreamedCols = 32, kStreamedDepth = 192;  // at a time when it is packed
constexpr int64_t kMinCols = 32;                             // of a part
constexpr int64_t kOwnRows = 192;  // a block of a has 288 KiB when all of b is packed
// Bytes of b that a thread packs at once. CPUs with v4 have at least 1 MiB of second-level cache.
template <Level L>
constexpr int64_t kOwnBytes = L == Level::v4 ? 1 << 20 : 4 << 20;
// From here on packing rows of a pays; at v4 a tile is so wide that it never does.
template <Level L>
constexpr int64_t kManyCols = L == Level::v4 ? INT64_MAX : 256;
constexpr double kMinWork = 1 << 20;  // for a thread of its own, in multiplications and additions

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
int64_t parts(int64_t size, int64_t part) { return (size + part - 1) / part; }

// The length of all blocks of k but the last: a function of k alone, which the promise rests on.
int64_t block_length(int64_t k) {
  return k <= kMaxBlock ? k : round_up(parts(k, parts(k, kMaxBlock)), 8);
}

// Memory that a thread keeps for packing. The block sizes bound it: 10 MiB in all.
class Scratch {
 public:
  template <class T>
  T* get(int64_t count) {
    const size_t bytes = static_cast<size_t>(count) * sizeof(T) + kSlack;
    if (bytes > bytes_) {
      memory_.reset();
      memory_.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
      bytes_ = bytes;
    }
    return reinterpret_cast<T*>(memory_.get());
  }

 private:
  static constexpr size_t kSlack = 64;  // packing may write a register too much
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(std::byte* p) const { ::operator delete(p, kAlignment); }
  };
  std::unique_ptr<std::byte, Free> memory_;
  size_t bytes_ = 0;
};
thread_local Scratch left_scratch, right_scratch, sum_scratch, result_scratch;

template <class S>
struct Problem {
  int64_t m, n, k;
  const S* a;
  int64_t a_row, a_k;
  const S* b;
  int64_t b_k, b_col;
  S* c;
  int64_t c_row, c_col;
  const S* self;  // null: nothing to add
  int64_t self_row, self_col;
};

// Few rows stream b: the longer its rows, the better.
int64_t max_cols(int64_t m) { return m <= kFewRows ? 4096 : kMaxCols; }

// How c is cut.
struct Grid {
  int64_t rows, cols;  // of a part
  int64_t down, along;
};

// The cost of a part: reading b counts as much as a few rows do, starting as much as 5000 steps.
double work(const Grid& grid, int64_t m, int64_t n, int64_t k) {
  const int64_t rows = std::max(kFewRows, std::min(m, grid.rows)), cols = std::min(n, grid.cols);
  return 2.0 * k * rows * cols + 10000;
}

// Parts are halved until there are enough of them or they are small; of a small product one for
// each thread is enough. Columns first: a tile has more rows than divide evenly.
Grid grid_for(int64_t m, int64_t n, int64_t k, int64_t batch, int64_t tile) {
  constexpr int64_t kEnough = 8;
  const int64_t threads = pool::num_threads();
  int64_t rows = round_up(parts(m, parts(m, kBlockRows)), tile);
  int64_t cols = round_up(parts(n, parts(n, max_cols(m))), kMinCols);
  for (;;) {
    const Grid grid{rows, cols, parts(m, rows), parts(n, cols)};
    const int64_t count = grid.down * grid.along * batch;
    const double small = (count >= threads ? 5 : 2) * kMinWork;
    if (count >= kEnough || work(grid, m, n, k) < small || (rows <= tile && cols <= kMinCols))
      return grid;
    if (rows > 2 * cols || cols <= kMinCols) {
      rows = round_up(rows / 2, tile);
    } else {
      cols = round_up(cols / 2, kMinCols);
    }
  }
}

// The same problem from a later row, column and k on.
template <class S>
FG_INLINE Problem<S> from(Problem<S> p, int64_t row, int64_t col, int64_t k) {
  p.a += row * p.a_row + k * p.a_k;
  p.b += k * p.b_k + col * p.b_col;
  p.c += row * p.c_row + col * p.c_col;
  if (p.self != nullptr) p.self += row * p.self_row + col * p.self_col;
  return p;
}

template <Level L, class S>
Left<ComputeType<S>> left_block(const Problem<S>& p, int64_t rows, int64_t cols, int64_t k) {
  using T = ComputeType<S>;
  if constexpr (std::is_same_v<S, T>) {
    const bool along_k = p.a_k == 1;
    if (cols < (along_k ? kManyCols<L> : 64) || rows <= kFewRows ||
        (along_k && k < kGroup<T> * 8)) {
      return {p.a, p.a_row, p.a_row, p.a_k};
    }
  }
  constexpr int kRows = Registers<L, T>::kRows;
  T* const to = left_scratch.get<T>(round_up(rows, kRows) * k);
  pack<L, S, kRows>({p.a, p.a_row, p.a_k}, rows, k, to);
  return {to, k, 1, kRows};
}

template <Level L, class S>
Right<ComputeType<S>> right_block(const Problem<S>& p, int64_t cols, int64_t k, bool in_place) {
  using T = ComputeType<S>;
  constexpr int kPanel = Registers<L, T>::kPanel;
  if constexpr (std::is_same_v<S, T>) {
    if (in_place) return {p.b, p.b_k, kPanel};
  }
  T* const to = right_scratch.get<T>(round_up(cols, kPanel) * k);
  pack<L, S, kPanel>({p.b, p.b_col, p.b_k}, cols, k, to);
  return {to, kPanel, kPanel * k};
}

// The columns of b that are better read where they are: few rows use them, or all of b fits the
// first-level cache.
template <Level L, class S>
int64_t columns_in_place(const Problem<S>& p) {
  const bool small = p.m <= kRowsInPlace || p.b_k * p.k * int64_t{sizeof(S)} <= 32768;
  const bool possible = std::is_same_v<S, ComputeType<S>> && p.b_col == 1;
  return possible && small ? p.n - p.n % Registers<L, ComputeType<S>>::kPanel : 0;
}

// Some columns over one block of k, for any number of rows.
template <Level L, class S>
void multiply_columns(const Problem<S>& p, int64_t cols, bool in_place, Sums<ComputeType<S>> c) {
  const auto b = right_block<L>(p, cols, p.k, in_place);
  for (int64_t row = 0; row < p.m; row += kBlockRows) {
    const int64_t rows = std::min(kBlockRows, p.m - row);
    const auto a = left_block<L>(from(p, row, 0, 0), rows, cols, p.k);
    multiply_block<L>(a, b, {c.data + row * c.row, c.row, c.into}, rows, cols, p.k);
  }
}

// Some columns over one block of k for few rows: b is used once, so it is streamed.
template <Level L, class T>
void stream_in_place(const Problem<T>& p, int64_t cols, Sums<T> c) {
  const auto kernel = stream_kernel<L, T>(p.m);
  for (int64_t k = 0; k < p.k; k += kStreamedRows) {
    const Problem<T> q = from(p, 0, 0, k);
    kernel({std::min(kStreamedRows, p.k - k), q.a, q.a_row, q.a_k, q.b, q.b_k, 0, c.data, c.row,
            k == 0 ? c.into : Into::resume},
           cols);
  }
}

// The same when b has to be packed: in pieces that stay in the first-level cache.
template <Level L, class S>
void stream_packed(const Problem<S>& p, int64_t cols, Sums<ComputeType<S>> c) {
  for (int64_t k = 0; k < p.k; k += kStreamedDepth) {
    const int64_t depth = std::min(kStreamedDepth, p.k - k);
    const Problem<S> q = from(p, 0, 0, k);
    const auto b = right_block<L>(q, cols, depth, false);
    const auto a = left_block<L>(q, p.m, cols, depth);
    multiply_block<L>(a, b, {c.data, c.row, k == 0 ? c.into : Into::resume}, p.m, cols, depth);
  }
}

template <Level L, class S>
void stream_block(const Problem<S>& p, Sums<ComputeType<S>> c) {
  using T = ComputeType<S>;
  const bool add = c.into == Into::add;
  const Sums<T> to = add ? Sums<T>{sum_scratch.get<T>(p.m * p.n), p.n, Into::set} : c;
  const int64_t in_place = columns_in_place<L>(p);
  if constexpr (std::is_same_v<S, T>) {
    if (in_place > 0) stream_in_place<L>(p, in_place, to);
  }
  for (int64_t col = in_place; col < p.n; col += kStreamedCols) {
    stream_packed<L>(from(p, 0, col, 0), std::min(kStreamedCols, p.n - col),
                     {to.data + col, to.row, to.into});
  }
  for (int64_t i = 0; add && i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) c.data[i * c.row + j] += to.data[i * to.row + j];
  }
}

// Sums = a @ b, block by block of k.
template <Level L, class S>
void multiply_blocks(const Problem<S>& whole, Sums<ComputeType<S>> c) {
  const int64_t length = block_length(whole.k);
  for (int64_t done = 0; done < whole.k; done += length) {
    Problem<S> p = from(whole, 0, 0, done);
    p.k = std::min(length, whole.k - done);
    c.into = done > 0 ? Into::add : Into::set;
    if (p.m <= kFewRows) {
      stream_block<L>(p, c);
      continue;
    }
    const int64_t in_place = columns_in_place<L>(p);
    if (in_place > 0) multiply_columns<L>(p, in_place, true, c);
    if (in_place < p.n) {
      multiply_columns<L>(from(p, 0, in_place, 0), p.n - in_place, false,
                          {c.data + in_place, c.row, c.into});
    }
  }
}

// Denormals are flushed in sums of float32: float64 has none in practice, and halves are widened by
// a product with one.
struct Nothing {};
template <class S>
using Flushing = std::conditional_t<std::is_same_v<S, float>, FlushDenormals, Nothing>;

template <Level L, class S>
void multiply_run(const Problem<S>& p) {
  using T = ComputeType<S>;
  [[maybe_unused]] Flushing<S> flushing;
  if constexpr (std::is_same_v<S, T>) {
    if (p.c_col == 1 && p.m == 1 && p.b_k == 1 && p.n >= Registers<narrowed(L), T>::kLanes) {
      return multiply_along_k<L, T>({p.n, p.k, block_length(p.k), p.a, p.a_k, p.b, p.b_col, p.c});
    }
    if (p.c_col == 1) return multiply_blocks<L>(p, {p.c, p.c_row, Into::set});
  }
  T* const sums = result_scratch.get<T>(p.m * p.n);
  multiply_blocks<L>(p, {sums, p.n, Into::set});
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      p.c[i * p.c_row + j * p.c_col] = static_cast<S>(sums[i * p.n + j]);
    }
  }
}

// c^T = b^T @ a^T has the same bits; lanes run along the columns, so there should be enough.
template <class S>
Problem<S> transposed(const Problem<S>& p) {
  return {p.n,     p.m, p.k,     p.b,     p.b_col, p.b_k,      p.a,       p.a_k,
          p.a_row, p.c, p.c_col, p.c_row, p.self,  p.self_col, p.self_row};
}

template <Level L, class S>
void add_self(const Problem<S>& p) {
  if constexpr (std::is_floating_point_v<S>) {
    if (p.self == nullptr) return;
    const Problem<S> q = p.c_col == 1 ? p : transposed(p);
    add_self_at<L, S>({q.m, q.n, q.c, q.c_row, q.self, q.self_row, q.self_col});
  }
}

template <class S>
void zero(const Problem<S>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) p.c[i * p.c_row + j * p.c_col] = S{};
  }
}

// A part of b as a thread has packed it for itself: some columns over several blocks of k. Threads
// that share one would wait for each other, and for memory where they have no cache in common.
template <class S>
struct OwnRight {
  const ComputeType<S>* packed;
  int64_t width, length;  // columns there is room for; of a block of k
};

struct Own {
  Scratch memory;
  uint64_t call = 0;  // the call for which it was packed
};
thread_local Own own;
std::atomic<uint64_t> calls = 0;

template <Level L, class S>
OwnRight<S> own_right(const Problem<S>& p, int64_t length, uint64_t call) {
  using T = ComputeType<S>;
  constexpr int kPanel = Registers<L, T>::kPanel;
  const int64_t width = round_up(p.n, kPanel);
  T* const to = own.memory.get<T>(width * p.k);
  for (int64_t k = 0; own.call != call && k < p.k; k += length) {
    const S* const b = p.b + k * p.b_k;
    pack<L, S, kPanel>({b, p.b_col, p.b_k}, p.n, std::min(length, p.k - k), to + k * width);
  }
  own.call = call;
  return {to, width, length};
}

template <Level L, class S>
void multiply_own(const Problem<S>& p, const OwnRight<S>& b, Sums<ComputeType<S>> c) {
  constexpr int64_t kPanel = Registers<L, ComputeType<S>>::kPanel;
  for (int64_t k = 0; k < p.k; k += b.length) {
    const int64_t depth = std::min(b.length, p.k - k);
    const auto a = left_block<L>(from(p, 0, 0, k), p.m, p.n, depth);
    multiply_block<L>(a, {b.packed + k * b.width, kPanel, kPanel * depth}, c, p.m, p.n, depth);
    c.into = Into::add;
  }
}

template <Level L, class S>
void multiply_own_rows(const Problem<S>& p, const OwnRight<S>& b, Into into) {
  [[maybe_unused]] Flushing<S> flushing;
  if (p.c_col == 1) return multiply_own<L>(p, b, {p.c, p.c_row, into});
  S* const sums = result_scratch.get<S>(p.m * p.n);
  multiply_own<L>(p, b, {sums, p.n, Into::set});
  for (int64_t j = 0; j < p.n; ++j) {
    for (int64_t i = 0; i < p.m; ++i) p.c[i * p.c_row + j * p.c_col] = sums[i * p.n + j];
  }
}

// Rows of c, block by block.
template <Level L, class S>
void multiply_rows(const Problem<S>& whole, int64_t length, uint64_t call, Into into) {
  const int64_t most =
      round_up(parts(whole.m, parts(whole.m, kOwnRows)), Registers<L, ComputeType<S>>::kRows);
  for (int64_t row = 0; row < whole.m; row += most) {
    poll_interrupt();  // its check may multiply, so b is looked at after it
    Problem<S> p = from(whole, row, 0, 0);
    p.m = std::min(most, whole.m - row);
    multiply_own_rows<L>(p, own_right<L>(p, length, call), into);
    add_self<L>(p);
  }
}

// Tiles per run: few runs, which read all of b, but as many for each thread.
int64_t tiles_per_run(int64_t tiles) {
  constexpr int64_t kEnough = 10;
  const int64_t threads = pool::num_threads();
  return tiles >= 4 * threads * kEnough ? kEnough : std::max<int64_t>(1, tiles / (2 * threads));
}

// Many rows: each thread packs b once, then they take rows.
template <Level L, class S>
void multiply_by_rows(const Problem<S>& whole) {
  constexpr int kRows = Registers<L, ComputeType<S>>::kRows;
  const int64_t length = block_length(whole.k), tiles = parts(whole.m, kRows);
  const int64_t room = kOwnBytes<L> / int64_t{sizeof(S)};
  const int64_t widest = std::max(kMaxCols, room / whole.k);
  const int64_t cols = round_up(parts(whole.n, parts(whole.n, widest)), kMinCols);
  const int64_t depth = std::max<int64_t>(1, room / cols / length) * length;
  for (int64_t col = 0; col < whole.n; col += cols) {
    for (int64_t k = 0; k < whole.k; k += depth) {
      Problem<S> p = from(whole, 0, col, k);
      p.n = std::min(cols, whole.n - col);
      p.k = std::min(depth, whole.k - k);
      if (k + depth < whole.k) p.self = nullptr;
      const uint64_t call = ++calls;
      pool::parallel_for(tiles, tiles_per_run(tiles), [&](int64_t begin, int64_t end) {
        Problem<S> rows = from(p, begin * kRows, 0, 0);
        rows.m = std::min(end * kRows, p.m) - begin * kRows;
        multiply_rows<L>(rows, length, call, k == 0 ? Into::set : Into::add);
      });
    }
  }
}

// Whether there are so many rows for each thread that packing all of b is little.
template <Level L, class S>
bool by_rows(const Problem<S>& p) {
  return p.m >= 2 * kBlockRows && p.m >= 64 * int64_t{pool::num_threads()} && p.n >= 16 &&
         2.0 * p.m * p.n * p.k >= 8 * kMinWork && columns_in_place<L>(p) == 0;
}

// Few rows of a and columns of b that run along k: b needs no packing as the left operand.
template <Level L, class S>
bool better_transposed(const Problem<S>& p) {
  return p.a_k == 1 && p.b_k == 1 && p.m > kRowsInPlace && p.m <= kBlockRows && p.n >= 4 * p.m &&
         p.m * p.k * int64_t{sizeof(S)} <= kOwnBytes<L> / 2;
}

template <class S>
void move_to_member(Problem<S>& p, const Batch& batch, int64_t index) {
  for (size_t d = batch.sizes.size(); d-- > 0;) {
    const int64_t i = index % batch.sizes[d];
    index /= batch.sizes[d];
    p.a += i * batch.a_strides[d];
    p.b += i * batch.b_strides[d];
    p.c += i * batch.c_strides[d];
  }
}

// Parts are numbered down the rows, then along the columns, then over the batch. Neighbours are
// done as one, so that what they share is packed once.
template <Level L, class S>
void multiply_parts(const Problem<S>& whole, const Grid& grid, const Batch& batch, int64_t begin,
                    int64_t end) {
  while (begin < end) {
    poll_interrupt();  // a product may take seconds
    const int64_t down = begin % grid.down, along = begin / grid.down % grid.along;
    const bool one_row = grid.down == 1;
    const int64_t fit = one_row ? max_cols(whole.m) / grid.cols : kMaxRows / grid.rows;
    const int64_t left = one_row ? grid.along - along : grid.down - down;
    const int64_t count = std::min({end - begin, left, std::max<int64_t>(fit, 1)});
    Problem<S> p = from(whole, down * grid.rows, along * grid.cols, 0);
    move_to_member(p, batch, begin / grid.down / grid.along);
    p.m = std::min(whole.m - down * grid.rows, (one_row ? 1 : count) * grid.rows);
    p.n = std::min(whole.n - along * grid.cols, (one_row ? count : 1) * grid.cols);
    if (p.k == 0) {
      zero(p);
    } else {
      multiply_run<L>(p);
    }
    add_self<L>(p);
    begin += count;
  }
}

// So few products that preparing them would take longer: one by one, in the same order.
constexpr int64_t kTiny = 64;
template <Level L, class S>
void multiply_tiny_sums(const Problem<S>& p) {
  [[maybe_unused]] Flushing<S> flushing;
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      const S *a = p.a + i * p.a_row, *b = p.b + j * p.b_col;
      S sum = 0;
      for (int64_t k = 0; k < p.k; ++k) sum = multiply_add_one<L>(sum, a[k * p.a_k], b[k * p.b_k]);
      p.c[i * p.c_row + j * p.c_col] = sum;
    }
  }
}
template <Level L, class S>
void multiply_tiny(const Problem<S>& p) {
  multiply_tiny_sums<L>(p);
  add_self<L>(p);
}

template <Level L, class S>
void multiply(const Product& g, Batch batch) {
  const auto *a = static_cast<const S*>(g.a.data), *b = static_cast<const S*>(g.b.data);
  Problem<S> p{.m = g.m,
               .n = g.n,
               .k = g.k,
               .a = a,
               .a_row = g.a.row_stride,
               .a_k = g.a.col_stride,
               .b = b,
               .b_k = g.b.row_stride,
               .b_col = g.b.col_stride,
               .c = static_cast<S*>(g.c),
               .c_row = g.c_row_stride,
               .c_col = 1,
               .self = static_cast<const S*>(g.self.data),
               .self_row = g.self.row_stride,
               .self_col = g.self.col_stride};
  if constexpr (std::is_floating_point_v<S>) {
    if (batch.sizes.empty() && p.m * p.n <= kTiny && p.m * p.n * p.k <= kTiny) {
      return multiply_tiny<L>(p);
    }
  }
  if (p.n < Registers<L, ComputeType<S>>::kLanes && p.m > p.n) {
    p = transposed(p);
    std::swap(batch.a_strides, batch.b_strides);
  }
  if constexpr (std::is_same_v<S, ComputeType<S>>) {
    if (batch.sizes.empty()) {
      const Problem<S> other = transposed(p);
      if (better_transposed<L>(p) && by_rows<L>(other)) return multiply_by_rows<L>(other);
      if (by_rows<L>(p)) return multiply_by_rows<L>(p);
    }
  }
  int64_t members = 1;
  for (int64_t size : batch.sizes) members *= size;
  const Grid grid = grid_for(p.m, p.n, p.k, members, Registers<L, ComputeType<S>>::kRows);
  const auto grain = static_cast<int64_t>(kMinWork / work(grid, p.m, p.n, p.k));
  pool::parallel_for(
      members * grid.down * grid.along, std::max<int64_t>(grain, 1),
      [&](int64_t begin, int64_t end) { multiply_parts<L>(p, grid, batch, begin, end); });
}

// Integers are computed unsigned: wrapping gives the same bits.
template <class S>
using Unsigned =
    std::conditional_t<std::is_integral_v<S>, std::make_unsigned<S>, std::type_identity<S>>;

}  // namespace

void gemm(DType dtype, const Product& product, const Batch& batch, Level level) {
  if (product.m == 0 || product.n == 0) return;
  visit(dtype, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (std::is_same_v<S, bool>) {
      fail(ErrorKind::internal, "gemm: got bool; expected a dtype with a multiplication");
    } else {
      using T = typename Unsigned<S>::type;
      if constexpr (FG_HAS_V3) {
        if constexpr (std::is_same_v<ComputeType<T>, float> || std::is_same_v<T, double>) {
          if (level == Level::v4) return multiply<Level::v4, T>(product, batch);
        }
        if (level >= Level::v3) return multiply<Level::v3, T>(product, batch);
      }
      multiply<Level::baseline, T>(product, batch);
    }
  });
}

}  // namespace fg::kernels
