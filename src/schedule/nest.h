// The loops that go over the elements of a group: dimensions in the order in which memory is
// walked, those that lie one behind the other in all operands made one.
#pragma once

#include <optional>

#include "ir/graph.h"

namespace fg::schedule {

struct Nest {
  std::vector<int64_t> sizes;                 // outer to inner
  std::vector<std::vector<int64_t>> strides;  // per operand, in elements
  // Per operand: so many elements come again and again along the innermost loop, in which its
  // stride is 0. None: strides say all.
  std::vector<int64_t> periods;
  // With reductions: how many of the inner loops go over one block of the canonical order, in how
  // many blocks the innermost one is cut, and how many blocks make a result. The innermost loop has
  // the elements of `columns` results side by side, so that a block has so many times 512.
  size_t unit_loops = 0;
  int64_t blocks = 1, units = 1, columns = 1;
};

// The strides of an operand that is broadcast to `sizes`.
std::vector<int64_t> loop_strides(const ir::ValueInfo& info, const Dims& sizes);

// The loops of elementwise work. The operand `written` decides which one is innermost. With `rows`
// the loops fall on rows, where they can: see falls_on_rows.
Nest elementwise_nest(const Dims& sizes, const std::vector<std::vector<int64_t>>& strides,
                      size_t written, int64_t rows = 0);

// The number of leading dimensions that have `rows` indices together, if there is one.
std::optional<size_t> leading_dims(const Dims& sizes, int64_t rows);
// Whether work looped in the order of the dimensions can be cut between any two of so many rows.
bool falls_on_rows(const Nest& nest, int64_t rows);

// The loops of work whose results are reduced over the marked dimensions: kept indices outside, in
// order, then the blocks. Nothing, if the blocks of 512 elements do not fall on loops.
std::optional<Nest> reduction_nest(const Dims& sizes, const std::vector<bool>& reduced,
                                   std::vector<std::vector<int64_t>> strides);

}  // namespace fg::schedule
