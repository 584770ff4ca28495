// The reduction loops of every element type and level.
#include "base/fail.h"
#include "ops/reduce/reduce_kernel.h"
#include "ops/reduce/reduce_lanes.h"

namespace fg::kernels {

namespace {

template <class K>
FG_KERNEL_BASELINE void run_baseline(const void* from, int64_t a, int64_t b, int64_t c, void* out) {
  K::run(from, a, b, c, out);
}
template <class K>
FG_KERNEL_V3 void run_v3(const void* from, int64_t a, int64_t b, int64_t c, void* out) {
  K::run(from, a, b, c, out);
}

template <class Op, class S>
ReduceKernels kernels_of() {
#if FG_HAS_V3
  if (level() >= Level::v3) {
    return {run_v3<ReduceBlocks<Op, S, Level::v3>>, run_v3<ReduceColumns<Op, S, Level::v3>>,
            run_v3<ReduceFewColumns<Op, S, Level::v3>>};
  }
#endif
  return {run_baseline<ReduceBlocks<Op, S, Level::baseline>>,
          run_baseline<ReduceColumns<Op, S, Level::baseline>>,
          run_baseline<ReduceFewColumns<Op, S, Level::baseline>>};
}

// Integers add and multiply modulo 2^64.
template <class Op>
ReduceKernels arithmetic_kernels(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return kernels_of<Op, float>();
    case DType::f64:
      return kernels_of<Op, double>();
    case DType::f16:
      return kernels_of<Op, Half>();
    case DType::bf16:
      return kernels_of<Op, BFloat16>();
    case DType::i64:
      return kernels_of<Op, uint64_t>();
    default:
      fail(ErrorKind::internal, "reduce: {} has no sum or product of its own", name(dtype));
  }
}

template <class Op>
ReduceKernels order_kernels(DType dtype) {
  return visit(dtype, [](auto zero) {
    using S = decltype(zero);
    return kernels_of<Op, std::conditional_t<std::is_same_v<S, bool>, uint8_t, S>>();
  });
}

}  // namespace

DType accumulate_dtype(DType dtype) { return is_half(dtype) ? kFloat32 : dtype; }

ReduceKernels reduce_kernels(Reduction reduction, DType dtype) {
  switch (reduction) {
    case Reduction::sum:
      return arithmetic_kernels<SumOp>(dtype);
    case Reduction::prod:
      return arithmetic_kernels<ProdOp>(dtype);
    case Reduction::max:
      return order_kernels<MaxOp>(dtype);
    case Reduction::min:
      return order_kernels<MinOp>(dtype);
    case Reduction::none:
      break;
  }
  __builtin_unreachable();
}

}  // namespace fg::kernels
