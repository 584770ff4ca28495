#include "ops/norm/norm_kind.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/kernels/strided.h"
#include "ops/norm/norm.h"
#include "ops/norm/norm_kernel.h"
#include "ops/reduce/reduce.h"
#include "ops/reduce/reduce_kernel.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/reduce/reduce_spread.h"
#include "ops/view/views.h"

namespace fg {

using namespace ir;
using kernels::accumulate_dtype;
using kernels::as_contiguous;

namespace {

// ---- rows: the last dimensions are normalised

struct RowParams {
  int64_t count = 1;  // of dimensions
  double eps = 0;
  bool operator==(const RowParams&) const = default;
};

Dim row_length(const Dims& sizes, int64_t count) {
  Dim n = 1;
  for (size_t i = sizes.size() - static_cast<size_t>(count); i < sizes.size(); i++) n *= sizes[i];
  return n;
}
Dims statistic_sizes(Dims sizes, int64_t count) {
  for (size_t i = sizes.size() - static_cast<size_t>(count); i < sizes.size(); i++) sizes[i] = 1;
  return sizes;
}
Tensor as_parameter(const Tensor& tensor, DType dtype) {
  return tensor.defined() ? as_contiguous(tensor, dtype) : tensor;
}

void infer_rows(Operands inputs, const RowParams& p, Meta* out) {
  const Tensor& x = *inputs[0];
  out[0] = {x.sizes(), x.dtype()};
  out[1] = out[2] = {statistic_sizes(x.sizes(), p.count), accumulate_dtype(x.dtype())};
}
void evaluate_rows(Operands inputs, const RowParams& p, Tensor* out) {
  DType wide = out[1].dtype();
  Tensor x = as_contiguous(*inputs[0]), weight = as_parameter(*inputs[1], wide),
         bias = as_parameter(*inputs[2], wide);
  int64_t n = row_length(x.sizes(), p.count).value();
  kernels::normalize_rows({x, weight, bias, out[0], out[1], out[2], out[1].numel(), n, p.eps});
}

// Inputs: grad, x, weight, mean, rstd.
void infer_rows_backward(Operands inputs, const RowParams&, Meta* out) {
  out[0] = out[1] = {inputs[1]->sizes(), inputs[1]->dtype()};
}
void evaluate_rows_backward(Operands inputs, const RowParams& p, Tensor* out) {
  Tensor x = as_contiguous(*inputs[1]), grad = as_contiguous(*inputs[0], x.dtype());
  DType wide = accumulate_dtype(x.dtype());
  Tensor weight = as_parameter(*inputs[2], wide), mean = as_contiguous(*inputs[3], wide),
         rstd = as_contiguous(*inputs[4], wide);
  int64_t n = row_length(x.sizes(), p.count).value();
  kernels::normalize_rows_backward({grad, x, weight, mean, rstd, out[0], out[1], mean.numel(), n});
}

// Demands of graphs that come as text: the parameters have a value per element of a row.
void require_row(const Tensor& x, std::initializer_list<const Tensor*> parameters,
                 const RowParams& p) {
  ops::demand(p.count >= 0 && p.count <= x.dim() && is_floating(x.dtype()), "normalize_rows",
              "floats, and no more dimensions than they have");
  for (const Tensor* parameter : parameters) {
    bool fits =
        !parameter->defined() || (parameter->impl()->numel == row_length(x.sizes(), p.count));
    ops::demand(fits, "normalize_rows", "a weight and a bias of the length of a row");
  }
}
void require_rows(Operands inputs, const RowParams& p) {
  require_row(*inputs[0], {inputs[1].data, inputs[2].data}, p);
}
void require_rows_backward(Operands inputs, const RowParams& p) {
  const Tensor& x = *inputs[1];
  require_row(x, {inputs[2].data}, p);
  Dim rows = product(statistic_sizes(x.sizes(), p.count));
  ops::demand(inputs[0]->sizes() == x.sizes() && inputs[3]->impl()->numel == rows &&
                  inputs[4]->impl()->numel == rows,
              "normalize_rows_backward", "a gradient of the sizes of x, and statistics per row");
}

size_t rows_in_front(const void* params, size_t rank) {
  return rank - static_cast<size_t>(static_cast<const RowParams*>(params)->count);
}

// The last dimensions, which a row has.
Dims row_dims(const Tensor& x, int64_t count) {
  Dims dim;
  for (int64_t i = x.dim() - count; i < x.dim(); i++) dim.push_back(i);
  return dim;
}
Tensors row_gradients(const Vjp& v, const RowParams& p);
Tensors second_gradients(const Vjp& v, int weight_input, const Dims& dim, double eps);

// normalize_rows_backward takes mean and rstd for functions of x: it has no gradient for them, and
// its gradient of x is complete.
const Registered rows_p =
    ops::plain_primitive<RowParams, infer_rows, evaluate_rows>("normalize_rows", Kind::extern_call,
                                                               "too", 3)
        .requiring<require_rows>()
        .apart(rows_in_front)
        .vjp("NativeLayerNormBackward0",
             wrt_all({0, 1, 2}, saves::in(0) | saves::in(1) | saves::out(1) | saves::out(2),
                     [](const Vjp& v, const RowParams& p) { return row_gradients(v, p); }));
const Registered rows_backward_p =
    ops::plain_primitive<RowParams, infer_rows_backward, evaluate_rows_backward>(
        "normalize_rows_backward", Kind::extern_call, "ttott", 2)
        .requiring<require_rows_backward>()
        .apart(rows_in_front)
        .linear_in({0})
        .vjp("NormalizeBackwardBackward0",
             wrt_all({0, 1, 2}, saves::in(0) | saves::in(1) | saves::in(2),
                     [](const Vjp& v, const RowParams& p) {
                       return second_gradients(v, 2, row_dims(v.in(1), p.count), p.eps);
                     }));

// Whether `dim` names the last dimensions in order.
bool is_last(const Dims& dim, size_t rank) {
  for (size_t i = 0; i < dim.size(); i++) {
    if (dim[i].value() != static_cast<int64_t>(rank - dim.size() + i)) return false;
  }
  return true;
}
// Whether a parameter has one value for every element of a row.
bool fits_row(const Tensor& parameter, const Tensor& x, const Dims& dim) {
  if (!parameter.defined()) return true;
  const Dims& sizes = parameter.sizes();
  if (sizes.size() != dim.size()) return false;
  for (size_t i = 0; i < dim.size(); i++) {
    if (!(sizes[i] == x.sizes()[x.sizes().size() - dim.size() + i])) return false;
  }
  return true;
}

}  // namespace

namespace ops {

Tensor apply_norm(const Tensor& x, const Tensor& mean, const Tensor& rstd, const Tensor& weight,
                  const Tensor& bias) {
  DType wide = accumulate_dtype(x.dtype());
  Tensor y = (to(x, wide) - mean) * rstd;
  if (weight.defined()) y = y * weight;
  if (bias.defined()) y = y + bias;
  return to(y, x.dtype());
}

Normalized normalize(const Tensor& x, const Dims& dim, const Tensor& weight, const Tensor& bias,
                     double eps) {
  if (is_last(dim, x.sizes().size()) && fits_row(weight, x, dim) && fits_row(bias, x, dim)) {
    RowParams params{static_cast<int64_t>(dim.size()), eps};
    auto [y, mean, rstd] = rows_p.all<3>(params, x, weight, bias);
    return {y, mean, rstd};
  }
  auto [variance, mean] = var_mean(to(x, accumulate_dtype(x.dtype())), dim, OptScalar(0), true);
  Tensor rstd = (variance + eps).rsqrt();
  return {apply_norm(x, mean, rstd, weight, bias), mean, rstd};
}

}  // namespace ops

namespace {

// The gradient of x through xhat, when that of xhat is a; a self-adjoint map of a.
Tensor project(const Tensor& a, const Tensor& xhat, const Tensor& rstd, const Dims& dim) {
  return rstd * (a - mean(a, dim, true) - xhat * mean(a * xhat, dim, true));
}

// The gradient of sum(u * project(a)) with respect to x.
Tensor second_gradient(const Tensor& u, const Tensor& a, const Tensor& xhat, const Tensor& rstd,
                       const Dims& dim) {
  Tensor c = mean(a * xhat, dim, true), d = mean(u * xhat, dim, true);
  Tensor through_xhat = project(-rstd * (u * c + a * d), xhat, rstd, dim);
  Tensor product = mean(u * a, dim, true) - mean(u, dim, true) * mean(a, dim, true) - d * c;
  return through_xhat - xhat * (rstd * rstd * product);
}

Tensor plus(const Tensor& a, const Tensor& b) { return a.defined() ? a + b : b; }

// Gradients of x, weight and bias. Unlike the functions, the primitive has one in the direction of
// mean and rstd.
Tensors row_gradients(const Vjp& v, const RowParams& p) {
  Tensor x = v.in(0), mean = v.out(1), rstd = v.out(2), statistics;
  Tensors grads(3);
  if (v.grad(0).defined()) {
    auto [dx, scaled] =
        normalize_backward(v.grad(0), x, mean, rstd, v.in(1), row_dims(x, p.count), p.eps);
    grads = {dx, scaled, v.grad(0)};
  }
  if (v.grad(1).defined()) statistics = expand(v.grad(1), x.sizes());
  if (v.grad(2).defined()) {
    statistics = plus(statistics, v.grad(2) * (mean - x) * (rstd * rstd * rstd));
  }
  if (!statistics.defined()) return grads;
  statistics = statistics / ops::number_of(row_length(x.sizes(), p.count));
  grads[0] = plus(grads[0], statistics);
  return grads;
}

// Gradients of grad, x and weight. The statistics are computed again from x, so that any higher
// derivative sees them.
Tensors second_gradients(const Vjp& v, int weight_input, const Dims& dim, double eps) {
  Tensor grad = v.in(0), x = v.in(1), weight = v.in(weight_input);
  auto [variance, center] = var_mean(x, dim, OptScalar(0), true);
  Tensor rstd = (variance + eps).rsqrt(), xhat = (x - center) * rstd;
  Tensor d_grad, d_x, d_weight;
  if (Tensor u = v.grad(0); u.defined()) {
    Tensor a = weight.defined() ? grad * weight : grad;
    Tensor back = project(u, xhat, rstd, dim);
    d_grad = weight.defined() ? back * weight : back;
    if (weight.defined() && v.needs(weight_input)) d_weight = back * grad;
    d_x = second_gradient(u, a, xhat, rstd, dim);
  }
  if (Tensor u = v.grad(1); u.defined()) {
    d_grad = plus(d_grad, u * xhat);
    d_x = plus(d_x, project(u * grad, xhat, rstd, dim));
  }
  return {d_grad, d_x, d_weight};
}

void check_backward(const Tensor& grad, const Tensor& x, const Tensor& mean, const Tensor& rstd,
                    const Dims& dim) {
  auto axes = axis_set(dim, x.sizes().size(), "normalize_backward");
  Dims statistics = ops::reduced_sizes(x.sizes(), axes, true);
  if (!(grad.sizes() == x.sizes()) || !(mean.sizes() == statistics) ||
      !(rstd.sizes() == statistics)) {
    fail(
        "normalize_backward: grad {}, input {}, mean {} and rstd {} do not fit; grad must be like "
        "input and the others {}",
        text(grad.sizes()), text(x.sizes()), text(mean.sizes()), text(rstd.sizes()),
        text(statistics));
  }
}

std::tuple<Tensor, Tensor> normalize_backward_body(const Tensor& grad, const Tensor& x,
                                                   const Tensor& mean, const Tensor& rstd,
                                                   const Tensor& weight, const Dims& dim,
                                                   double eps) {
  check_backward(grad, x, mean, rstd, dim);
  if (is_last(dim, x.sizes().size()) && fits_row(weight, x, dim)) {
    RowParams params{static_cast<int64_t>(dim.size()), eps};
    auto [dx, scaled] = rows_backward_p.all<2>(params, grad, x, weight, mean, rstd);
    return {dx, scaled};
  }
  Tensor xhat = ops::apply_norm(to(x, mean.dtype()), mean, rstd, {}, {});
  Tensor dx = project(weight.defined() ? grad * weight : grad, xhat, rstd, dim);
  return {to(dx, x.dtype()), to(grad * xhat, x.dtype())};
}

const auto normalize_backward_entry =
    define(normalize_backward,
           "The gradient of a normalisation over dim, and grad times the normalised input.",
           [](const Tensor& grad, const Tensor& input, const Tensor& mean, const Tensor& rstd,
              const Tensor& weight, const Dims& dim, double eps) {
             return normalize_backward_body(grad, input, mean, rstd, weight, dim, eps);
           })
        .shown(Shown::nowhere)
        .vjp("NormalizeBackwardBackward0",
             wrt_all({0, 1, 4}, saves::in(0) | saves::in(1) | saves::in(4),
                     [](const Vjp& v, const Dims& dim, double eps) {
                       return second_gradients(v, 4, dim, eps);
                     }))
        .samples([] {
          Tensor x = sample({2, 3});
          auto [variance, mean] = var_mean(x, Dims{1}, OptScalar(0), true);
          Tensor rstd = (variance + 1e-5).rsqrt();
          return Samples{{{sample({2, 3}), x, mean, rstd, Value(), Dims{1}, Scalar(1e-5)},
                          "statistics belong to the input",
                          false,
                          false}};
        });

}  // namespace

namespace ops {

void refuse_statistics_gradient(const ir::Vjp& v) {
  if (v.grad(1).defined() || v.grad(2).defined()) {
    fail(ErrorKind::not_implemented,
         "the mean and rstd that a normalisation returns have no gradient; use var_mean");
  }
}

Tensors norm_gradients(const ir::Vjp& v, const Tensor& grad, const Tensor& x, const Tensor& weight,
                       const Dims& dim, double eps) {
  refuse_statistics_gradient(v);
  auto [dx, scaled] = normalize_backward(grad, x, v.out(1), v.out(2), weight, dim, eps);
  return {dx, scaled, grad};
}

}  // namespace ops
}  // namespace fg
