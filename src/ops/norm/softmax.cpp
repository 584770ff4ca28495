#include "ops/norm/softmax.h"

#include "base/fail.h"
#include "ir/define.h"
#include "ops/copy/copy.h"
#include "ops/elementwise/arithmetic.h"
#include "ops/norm/softmax_kernel.h"
#include "ops/reduce/reduce.h"
#include "ops/view/view_kind.h"

namespace fg {

using namespace ir;
using kernels::SoftmaxKind;

namespace {

struct SoftmaxParams {
  Axis dim = -1;
  bool operator==(const SoftmaxParams&) const = default;
};

void infer_softmax(Operands inputs, const SoftmaxParams& p, Meta* out) {
  const Tensor& self = *inputs[0];
  wrap_axis(p.dim, self.sizes().size(), "softmax");
  if (!is_floating(self.dtype())) {
    fail(ErrorKind::not_implemented,
         "softmax: {} is not supported; convert the input to a float or pass dtype",
         name(self.dtype()));
  }
  if (inputs.size() > 1 && !(inputs[1]->sizes() == self.sizes())) {
    fail("softmax: gradient {} and output {} must have equal sizes", text(self.sizes()),
         text(inputs[1]->sizes()));
  }
  out[0].sizes = self.sizes();
  out[0].dtype = self.dtype();
}

template <SoftmaxKind kind>
void evaluate_softmax(Operands inputs, const SoftmaxParams& p, Tensor* out) {
  int64_t axis = wrap_axis(p.dim, inputs[0]->sizes().size(), "softmax");
  Tensor second = inputs.size() > 1 ? to(*inputs[1], out[0].dtype()) : Tensor();
  kernels::softmax(kind, *inputs[0], second, axis, out[0]);
}

template <SoftmaxKind kind>
Primitive<SoftmaxParams> softmax_primitive(const char* name, const char* operands) {
  return ops::plain_primitive<SoftmaxParams, infer_softmax, evaluate_softmax<kind>>(
             name, Kind::extern_call, operands)
      .apart([](const void* params, size_t rank) {
        int64_t dim = static_cast<const SoftmaxParams*>(params)->dim;
        return static_cast<size_t>(wrap_axis(dim, rank, "softmax"));
      });
}

// Gradients of the gradients. y (g - sum(g y)): linear in g, with itself as adjoint.
Tensor softmax_second(const Vjp& v, int64_t dim) {
  Tensor g = v.in(0), y = v.in(1), u = v.grad();
  return u * (g - sum(g * y, dim, true)) - g * sum(u * y, dim, true);
}
Tensor log_softmax_adjoint(const Vjp& v, int64_t dim) {
  return v.grad() - sum(v.grad() * v.in(1).exp(), dim, true);
}
Tensor log_softmax_second(const Vjp& v, int64_t dim) {
  return -v.grad() * v.in(1).exp() * sum(v.in(0), dim, true);
}

const Registered softmax_p =
    softmax_primitive<SoftmaxKind::softmax>("softmax", "t")
        .vjp("SoftmaxBackward0", wrt(0, saves::out(), [](const Vjp& v, const SoftmaxParams& p) {
               return softmax_backward(v.grad(), v.out(), p.dim);
             }));
const Registered log_softmax_p =
    softmax_primitive<SoftmaxKind::log_softmax>("log_softmax", "t")
        .vjp("LogSoftmaxBackward0", wrt(0, saves::out(), [](const Vjp& v, const SoftmaxParams& p) {
               return log_softmax_backward(v.grad(), v.out(), p.dim);
             }));
const Registered softmax_gradient_p =
    softmax_primitive<SoftmaxKind::softmax_gradient>("softmax_backward", "tt")
        .linear_in({0})
        .vjp("SoftmaxBackwardDataBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, const SoftmaxParams& p) {
                   return softmax_backward(v.grad(), v.in(1), p.dim);
                 }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v, const SoftmaxParams& p) { return softmax_second(v, p.dim); }));
const Registered log_softmax_gradient_p =
    softmax_primitive<SoftmaxKind::log_softmax_gradient>("log_softmax_backward", "tt")
        .linear_in({0})
        .vjp(
            "LogSoftmaxBackwardDataBackward0",
            wrt(0, saves::in(1),
                [](const Vjp& v, const SoftmaxParams& p) { return log_softmax_adjoint(v, p.dim); }),
            wrt(1, saves::in(0) | saves::in(1),
                [](const Vjp& v, const SoftmaxParams& p) { return log_softmax_second(v, p.dim); }));

Samples inputs() {
  return {{{sample({2, 3}), Scalar(1)}},
          {{sample({2, 3, 2}), Scalar(-2)}, "middle"},
          {{sample({}), Scalar(0)}, "zero-dim"},
          {{sample({0, 3}), Scalar(1)}, "empty"}};
}
Samples gradients() {
  return {{{sample({2, 3}), sample({2, 3}), Scalar(1)}},
          {{sample({2, 3}), sample({2, 3}), Scalar(0)}, "first"}};
}

const auto softmax_entry =
    define(softmax, "exp of each element divided by their sum along dim.",
           [](const Tensor& self, int64_t dim, OptDType dtype) {
             return softmax_p.with({dim}, to(self, dtype.value_or(self.dtype())));
           })
        .also_named({"special.softmax"})
        .vjp("SoftmaxBackward0", wrt(0, saves::out(),
                                     [](const Vjp& v, int64_t dim, OptDType) {
                                       return softmax_backward(v.grad(), v.out(), dim);
                                     }))
        .out()
        .samples(inputs);
const auto log_softmax_entry =
    define(log_softmax, "The logarithm of softmax along dim.",
           [](const Tensor& self, int64_t dim, OptDType dtype) {
             return log_softmax_p.with({dim}, to(self, dtype.value_or(self.dtype())));
           })
        .also_named({"special.log_softmax"})
        .vjp("LogSoftmaxBackward0", wrt(0, saves::out(),
                                        [](const Vjp& v, int64_t dim, OptDType) {
                                          return log_softmax_backward(v.grad(), v.out(), dim);
                                        }))
        .out()
        .samples(inputs);

const auto softmax_backward_entry =
    define(softmax_backward, "The gradient of softmax from the gradient of its output.",
           [](const Tensor& grad, const Tensor& output, int64_t dim) {
             return softmax_gradient_p.with({dim}, grad, output);
           })
        .shown(Shown::nowhere)
        .vjp(
            "SoftmaxBackwardDataBackward0",
            wrt(0, saves::in(1),
                [](const Vjp& v, int64_t dim) { return softmax_backward(v.grad(), v.in(1), dim); }),
            wrt(1, saves::in(0) | saves::in(1),
                [](const Vjp& v, int64_t dim) { return softmax_second(v, dim); }))
        .samples(gradients);
const auto log_softmax_backward_entry =
    define(log_softmax_backward, "The gradient of log_softmax from the gradient of its output.",
           [](const Tensor& grad, const Tensor& output, int64_t dim) {
             return log_softmax_gradient_p.with({dim}, grad, output);
           })
        .shown(Shown::nowhere)
        .vjp("LogSoftmaxBackwardDataBackward0",
             wrt(0, saves::in(1),
                 [](const Vjp& v, int64_t dim) { return log_softmax_adjoint(v, dim); }),
             wrt(1, saves::in(0) | saves::in(1),
                 [](const Vjp& v, int64_t dim) { return log_softmax_second(v, dim); }))
        .samples(gradients);

}  // namespace
}  // namespace fg

namespace fg {

Tensor Tensor::softmax(int64_t dim, OptDType dtype) const { return fg::softmax(*this, dim, dtype); }
Tensor Tensor::log_softmax(int64_t dim, OptDType dtype) const {
  return fg::log_softmax(*this, dim, dtype);
}

}  // namespace fg
