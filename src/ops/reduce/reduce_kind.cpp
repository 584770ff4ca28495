#include "ops/reduce/reduce_kind.h"

#include <algorithm>

#include "base/fail.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/kernels/strided.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kernel.h"
#include "ops/reduce/scan.h"
#include "ops/view/views.h"

namespace fg::ops {

using namespace ir;
using kernels::Reduction;

Dims reduced_sizes(const Dims& sizes, const std::vector<bool>& axes, bool keepdim) {
  Dims result;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (!axes[i])
      result.push_back(sizes[i]);
    else if (keepdim)
      result.push_back(1);
  }
  return result;
}

Dim reduced_count(const Dims& sizes, const OptDims& dim, const char* who) {
  auto axes = axis_set(dim, sizes.size(), who);
  Dim count = 1;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (axes[i]) count *= sizes[i];
  }
  return count;
}

Tensor restore_dims(const Tensor& reduced, const Dims& sizes, const OptDims& dim, bool keepdim) {
  if (keepdim || sizes.empty()) return reduced;
  return view(reduced, reduced_sizes(sizes, axis_set(dim, sizes.size(), "reduce"), true));
}

Tensor spread_over(const Tensor& grad, const Dims& sizes, const OptDims& dim, bool keepdim) {
  return expand(restore_dims(grad, sizes, dim, keepdim), sizes);
}
Tensor mean_gradient(const Tensor& grad, const Dims& sizes, const OptDims& dim, bool keepdim) {
  return spread_over(grad, sizes, dim, keepdim) / number_of(reduced_count(sizes, dim, "mean"));
}
Tensor to_equal(const Tensor& grad, const Tensor& self, const Tensor& result, const OptDims& dim,
                bool keepdim, bool to_nans) {
  Tensor value = restore_dims(result, self.sizes(), dim, keepdim);
  Tensor same = self.eq(value);
  if (to_nans) same = same.logical_or(self.isnan().logical_and(value.isnan()));
  Tensor ties = sum(same, dim, true);
  return restore_dims(grad, self.sizes(), dim, keepdim) * same.to(grad.dtype()) / ties;
}

namespace {

template <Text name>
void infer_reduce(Operands inputs, const ReduceParams& p, Meta* out) {
  const Dims& sizes = inputs[0]->sizes();
  out[0].sizes = reduced_sizes(sizes, axis_set(p.dim, sizes.size(), name.chars), p.keepdim);
  out[0].dtype = inputs[0]->dtype();
}

// Reduces the marked dimensions of `self`; `count` elements in all went into each result.
template <Reduction reduction, bool mean>
void reduce_to(const Tensor& self, const std::vector<bool>& axes, int64_t count,
               const Tensor& output) {
  DType wide = kernels::accumulate_dtype(self.dtype());
  Tensor result = wide == output.dtype() ? output : empty_tensor(output.sizes(), wide);
  kernels::reduce(reduction, self, axes, result);
  if constexpr (mean) {
    visit(wide, [&](auto zero) {
      using T = decltype(zero);
      T* data = reinterpret_cast<T*>(result.data_ptr());
      T divisor(static_cast<double>(count));
      for (int64_t i = 0; i < result.numel(); i++) data[i] = T(data[i] / divisor);
    });
  }
  if (wide != output.dtype()) kernels::copy_elements(output, result);
}

template <Reduction reduction, bool mean>
void evaluate_reduce(Operands inputs, const ReduceParams& p, Tensor* out) {
  const Tensor& self = *inputs[0];
  auto axes = axis_set(p.dim, self.sizes().size(), "reduce");
  int64_t count = mean ? reduced_count(self.sizes(), p.dim, "mean").value() : 0;
  reduce_to<reduction, mean>(self, axes, count, out[0]);
}

// Demands of graphs that come as text: other dtypes are converted before they are summed.
template <Reduction reduction, bool mean>
void require_summable(Operands inputs, const ReduceParams&) {
  constexpr bool kSums = reduction == Reduction::sum || reduction == Reduction::prod;
  DType dtype = inputs[0]->dtype();
  demand(!kSums || is_floating(dtype) || (dtype == kInt64 && !mean), "a sum", "floats or int64");
}

template <Text name, Reduction reduction, bool mean = false>
Primitive<ReduceParams> reduce_primitive() {
  auto primitive =
      plain_primitive<ReduceParams, infer_reduce<name>, evaluate_reduce<reduction, mean>>(
          name.chars, Kind::reduce, "t");
  primitive.combine = reduction;
  primitive.require = [](Operands inputs, const void* params) {
    require_summable<reduction, mean>(inputs, *static_cast<const ReduceParams*>(params));
  };
  primitive.reduced = [](const void* params, size_t rank) {
    return axis_set(static_cast<const ReduceParams*>(params)->dim, rank, "reduce");
  };
  primitive.finish = [](const Tensor& blocks, int64_t count, const Tensor& output) {
    reduce_to<reduction, mean>(blocks, {false, true}, count, output);
  };
  return primitive;
}

const Registered sum_p = reduce_primitive<"sum", Reduction::sum>().linear_in({0}).vjp(
    "SumBackward1", wrt(0, saves::shape(0), [](const Vjp& v, const ReduceParams& p) {
      return spread_over(v.grad(), v.sizes(0), p.dim, p.keepdim);
    }));
const Registered mean_p = reduce_primitive<"mean", Reduction::sum, true>().linear_in({0}).vjp(
    "MeanBackward1", wrt(0, saves::shape(0), [](const Vjp& v, const ReduceParams& p) {
      return mean_gradient(v.grad(), v.sizes(0), p.dim, p.keepdim);
    }));
const Registered prod_p = reduce_primitive<"prod", Reduction::prod>().vjp(
    "ProdBackward1", wrt(0, saves::in(0), [](const Vjp& v, const ReduceParams& p) {
      return prod_gradient(v.grad(), v.in(0), p.dim, p.keepdim);
    }));
constexpr auto of_extremes =
    wrt(0, saves::in(0) | saves::out(), [](const Vjp& v, const ReduceParams& p) {
      return to_equal(v.grad(), v.in(0), v.out(), p.dim, p.keepdim);
    });
const Registered max_p =
    reduce_primitive<"amax", Reduction::max>().vjp("AmaxBackward0", of_extremes);
const Registered min_p =
    reduce_primitive<"amin", Reduction::min>().vjp("AminBackward0", of_extremes);

struct NumberParams {
  Dim size;
  double less;
  bool operator==(const NumberParams&) const = default;
};
double number(const NumberParams& p) {
  return std::max(0.0, static_cast<double>(p.size.value()) - p.less);
}
const Registered number_p = plain_primitive<
    NumberParams, [](Operands, const NumberParams&, Meta* out) { out[0].dtype = kFloat64; },
    [](Operands, const NumberParams& p, Tensor* out) { *out[0].data_ptr<double>() = number(p); }>(
    "size_number", Kind::create, "");

}  // namespace

Tensor number_of(Dim size, double less) {
  if (size.is_constant()) return Tensor(number({size, less}));
  Tensor result = number_p.with({size, less});
  result.impl()->wrapped_number = true;
  return result;
}

Tensor sum_over(const Tensor& self, const OptDims& dim, bool keepdim) {
  return sum_p.with({dim, keepdim}, self);
}
Tensor mean_over(const Tensor& self, const OptDims& dim, bool keepdim) {
  return mean_p.with({dim, keepdim}, self);
}
Tensor prod_over(const Tensor& self, const OptDims& dim, bool keepdim) {
  return prod_p.with({dim, keepdim}, self);
}
Tensor max_over(const Tensor& self, const OptDims& dim, bool keepdim) {
  return max_p.with({dim, keepdim}, self);
}
Tensor min_over(const Tensor& self, const OptDims& dim, bool keepdim) {
  return min_p.with({dim, keepdim}, self);
}

}  // namespace fg::ops
