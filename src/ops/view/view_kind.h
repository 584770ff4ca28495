// The view kind: a primitive that is only a rule for sizes, strides and offset. It is linear,
// unless its rule depends on the memory of its input.
#pragma once

#include "ir/primitive.h"
#include "ops/kernels/strided.h"

namespace fg::ops {

template <class P, class Rule>
struct ViewKind {
  static void infer(ir::Operands inputs, const void* params, ir::Meta* outputs) {
    const Tensor& self = *inputs[0];
    outputs[0].dtype = self.dtype();
    outputs[0].offset = self.impl()->offset;
    Rule{}(self, *static_cast<const P*>(params), outputs[0]);
  }
};

template <class P, class Rule>
ir::Primitive<P> view_primitive(const char* name, Rule) {
  ir::Primitive<P> primitive;
  primitive.name = name;
  primitive.kind = ir::Kind::view;
  primitive.operands = "t";
  primitive.infer = ViewKind<P, Rule>::infer;
  return std::move(primitive).linear_in({0});
}

// A primitive of another kind, from its shape rule and its kernel (functions or lambdas).
template <class P, auto rule, auto kernel>
ir::Primitive<P> plain_primitive(const char* name, ir::Kind kind, const char* operands,
                                 int outputs = 1) {
  ir::Primitive<P> primitive;
  primitive.name = name;
  primitive.kind = kind;
  primitive.operands = operands;
  primitive.outputs = outputs;
  primitive.infer = [](ir::Operands inputs, const void* params, ir::Meta* out) {
    rule(inputs, *static_cast<const P*>(params), out);
  };
  primitive.evaluate = [](ir::Operands inputs, const void* params, Tensor* out) {
    kernel(inputs, *static_cast<const P*>(params), out);
  };
  return primitive;
}

// The input itself, after a check of its values: so a captured function refuses values that eager
// code refuses before it computes.
template <class P, auto check>
ir::Primitive<P> checked(const char* name) {
  return plain_primitive<P,
                         [](ir::Operands inputs, const P&, ir::Meta* out) {
                           out[0] = {inputs[0]->sizes(), inputs[0]->dtype(), inputs[0]->strides()};
                         },
                         [](ir::Operands inputs, const P& params, Tensor* out) {
                           check(*inputs[0], params);
                           kernels::copy_elements(out[0], *inputs[0]);
                         }>(name, ir::Kind::extern_call, "t")
      .raising()
      .vjp("CheckedBackward0",
           ir::wrt(0, ir::saves::nothing, [](const ir::Vjp& v) { return v.grad(); }));
}

// For rules of Primitive::requiring(): refuses parameters that no caller in this library passes.
void demand(bool holds, const char* who, const char* expected);

// Refuses geometries that leave the storage.
void check_strided(const Tensor& self, const Dims& size, const Dims& stride, Dim offset);

}  // namespace fg::ops
