#include "ops/window.h"

#include "ops/view_kind.h"

namespace fg::ops {

using namespace ir;

namespace {

const Registered window_p =
    view_primitive<WindowParams>("window", [](const Tensor&, const WindowParams& p, Meta& out) {
      out.sizes = p.size;
      out.strides = p.stride;
      out.offset += p.offset;
    });

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
                    }>("put_window", Kind::scatter);

const Registered restride_p =
    plain_primitive<RestrideParams,
                    [](Operands inputs, const RestrideParams& p, Meta* out) {
                      out[0] = {inputs[0]->sizes(), inputs[0]->dtype(), p.stride};
                    },
                    [](Operands inputs, const RestrideParams&, Tensor* out) {
                      kernels::copy_elements(out[0], *inputs[0]);
                    }>("restride", Kind::elementwise);

}  // namespace

const PrimitiveInfo& window() { return window_p; }
const PrimitiveInfo& put_window() { return put_window_p; }
const PrimitiveInfo& restride() { return restride_p; }

}  // namespace fg::ops
