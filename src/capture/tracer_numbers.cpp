// Numbers of unknown value. A parameter that is one becomes an input of its operation.
#include "capture/tracer.h"

namespace fg::capture {

using ir::kNoValue;
using ir::ValueId;

Scalar Tracer::symbol_of(const Tensor& number) {
  symbols_.push_back(number);
  return Scalar::symbol(static_cast<uint32_t>(symbols_.size()));
}

Tensor Tracer::symbol_tensor(uint32_t symbol) { return alias(symbols_[symbol - 1]); }

void Tracer::give_numbers(ir::Operation& operation, const void* params) {
  const ir::ParamsType& type = *operation.primitive->params;
  if (type.empty) return;
  if (type.replace_symbols) {
    operation.params = type.replace_symbols(params, [&](uint32_t symbol) {
      const Tensor& number = symbols_[symbol - 1];
      operation.inputs.push_back(read(number));
      return Scalar::symbol(static_cast<uint32_t>(++operation.numbers));
    });
  }
  if (!operation.params) operation.params = type.share(params);
}

static thread_local std::vector<size_t> asked_here;

const std::vector<size_t>& asked_inputs() { return asked_here; }
std::vector<size_t> take_asked_inputs() { return std::exchange(asked_here, {}); }

void Tracer::symbol_asked(uint32_t symbol) {
  ValueId number = read(symbols_[symbol - 1]);
  std::vector<bool> needed(graph.values.size());
  needed[number] = true;
  for (size_t i = graph.operations.size(); i-- > 0;) {
    const ir::Operation& operation = graph.operations[i];
    if (!needed[operation.output]) continue;
    for (ValueId input : operation.inputs) {
      if (input != kNoValue) needed[input] = true;
    }
  }
  for (size_t i = 0; i < lifted_.size(); i++) {
    if (needed[lifted_[i].value]) asked_here.push_back(i);
  }
  throw NumberAsked(ErrorKind::runtime,
                    "capture: the value of a number that is an argument is asked for");
}

}  // namespace fg::capture
