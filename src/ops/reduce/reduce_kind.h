// The reduce kind: primitives that combine the elements of some dimensions, and the helpers of
// functions built on them.
#pragma once

#include "ops/view/view_kind.h"

namespace fg::ops {

struct ReduceParams {
  ir::OptAxes dim;  // none or empty: all
  bool keepdim = false;
  bool operator==(const ReduceParams&) const = default;
};

// The sizes that remain when the marked dimensions are reduced.
Dims reduced_sizes(const Dims& sizes, const std::vector<bool>& axes, bool keepdim);
// The number of elements that are reduced to one.
Dim reduced_count(const Dims& sizes, const OptDims& dim, const char* who);
// Puts the reduced dimensions back with size one, so that the result broadcasts with the input.
Tensor restore_dims(const Tensor& reduced, const Dims& sizes, const OptDims& dim, bool keepdim);

// The gradients of sums and means: every element gets the gradient of its result.
Tensor spread_over(const Tensor& grad, const Dims& sizes, const OptDims& dim, bool keepdim);
Tensor mean_gradient(const Tensor& grad, const Dims& sizes, const OptDims& dim, bool keepdim);
// The gradient of a largest or smallest element: grad / count for each of `count` equal elements.
// A NaN equals no element, so that its slice gets NaNs; `to_nans` gives the gradient to the NaNs.
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
