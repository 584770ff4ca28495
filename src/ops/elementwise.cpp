#include "ops/elementwise.h"

#include "base/fail.h"
#include "base/pool.h"
#include "ops/kernels/strided.h"

namespace fg::ops {

using kernels::kBlock;
using kernels::StridedOperand;

static int category(DType dtype) { return dtype == kBool ? 0 : is_integral(dtype) ? 1 : 2; }

DType common_dtype(ir::Operands inputs) {
  // The frequent case first: all alike.
  DType first = inputs[0]->dtype();
  bool alike = true;
  for (const ir::Operand& input : inputs) {
    alike &= input->dtype() == first && !input->impl()->wrapped_number;
  }
  if (alike) return first;
  const Tensor* tensors[8];
  size_t count = 0;
  for (const ir::Operand& input : inputs) tensors[count++] = input.data;
  return result_type(std::span<const Tensor* const>(tensors, count));
}

static DType compute_dtype(const ElementwiseInfo& info, ir::Operands inputs) {
  DType dtype = common_dtype(info.mask_first ? inputs.subspan(1) : inputs);
  if (info.types == Types::floating && category(dtype) < 2) dtype = default_dtype();
  if (!info.kernel(dtype)) {
    fail("{}: {} is not supported; convert the input with to(dtype)", info.name, name(dtype));
  }
  return dtype;
}

// As PyTorch: a result of non-contiguous inputs keeps their order of dimensions in memory.
static Dims permuted_strides(ir::Operands inputs, const Dims& sizes) {
  size_t rank = sizes.size();
  auto stride_of = [&](const Tensor& t, size_t d) -> int64_t {
    size_t shift = rank - t.sizes().size();
    if (d < shift || t.sizes()[d - shift] == 1) return 0;
    return t.strides()[d - shift].value();
  };
  // Whether dimension a must lie outside b: 1 yes, -1 no, 0 no operand tells.
  auto outside = [&](size_t a, size_t b) {
    for (const ir::Operand& input : inputs) {
      int64_t sa = stride_of(*input, a), sb = stride_of(*input, b);
      if (sa == 0 || sb == 0) continue;
      if (sa != sb) return sa > sb ? 1 : -1;
      if (sizes[a].value() < sizes[b].value()) return 1;
    }
    return 0;
  };
  std::vector<size_t> order(rank);
  for (size_t i = 0; i < rank; i++) order[i] = i;
  for (size_t i = rank; i-- > 0;) {  // insertion sort that keeps what is undecided in place
    for (size_t j = i; j + 1 < rank; j++) {
      int decision = outside(order[j], order[j + 1]);
      if (decision > 0) break;
      if (decision < 0) std::swap(order[j], order[j + 1]);
    }
  }
  Dims strides(rank, 1);
  Dim stride = 1;
  for (size_t i = rank; i-- > 0;) {
    strides[order[i]] = stride;
    stride *= sizes[order[i]];
  }
  return strides;
}

void infer_elementwise(const ElementwiseInfo& info, ir::Operands inputs, ir::Meta& output) {
  output.sizes = inputs[0]->sizes();
  bool contiguous = inputs[0]->is_contiguous(), concrete = !inputs[0]->is_abstract();
  for (const ir::Operand& input : inputs.subspan(1)) {
    if (!(input->sizes() == output.sizes)) {
      output.sizes = broadcast(output.sizes, input->sizes(), info.name);
    }
    contiguous &= input->is_contiguous();
    concrete &= !input->is_abstract();
  }
  output.dtype = compute_dtype(info, inputs);
  if (info.bool_result) output.dtype = kBool;
  if (!contiguous && concrete) output.strides = permuted_strides(inputs, output.sizes);
}

namespace {

constexpr int kMaxInputs = 4;

// Runs a kernel over logical elements, passing through blocks what is not contiguous.
class BlockRunner {
 public:
  BlockRunner(kernels::RowKernel kernel, const void* params, std::span<const Tensor> inputs,
              const Tensor& output)
      : kernel_(kernel), params_(params), output_(*output.impl(), output.sizes()) {
    for (const Tensor& input : inputs) operands_.emplace_back(*input.impl(), output.sizes());
  }

  void run(int64_t begin, int64_t end) const {
    alignas(64) char scratch[kMaxInputs + 1][kBlock * 8];
    const void* in[kMaxInputs];
    bool direct = output_.is_contiguous();
    for (const StridedOperand& operand : operands_) direct &= operand.is_contiguous();
    int64_t step = direct ? end - begin : kBlock;
    for (size_t k = 0; k < operands_.size(); k++) {
      if (operands_[k].is_single()) operands_[k].gather(0, kBlock, scratch[k]);
    }
    for (int64_t i = begin; i < end; i += step) {
      int64_t n = std::min(step, end - i);
      for (size_t k = 0; k < operands_.size(); k++) {
        const StridedOperand& operand = operands_[k];
        in[k] = operand.is_contiguous() ? operand.data() + i * operand.item() : scratch[k];
        if (!operand.is_contiguous() && !operand.is_single()) operand.gather(i, n, scratch[k]);
      }
      char* out =
          output_.is_contiguous() ? output_.data() + i * output_.item() : scratch[kMaxInputs];
      kernel_(n, out, in, params_);
      if (!output_.is_contiguous()) output_.scatter(i, n, out);
    }
  }

 private:
  kernels::RowKernel kernel_;
  const void* params_;
  StridedOperand output_;
  std::vector<StridedOperand> operands_;
};

}  // namespace

void evaluate_elementwise(const ElementwiseInfo& info, ir::Operands inputs, const void* params,
                          const Tensor& output) {
  DType compute = compute_dtype(info, inputs);
  kernels::RowKernel kernel = info.kernel(compute);
  Tensor converted[kMaxInputs];
  const void* in[kMaxInputs];
  bool direct = output.is_contiguous();
  for (int i = 0; i < info.arity; i++) {
    const Tensor& input = *inputs[i];
    DType wanted = info.mask_first && i == 0 ? kBool : compute;
    if (input.dtype() == wanted) {
      converted[i] = input;
    } else {
      converted[i] = empty_tensor(input.sizes(), wanted);
      kernels::copy_elements(converted[i], input);
    }
    in[i] = converted[i].data_ptr();
    direct &= converted[i].is_contiguous() && converted[i].sizes() == output.sizes();
  }
  int64_t count = output.numel();
  constexpr int64_t kGrain = 16 * kBlock;
  if (direct && count <= kGrain && pool::forced_grain == 0) {
    if (count > 0) kernel(count, output.data_ptr(), in, params);
    return;
  }
  BlockRunner runner(kernel, params, {converted, static_cast<size_t>(info.arity)}, output);
  pool::parallel_for(count, kGrain, [&](int64_t begin, int64_t end) { runner.run(begin, end); });
}

}  // namespace fg::ops
