#include "ops/view/window.h"

#include <algorithm>

#include "base/fail.h"
#include "ops/create/create.h"
#include "ops/view/view_gradients.h"
#include "ops/view/view_kind.h"
#include "tensor/geometry.h"

namespace fg::ops {

using namespace ir;

void demand(bool holds, const char* who, const char* expected) {
  if (!holds) fail(ErrorKind::value, "graph text: {}: expected {}", who, expected);
}

namespace {

bool has_negative(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](Dim each) { return each < 0; });
}

// A window lies within what its value reaches.
void require_window(Operands inputs, const WindowParams& p) {
  demand(p.size.size() == p.stride.size(), "window", "one stride per size");
  demand(!has_negative(p.size) && !has_negative(p.stride) && p.offset >= 0, "window",
         "sizes, strides and an offset of 0 or more");
  Dim whole = reach(inputs[0]->sizes(), inputs[0]->strides());
  Dim part = product(p.size) == 0 ? Dim(0) : reach(p.size, p.stride);
  demand(p.offset <= whole && part <= whole - p.offset, "window", "a part of its value");
}
void require_put(Operands inputs, const WindowParams& p) {
  require_window(inputs, p);
  demand(inputs[1]->sizes() == p.size, "put_window", "a part of the sizes that it says");
}
void require_restride(Operands inputs, const RestrideParams& p) {
  demand(p.stride.size() == inputs[0]->sizes().size() && !has_negative(p.stride), "restride",
         "one stride of 0 or more per size");
}

const Registered window_p =
    view_primitive<WindowParams>("window",
                                 [](const Tensor&, const WindowParams& p, Meta& out) {
                                   out.sizes = p.size;
                                   out.strides = p.stride;
                                   out.offset += p.offset;
                                 })
        .requiring<require_window>()
        .linear_in({})  // not with other strides of its value
        .vjp("WindowBackward0", wrt(0, saves::in(0), [](const Vjp& v, const WindowParams& p) {
               Tensor self = v.in(0);  // for its strides
               return as_strided_backward(v.grad(), self.sizes(), self.strides(), 0, p.size,
                                          p.stride, p.offset);
             }));

// A gradient with the strides that the parameters of windows are about.
Tensor laid_out_as(const Tensor& grad, const Tensor& self);
Tensor put_zeros(const Tensor& grad, const WindowParams& p);

const Registered put_window_p =
    plain_primitive<WindowParams,
                    [](Operands inputs, const WindowParams&, Meta* out) {
                      const Tensor& self = *inputs[0];
                      out[0] = {self.sizes(), self.dtype(), self.strides()};
                    },
                    [](Operands inputs, const WindowParams& p, Tensor* out) {
                      kernels::copy_elements(out[0], *inputs[0]);
                      Dim first = out[0].impl()->offset + p.offset;
                      kernels::copy_elements(alias(out[0], p.size, p.stride, first), *inputs[1]);
                    }>("put_window", Kind::scatter, "tt")
        .requiring<require_put>()
        .vjp("PutWindowBackward0",
             wrt(0, saves::in(0),
                 [](const Vjp& v, const WindowParams& p) {
                   return put_zeros(laid_out_as(v.grad(), v.in(0)), p);
                 }),
             wrt(1, saves::in(0), [](const Vjp& v, const WindowParams& p) {
               return window_p.with(p, laid_out_as(v.grad(), v.in(0)));
             }));
Tensor put_zeros(const Tensor& grad, const WindowParams& p) {
  return put_window_p.with(p, grad, zeros(p.size, grad.dtype()));
}

const Registered restride_p =
    plain_primitive<RestrideParams,
                    [](Operands inputs, const RestrideParams& p, Meta* out) {
                      out[0] = {inputs[0]->sizes(), inputs[0]->dtype(), p.stride};
                    },
                    [](Operands inputs, const RestrideParams&, Tensor* out) {
                      kernels::copy_elements(out[0], *inputs[0]);
                    }>("restride", Kind::elementwise, "t")
        .copying()
        .requiring<require_restride>()
        .vjp("RestrideBackward0", wrt(0, saves::nothing, [](const Vjp& v) { return v.grad(); }));
Tensor laid_out_as(const Tensor& grad, const Tensor& self) {
  return restride_p.with({self.strides()}, grad);
}

}  // namespace

const PrimitiveInfo& window() { return window_p; }
const PrimitiveInfo& put_window() { return put_window_p; }
const PrimitiveInfo& restride() { return restride_p; }

}  // namespace fg::ops
