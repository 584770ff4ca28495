// The loops around the innermost one. c is cut into a grid of parts that follows from the sizes;
// threads take runs of parts. Inside a run, blocks of k are packed so that what is read again and
// again stays in a cache: a panel of b in the first level, a block of a in the second.
#include "ops/kernels/gemm.h"

#include <algorithm>
#include <memory>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/kernels/gemm_micro.h"
#include "ops/kernels/gemm_pack.h"

namespace fg::kernels {

namespace {

constexpr int64_t kMaxBlock = 384;     // of k: a panel of b has 24 KiB
constexpr int64_t kBlockRows = 96;     // a block of a has 144 KiB (f32)
constexpr int64_t kMaxRows = 8 * kBlockRows;  // how long a packed block of b is used
constexpr int64_t kMaxCols = 512;      // a block of b has 768 KiB (f32)
constexpr int64_t kFewRows = 6;        // up to here b is streamed
constexpr int64_t kStreamedRows = 8;   // rows of b at a time when it is read in place
constexpr int64_t kStreamed = 64;      // columns and rows at a time when it is packed
constexpr double kPartFlops = 1 << 21;  // less is done before another thread wakes up

int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }
int64_t parts(int64_t size, int64_t part) { return (size + part - 1) / part; }

// The length of all blocks of k but the last: a function of k alone, which the promise rests on.
int64_t block_length(int64_t k) {
  return k <= kMaxBlock ? k : round_up(parts(k, parts(k, kMaxBlock)), 8);
}

// Memory that a thread keeps for packing. The block sizes bound it: 3 MiB for f64.
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
};

// A block of a: row i of the tile that begins with row r is at data + r * step + i * row.
template <class T>
struct Left {
  const T* data;
  int64_t step, row, k;
};

// A block of b: column panel p begins at data + p * panel.
template <class T>
struct Right {
  const T* data;
  int64_t k, panel;
};

template <class T>
struct Sums {
  T* data;
  int64_t row;
  Into into;
};

// How c is cut: a function of the sizes.
struct Grid {
  int64_t rows, cols;  // of a part
  int64_t down, along;
};

Grid grid_for(int64_t m, int64_t n, int64_t k, int64_t batch) {
  int64_t rows = kBlockRows, cols = m <= kFewRows ? 2048 : kMaxCols / 2;
  auto even = [](int64_t size, int64_t part, int64_t unit) {
    return round_up(parts(size, parts(size, part)), unit);
  };
  for (;;) {
    const Grid grid{even(m, rows, kTileRows), even(n, cols, 64), parts(m, rows), parts(n, cols)};
    const double flops = 2.0 * k * std::min(m, rows) * std::min(n, cols);
    if (grid.down * grid.along * batch >= 8 || flops < 2 * kPartFlops) return grid;
    (std::min(m, rows) > std::min(n, cols) ? rows : cols) /= 2;
  }
}

template <class S>
inline constexpr bool kStoredAsComputed = sizeof(S) == sizeof(ComputeType<S>);

// A tile whose last columns do not exist: computed aside, then what exists is copied.
template <Level L, class T>
void multiply_edge(TileKernel<T> kernel, Tile<T> tile, int64_t rows, int64_t cols) {
  constexpr int kWidth = 4 * Registers<L, T>::kPanel;
  alignas(64) T aside[kTileRows * kWidth] = {};
  const Sums<T> c{tile.c, tile.c_row, tile.into};
  auto each = [&](auto&& f) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < cols; ++j) f(c.data[i * c.row + j], aside[i * kWidth + j]);
    }
  };
  if (c.into == Into::resume) each([](T& x, T& y) { y = x; });
  tile.c = aside;
  tile.c_row = kWidth;
  if (c.into == Into::add) tile.into = Into::set;
  kernel(tile);
  if (c.into == Into::add) {
    each([](T& x, T& y) { x += y; });
  } else {
    each([](T& x, T& y) { x = y; });
  }
}

// All tiles of `height` rows of a block.
template <Level L, class T>
void multiply_strip(const Left<T>& a, const Right<T>& b, Sums<T> c, int64_t rows, int64_t cols,
                    int64_t k, int height) {
  constexpr int kLanes = Registers<L, T>::kLanes, kPanel = Registers<L, T>::kPanel;
  int registers = widest_tile(height);
  for (int64_t col = 0; col < cols; col += registers * kLanes) {
    const int64_t left = cols - col;
    while (registers > 1 && (registers * kLanes > round_up(left, kPanel) || left <= kLanes)) {
      registers /= 2;
    }
    const TileKernel<T> kernel = tile_kernel<L, T>(height, registers);
    Tile<T> tile{k,   a.data,  a.row,        a.k,   b.data + col / kPanel * b.panel,
                 b.k, b.panel, c.data + col, c.row, c.into};
    for (int64_t row = 0; row < rows; row += height) {
      tile.a = a.data + row * a.step;
      tile.c = c.data + row * c.row + col;
      if (left >= registers * kLanes) {
        kernel(tile);
      } else {
        multiply_edge<L, T>(kernel, tile, height, left);
      }
    }
  }
}

template <Level L, class T>
void multiply_block(Left<T> a, const Right<T>& b, Sums<T> c, int64_t rows, int64_t cols,
                    int64_t k) {
  const int64_t rest = rows % kTileRows, whole = rows - rest;
  if (whole > 0) multiply_strip<L>(a, b, c, whole, cols, k, kTileRows);
  if (rest > 0) {
    a.data += whole * a.step;
    c.data += whole * c.row;
    multiply_strip<L>(a, b, c, rest, cols, k, rest);
  }
}

// The same problem from a later row, column and k on.
template <class S>
Problem<S> from(Problem<S> p, int64_t row, int64_t col, int64_t k) {
  p.a += row * p.a_row + k * p.a_k;
  p.b += k * p.b_k + col * p.b_col;
  p.c += row * p.c_row + col * p.c_col;
  return p;
}

template <Level L, class S>
Left<ComputeType<S>> left_block(const Problem<S>& p, int64_t rows, int64_t cols, int64_t k) {
  using T = ComputeType<S>;
  if constexpr (kStoredAsComputed<S>) {
    if (cols < 64 || rows <= kFewRows || (p.a_k == 1 && cols <= 512)) {
      return {reinterpret_cast<const T*>(p.a), p.a_row, p.a_row, p.a_k};
    }
  }
  T* const to = left_scratch.get<T>(round_up(rows, kTileRows) * k);
  pack<L, S, kTileRows>({p.a, p.a_row, p.a_k}, rows, k, to);
  return {to, k, 1, kTileRows};
}

template <Level L, class S>
Right<ComputeType<S>> right_block(const Problem<S>& p, int64_t cols, int64_t k, bool in_place) {
  using T = ComputeType<S>;
  constexpr int kPanel = Registers<L, T>::kPanel;
  if constexpr (kStoredAsComputed<S>) {
    if (in_place) return {reinterpret_cast<const T*>(p.b), p.b_k, kPanel};
  }
  T* const to = right_scratch.get<T>(round_up(cols, kPanel) * k);
  pack<L, S, kPanel>({p.b, p.b_col, p.b_k}, cols, k, to);
  return {to, kPanel, kPanel * k};
}

// The columns of b that are better read where they are: few rows use them, or all of b fits the
// first-level cache.
template <Level L, class S>
int64_t columns_in_place(const Problem<S>& p) {
  const bool small = p.m <= 2 * kTileRows || p.b_k * p.k * int64_t{sizeof(S)} <= 32768;
  const bool possible = kStoredAsComputed<S> && p.b_col == 1;
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

// Some columns over one block of k for few rows: b is read once, so it is streamed in pieces that
// stay in the first-level cache.
template <Level L, class S>
void stream_columns(const Problem<S>& p, int64_t cols, bool in_place, Sums<ComputeType<S>> c) {
  const int64_t width = in_place ? cols : kStreamed, depth = in_place ? kStreamedRows : kStreamed;
  for (int64_t col = 0; col < cols; col += width) {
    for (int64_t k = 0; k < p.k; k += depth) {
      const int64_t piece = std::min(depth, p.k - k), piece_cols = std::min(width, cols - col);
      const Problem<S> q = from(p, 0, col, k);
      const auto b = right_block<L>(q, piece_cols, piece, in_place);
      const auto a = left_block<L>(q, p.m, piece_cols, piece);
      multiply_block<L>(a, b, {c.data + col, c.row, k == 0 ? c.into : Into::resume}, p.m,
                        piece_cols, piece);
    }
  }
}

template <Level L, class S>
void stream_block(const Problem<S>& p, Sums<ComputeType<S>> c) {
  using T = ComputeType<S>;
  const bool add = c.into == Into::add;
  const Sums<T> to = add ? Sums<T>{sum_scratch.get<T>(p.m * p.n), p.n, Into::set} : c;
  const int64_t in_place = columns_in_place<L>(p);
  if (in_place > 0) stream_columns<L>(p, in_place, true, to);
  if (in_place < p.n) {
    stream_columns<L>(from(p, 0, in_place, 0), p.n - in_place, false,
                      {to.data + in_place, to.row, to.into});
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

template <Level L, class S>
void multiply_run(const Problem<S>& p) {
  using T = ComputeType<S>;
  if (kStoredAsComputed<S> && p.c_col == 1) {
    return multiply_blocks<L>(p, {reinterpret_cast<T*>(p.c), p.c_row, Into::set});
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
  return {p.n, p.m, p.k, p.b, p.b_col, p.b_k, p.a, p.a_k, p.a_row, p.c, p.c_col, p.c_row};
}

template <class S>
void zero(const Problem<S>& p) {
  for (int64_t i = 0; i < p.m; ++i) std::fill_n(p.c + i * p.c_row, p.n, S{});
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

// Parts are numbered down the rows, then along the columns, then over the batch, so that a run of
// them shares columns of b.
template <Level L, class S>
void multiply_parts(const Problem<S>& whole, const Grid& grid, const Batch& batch, int64_t begin,
                    int64_t end) {
  while (begin < end) {
    const int64_t row = begin % grid.down * grid.rows;
    const int64_t col = begin / grid.down % grid.along * grid.cols;
    const int64_t count = std::min({end - begin, grid.down - begin % grid.down, kMaxRows / grid.rows});
    Problem<S> p = whole;
    move_to_member(p, batch, begin / grid.down / grid.along);
    p.m = std::min(count * grid.rows, whole.m - row);
    p.n = std::min(grid.cols, whole.n - col);
    p = from(p, row, col, 0);
    if (p.k == 0) {
      zero(p);
    } else {
      multiply_run<L>(p);
    }
    begin += count;
  }
}

template <Level L, class S>
void multiply(const Product& g, const Batch& batch) {
  Problem<S> p{g.m,
               g.n,
               g.k,
               static_cast<const S*>(g.a.data),
               g.a.row_stride,
               g.a.col_stride,
               static_cast<const S*>(g.b.data),
               g.b.row_stride,
               g.b.col_stride,
               static_cast<S*>(g.c),
               g.c_row_stride,
               1};
  if (p.n < Registers<L, ComputeType<S>>::kLanes && p.m > p.n) p = transposed(p);
  int64_t members = 1;
  for (int64_t size : batch.sizes) members *= size;
  const Grid grid = grid_for(p.m, p.n, p.k, members);
  const double flops = 2.0 * p.k * std::min(p.m, grid.rows) * std::min(p.n, grid.cols);
  const auto grain = static_cast<int64_t>(kPartFlops / std::max(flops, 1.0));
  pool::parallel_for(members * grid.down * grid.along, std::max<int64_t>(grain, 1),
                     [&](int64_t begin, int64_t end) {
                       multiply_parts<L>(p, grid, batch, begin, end);
                     });
}

}  // namespace

void gemm(DType dtype, const Product& product, const Batch& batch, Level level) {
  if (product.m == 0 || product.n == 0) return;
  visit(dtype, [&](auto zero) {
    using S = decltype(zero);
    if constexpr (std::is_same_v<S, bool>) {
      fail(ErrorKind::internal, "gemm: got bool; expected a dtype with a multiplication");
    } else if (FG_HAS_V3 && level == Level::v3) {
      multiply<Level::v3, S>(product, batch);
    } else {
      multiply<Level::baseline, S>(product, batch);
    }
  });
}

}  // namespace fg::kernels
