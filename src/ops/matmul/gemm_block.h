// A block of a, packed or not, times a block of b: all tiles of the result, with its edges.
#pragma once

#include <cstdint>

#include "ops/matmul/gemm_micro.h"

namespace fg::kernels {

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

// Computes a tile whose last columns do not exist aside, then copies the columns that exist.
template <Level L, class T>
void multiply_edge(TileKernel<T> kernel, Tile<T> tile, int64_t rows, int64_t cols) {
  constexpr int kWidth = 4 * Registers<L, T>::kPanel;
  alignas(64) T aside[Registers<L, T>::kRows * kWidth] = {};
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

// c = a @ b (or c += a @ b) for all tiles of `height` rows of a block.
template <Level L, class T>
void multiply_strip(const Left<T>& a, const Right<T>& b, Sums<T> c, int64_t rows, int64_t cols,
                    int64_t k, int height) {
  constexpr int kLanes = Registers<L, T>::kLanes, kPanel = Registers<L, T>::kPanel;
  int registers = widest_tile<L>(height);
  for (int64_t col = 0; col < cols; col += registers * kLanes) {
    const int64_t left = cols - col;
    while (registers > 1 &&
           (registers * kLanes > (left + kPanel - 1) / kPanel * kPanel || left <= kLanes)) {
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
  constexpr int kRows = Registers<L, T>::kRows;
  const int64_t rest = rows % kRows, whole = rows - rest;
  if (whole > 0) multiply_strip<L>(a, b, c, whole, cols, k, kRows);
  if (rest > 0) {
    a.data += whole * a.step;
    c.data += whole * c.row;
    multiply_strip<L>(a, b, c, rest, cols, k, rest);
  }
}

}  // namespace fg::kernels
