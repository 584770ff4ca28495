#include "ops/reduce.h"

#include "ir/define.h"
#include "ops/copy.h"
#include "ops/kernels/strided.h"
#include "ops/view_kind.h"
#include "ops/views.h"

namespace fg {

using namespace ir;
using ops::plain_primitive;

namespace {

struct ReduceParams {
  OptDims dim;
  bool keepdim;
  bool operator==(const ReduceParams&) const = default;
};

void infer_reduce(Operands inputs, const ReduceParams& p, Meta* out) {
  const Tensor& self = *inputs[0];
  auto reduced = axis_set(p.dim, self.sizes().size(), "sum");
  for (size_t i = 0; i < self.sizes().size(); i++) {
    if (!reduced[i])
      out[0].sizes.push_back(self.sizes()[i]);
    else if (p.keepdim)
      out[0].sizes.push_back(1);
  }
  out[0].dtype = self.dtype();
}

void evaluate_sum(Operands inputs, const ReduceParams& p, Tensor* out) {
  const Tensor& self = *inputs[0];
  size_t rank = self.sizes().size();
  auto reduced = axis_set(p.dim, rank, "sum");
  Dims order, kept;
  for (size_t i = 0; i < rank; i++) {
    if (!reduced[i]) kept.push_back(static_cast<int64_t>(i));
  }
  order = kept;
  for (size_t i = 0; i < rank; i++) {
    if (reduced[i]) order.push_back(static_cast<int64_t>(i));
  }
  NoGradGuard below;
  Tensor rows = kernels::as_contiguous(permute(self, order));
  int64_t outer = out[0].numel(), inner = outer ? self.numel() / outer : 0;
  visit(self.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T* from = reinterpret_cast<const T*>(rows.data_ptr());
    T* to = reinterpret_cast<T*>(out[0].data_ptr());
    for (int64_t i = 0; i < outer; i++) {
      T total = T(0);
      for (int64_t j = 0; j < inner; j++) total = T(total + from[i * inner + j]);
      to[i] = total;
    }
  });
}

// Puts the reduced dimensions back with size one, so that the gradient broadcasts.
Tensor restore_dims(const Tensor& grad, const Dims& sizes, const OptDims& dim, bool keepdim) {
  if (keepdim || sizes.empty()) return grad;
  auto reduced = axis_set(dim, sizes.size(), "sum");
  Tensor result = grad;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (reduced[i]) result = unsqueeze(result, static_cast<int64_t>(i));
  }
  return result;
}

const Registered sum_p =
    plain_primitive<ReduceParams, infer_reduce, evaluate_sum>("sum", Kind::reduce);
const auto sum_entry =
    define(sum, "Sum of all elements, or over the given dimensions.",
           [](const Tensor& self, const OptDims& dim, bool keepdim, OptDType dtype) {
             DType natural = is_floating(self.dtype()) ? self.dtype() : kInt64;
             return sum_p.with({dim, keepdim}, to(self, dtype.value_or(natural)));
           })
        .vjp("SumBackward1", wrt(0, saves::shape(0),
                                 [](const Vjp& v, const OptDims& dim, bool keepdim, OptDType) {
                                   return expand(restore_dims(v.grad(), v.sizes(0), dim, keepdim),
                                                 v.sizes(0));
                                 }))
        .samples([] {
          return Samples{{{sample({2, 3})}}, {{sample({2, 3}), Dims{1}, Scalar(true)}, "keepdim"}};
        });

}  // namespace
}  // namespace fg
