#include "tests/ops/table/primitive_calls.h"

#include "ops/copy/copy.h"

namespace fg::table {

Tensors evaluated(const ir::PrimitiveInfo& primitive, ir::Operands inputs, const void* params) {
  Tensors outputs(static_cast<size_t>(primitive.outputs));
  ir::evaluate(primitive, inputs, params, outputs.data());
  return outputs;
}

void PrimitiveCalls::call(ir::Call& call) {
  call.run();
  if (!call.primitive) return;
  ir::PastInterpreter below(*this);
  look(*call.primitive, call.inputs, call.params);
}

void run_table(PrimitiveCalls& calls) {
  for (const FunctionInfo* info : ir::functions()) {
    each_sample(*info, [&](const Sample& sample) {
      ir::Interpreting guard(calls);
      auto copied = [](const Tensor& tensor) { return clone(tensor); };  // made here: known
      run(*info, map_tensors(sample.arguments, copied), sample.check_gradient);
    });
  }
}

}  // namespace fg::table
