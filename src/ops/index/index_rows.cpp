#include "ops/index/index_rows.h"

#include <algorithm>
#include <atomic>

#include "base/fail.h"
#include "base/pool.h"
#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/index/gather.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/scan.h"
#include "ops/view/view_kind.h"
#include "ops/view/views.h"

namespace fg::ops {

using namespace ir;

namespace {

bool adjacent(const Dims& axes) {
  for (size_t i = 1; i < axes.size(); i++) {
    if (!(axes[i] == axes[i - 1] + 1)) return false;
  }
  return true;
}

bool is_indexed(const Dims& axes, int64_t axis) {
  return std::find(axes.begin(), axes.end(), Dim(axis)) != axes.end();
}

template <class Indices>
Dims common_sizes(const Indices& indices) {
  Dims sizes;
  for (const Tensor& index : indices) {
    try {
      sizes = broadcast(sizes, index.sizes(), "index");
    } catch (const Error&) {
      std::string all;
      for (const Tensor& each : indices) all += (all.empty() ? "" : ", ") + text(each.sizes());
      fail(ErrorKind::index, "index: index tensors of sizes {} do not broadcast together", all);
    }
  }
  return sizes;
}

template <class Indices>
Dims placed_sizes(const Dims& sizes, const Indices& indices, const Dims& axes) {
  Dims common = common_sizes(indices), result;
  int64_t place = adjacent(axes) ? axes[0].value() : 0;
  for (int64_t i = 0; i <= static_cast<int64_t>(sizes.size()); i++) {
    if (i == place) {
      for (Dim size : common) result.push_back(size);
    }
    if (i < static_cast<int64_t>(sizes.size()) && !is_indexed(axes, i)) result.push_back(sizes[i]);
  }
  return result;
}

// Adds stride * index to each offset, after a look at the bounds.
void add_offsets(const Tensor& index, int64_t axis, int64_t size, int64_t stride,
                 const RowsParams& p, std::vector<int64_t>& offsets) {
  const auto* at = index.data_ptr<int64_t>();
  auto count = static_cast<int64_t>(offsets.size());
  int64_t low = p.wrap ? -size : 0;
  std::atomic<bool> bad = false;
  pool::parallel_for(count, 32 * 1024, [&](int64_t begin, int64_t end) {
    bool seen = false;
    for (int64_t i = begin; i < end; i++) {
      bool inside = at[i] >= low && at[i] < size;
      seen |= !inside;
      offsets[i] += inside ? (at[i] < 0 ? at[i] + size : at[i]) * stride : 0;
    }
    if (seen) bad = true;
  });
  if (!bad) return;
  for (int64_t i = 0; i < count; i++) {
    if (at[i] >= low && at[i] < size) continue;
    fail(p.runtime_error ? ErrorKind::runtime : ErrorKind::index,
         "index: index {} is out of bounds for dimension {} with size {}", at[i], axis, size);
  }
}

kernels::Rows rows_of(const Tensor& tensor, std::span<const Tensor> indices, const RowsParams& p) {
  Dims common = common_sizes(indices);
  std::vector<int64_t> offsets(static_cast<size_t>(product(common).value()), 0);
  for (size_t i = 0; i < indices.size(); i++) {
    auto axis = static_cast<size_t>(p.axes[i].value());
    Tensor expanded = empty_tensor(common, kInt64);
    if (indices[i].sizes() == common)
      expanded = kernels::as_contiguous(indices[i], kInt64);
    else
      kernels::copy_elements(expanded, indices[i]);
    bool number = tensor.dim() == 0;  // as one element of one dimension
    add_offsets(expanded, static_cast<int64_t>(axis), number ? 1 : tensor.sizes()[axis].value(),
                number ? 1 : tensor.strides()[axis].value(), p, offsets);
  }
  Dims before_sizes, before_strides, after_sizes, after_strides;
  for (int64_t i = 0; i < tensor.dim(); i++) {
    if (is_indexed(p.axes, i)) continue;
    bool before = adjacent(p.axes) && Dim(i) < p.axes[0];
    (before ? before_sizes : after_sizes).push_back(tensor.sizes()[i]);
    (before ? before_strides : after_strides).push_back(tensor.strides()[i]);
  }
  return {kernels::Offsets(before_sizes, before_strides), std::move(offsets),
          kernels::Offsets(after_sizes, after_strides)};
}

// Demands of graphs that come as text: one index for each of some dimensions, in order.
void require_rows(const Dims& sizes, std::span<const Tensor> indices, const RowsParams& p) {
  bool usable = !indices.empty() && p.axes.size() == indices.size();
  auto rank = std::max<int64_t>(static_cast<int64_t>(sizes.size()), 1);
  for (size_t i = 0; usable && i < p.axes.size(); i++) {
    usable = p.axes[i] >= (i == 0 ? Dim(0) : p.axes[i - 1] + 1) && p.axes[i] < rank &&
             is_integral(indices[i].dtype());
  }
  demand(usable, "an indexing primitive", "an index of integers for each of its dimensions");
}

// The gradient of the values of put_rows: of several for one place the last one gets it.
Tensor gradient_of_values(const Vjp& v, const PutRowsParams& p) {
  Tensors indices = v.list(1);
  Tensor part = take_rows(v.grad(), indices, p.rows);
  if (p.accumulate) return part;
  Tensor numbers = numbered(part.sizes());
  Tensor last = put_rows({}, indices, numbers, {p.rows, false, v.grad().sizes()});
  return where(take_rows(last, indices, p.rows) == numbers, part, 0);
}

const Registered take_rows_p =
    plain_primitive<RowsParams,
                    [](Operands inputs, const RowsParams& p, Meta* out) {
                      out[0].sizes = placed_sizes(inputs[0]->sizes(), inputs[1].all(), p.axes);
                      out[0].dtype = inputs[0]->dtype();
                    },
                    [](Operands inputs, const RowsParams& p, Tensor* out) {
                      kernels::gather_rows(rows_of(*inputs[0], inputs[1].all(), p), *inputs[0],
                                           out[0]);
                    }>("take_rows", Kind::gather, "tl")
        .requiring<[](Operands inputs, const RowsParams& p) {
          require_rows(inputs[0]->sizes(), inputs[1].all(), p);
        }>()
        .raising()
        .linear_in({0})
        .vjp("TakeRowsBackward0",
             wrt(0, saves::shape(0) | saves::in(1), [](const Vjp& v, const RowsParams& p) {
               return put_rows({}, v.list(1), v.grad(), {p, true, v.sizes(0)});
             }));

const Registered put_rows_p =
    plain_primitive<PutRowsParams,
                    [](Operands inputs, const PutRowsParams& p, Meta* out) {
                      out[0].sizes = inputs[0]->defined() ? inputs[0]->sizes() : p.sizes;
                      out[0].dtype = inputs[2]->dtype();
                    },
                    [](Operands inputs, const PutRowsParams& p, Tensor* out) {
                      kernels::Rows rows = rows_of(out[0], inputs[1].all(), p.rows);
                      if (inputs[0]->defined()) {
                        kernels::copy_elements(out[0], *inputs[0]);
                      } else {
                        std::memset(
                            out[0].data_ptr(), 0,
                            static_cast<size_t>(out[0].numel()) * item_size(out[0].dtype()));
                      }
                      kernels::scatter_rows(
                          rows, out[0], kernels::as_contiguous(*inputs[2]),
                          p.accumulate ? kernels::Combine::add : kernels::Combine::assign);
                    }>("put_rows", Kind::scatter, "olt")
        .requiring<[](Operands inputs, const PutRowsParams& p) {
          const Tensor &self = *inputs[0], &values = *inputs[2];
          const Dims& sizes = self.defined() ? self.sizes() : p.sizes;
          require_rows(sizes, inputs[1].all(), p.rows);
          demand(values.sizes() == placed_sizes(sizes, inputs[1].all(), p.rows.axes) &&
                     (!self.defined() || self.dtype() == values.dtype()),
                 "put_rows", "values of the sizes that the indices have");
        }>()
        .raising()
        .linear_in({0, 2})
        .vjp("PutRowsBackward0",
             wrt(0, saves::in(1) | saves::shape(2),
                 [](const Vjp& v, const PutRowsParams& p) {
                   if (p.accumulate) return v.grad();
                   return put_rows(v.grad(), v.list(1), zeros(v.sizes(2), v.grad().dtype()), p);
                 }),
             wrt(2, saves::in(1),
                 [](const Vjp& v, const PutRowsParams& p) { return gradient_of_values(v, p); }));

}  // namespace

Dims rows_sizes(const Dims& sizes, const Tensors& indices, const Dims& axes) {
  return placed_sizes(sizes, indices, axes);
}

Tensor take_rows(const Tensor& self, const Tensors& indices, const RowsParams& params) {
  return take_rows_p.with(params, self, indices);
}

Tensor put_rows(const Tensor& self, const Tensors& indices, const Tensor& values,
                const PutRowsParams& params) {
  return put_rows_p.with(params, self, indices, values);
}

Tensor numbered(const Dims& sizes) {
  return reshape(cumsum(ones({product(sizes)}, kInt64), 0), sizes);
}

Tensor as_positions(const Tensor& index, const char* who) {
  if (index.dtype() != kInt64 && index.dtype() != kInt32) {
    fail("{}: expected indices of int64 or int32, got {}", who, name(index.dtype()));
  }
  return to(index, kInt64);
}

}  // namespace fg::ops
