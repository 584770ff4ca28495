// Bags of rows of a table, and tables whose rows have bounded norms.
#include <algorithm>

#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/entry.h"
#include "ops/index/index.h"
#include "ops/index/index_rows.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/reduce/scan.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg {

using namespace ops::entry;

namespace {

// ---- the largest rows of each segment

struct SegmentParams {
  Dim segments;
  bool operator==(const SegmentParams&) const = default;
};

// values[s] = max over i with segment[i] = s of rows[i], the first of equal ones; 0 and index -1
// where there is none. Segments out of range count for nothing.
void evaluate_segment_max(Operands inputs, const SegmentParams& p, Tensor* out) {
  Tensor rows = kernels::as_contiguous(*inputs[0]), segment = kernels::as_contiguous(*inputs[1]);
  int64_t count = rows.sizes()[0].value(), width = rows.sizes()[1].value();
  std::fill_n(out[1].data_ptr<int64_t>(), out[1].numel(), int64_t{-1});
  visit(rows.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = rows.data_ptr<T>();
    T* values = out[0].data_ptr<T>();
    std::fill_n(values, out[0].numel(), T{});
    for (int64_t i = 0; i < count; i++) {
      int64_t s = segment.data_ptr<int64_t>()[i];
      if (s < 0 || s >= p.segments.value()) continue;
      int64_t* index = out[1].data_ptr<int64_t>() + s * width;
      for (int64_t k = 0; k < width; k++) {
        const T& value = from[i * width + k];
        if (index[k] >= 0 && !(values[s * width + k] < value)) continue;
        values[s * width + k] = value;
        index[k] = i;
      }
    }
  });
}

const Registered segment_max_p =
    ops::plain_primitive<SegmentParams,
                         [](Operands inputs, const SegmentParams& p, Meta* out) {
                           out[0].sizes = out[1].sizes = {p.segments, inputs[0]->sizes()[1]};
                           out[0].dtype = inputs[0]->dtype();
                           out[1].dtype = kInt64;
                         },
                         evaluate_segment_max>("segment_max", Kind::scatter, "tt", 2)
        .requiring<[](Operands inputs, const SegmentParams& p) {
          const Dims& sizes = inputs[0]->sizes();
          ops::demand(sizes.size() == 2 && inputs[1]->sizes() == Dims{sizes[0]} &&
                          inputs[1]->dtype() == kInt64 && is_floating(inputs[0]->dtype()) &&
                          p.segments >= 0,
                      "segment_max", "a matrix of floats and a segment for each row");
        }>()
        .vjp("SegmentMaxBackward0",
             wrt(0, saves::shape(0) | saves::out(1), [](const Vjp& v, const SegmentParams&) {
               if (!v.grad().defined()) return Tensor();
               if (v.sizes(0)[0] == 0) return zeros(v.sizes(0), v.dtype(0));
               Tensor none = v.out(1) < 0, index = where(none, 0, v.out(1));
               return scatter_add(zeros(v.sizes(0), v.dtype(0)), 0, index,
                                  where(none, 0, v.grad()));
             }));

// ---- bags

struct OffsetParams {
  Dim length;
  bool operator==(const OffsetParams&) const = default;
};
void check_offsets(const Tensor& offsets, const OffsetParams& p) {
  Tensor dense = kernels::as_contiguous(offsets, kInt64);
  const int64_t* at = dense.data_ptr<int64_t>();
  if (dense.numel() > 0 && at[0] != 0) {
    fail("embedding_bag: the first offset is {}; expected 0", at[0]);
  }
  for (int64_t i = 0; i < dense.numel(); i++) {
    if (at[i] > p.length.value() || (i > 0 && at[i] < at[i - 1])) {
      fail(
          "embedding_bag: offset {} at place {}; expected ascending offsets of at most {}, the "
          "number of indices",
          at[i], i, p.length.text());
    }
  }
}
const Registered checked_offsets_p = ops::checked<OffsetParams, check_offsets>("checked_offsets");

// The bag of each index: how many offsets are not behind it, less one.
Tensor bags_of(const Tensor& offsets, Dim length) {
  Tensor marks = zeros({length + 1}, kInt64);
  marks = index_add(marks, 0, offsets, ones(offsets.sizes(), kInt64));
  return narrow(cumsum(marks, 0), 0, 0, length) - 1;
}

void check_bags(const Tensor& weight, const Tensor& indices, const Tensor& offsets, int64_t mode,
                const Tensor& scales) {
  if (weight.dim() != 2 || !is_floating(weight.dtype())) {
    fail("embedding_bag: the weight is {} of sizes {}; expected a matrix of floats",
         name(weight.dtype()), text(weight.sizes()));
  }
  if (indices.dim() != 1 || offsets.dim() != 1) {
    fail("embedding_bag: indices and offsets have sizes {} and {}; expected one dimension",
         text(indices.sizes()), text(offsets.sizes()));
  }
  if (mode < 0 || mode > 2) fail("embedding_bag: mode is {}; expected 0, 1 or 2", mode);
  if (!scales.defined()) return;
  if (mode != 0) fail("embedding_bag: per_sample_weights are for mode 'sum' alone");
  if (scales.dtype() != weight.dtype() || !(scales.sizes() == indices.sizes())) {
    fail("embedding_bag: per_sample_weights are {} of sizes {}; expected {} of sizes {}",
         name(scales.dtype()), text(scales.sizes()), name(weight.dtype()), text(indices.sizes()));
  }
}

const auto embedding_bag_entry =
    define(embedding_bag_rows,
           "The rows of weight that each bag names: their sum, mean or maximum.",
           [](const Tensor& weight, const Tensor& indices, const Tensor& offsets, bool by_frequency,
              int64_t mode, const Tensor& scales, bool include_last, int64_t padding_idx) {
             check_bags(weight, indices, offsets, mode, scales);
             Tensor at = ops::as_positions(indices, "embedding_bag");
             Tensor starts = ops::as_positions(offsets, "embedding_bag");
             OffsetParams limits{at.sizes()[0]};
             if (starts.is_known()) {
               check_offsets(starts, limits);
             } else {
               starts = checked_offsets_p.with(limits, starts);
             }
             Tensor rows = by_frequency ? embedding(weight, at, -1, true)
                                        : ops::take_rows(weight, {at}, {{0}, false, true});
             // Behind the bags lies one for indices that belong to none: padding, and those after
             // the last offset.
             Dim count = starts.sizes()[0] - (include_last ? 1 : 0);
             if (count < 0) fail("embedding_bag: include_last_offset needs at least one offset");
             Tensor bags = bags_of(starts, at.sizes()[0]);
             if (padding_idx >= 0)
               bags = where(at == padding_idx, to(ops::number_of(count), kInt64, true), bags);
             if (mode == 2) {
               auto [values, index] = segment_max_p.all<2>({count}, rows, bags);
               return values;
             }
             if (scales.defined()) rows = rows * unsqueeze(scales, 1);
             Tensor none = zeros({count + 1, rows.sizes()[1]}, rows.dtype());
             Tensor sums = narrow(index_add(none, 0, bags, rows), 0, 0, count);
             if (mode == 0) return contiguous(sums);
             Tensor sizes = index_add(zeros({count + 1}, rows.dtype()), 0, bags,
                                      ones(bags.sizes(), rows.dtype()));
             return sums / unsqueeze(clamp_min(narrow(sizes, 0, 0, count), 1), 1);
           })
        .shown(Shown::nowhere)
        .samples([] {
          Tensor indices = tensor(std::vector<int64_t>{0, 3, 1, 3, 2, 2}, kInt64);
          Tensor offsets = tensor(std::vector<int64_t>{0, 2, 2, 5}, kInt64);
          Samples all;
          for (int64_t mode : {0, 1, 2}) {
            all.push_back({{sample({4, 3}), indices, offsets, Scalar(false), Scalar(mode)},
                           "mode " + std::to_string(mode)});
            all.push_back({{sample({4, 3}), indices, offsets, Scalar(false), Scalar(mode),
                            ir::Value(), Scalar(true), Scalar(3)},
                           "last offset, padding, mode " + std::to_string(mode)});
          }
          all.push_back({{sample({4, 3}), indices, offsets, Scalar(false), Scalar(0), sample({6})},
                         "weights"});
          all.push_back({{sample({4, 3}), indices, offsets, Scalar(true), Scalar(1)},
                         "by frequency",
                         false,
                         false});
          return all;
        });

// ---- rows of bounded norm

const auto embedding_renorm_entry =
    define(embedding_renorm, "The rows that indices name scaled to a norm of at most max_norm.",
           [](const Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
             if (self.dim() != 2) {
               fail("embedding_renorm: the table has sizes {}; expected a matrix",
                    text(self.sizes()));
             }
             Tensor at = flatten(ops::as_positions(indices, "embedding_renorm"));
             Tensor rows = ops::take_rows(self, {at}, {{0}, false});
             Tensor norms = linalg_vector_norm(rows, norm_type, Dims{1}, true);
             // Equal indices write equal rows.
             Tensor limited = where(norms > max_norm, rows * (max_norm / (norms + 1e-7)), rows);
             return index_copy(self, 0, at, limited);
           })
        .shown(Shown::in_nn)
        .inplace_as_function()
        .inplace()
        .samples([] {
          return Samples{{{sample({4, 3}), sample_indices({3}, 4), Scalar(1.0), Scalar(2.0)},
                          "",
                          false,
                          false}};
        });

}  // namespace
}  // namespace fg
