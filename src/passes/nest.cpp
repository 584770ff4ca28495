#include "passes/nest.h"

#include <algorithm>

#include "ir/lanes.h"
#include "ops/kernels/reduce.h"

namespace fg::passes {

namespace {

using kernels::kReduceBlock;

constexpr int64_t kShortestRow = 64;  // shorter ones are left to kernels that take several at once

// The given dimensions, in this order.
Nest nest_of(const Dims& sizes, const std::vector<std::vector<int64_t>>& strides,
             const std::vector<size_t>& order) {
  Nest nest;
  for (size_t d : order) nest.sizes.push_back(sizes[d].value());
  for (const auto& operand : strides) {
    auto& ordered = nest.strides.emplace_back();
    for (size_t d : order) ordered.push_back(operand[d]);
  }
  return nest;
}

void erase_loop(Nest& nest, size_t d) {
  nest.sizes.erase(nest.sizes.begin() + static_cast<int64_t>(d));
  for (auto& operand : nest.strides) operand.erase(operand.begin() + static_cast<int64_t>(d));
}

// Two loops are one where every operand goes on from one row to the next. Loops in front of
// `border` never join those behind it; returns where it is then.
size_t merge_loops(Nest& nest, size_t border) {
  for (size_t d = nest.sizes.size(); d-- > 1;) {
    if (d == border) continue;
    bool one = std::all_of(nest.strides.begin(), nest.strides.end(), [&](const auto& operand) {
      return operand[d - 1] == operand[d] * nest.sizes[d];
    });
    if (!one) continue;
    nest.sizes[d] *= nest.sizes[d - 1];
    erase_loop(nest, d - 1);
    if (d < border) border--;
  }
  return border;
}

// Loop d in two: `inner` turns inside.
void split_loop(Nest& nest, size_t d, int64_t inner) {
  auto at = static_cast<int64_t>(d);
  nest.sizes.insert(nest.sizes.begin() + at, nest.sizes[d] / inner);
  nest.sizes[d + 1] = inner;
  for (auto& operand : nest.strides) operand.insert(operand.begin() + at, operand[d] * inner);
}

void add_empty_loop(Nest& nest) {
  nest.sizes.push_back(1);
  for (auto& operand : nest.strides) operand.push_back(1);
}

}  // namespace

std::vector<int64_t> loop_strides(const ir::ValueInfo& info, const Dims& sizes) {
  std::vector<int64_t> strides(sizes.size());
  size_t shift = sizes.size() - info.sizes.size();
  for (size_t d = 0; d < info.sizes.size(); d++) {
    if (info.sizes[d].value() != 1) strides[d + shift] = info.strides[d].value();
  }
  return strides;
}

Nest elementwise_nest(const Dims& sizes, std::vector<std::vector<int64_t>> strides,
                      size_t written) {
  std::vector<size_t> order;
  for (size_t d = 0; d < sizes.size(); d++) {
    if (sizes[d].value() != 1) order.push_back(d);
  }
  const auto& by = strides[written];
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return by[a] > by[b]; });
  Nest nest = nest_of(sizes, strides, order);
  if (order.empty()) add_empty_loop(nest);
  merge_loops(nest, 0);
  return nest;
}

std::optional<Nest> reduction_nest(const Dims& sizes, const std::vector<bool>& reduced,
                                   std::vector<std::vector<int64_t>> strides) {
  std::vector<size_t> order;
  size_t kept = 0;
  for (bool behind : {false, true}) {
    for (size_t d = 0; d < sizes.size(); d++) {
      if (reduced[d] == behind && sizes[d].value() != 1) order.push_back(d);
    }
    if (!behind) kept = order.size();
  }
  Nest nest = nest_of(sizes, strides, order);
  bool empty = std::count(nest.sizes.begin(), nest.sizes.end(), 0) > 0;
  if (empty || kept == order.size()) return {};  // nothing is combined
  kept = merge_loops(nest, kept);
  size_t inner = nest.sizes.size() - 1, loops = nest.sizes.size() - kept;
  int64_t row = nest.sizes[inner];
  if (row < kShortestRow && inner > 0 && loops == 1) return {};
  // Down the columns the eager kernel is faster: it takes many of them at once.
  bool along = std::all_of(nest.strides.begin(), nest.strides.end(), [&](const auto& operand) {
    return operand[inner] == 0 || operand[inner] == 1;
  });
  if (!along) return {};
  nest.unit_loops = 1;
  nest.blocks = (row + kReduceBlock - 1) / kReduceBlock;
  if (loops == 1 || row % kReduceBlock == 0) return nest;
  // Several rows make a block.
  int64_t rows = kReduceBlock / row;
  if (loops != 2 || kReduceBlock % row || row % ir::kLanes || nest.sizes[inner - 1] % rows)
    return {};
  split_loop(nest, inner - 1, rows);
  nest.unit_loops = 2;
  return nest;
}

}  // namespace fg::passes
