#include "schedule/nest.h"

#include <algorithm>

#include "ir/lanes.h"
#include "ops/reduce/reduce_kernel.h"

namespace fg::schedule {

namespace {

using kernels::kReduceBlock;

// Shorter rows are left to kernels that take several at once.
constexpr int64_t kShortestRow = 64;

// The given dimensions, in this order.
Nest nest_of(const Dims& sizes, const std::vector<std::vector<int64_t>>& strides,
             const std::vector<size_t>& order) {
  Nest nest;
  for (size_t d : order) nest.sizes.push_back(sizes[d].value());
  for (const auto& operand : strides) {
    auto& ordered = nest.strides.emplace_back();
    for (size_t d : order) ordered.push_back(operand[d]);
  }
  nest.periods.assign(strides.size(), 0);
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

// So many elements side by side fill registers without a rest, however often they come.
bool divides_lanes(int64_t size) { return size > 1 && ir::kLanes % size == 0; }

// The innermost loop, a short one, is one with the loop around it if every operand goes on from one
// row to the next or begins again.
bool join_short_loop(Nest& nest) {
  const size_t d = nest.sizes.size() - 1;
  const int64_t size = nest.sizes[d];
  if (d == 0 || !divides_lanes(size)) return false;
  auto goes_on = [&](const auto& operand) { return operand[d - 1] == operand[d] * size; };
  for (const auto& operand : nest.strides) {
    if (!goes_on(operand) && !(operand[d - 1] == 0 && operand[d] == 1)) return false;
  }
  for (size_t k = 0; k < nest.strides.size(); k++) {
    if (goes_on(nest.strides[k])) continue;
    nest.strides[k][d] = 0;
    nest.periods[k] = size;
  }
  nest.sizes[d] *= nest.sizes[d - 1];
  erase_loop(nest, d - 1);
  return true;
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

std::optional<size_t> leading_dims(const Dims& sizes, int64_t rows) {
  int64_t count = 1;
  for (size_t d = 0; d < sizes.size(); d++) {
    count *= sizes[d].value();
    if (count == rows) return d + 1;
  }
  return {};
}

bool falls_on_rows(const Nest& nest, int64_t rows) {
  int64_t elements = 1;
  for (int64_t size : nest.sizes) elements *= size;
  const int64_t row = elements / rows;
  if (nest.sizes.size() > 1) return row % nest.sizes.back() == 0;
  return std::all_of(nest.periods.begin(), nest.periods.end(),
                     [&](int64_t period) { return period == 0 || row % period == 0; });
}

namespace {

// Loops in front of `border` and behind it stay apart.
Nest merged(Nest nest, size_t border) {
  border = merge_loops(nest, border);
  if (border == 0 || border + 1 < nest.sizes.size()) join_short_loop(nest);
  return nest;
}

}  // namespace

Nest elementwise_nest(const Dims& sizes, const std::vector<std::vector<int64_t>>& strides,
                      size_t written, int64_t rows) {
  std::vector<size_t> order;
  for (size_t d = 0; d < sizes.size(); d++) {
    if (sizes[d].value() != 1) order.push_back(d);
  }
  const auto& by = strides[written];
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return by[a] > by[b]; });
  Nest nest = nest_of(sizes, strides, order);
  if (order.empty()) add_empty_loop(nest);
  Nest free = merged(nest, 0);
  if (rows == 0 || falls_on_rows(free, rows)) return free;
  const size_t lead = *leading_dims(sizes, rows);
  auto in_front = [&](size_t d) { return d < lead; };
  return merged(nest, static_cast<size_t>(std::count_if(order.begin(), order.end(), in_front)));
}

namespace {

// Dimensions of more than one element: kept ones, then those that are reduced.
struct ReductionOrder {
  std::vector<size_t> dims;
  size_t kept = 0;
};
ReductionOrder reduction_order(const Dims& sizes, const std::vector<bool>& reduced) {
  ReductionOrder order;
  for (bool behind : {false, true}) {
    for (size_t d = 0; d < sizes.size(); d++) {
      if (reduced[d] == behind && sizes[d].value() != 1) order.dims.push_back(d);
    }
    if (!behind) order.kept = order.dims.size();
  }
  return order;
}

// The last dimension, if it is kept and a few columns: they move behind the reduced ones.
bool has_columns(const Dims& sizes, const std::vector<bool>& reduced) {
  return !sizes.empty() && !reduced.back() && divides_lanes(sizes.back().value());
}
bool join_columns(Nest& nest, const Dims& sizes) {
  nest.columns = sizes.back().value();
  return join_short_loop(nest);
}

// The inner loops that go over a block; false if blocks do not fall on loops.
bool find_units(Nest& nest, size_t kept) {
  size_t inner = nest.sizes.size() - 1, loops = nest.sizes.size() - kept;
  int64_t row = nest.sizes[inner] / nest.columns;
  if (row * nest.columns < kShortestRow && inner > 0 && loops == 1) return false;
  // Down many columns the eager kernel is faster.
  bool along = std::all_of(nest.strides.begin(), nest.strides.end(), [&](const auto& operand) {
    return operand[inner] == 0 || operand[inner] == 1;
  });
  if (!along) return false;
  nest.unit_loops = 1;
  nest.blocks = (row + kReduceBlock - 1) / kReduceBlock;
  if (loops == 1 || row % kReduceBlock == 0) return true;
  // Several rows make a block.
  int64_t rows = kReduceBlock / row;
  if (loops != 2 || kReduceBlock % row || row % ir::kLanes || nest.sizes[inner - 1] % rows)
    return false;
  split_loop(nest, inner - 1, rows);
  nest.unit_loops = 2;
  return true;
}

}  // namespace

std::optional<Nest> reduction_nest(const Dims& sizes, const std::vector<bool>& reduced,
                                   std::vector<std::vector<int64_t>> strides) {
  auto [order, kept] = reduction_order(sizes, reduced);
  if (kept == order.size()) return {};  // nothing is combined
  bool columns = has_columns(sizes, reduced);
  if (columns) {
    kept--;
    std::rotate(order.begin() + static_cast<int64_t>(kept),
                order.begin() + static_cast<int64_t>(kept) + 1, order.end());
  }
  Nest nest = nest_of(sizes, strides, order);
  if (std::count(nest.sizes.begin(), nest.sizes.end(), 0) > 0) return {};
  if (columns && !join_columns(nest, sizes)) return {};
  kept = merge_loops(nest, kept);
  if (!find_units(nest, kept)) return {};
  nest.units = nest.blocks;
  for (size_t d = kept; d + nest.unit_loops < nest.sizes.size(); d++) nest.units *= nest.sizes[d];
  return nest;
}

}  // namespace fg::schedule
