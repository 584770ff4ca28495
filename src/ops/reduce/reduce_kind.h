// The reduce kind: primitives that combine the elements of some dimensions, and what functions
// built on them share.
#pragma once

#include "ops/view/view_kind.h"

namespace fg::ops {

struct ReduceParams {
  OptDims dim;  // none or empty: all
  bool keepdim = false;
  bool operator==(const ReduceParams&) const = default;
};

// The sizes that remain when the marked dimensions are reduced.
Dims reduced_sizes(const Dims& sizes, const std::vector<bool>& axes, bool keepdim);
// How many elements are reduced to one.
Dim reduced_count(const Dims& sizes, const OptDims& dim, const char* who);
// Puts the reduced dimensions back with size one, so that the result broadcasts with the input.
Tensor restore_dims(const Tensor& reduced, const Dims& sizes, const OptDims& dim, bool keepdim);

// The gradients of sums and means: that of each result for every element it was made of.
Tensor spread_over(const Tensor& grad, const Dims& sizes, const OptDims& dim, bool keepdim);
Tensor mean_gradient(const Tensor& grad, const Dims& sizes, const OptDims& dim, bool keepdim);
// The gradient of a largest or smallest element, shared evenly by all that equal it. A NaN equals
// no element, so that all gradients of its slice are NaN; `to_nans` gives it to the NaNs.
Tensor to_equal(const Tensor& grad, const Tensor& self, const Tensor& result, const OptDims& dim,
                bool keepdim, bool to_nans = false);

// max(0, size - less) as a number that is weak in promotion; works for symbols too.
Tensor number_of(Dim size, double less = 0);

// The primitives, for bodies. Sums and products need a float or int64; 16-bit floats are rounded
// once.
Tensor sum_over(const Tensor& self, const OptDims& dim, bool keepdim);
Tensor mean_over(const Tensor& self, const OptDims& dim, bool keepdim);
Tensor prod_over(const Tensor& self, const OptDims& dim, bool keepdim);
Tensor max_over(const Tensor& self, const OptDims& dim, bool keepdim);
Tensor min_over(const Tensor& self, const OptDims& dim, bool keepdim);

}  // namespace fg::ops
