#include "ops/recurrent/step_view.h"

#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/choose.h"
#include "ops/elementwise/compare.h"
#include "ops/index/index.h"
#include "ops/rearrange/join.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/scan.h"
#include "ops/view/views.h"

namespace fg::ops {

namespace {

// A size as a number, which a capture then holds on to.
int64_t number_of_steps(Dim size) {
  int64_t count = 0;
  while (Dim(count) < size) count++;
  return count;
}

Tensor numbers_below(Dim size) { return arange(Scalar(number_of_steps(size)), kInt64); }

}  // namespace

StepView::StepView(const Tensor& all, const Tensor& batch_sizes, Dim batch) {
  const Tensor& steps = batch_sizes.defined() ? batch_sizes : all;
  count_ = static_cast<size_t>(number_of_steps(steps.sizes()[0]));
  if (!batch_sizes.defined()) return;
  Tensor ends = cumsum(batch_sizes, 0), firsts = ends - batch_sizes;
  Tensor sequences = numbers_below(batch), rows = numbers_below(all.sizes()[0]);
  Tensor last = select(ends, 0, -1) - 1;
  for (size_t t = 0; t < count_; t++) {
    const auto step = static_cast<int64_t>(t);
    indices_.push_back(minimum(select(firsts, 0, step) + sequences, last));
    alive_.push_back(unsqueeze(lt(sequences, select(batch_sizes, 0, step)), 1));
  }
  Tensor step_of = sum(ge(unsqueeze(rows, 1), unsqueeze(ends, 0)), Dims{1});
  Tensor count = select(batch_sizes, 0, 0);
  places_ = step_of * count + rows - index_select(firsts, 0, step_of);
}

Tensor StepView::rows(const Tensor& all, size_t step) const {
  if (!all.defined()) return all;
  return alive_.empty() ? select(all, 0, static_cast<int64_t>(step))
                        : index_select(all, 0, indices_[step]);
}

Tensor StepView::updated(const Tensor& state, const Tensor& rows, size_t step) const {
  return alive_.empty() ? rows : where(alive_[step], rows, state);
}

Tensor StepView::cleared(const Tensor& rows, size_t step) const {
  return alive_.empty() ? rows : where(alive_[step], rows, zeros_like(rows));
}

Tensor StepView::joined(const Tensors& of_steps) const {
  return alive_.empty() ? stack(of_steps, 0) : index_select(cat(of_steps, 0), 0, places_);
}

}  // namespace fg::ops
