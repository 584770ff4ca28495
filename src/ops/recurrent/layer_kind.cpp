#include "ops/recurrent/layer_kind.h"

#include <algorithm>

#include "base/fail.h"
#include "ops/kernels/strided.h"
#include "ops/matmul/matmul.h"
#include "ops/reduce/reduce.h"
#include "ops/view/views.h"

namespace fg::ops {

using kernels::RecurrentSizes;
using kernels::StepRows;

void check_sizes(const char* who, const char* what, const Tensor& tensor, const Dims& sizes) {
  if (tensor.defined() && !(tensor.sizes() == sizes)) {
    fail("{}: got {} of sizes {}; expected {}", who, what, text(tensor.sizes()), text(sizes));
  }
}

void check_dtypes(const char* who, std::initializer_list<const Tensor*> tensors) {
  const DType dtype = (*tensors.begin())->dtype();
  if (dtype != kFloat32 && dtype != kFloat64) {
    fail(ErrorKind::not_implemented, "{}: {} is not supported; convert to float32 or float64", who,
         name(dtype));
  }
  for (const Tensor* tensor : tensors) {
    if (tensor->defined() && tensor->dtype() != dtype) {
      fail("{}: expected all tensors of one dtype, got {} and {}; convert one with to()", who,
           name(dtype), name(tensor->dtype()));
    }
  }
}

void check_layer(const char* who, const Layer& layer, Dim last) {
  if (layer.rows.dim() != (layer.batch_sizes.defined() ? 2 : 3) || layer.hx.dim() != 2 ||
      layer.weight.dim() != 2) {
    fail(
        "{}: got rows {}, hx {} and weight {}; expected (steps, batch, features), or (rows, "
        "features) with batch_sizes, and matrices",
        who, text(layer.rows.sizes()), text(layer.hx.sizes()), text(layer.weight.sizes()));
  }
  const Dims& sizes = layer.rows.sizes();
  if (!(layer.weight.sizes()[0] % layer.gates() == 0) || layer.hidden() == 0 ||
      !(sizes.back() == last) || sizes[0] == 0) {
    fail("{}: got rows {} and a weight {}; expected steps of {} features", who, text(sizes),
         text(layer.weight.sizes()), last.text());
  }
  Dims state{layer.batch_sizes.defined() ? layer.hx.sizes()[0] : sizes[1], layer.width()};
  check_sizes(who, "hx", layer.hx, state);
  if (!(layer.width() == layer.hidden()) && (sizes.size() == 2 || !(sizes[0] == 1))) {
    fail("{}: got a state of width {} and {} hidden units; these differ for a single step only",
         who, layer.width().text(), layer.hidden().text());
  }
  const Tensor& counts = layer.batch_sizes;
  if (counts.defined() && (counts.dtype() != kInt64 || counts.dim() != 1)) {
    fail("{}: got batch_sizes {} {}; expected int64 in one dimension", who, name(counts.dtype()),
         text(counts.sizes()));
  }
}

namespace {

// The rows of each step, in the order in which they are computed.
std::vector<StepRows> steps_of(const char* who, const Layer& layer, bool reverse) {
  std::vector<StepRows> steps;
  const int64_t batch = layer.hx.sizes()[0].value();
  if (!layer.batch_sizes.defined()) {
    for (int64_t t = 0; t < layer.rows.sizes()[0].value(); t++) steps.push_back({t * batch, batch});
  } else {
    int64_t first = 0, before = batch;
    for (int64_t rows : layer.batch_sizes.to_vector<int64_t>()) {
      if (rows < 1 || rows > before || (steps.empty() && rows != batch)) {
        fail("{}: got {} rows at step {}; batch_sizes begin with the batch size {} and never grow",
             who, rows, steps.size(), batch);
      }
      steps.push_back({first, rows});
      first += rows;
      before = rows;
    }
    if (first != layer.rows.sizes()[0].value()) {
      fail("{}: got batch_sizes whose sum is {}, and {} rows; these must be equal", who, first,
           layer.rows.sizes()[0].value());
    }
  }
  if (reverse) std::reverse(steps.begin(), steps.end());
  return steps;
}

RecurrentSizes sizes_of(const Layer& layer, std::span<const StepRows> steps) {
  return {.kind = layer.kind,
          .dtype = layer.weight.dtype(),
          .steps = steps,
          .batch = layer.hx.sizes()[0].value(),
          .hidden = layer.hidden().value(),
          .width = layer.width().value(),
          .total = layer.rows.numel() / layer.rows.sizes().back().value()};
}

// Contiguous operands, alive as long as the call.
class Contiguous {
 public:
  const void* operator()(const Tensor& tensor) {
    if (!tensor.defined()) return nullptr;
    kept_.push_back(kernels::as_contiguous(tensor));
    return kept_.back().data_ptr();
  }

 private:
  Tensors kept_;
};

void* memory(const Tensor& tensor) { return tensor.defined() ? tensor.data_ptr() : nullptr; }

}  // namespace

void evaluate_forward(const char* who, const Layer& layer, const LayerParams& p,
                      const ForwardOperands& o) {
  std::vector<StepRows> steps = steps_of(who, layer, p.reverse);
  if (o.hn.numel() == 0) return;
  Contiguous read;
  kernels::run_layer({sizes_of(layer, steps), read(layer.rows), read(layer.hx), read(o.cx),
                      read(layer.weight), read(o.bias), memory(o.output), memory(o.hn),
                      memory(o.cn), memory(o.saved)});
}

void evaluate_backward(const char* who, const Layer& layer, const LayerParams& p,
                       const BackwardOperands& o) {
  std::vector<StepRows> steps = steps_of(who, layer, p.reverse);
  if (o.d_hx.numel() == 0) return;
  Contiguous read;
  kernels::run_layer_backward({sizes_of(layer, steps), read(o.d_output), read(o.d_hn), read(o.d_cn),
                               read(layer.rows), read(layer.weight), memory(o.d_gates),
                               memory(o.d_product), memory(o.d_hx), memory(o.d_cx)});
}

static Tensor as_rows(const Tensor& steps) {
  return steps.dim() == 3 ? flatten(steps, 0, 1) : steps;
}

LayerState state_of(const Layer& layer, const LayerParams& p) {
  return {layer.kind, layer.rows, layer.weight, layer.hx, layer.batch_sizes, p.reverse};
}

Tensor weight_gradient(const Tensor& product, const Layer& layer) {
  Dim before = layer.hidden() * kernels::kept_count(layer.kind);
  return mm(t(as_rows(product)), narrow(as_rows(layer.rows), 1, before, layer.width()));
}

Tensor bias_gradient(const Tensor& product) { return sum(as_rows(product), Dims{0}); }

}  // namespace fg::ops
