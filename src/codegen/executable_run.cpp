// One run of an executable.
#include <algorithm>

#include "base/interrupt.h"
#include "base/pool.h"
#include "base/trace.h"
#include "codegen/executable_call.h"
#include "ir/run.h"
#include "ops/kernels/strided.h"
#include "tensor/geometry.h"

namespace fg::codegen {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;
using schedule::Place;

namespace {

// Whether this reference is the only one that can see the memory.
bool is_alone(const Tensor& tensor) {
  if (!tensor.defined() || tensor.use_count() > 1 || tensor.impl()->face) return false;
  const Storage& storage = *tensor.impl()->storage;
  return storage.use_count() == 1 && !storage.is_borrowed();
}

}  // namespace

Executable::Call::Call(const Executable& executable, Tensors inputs)
    : code_(executable),
      graph_(executable.graph_),
      data_(graph_.values.size()),
      tensors_(graph_.values.size()),
      memory_(&executable.memory_) {
  for (size_t i = 0; i < inputs.size(); i++) {
    if (inputs[i].defined()) set(graph_.inputs[i], std::move(inputs[i]));
  }
  for (const auto& [value, constant] : code_.constants_) set(value, constant);
  if (may_consume()) memory_ = &*code_.consuming_;
  if (memory_->bytes > 0) arena_ = Storage::create(static_cast<size_t>(memory_->bytes));
  for (auto [output, input] : code_.overwritten_) set(output, tensors_[input]);
  for (ValueId value : code_.kept_) {
    const ir::ValueInfo& info = graph_.values[value];
    Tensor made = empty_strided_tensor(info.sizes, info.strides, info.dtype);
    made.impl()->wrapped_number = info.number;
    set(value, std::move(made));
  }
}

void Executable::Call::run(const Step& step) {
  timing::Span span("step", step.name);
  if (!step.members.empty())
    run_tiles(step);
  else if (step.function)
    run_loop(step);
  else
    run_operation(graph_.operations[step.operation]);
}

Tensors Executable::Call::outputs() {
  Tensors result;
  for (ValueId output : graph_.outputs) {
    result.push_back(output == kNoValue ? Tensor() : tensor(output));
  }
  return result;
}

bool Executable::Call::may_consume() const {
  if (!code_.consuming_) return false;
  const std::vector<ValueId>& inputs = code_.consuming_->consumed;
  return std::all_of(inputs.begin(), inputs.end(),
                     [&](ValueId input) { return is_alone(tensors_[input]); });
}

void Executable::Call::set(ValueId value, Tensor tensor) {
  data_[value] = tensor.impl()->data;
  tensors_[value] = std::move(tensor);
}

char* Executable::Call::address(ValueId value) const {
  Place place = code_.places_[value];
  int64_t offset = memory_->offsets[place.root];
  ValueId inside = memory_->inside[place.root];
  char* start = offset < 0           ? data_[place.root]
                : inside == kNoValue ? arena_->data() + offset
                                     : data_[inside] + offset;
  return start + place.offset * static_cast<int64_t>(item_size(graph_.values[value].dtype));
}

Tensor Executable::Call::tensor(ValueId value) const {
  const Tensor& known = tensors_[value];
  if (known.defined()) return known;
  Place place = code_.places_[value];
  const ir::ValueInfo& info = graph_.values[value];
  ValueId inside = memory_->inside[place.root];
  const Tensor& owner = tensors_[inside == kNoValue ? place.root : inside];
  auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
  impl->storage = owner.defined() ? owner.impl()->storage : arena_;
  impl->data = address(value);
  impl->dtype = info.dtype;
  impl->wrapped_number = info.number;
  impl->offset = (impl->data - impl->storage->data()) / static_cast<int64_t>(item_size(info.dtype));
  impl->set_layout(info.sizes, info.strides);
  return Tensor(std::move(impl));
}

void Executable::Call::find_pointers(const Step::LoopCall& part, char** pointers) const {
  for (size_t k = 0; k < part.operands.size(); k++) pointers[k] = address(part.operands[k]);
}

namespace {

int64_t blocks_of(int64_t length) { return (length + kFlatBlock - 1) / kFlatBlock; }

}  // namespace

void Executable::Call::run_loop(const Step& step) {
  if (step.parts.size() > 1) return run_parts(step);
  const Step::LoopCall& part = step.parts[0];
  char* pointers[schedule::kMostLoopOperands];
  find_pointers(part, pointers);
  if (!step.reductions.empty()) return run_reductions(step, pointers);
  if (!step.flat) {
    pool::parallel_for(part.length, step.grain, [&](int64_t begin, int64_t end) {
      step.function(pointers, begin, end, services);
    });
    return;
  }
  pool::parallel_for(blocks_of(part.length), step.grain, [&](int64_t begin, int64_t end) {
    step.function(pointers, begin * kFlatBlock, std::min(end * kFlatBlock, part.length), services);
  });
}

// The blocks of all parts are numbered one after the other and shared among the threads.
void Executable::Call::run_parts(const Step& step) {
  size_t width = step.parts[0].operands.size();
  std::vector<char*> pointers(width * step.parts.size());
  int64_t blocks = 0;
  for (size_t i = 0; i < step.parts.size(); i++) {
    find_pointers(step.parts[i], &pointers[i * width]);
    blocks += blocks_of(step.parts[i].length);
  }
  pool::parallel_for(blocks, step.grain, [&](int64_t begin, int64_t end) {
    int64_t before = 0;
    for (size_t i = 0; i < step.parts.size() && before < end; i++) {
      const Step::LoopCall& part = step.parts[i];
      int64_t from = std::max<int64_t>(begin - before, 0) * kFlatBlock;
      int64_t to = std::min((end - before) * kFlatBlock, part.length);
      if (from < to) step.function(&pointers[i * width], from, to, services);
      before += blocks_of(part.length);
    }
  });
}

// Every block of the elements gives a number; those of one result are then reduced again.
void Executable::Call::run_reductions(const Step& step, char** pointers) {
  size_t first = step.parts[0].operands.size() - step.reductions.size();
  Tensors blocks;
  for (const Step::Reduction& reduction : step.reductions) {
    blocks.push_back(empty_tensor({reduction.rows, reduction.blocks}, reduction.dtype));
    pointers[first + blocks.size() - 1] = blocks.back().impl()->data;
  }
  pool::parallel_for(step.parts[0].length, step.grain, [&](int64_t begin, int64_t end) {
    step.function(pointers, begin, end, services);
  });
  for (size_t r = 0; r < blocks.size(); r++) {
    const Step::Reduction& reduction = step.reductions[r];
    reduction.primitive->finish(blocks[r], reduction.count, tensor(reduction.output));
  }
}

void Executable::Call::run_operation(const Operation& operation) {
  for (ValueId input : operation.inputs) {
    if (input != kNoValue && !tensors_[input].defined()) made_.emplace_back(input);
    if (input != kNoValue) tensors_[input] = tensor(input);
  }
  ir::OperationParams params(operation, tensors_.data());
  ir::OperationOperands operands(operation, tensors_.data());
  if (operation.aliases_input()) {
    Tensor view;
    ir::evaluate(*operation.primitive, operands.get(), params.get(), &view);
    set(operation.output, std::move(view));
  } else {
    evaluate(operation, operands.get(), params.get());
  }
  for (ValueId input : made_) tensors_[input].reset();
  made_.clear();
}

void Executable::Call::evaluate(const Operation& operation, ir::Operands operands,
                                const void* params) {
  Tensor outputs[ir::kMostOutputs];
  int count = operation.outputs();
  for (int k = 0; k < count; k++) outputs[k] = tensor(operation.output + k);
  if (operation.is_random()) {
    const auto* seed = reinterpret_cast<const int64_t*>(address(operation.inputs.back()));
    ReplayedNumbers numbers(
        {static_cast<uint64_t>(seed[0]), static_cast<uint64_t>(seed[1]) + operation.skip});
    operation.primitive->evaluate(operands, params, outputs);
  } else {
    operation.primitive->evaluate(operands, params, outputs);
  }
  for (int k = 0; k < count; k++) {  // some kernels answer with memory of their inputs
    ValueId value = operation.output + static_cast<ValueId>(k);
    if (outputs[k].impl()->data == address(value)) continue;
    kernels::copy_elements(tensor(value), outputs[k]);
  }
}

Tensors Executable::run(Tensors inputs) const {
  ir::check_inputs(graph_, inputs);
  Eagerly eagerly;
  Call call(*this, std::move(inputs));
  for (size_t i = 0; i < steps_.size(); i++) {
    if (i % 16 == 0) poll_interrupt();
    try {
      call.run(steps_[i]);
    } catch (const Error& error) {
      if (!steps_[i].members.empty()) throw;  // it is named already
      ir::name_line(error, graph_, graph_.operations[steps_[i].operation]);
    }
  }
  return call.outputs();
}

}  // namespace fg::codegen
