// The writing half of ops/index/gather.h. Work is a rectangle of independent destinations: `cells`
// (indices of the dimensions around the indexed ones) times positions along the indexed ones.
// Threads split the cells; if those are few, they split the positions instead, and each thread
// walks all indices and writes those that fall into its part. With hardly any cells the walk costs
// more than the writes, so that one thread does it all.
#include <algorithm>

#include "base/pool.h"
#include "ops/index/gather.h"
#include "ops/kernels/strided.h"

namespace fg::kernels {

namespace {

constexpr int64_t kGrain = 16 * 1024;  // elements per piece of work
constexpr int64_t kFewCells = 64, kHardlyAny = 8;

// Integers add and multiply modulo 2^64, and are cut to their width.
template <Combine combine, class T>
void put(T& to, T value) {
  using Wide = std::conditional_t<std::is_integral_v<T> && !std::is_same_v<T, bool>,
                                  std::type_identity<uint64_t>, std::type_identity<T>>::type;
  if constexpr (combine == Combine::assign)
    to = value;
  else if constexpr (combine == Combine::add)
    to = static_cast<T>(static_cast<Wide>(to) + static_cast<Wide>(value));
  else
    to = static_cast<T>(static_cast<Wide>(to) * static_cast<Wide>(value));
}

// Calls body(first cell, last cell, first position, last position).
template <class F>
void share_out(int64_t cells, int64_t indices, int64_t positions, const F& body) {
  int64_t threads = pool::num_threads();
  if (cells < kHardlyAny || cells * indices < kGrain) {
    body(0, cells, 0, positions);
  } else if (cells >= kFewCells) {
    int64_t grain = std::max<int64_t>({kGrain / indices, cells / threads, 16});
    pool::parallel_for(cells, grain, [&](int64_t b, int64_t e) { body(b, e, 0, positions); });
  } else {
    int64_t grain = std::max<int64_t>(positions / threads, 1);
    pool::parallel_for(positions, grain, [&](int64_t b, int64_t e) { body(0, cells, b, e); });
  }
}

// Calls f(outer, first inner, last inner) for the part of each outer index in a range of cells.
template <class F>
void each_outer(int64_t begin, int64_t end, int64_t width, F f) {
  while (begin < end) {
    int64_t outer = begin / width, first = begin % width;
    int64_t last = std::min(width, first + end - begin);
    f(outer, first, last);
    begin += last - first;
  }
}

template <Combine combine, class T>
void scatter_rows_as(const Rows& rows, T* to, const T* values) {
  auto count = static_cast<int64_t>(rows.index.size());
  int64_t width = rows.after.count(), reach = 0;
  for (int64_t at : rows.index) reach = std::max(reach, at + 1);
  std::vector<int64_t> inner;
  if (!rows.after.is_dense()) inner = rows.after.all();
  share_out(rows.before.count() * width, count, reach,
            [&](int64_t b, int64_t e, int64_t low, int64_t high) {
              each_outer(b, e, width, [&](int64_t outer, int64_t first, int64_t last) {
                T* base = to + rows.before.at(outer);
                const T* row = values + outer * count * width;
                for (int64_t n = 0; n < count; n++, row += width) {
                  int64_t at = rows.index[n];
                  if (at < low || at >= high) continue;
                  if (inner.empty()) {
                    for (int64_t m = first; m < last; m++) put<combine>(base[at + m], row[m]);
                  } else {
                    for (int64_t m = first; m < last; m++)
                      put<combine>(base[at + inner[m]], row[m]);
                  }
                }
              });
            });
}

template <Combine combine, class T>
void scatter_lines_as(const Lines& lines, T* to, const T* values) {
  int64_t width = lines.after.count(), length = lines.length;
  std::vector<int64_t> inner = lines.after.all();
  const auto* index = lines.index.data_ptr<int64_t>();
  int64_t reach = 0;
  for (int64_t i = 0; i < lines.index.numel(); i++) reach = std::max(reach, index[i] + 1);
  share_out(lines.before.count() * width, length, reach,
            [&](int64_t b, int64_t e, int64_t low, int64_t high) {
              each_outer(b, e, width, [&](int64_t outer, int64_t first, int64_t last) {
                T* base = to + lines.before.at(outer);
                for (int64_t j = 0; j < length; j++) {
                  int64_t row = (outer * length + j) * width;
                  for (int64_t k = first; k < last; k++) {
                    int64_t at = index[row + k];
                    if (at < low || at >= high) continue;
                    put<combine>(base[at * lines.stride + inner[k]], values[row + k]);
                  }
                }
              });
            });
}

// Calls f with the combination as a constant and pointers of the element type. Half floats are
// computed in float and rounded once, at the end.
template <class F>
void with_values(const Tensor& to, const Tensor& values, Combine combine, F f) {
  bool half = is_half(to.dtype());
  if (half && combine != Combine::assign) {
    Tensor wide = as_contiguous(to, kFloat32);
    with_values(wide, as_contiguous(values, kFloat32), combine, f);
    copy_elements(to, wide);
    return;
  }
  visit(to.dtype(), [&](auto zero) {
    using T = decltype(zero);
    T* target = static_cast<T*>(to.data_ptr());
    const T* source = static_cast<const T*>(values.data_ptr());
    if (combine == Combine::assign)
      f(std::integral_constant<Combine, Combine::assign>{}, target, source);
    else if (combine == Combine::add)
      f(std::integral_constant<Combine, Combine::add>{}, target, source);
    else
      f(std::integral_constant<Combine, Combine::multiply>{}, target, source);
  });
}

}  // namespace

void scatter_rows(const Rows& rows, const Tensor& to, const Tensor& values, Combine combine) {
  if (values.numel() == 0) return;
  with_values(to, values, combine, [&](auto how, auto* target, const auto* source) {
    scatter_rows_as<how.value>(rows, target, source);
  });
}

void scatter_lines(const Lines& lines, const Tensor& to, const Tensor& values, Combine combine) {
  if (values.numel() == 0) return;
  with_values(to, values, combine, [&](auto how, auto* target, const auto* source) {
    scatter_lines_as<how.value>(lines, target, source);
  });
}

}  // namespace fg::kernels
