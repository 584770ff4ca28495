#include "ops/recurrent/recurrent_gradients.h"

#include "ops/copy/copy.h"
#include "ops/create/create.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/elementwise/compare.h"
#include "ops/elementwise/unary.h"
#include "ops/matmul/matmul.h"
#include "ops/rearrange/join.h"
#include "ops/recurrent/step_view.h"
#include "ops/view/views.h"

namespace fg::ops {

using kernels::CellKind;

namespace {

// One step of a cell's backward: the gradients of h and c after it, what was saved before a state,
// and gradients of that (empty: none).
struct CellInput {
  Tensor d_h, d_c;
  Tensors kept, d_kept;
};
struct CellOutput {
  Tensors gates, product;
  Tensor direct, c;  // of h without the product, and of c, both before the step
};
struct CellSecond {
  Tensor d_h, d_c;
  Tensors kept;
};

Tensor plus(const Tensor& a, const Tensor& b) {
  return !a.defined() ? b : !b.defined() ? a : a + b;
}
Tensor with_kept(const CellInput& in, size_t part, const Tensor& grad) {
  return in.d_kept.empty() ? grad : grad + in.d_kept[part];
}
// Derivatives of sigmoid and tanh by their results.
Tensor slope(const Tensor& sigmoid) { return sigmoid * (1 - sigmoid); }
Tensor tanh_slope(const Tensor& tanh) { return 1 - tanh * tanh; }

CellOutput lstm_backward(const CellInput& in) {
  const Tensor &i = in.kept[0], &f = in.kept[1], &g = in.kept[2], &o = in.kept[3], &c = in.kept[4];
  Tensor t = tanh(f * c + i * g), d_c = in.d_c + in.d_h * o * tanh_slope(t);
  return {{with_kept(in, 0, d_c * g) * slope(i), with_kept(in, 1, d_c * c) * slope(f),
           with_kept(in, 2, d_c * i) * tanh_slope(g), with_kept(in, 3, in.d_h * t) * slope(o)},
          {},
          {},
          with_kept(in, 4, d_c * f)};
}

// `u` are the gradients of what lstm_backward returns; s is that of its d_c, q that of c'.
CellSecond lstm_second(const CellInput& in, const CellOutput& u) {
  const Tensor &i = in.kept[0], &f = in.kept[1], &g = in.kept[2], &o = in.kept[3], &c = in.kept[4];
  const Tensor &u_i = u.gates[0], &u_f = u.gates[1], &u_g = u.gates[2], &u_o = u.gates[3];
  Tensor t = tanh(f * c + i * g), bend = tanh_slope(t), d_c = in.d_c + in.d_h * o * bend;
  Tensor s = u_i * g * slope(i) + u_f * c * slope(f) + u_g * i * tanh_slope(g) + u.c * f;
  Tensor q = (u_o * in.d_h * slope(o) - 2 * s * in.d_h * o * t) * bend;
  return {s * o * bend + u_o * t * slope(o),
          s,
          {d_c * (u_i * g * (1 - 2 * i) + u_g * tanh_slope(g)) + q * g,
           d_c * (u_f * c * (1 - 2 * f) + u.c) + q * c,
           d_c * (u_i * slope(i) - 2 * u_g * i * g) + q * i,
           in.d_h * (s * bend + u_o * t * (1 - 2 * o)), d_c * u_f * slope(f) + q * f}};
}

CellOutput gru_backward(const CellInput& in) {
  const Tensor &r = in.kept[0], &z = in.kept[1], &n = in.kept[2], &inner = in.kept[3],
               &h = in.kept[4];
  Tensor d_n = with_kept(in, 2, in.d_h * (1 - z)) * tanh_slope(n);
  Tensor d_r = with_kept(in, 0, d_n * inner) * slope(r);
  Tensor d_z = with_kept(in, 1, in.d_h * (h - n)) * slope(z);
  return {{d_r, d_z, d_n}, {d_r, d_z, with_kept(in, 3, d_n * r)}, in.d_h * z, {}};
}

// s is the gradient of d_n.
CellSecond gru_second(const CellInput& in, const CellOutput& u) {
  const Tensor &r = in.kept[0], &z = in.kept[1], &n = in.kept[2], &inner = in.kept[3],
               &h = in.kept[4], &u_inner = u.product[2];
  Tensor u_r = u.gates[0] + u.product[0], u_z = u.gates[1] + u.product[1];
  Tensor d_n = in.d_h * (1 - z) * tanh_slope(n);
  Tensor s = u.gates[2] + u_inner * r + u_r * inner * slope(r);
  Tensor through_z = u_z * in.d_h * slope(z);
  return {s * (1 - z) * tanh_slope(n) + u_z * (h - n) * slope(z) + u.direct * z,
          {},
          {d_n * (u_inner + u_r * inner * (1 - 2 * r)),
           in.d_h * (u_z * (h - n) * (1 - 2 * z) + u.direct - s * tanh_slope(n)),
           -2 * s * in.d_h * (1 - z) * n - through_z, d_n * u_r * slope(r), through_z}};
}

CellOutput plain_backward(const CellInput& in, bool relu) {
  const Tensor& h = in.kept[0];
  Tensor d_h = with_kept(in, 0, in.d_h);
  return {{d_h * (relu ? to(gt(h, 0), h.dtype()) : tanh_slope(h))}, {}, {}, {}};
}
CellSecond plain_second(const CellInput& in, const CellOutput& u, bool relu) {
  const Tensor &h = in.kept[0], &u_h = u.gates[0];
  if (relu) return {u_h * to(gt(h, 0), h.dtype()), {}, {zeros_like(h)}};
  return {u_h * tanh_slope(h), {}, {-2 * u_h * in.d_h * h}};
}

CellOutput cell_backward(CellKind kind, const CellInput& in) {
  if (kind == CellKind::lstm) return lstm_backward(in);
  if (kind == CellKind::gru) return gru_backward(in);
  return plain_backward(in, kind == CellKind::relu);
}
CellSecond cell_second(CellKind kind, const CellInput& in, const CellOutput& u) {
  if (kind == CellKind::lstm) return lstm_second(in, u);
  if (kind == CellKind::gru) return gru_second(in, u);
  return plain_second(in, u, kind == CellKind::relu);
}

// ---- all steps

// The layer as matrices of its steps.
class Walk {
 public:
  explicit Walk(const LayerState& layer)
      : layer_(layer),
        batch_(layer.hx.sizes()[0]),
        hidden_(layer.weight.sizes()[0] / kernels::gate_count(layer.kind)),
        steps(layer.saved, layer.batch_sizes, batch_) {}

  // The place in memory of the step that is computed as number `index`.
  size_t place(size_t index) const { return layer_.reverse ? steps.size() - 1 - index : index; }
  // Dimensions of gates in units of the hidden size.
  Tensors parts_of(const Tensor& rows, size_t count) const {
    Tensors parts;
    for (size_t k = 0; k < count; k++)
      parts.push_back(narrow(rows, 1, hidden_ * static_cast<int64_t>(k), hidden_));
    return parts;
  }
  Tensor state(const Tensor& given, Dim width) const {
    return given.defined() ? given : zeros({batch_, width}, layer_.saved.dtype());
  }

  size_t kept() const { return static_cast<size_t>(kernels::kept_count(layer_.kind)); }
  size_t gates() const { return static_cast<size_t>(kernels::gate_count(layer_.kind)); }
  bool lstm() const { return layer_.kind == CellKind::lstm; }
  bool gru() const { return layer_.kind == CellKind::gru; }
  Dim hidden() const { return hidden_; }
  Dim width() const { return layer_.weight.sizes()[1]; }
  // Parts that were saved of a row, without h for an lstm and a plain cell: a gru reads it.
  Tensors kept_parts(const Tensor& rows) const {
    return rows.defined() ? parts_of(rows, kept() + (gru() ? 1 : 0)) : Tensors();
  }
  Tensor saved_h(const Tensor& rows) const {
    return rows.defined() ? narrow(rows, 1, hidden_ * static_cast<int64_t>(kept()), width()) : rows;
  }

 private:
  const LayerState& layer_;
  Dim batch_, hidden_;

 public:
  const StepView steps;
};

Tensor side_by_side(const Tensors& parts) { return parts.size() == 1 ? parts[0] : cat(parts, 1); }

// The backward, keeping what each step computed; lists are by number of the step.
struct Unrolled {
  LayerGrads grads;
  std::vector<CellInput> inputs;
  Tensors products;  // gradients of the products with the weight
};

Unrolled unroll(const Walk& walk, const LayerState& layer, const ResultGrads& grads) {
  Unrolled all{{}, std::vector<CellInput>(walk.steps.size()), Tensors(walk.steps.size())};
  Tensors gates(walk.steps.size()), products(walk.steps.size());
  Tensor d_h = walk.state(grads.hn, walk.hidden()), d_c;
  if (walk.lstm()) d_c = walk.state(grads.cn, walk.hidden());
  for (size_t s = walk.steps.size(); s-- > 0;) {
    const size_t at = walk.place(s);
    Tensor d_saved = walk.steps.rows(grads.saved, at);
    CellInput in{plus(d_h, walk.steps.rows(grads.output, at)), d_c,
                 walk.kept_parts(walk.steps.rows(layer.saved, at)), walk.kept_parts(d_saved)};
    CellOutput out = cell_backward(layer.kind, in);
    Tensor of_gates = side_by_side(out.gates);
    Tensor product = walk.gru() ? side_by_side(out.product) : of_gates;
    Tensor before = plus(plus(mm(product, layer.weight), out.direct), walk.saved_h(d_saved));
    // With one step the state before it may have another width than the one after it.
    d_h = walk.steps.updated(d_h, before, at);
    if (walk.lstm()) d_c = walk.steps.updated(d_c, out.c, at);
    gates[at] = of_gates;
    products[at] = product;
    all.products[s] = product;
    all.inputs[s] = std::move(in);
  }
  all.grads = {walk.steps.joined(gates), walk.gru() ? walk.steps.joined(products) : Tensor(), d_h,
               d_c};
  return all;
}

}  // namespace

LayerGrads layer_gradients(const LayerState& layer, const ResultGrads& grads) {
  return unroll(Walk(layer), layer, grads).grads;
}

// The backward runs from the last step to the first, so this runs from the first to the last.
LayerSecond layer_second(const LayerState& layer, const ResultGrads& grads, const LayerGrads& of) {
  Walk walk(layer);
  Unrolled backward = unroll(walk, layer, grads);
  Tensor u_h = walk.state(of.hx, walk.width()), u_c;
  if (walk.lstm()) u_c = walk.state(of.cx, walk.hidden());
  Tensors outputs(walk.steps.size()), saved(walk.steps.size()), left, right;
  auto or_zeros = [&](const Tensor& u, const Tensor& like) {
    return u.defined() ? u : zeros_like(like);
  };
  for (size_t s = 0; s < walk.steps.size(); s++) {
    const size_t at = walk.place(s);
    const Tensor& product = backward.products[s];
    Tensor u_product = mm(u_h, t(layer.weight)), u_gates = walk.steps.rows(of.gates, at);
    left.push_back(walk.steps.cleared(product, at));
    right.push_back(u_h);
    CellOutput u;
    if (walk.gru()) {
      u_product = plus(u_product, walk.steps.rows(of.product, at));
      u.gates = walk.parts_of(or_zeros(u_gates, product), walk.gates());
      u.product = walk.parts_of(u_product, walk.gates());
      u.direct = u_h;
    } else {
      u.gates = walk.parts_of(plus(u_product, u_gates), walk.gates());
    }
    u.c = u_c;
    CellSecond second = cell_second(layer.kind, backward.inputs[s], u);
    Tensors parts = second.kept;
    if (!walk.gru()) parts.push_back(zeros({second.d_h.sizes()[0], walk.width()}, u_h.dtype()));
    saved[at] = cat(parts, 1);
    outputs[at] = second.d_h;
    u_h = walk.steps.updated(u_h, second.d_h, at);
    if (walk.lstm()) u_c = walk.steps.updated(u_c, second.d_c, at);
  }
  Tensor weight = mm(t(cat(left, 0)), cat(right, 0));
  return {{walk.steps.joined(outputs), u_h, u_c, walk.steps.joined(saved)}, weight};
}

}  // namespace fg::ops
