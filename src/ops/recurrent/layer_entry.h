// Words with which the primitives and functions of recurrent layers are written, and their samples:
// three steps of two sequences of two units.
#pragma once

#include "ir/define.h"
#include "ops/recurrent/layer_kind.h"
#include "ops/view/view_kind.h"

namespace fg::ops {

template <auto infer, auto evaluate, auto require>
ir::Primitive<LayerParams> layer_primitive(const char* name, const char* operands, int outputs) {
  return plain_primitive<LayerParams, infer, evaluate>(name, ir::Kind::extern_call, operands,
                                                       outputs)
      .template requiring<require>();
}

// output, states of the end, and what was saved where it is an output.
inline void infer_layer(const Layer& layer, ir::Meta* out, int states, bool keeps) {
  DType dtype = layer.weight.dtype();
  out[0] = {layer.per_step(layer.hidden()), dtype};
  for (int i = 1; i <= states; i++) out[i] = {layer.state(), dtype};
  if (keeps) out[states + 1] = {layer.per_step(layer.saved()), dtype};
}

// The operands of a backward: gradients of the results, saved, weight, hx, batch_sizes.
inline Layer backward_layer(CellKind kind, ir::Operands in, size_t grads) {
  return {kind, *in[grads], *in[grads + 2], *in[grads + 1], *in[grads + 3]};
}
inline void require_backward(const char* who, const Layer& layer, ir::Operands in, size_t grads) {
  check_dtypes(who, {&layer.rows, &layer.hx, &layer.weight});
  check_layer(who, layer, layer.saved());
  for (size_t i = 0; i < grads; i++) {
    if (!in[i]->defined()) continue;
    check_dtypes(who, {&layer.rows, &*in[i]});
    check_sizes(who, "a gradient", *in[i], i == 0 ? layer.per_step(layer.hidden()) : layer.state());
  }
}

// Calls a primitive after a check of its operands.
template <size_t N, auto require, class P, class... T>
std::array<Tensor, N> checked_call(const P& primitive, const LayerParams& params, const T&... in) {
  const std::array<ir::Operand, sizeof...(T)> operands{ir::Operand(in)...};
  require(ir::Operands(operands), params);
  return primitive.template all<N>(params, in...);
}

namespace layer_samples {

inline Tensor steps(int64_t width) { return ir::sample({3, 2, width}, -1, 1); }
inline Tensor rows(int64_t width) { return ir::sample({6, width}, -1, 1); }
// As many in each step, since tests give all rows of a tensor the first element.
inline Tensor batch_sizes() { return tensor(std::vector<int64_t>{2, 2, 2}); }
inline Tensor state() { return ir::sample({2, 2}, -0.9, 0.8); }
inline Tensor weight_of(int64_t gates) { return ir::sample({gates * 2, 2}, -1, 1); }

}  // namespace layer_samples

}  // namespace fg::ops
