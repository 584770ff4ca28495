// The two primitives behind index, index_select, embedding, index_add and their like: read or write
// the parts of a tensor at positions that index tensors name.
#pragma once

#include "ir/primitive.h"

namespace fg::ops {

struct RowsParams {
  ir::FixedAxes axes;          // the dimension that each index tensor indexes, ascending
  bool wrap = true;            // negative indices count from the end
  bool runtime_error = false;  // indices out of range raise PyTorch's RuntimeError, else IndexError
  bool operator==(const RowsParams&) const = default;
};
struct PutRowsParams {
  RowsParams rows;
  bool accumulate = false;
  Dims sizes{};  // of the result when there is no self: that is zeros
  bool operator==(const PutRowsParams&) const = default;
};

// The sizes of the broadcast index tensors stand where the indexed dimensions were if those are
// adjacent, else in front.
Dims rows_sizes(const Dims& sizes, const Tensors& indices, const Dims& axes);

Tensor take_rows(const Tensor& self, const Tensors& indices, const RowsParams& params);
// `values` must have the sizes that take_rows would give; `self` may be undefined.
Tensor put_rows(const Tensor& self, const Tensors& indices, const Tensor& values,
                const PutRowsParams& params);

// Distinct numbers: written in place of values, they tell the last of several values that go to one
// place, which is the one that stays.
Tensor numbered(const Dims& sizes);

// Refuses dtypes that cannot be positions; the others as int64.
Tensor as_positions(const Tensor& index, const char* who);

}  // namespace fg::ops
