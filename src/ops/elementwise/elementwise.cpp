#include "ops/elementwise/elementwise.h"

#include <algorithm>

#include "base/fail.h"
#include "base/pool.h"
#include "base/small_vector.h"
#include "ops/elementwise/row_call.h"
#include "ops/kernels/convert.h"
#include "ops/kernels/strided.h"

namespace fg::ops {

using kernels::kBlock;
using kernels::StridedOperand;

DType common_dtype(ir::Operands inputs) {
  // The frequent case first: all alike, but for numbers that are too weak to matter.
  DType first = inputs[0]->dtype();
  bool alike = !inputs[0]->impl()->wrapped_number;
  for (const ir::Operand& input : inputs.subspan(1)) {
    alike &= input->impl()->wrapped_number ? number_kind(input->dtype()) <= number_kind(first)
                                           : input->dtype() == first;
  }
  if (alike) return first;
  const Tensor* tensors[8];
  size_t count = 0;
  for (const ir::Operand& input : inputs) tensors[count++] = input.data;
  return result_type(std::span<const Tensor* const>(tensors, count));
}

static DType compute_dtype(const ElementwiseInfo& info, ir::Operands inputs) {
  DType dtype = common_dtype(info.mask_first ? inputs.subspan(1) : inputs);
  if (info.types == Types::floating && is_integral_or_bool(dtype)) dtype = default_dtype();
  if (!computes_in(info.types, dtype)) {
    fail(ErrorKind::not_implemented, "{}: {} is not supported; convert the input with to(dtype)",
         info.name, name(dtype));
  }
  return dtype;
}

DType input_dtype(const ElementwiseInfo& info, ir::Operands inputs, int i) {
  return info.dtype_of_input(i, compute_dtype(info, inputs));
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

// A dimension of one element may have any stride, in results it has the usual one, as PyTorch's.
static bool has_usual_strides(const TensorImpl& contiguous) {
  for (const Dim& size : contiguous.sizes) {
    if (!size.is_constant() || size.value() == 1 || size.value() == 0)
      return same(contiguous.strides, contiguous_strides(contiguous.sizes));
  }
  return true;
}

void infer_elementwise(const ElementwiseInfo& info, ir::Operands inputs, ir::Meta& output) {
  const TensorImpl& first = *inputs[0]->impl();
  output.sizes = first.sizes;
  bool contiguous = first.contiguous, constant = first.numel.is_constant(), alike = true;
  for (const ir::Operand& input : inputs.subspan(1)) {
    const TensorImpl& other = *input->impl();
    if (!(other.sizes == output.sizes)) {
      output.sizes = broadcast(output.sizes, other.sizes, info.name);
      alike = false;
    }
    contiguous &= other.contiguous;
    constant &= other.numel.is_constant();
  }
  output.dtype = compute_dtype(info, inputs);
  if (info.bool_result) output.dtype = kBool;
  if (contiguous && alike && has_usual_strides(first)) output.like = &first;
  if (!contiguous && constant) output.strides = permuted_strides(inputs, output.sizes);
}

namespace {

constexpr int kMaxInputs = 4;
constexpr int64_t kMaxItem = 8;
constexpr int64_t kGrain = 16 * kBlock;

// One input as contiguous elements of the dtype that is computed in: directly where it is that,
// otherwise block by block.
class Source {
 public:
  Source(const Tensor& tensor, const Dims& sizes, DType wanted)
      : operand_(*tensor.impl(), sizes),
        wanted_item_(static_cast<int64_t>(item_size(wanted))),
        convert_(tensor.dtype() == wanted ? nullptr
                                          : kernels::convert_kernel(tensor.dtype(), wanted)) {}

  bool is_direct() const { return operand_.is_contiguous() && !convert_; }
  // Puts an operand of one element into the block once, since it never changes.
  void prepare(int64_t count, char* block) const {
    if (operand_.is_single()) load(0, count, block);
  }
  const void* at(int64_t begin, int64_t count, char* block) const {
    if (is_direct()) return operand_.data() + begin * wanted_item_;
    if (!operand_.is_single()) load(begin, count, block);
    return block;
  }

 private:
  void load(int64_t begin, int64_t count, char* block) const {
    if (!convert_) return operand_.gather(begin, count, block);
    alignas(64) char raw[kBlock * kMaxItem];
    const void* from = raw;
    if (operand_.is_contiguous())
      from = operand_.data() + begin * operand_.item();
    else
      operand_.gather(begin, count, raw);
    convert_(count, block, &from, nullptr);
  }

  StridedOperand operand_;
  int64_t wanted_item_;
  kernels::RowKernel convert_;
};

// Few elements: an operand that is one number is repeated on the spot.
constexpr int64_t kFew = 64;

template <class T>
T element_of(const Scalar& value) {
  // Not through double: that would round a large integer twice.
  if (std::is_floating_point_v<T> && !value.is_floating()) return static_cast<T>(value.to_int());
  return value.to<T>();
}
const void* repeated(const Tensor& number, DType wanted, int64_t count, char* block) {
  Scalar value = number.item();
  visit(wanted, [&](auto zero) {
    using T = decltype(zero);
    std::fill_n(reinterpret_cast<T*>(block), count, element_of<T>(value));
  });
  return block;
}

// Runs a kernel over logical elements, passing through blocks what is not contiguous.
class BlockRunner {
 public:
  BlockRunner(kernels::RowKernel kernel, const void* params, const Tensor& output)
      : kernel_(kernel), params_(params), output_(*output.impl(), output.sizes()) {}
  void add(const Tensor& input, const Dims& sizes, DType wanted) {
    sources_.emplace_back(input, sizes, wanted);
  }

  void run(int64_t begin, int64_t end) const {
    alignas(64) char blocks[kMaxInputs + 1][kBlock * kMaxItem];
    bool direct = output_.is_contiguous();
    for (const Source& source : sources_) direct &= source.is_direct();
    int64_t step = direct ? end - begin : std::min(end - begin, kBlock);
    for (size_t k = 0; k < sources_.size(); k++) sources_[k].prepare(step, blocks[k]);
    for (int64_t i = begin; i < end; i += step) {
      int64_t n = std::min(step, end - i);
      const void* in[kMaxInputs];
      for (size_t k = 0; k < sources_.size(); k++) in[k] = sources_[k].at(i, n, blocks[k]);
      char* out =
          output_.is_contiguous() ? output_.data() + i * output_.item() : blocks[kMaxInputs];
      kernel_(n, out, in, params_);
      if (!output_.is_contiguous()) output_.scatter(i, n, out);
    }
  }

 private:
  kernels::RowKernel kernel_;
  const void* params_;
  StridedOperand output_;
  SmallVector<Source, kMaxInputs> sources_;
};

}  // namespace

// Small, contiguous and of the right dtype already: nothing to prepare, except that among few
// elements a number is repeated on the spot. (An input of as many elements as the output has its
// sizes, but for leading ones.)
static bool evaluate_directly(kernels::RowKernel kernel, const ElementwiseInfo& info,
                              ir::Operands inputs, DType compute, const void* params,
                              const TensorImpl& output) {
  int64_t count = output.numel.value();
  if (!output.contiguous || count > kGrain || pool::forced_grain != 0) return false;
  const void* in[kMaxInputs];
  alignas(64) char few[kMaxInputs][kFew * kMaxItem];
  for (int i = 0; i < info.arity; i++) {
    const TensorImpl& input = *inputs[i]->impl();
    DType wanted = info.dtype_of_input(i, compute);
    if (input.wrapped_number && count <= kFew) {
      in[i] = repeated(*inputs[i], wanted, count, few[i]);
      continue;
    }
    if (!input.contiguous || input.dtype != wanted || input.numel.value() != count) return false;
    in[i] = input.data;
  }
  if (count > 0) kernel(count, output.data, in, params);
  return true;
}

static thread_local RowCall* watched = nullptr;
WatchRowCall::WatchRowCall(RowCall& call) : before_(watched) { watched = &call; }
WatchRowCall::~WatchRowCall() { watched = before_; }

void evaluate_elementwise(ElementwiseInfo& info, ir::Operands inputs, const void* params,
                          const Tensor& output) {
  DType compute = info.bool_result ? compute_dtype(info, inputs) : output.dtype();
  kernels::RowKernel kernel = info.kernel(compute);
  if (watched) [[unlikely]]
    *watched = {&info, kernel, compute};
  if (evaluate_directly(kernel, info, inputs, compute, params, *output.impl())) return;
  BlockRunner runner(kernel, params, output);
  for (int i = 0; i < info.arity; i++) {
    runner.add(*inputs[i], output.sizes(), info.dtype_of_input(i, compute));
  }
  pool::parallel_for(output.numel(), kGrain,
                     [&](int64_t begin, int64_t end) { runner.run(begin, end); });
}

}  // namespace fg::ops
