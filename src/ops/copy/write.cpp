// Writing results into existing tensors: the in-place and out= forms of every function.
#include <algorithm>

#include "base/fail.h"
#include "ir/capturing.h"
#include "ir/function.h"
#include "ir/record.h"
#include "ir/registry.h"
#include "ops/kernels/strided.h"
#include "tensor/geometry.h"

namespace fg::ir {

// Whether the elements fill one stretch of memory without gaps, in any order of dimensions.
static bool is_dense(const Tensor& tensor) {
  for (size_t i = 0; i < tensor.sizes().size(); i++) {
    if (!tensor.sizes()[i].is_constant() || !tensor.strides()[i].is_constant()) return false;
  }
  if (tensor.is_contiguous()) return true;
  std::vector<std::pair<int64_t, int64_t>> axes;  // stride, size
  for (size_t i = 0; i < tensor.sizes().size(); i++) {
    int64_t size = tensor.sizes()[i].value();
    if (size > 1) axes.emplace_back(tensor.strides()[i].value(), size);
  }
  std::sort(axes.begin(), axes.end());
  int64_t expected = 1;
  for (auto [stride, size] : axes) {
    if (stride != expected) return false;
    expected *= size;
  }
  return true;
}

// As PyTorch: only what can be seen at a glance, between dense tensors.
static bool overlap_in_part(const Tensor& a, const Tensor& b) {
  if (!b.defined() || a.is_same(b) || !a.impl()->storage) return false;
  if (!(a.impl()->storage == b.impl()->storage) || !is_dense(a) || !is_dense(b)) return false;
  if (a.numel() == 0 || b.numel() == 0) return false;
  auto place = [](const Tensor& t, int64_t element) {
    return (t.impl()->offset.value() + element) * static_cast<int64_t>(item_size(t.dtype()));
  };
  int64_t begin = place(a, 0), end = place(a, a.numel());
  int64_t other = place(b, 0), last = place(b, b.numel());
  if (begin == other && end == last) return !(a.strides() == b.strides());
  return begin < last && other < end;
}

void refuse_overlap(const FunctionInfo& info, Operands operands) {
  auto inside = [](const Tensor& t) {
    return modes.capturing && t.defined() ? modes.capturing->stand_in(t) : t;
  };
  const Tensor self = inside(*operands[0]);
  for (size_t i = 1; i < operands.size(); i++) {
    for (const Tensor& other : operands[i].all()) {
      if (!overlap_in_part(self, inside(other))) continue;
      fail(
          "{}_: some elements of an input and of the written-to tensor refer to a single memory "
          "location; clone() the input first",
          info.schema.name);
    }
  }
}

static void write_elements(const Tensor& self, const Tensor& value) {
  if (modes.interpreter && modes.interpreter->write(self, value)) return;
  kernels::copy_elements(self, value);
  self.impl()->bump_version();
}

void write_inplace(const FunctionInfo& info, const Tensor& self, const Tensor& result) {
  if (!can_cast(result.dtype(), self.dtype())) {
    fail(
        "{}_: the result is {} and can't be cast to the {} of the tensor it is written to; use the "
        "out-of-place {}",
        info.schema.name, name(result.dtype()), name(self.dtype()), info.schema.name);
  }
  if (!(result.sizes() == self.sizes())) {
    fail(
        "{}_: the tensor written to has sizes {} but the result has sizes {}; an in-place function "
        "cannot change the shape",
        info.schema.name, text(self.sizes()), text(result.sizes()));
  }
  if (overlaps_itself(self.sizes(), self.strides())) {
    fail(
        "{}_: more than one element of the written-to tensor refers to a single memory location; "
        "clone() it first",
        info.schema.name);
  }
  write_elements(self, result);
}

static void check_out(const FunctionInfo& info, const Tensor& result, const Tensor& out) {
  if (!out.defined()) {
    fail(ErrorKind::type, "{}: out is an undefined tensor; give one of dtype {}", info.schema.name,
         name(result.dtype()));
  }
  if (out.is_inference() && !modes.inference) {
    fail("{}: out is an inference tensor, which is written in inference mode alone; clone it first",
         info.schema.name);
  }
  if (out.requires_grad() || result.requires_grad()) {
    fail(
        "{}: functions with out=... don't support automatic differentiation, but an argument "
        "requires "
        "grad; detach it or assign the result",
        info.schema.name);
  }
  if (!can_cast(result.dtype(), out.dtype())) {
    fail("{}: the result is {} and can't be cast to the {} of out", info.schema.name,
         name(result.dtype()), name(out.dtype()));
  }
  if (result.sizes() == out.sizes() && overlaps_itself(out.sizes(), out.strides())) {
    fail("{}: more than one element of out refers to a single memory location; clone() it first",
         info.schema.name);
  }
}

static void write_out(const Tensor& result, const Tensor& out) {
  if (!(result.sizes() == out.sizes())) {
    if (is_capturing()) {
      fail(
          "out: sizes {} do not fit the result's sizes {}, and a captured function cannot resize a "
          "tensor; give one of the right sizes",
          text(out.sizes()), text(result.sizes()));
    }
    out.impl()->take_memory(*empty_tensor(result.sizes(), out.dtype()).impl());
  }
  write_elements(out, result);
}

// All checks before the first write: a refused call changes nothing.
void write_outs(const FunctionInfo& info, std::span<const Tensor> results,
                std::span<const Tensor> outs) {
  if (!info.has_out) fail("{}: has no out= form; assign the result", info.schema.name);
  if (outs.size() != results.size()) {
    fail("{}: out has {} tensors; expected {}, one per result", info.schema.name, outs.size(),
         results.size());
  }
  for (size_t i = 0; i < outs.size(); i++) check_out(info, results[i], outs[i]);
  for (size_t i = 0; i < outs.size(); i++) write_out(results[i], outs[i]);
}

}  // namespace fg::ir
