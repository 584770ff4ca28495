// Executables as bytes and back. The cache checks the origin of the bytes; this file checks that
// they are whole and lead to nothing that is not there.
#include <cstring>
#include <unordered_map>

#include "base/fail.h"
#include "base/trace.h"
#include "codegen/executable.h"
#include "codegen/stored_executable_generated.h"
#include "ops/kernels/strided.h"
#include "tensor/geometry.h"

namespace fg::codegen {

using ir::kNoValue;
using ir::ValueId;

namespace {

std::vector<int64_t> numbers_of(const Dims& dims) {
  std::vector<int64_t> result;
  for (const Dim& dim : dims) result.push_back(dim.value());
  return result;
}
Dims dims_of(const std::vector<int64_t>& numbers) {
  Dims result;
  for (int64_t number : numbers) result.push_back(number);
  return result;
}

std::unique_ptr<format::MemoryT> packed(const schedule::MemoryPlan& plan) {
  auto result = std::make_unique<format::MemoryT>();
  result->offsets = plan.offsets;
  result->inside = plan.inside;
  result->consumed = plan.consumed;
  result->bytes = plan.bytes;
  return result;
}

std::unique_ptr<format::OperationT> packed(const ir::Graph& graph, const ir::Operation& operation) {
  auto result = std::make_unique<format::OperationT>();
  result->primitive = operation.primitive->name;
  result->inputs = operation.inputs;
  result->list_input = operation.list_input;
  result->list_count = operation.list_count;
  if (operation.params && !operation.primitive->params->empty) {
    operation.primitive->params->print(result->params, operation.params.get());
  }
  result->numbers = operation.numbers;
  result->output = operation.output;
  result->skip = operation.skip;
  result->source = graph.sources[operation.source];
  return result;
}

std::unique_ptr<format::ConstantT> packed(ValueId value, const Tensor& constant) {
  auto result = std::make_unique<format::ConstantT>();
  result->value = value;
  Tensor whole = constant.contiguous();
  const auto* bytes = static_cast<const uint8_t*>(whole.data_ptr());
  result->bytes.assign(bytes,
                       bytes + static_cast<size_t>(whole.numel()) * item_size(whole.dtype()));
  return result;
}

[[noreturn]] void refuse(const char* what) {
  fail(ErrorKind::value, "stored code is not whole: {}; compile it anew", what);
}

const ir::PrimitiveInfo* primitive_named(const std::string& name) {
  const ir::PrimitiveInfo* found = ir::find_primitive(name);
  if (!found) refuse("an operation is not known");
  return found;
}

}  // namespace

// Their sizes, places and members; a step that runs by itself has none.
std::unique_ptr<format::TileT> Executable::packed_tile(const Step& step) const {
  if (step.members.empty()) return nullptr;
  auto to = std::make_unique<format::TileT>();
  to->rows = step.tile.rows;
  to->height = step.tile.height;
  to->bytes = step.tile.bytes;
  for (const schedule::Tile::Local& local : step.tile.locals) {
    auto& one = to->locals.emplace_back(std::make_unique<format::LocalT>());
    one->value = local.value;
    one->offset = local.offset;
    one->row_bytes = local.row_bytes;
  }
  for (const Step& member : step.members) to->members.push_back(packed(member));
  return to;
}

std::unique_ptr<format::StepT> Executable::packed(const Step& step) const {
  auto to = std::make_unique<format::StepT>();
  to->name = step.name;
  to->operation = codegen::packed(graph_, graph_.operations[step.operation]);
  to->kernel = step.kernel;
  to->grain = step.grain;
  to->flat = step.flat;
  for (const Step::LoopCall& part : step.parts) {
    to->parts.push_back(std::make_unique<format::PartT>());
    to->parts.back()->operands = part.operands;
    to->parts.back()->length = part.length;
  }
  for (const Step::Reduction& one : step.reductions) {
    auto& reduction = to->reductions.emplace_back(std::make_unique<format::ReductionT>());
    reduction->primitive = one.primitive->name;
    reduction->output = one.output;
    reduction->dtype = static_cast<uint8_t>(one.dtype);
    reduction->rows = one.rows;
    reduction->blocks = one.blocks;
    reduction->count = one.count;
  }
  to->tile = packed_tile(step);
  return to;
}

std::string Executable::stored() const {
  format::ExecutableT out;
  for (const ir::ValueInfo& info : graph_.values) {
    auto& value = out.values.emplace_back(std::make_unique<format::ValueT>());
    value->sizes = numbers_of(info.sizes);
    value->strides = numbers_of(info.strides);
    value->dtype = static_cast<uint8_t>(info.dtype);
    value->number = info.number;
  }
  out.inputs = graph_.inputs;
  out.outputs = graph_.outputs;
  for (const schedule::Place& place : places_) {
    out.roots.push_back(place.root);
    out.offsets.push_back(place.offset);
  }
  out.memory = codegen::packed(memory_);
  if (consuming_) out.consuming = codegen::packed(*consuming_);
  for (const Step& step : steps_) out.steps.push_back(packed(step));
  out.kept = kept_;
  for (auto [output, input] : overwritten_) {
    out.overwritten.push_back(output);
    out.overwritten.push_back(input);
  }
  for (const auto& [value, constant] : constants_)
    out.constants.push_back(codegen::packed(value, constant));
  out.loops = loops_;
  out.kernels = kernels_;
  flatbuffers::FlatBufferBuilder builder;
  format::FinishExecutableBuffer(builder, format::Executable::Pack(builder, &out));
  return {reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize()};
}

class Executable::Reader {
 public:
  Reader(Executable& code, std::string_view bytes) : code_(code) {
    const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
    flatbuffers::Verifier verifier(data, bytes.size(), {.max_tables = 1 << 24});
    if (!format::VerifyExecutableBuffer(verifier)) refuse("its form is wrong");
    format::GetExecutable(data)->UnPackTo(&in_);
  }

  void read() {
    read_values();
    code_.graph_.inputs = ids(in_.inputs);
    code_.graph_.outputs = ids(in_.outputs, true);
    code_.graph_.input_roles.resize(in_.inputs.size());
    code_.graph_.output_roles.resize(in_.outputs.size());
    code_.memory_ = read(*in_.memory);
    if (in_.consuming) code_.consuming_ = read(*in_.consuming);
    for (const auto& step : in_.steps) code_.steps_.push_back(read(*step));
    code_.kept_ = ids(in_.kept);
    std::vector<ValueId> pairs = ids(in_.overwritten);
    for (size_t i = 0; i + 1 < pairs.size(); i += 2) {
      code_.overwritten_.emplace_back(pairs[i], pairs[i + 1]);
    }
    for (const auto& constant : in_.constants) read(*constant);
    code_.loops_ = in_.loops;
    code_.kernels_ = in_.kernels;
  }

 private:
  ValueId id(ValueId value, bool none = false) const {
    if (value >= in_.values.size() && !(none && value == kNoValue)) refuse("a value is missing");
    return value;
  }
  std::vector<ValueId> ids(const std::vector<uint32_t>& values, bool none = false) const {
    for (uint32_t value : values) id(value, none);
    return values;
  }
  void check_per_value(size_t count) const {
    if (count != in_.values.size()) refuse("a list has another length");
  }
  static DType dtype(uint8_t number) {
    if (number >= kDTypeCount) refuse("a dtype is not known");
    return static_cast<DType>(number);
  }

  void read_values() {
    check_per_value(in_.roots.size());
    check_per_value(in_.offsets.size());
    for (size_t i = 0; i < in_.values.size(); i++) {
      const format::ValueT& value = *in_.values[i];
      if (value.sizes.size() != value.strides.size()) refuse("a value has another rank");
      code_.graph_.values.push_back(
          {dims_of(value.sizes), dims_of(value.strides), dtype(value.dtype), value.number});
      code_.places_.push_back({id(in_.roots[i]), in_.offsets[i]});
    }
  }

  schedule::MemoryPlan read(const format::MemoryT& memory) const {
    check_per_value(memory.offsets.size());
    check_per_value(memory.inside.size());
    schedule::MemoryPlan plan;
    plan.offsets = memory.offsets;
    plan.inside = ids(memory.inside, true);
    plan.consumed = ids(memory.consumed);
    plan.bytes = memory.bytes;
    return plan;
  }

  void read(const format::OperationT& from) {
    ir::Operation operation;
    operation.primitive = primitive_named(from.primitive);
    operation.inputs = ids(from.inputs, true);
    operation.list_input = from.list_input;
    operation.list_count = from.list_count;
    if (!operation.primitive->params->empty) {
      ir::TextReader text(from.params);
      operation.params = operation.primitive->params->parse(text);
    }
    operation.numbers = from.numbers;
    operation.output = id(from.output);
    id(from.output + static_cast<ValueId>(operation.outputs()) - 1);
    operation.skip = from.skip;
    if (!from.source.empty()) {
      operation.source = static_cast<uint32_t>(code_.graph_.sources.size());
      code_.graph_.sources.push_back(from.source);
    }
    code_.graph_.operations.push_back(std::move(operation));
  }

  Step read(const format::StepT& from) {
    Step step;
    step.name = from.name;
    step.operation = static_cast<uint32_t>(code_.graph_.operations.size());
    read(*from.operation);
    step.kernel = from.kernel;
    step.grain = from.grain;
    step.flat = from.flat;
    for (const auto& part : from.parts) {
      if (part->operands.size() > schedule::kMostLoopOperands)
        refuse("a loop has too many operands");
      step.parts.push_back({ids(part->operands), part->length});
    }
    if (step.kernel.empty() != step.parts.empty()) refuse("a loop does nothing");
    for (const auto& one : from.reductions) {
      step.reductions.push_back({primitive_named(one->primitive), id(one->output),
                                 dtype(one->dtype), one->rows, one->blocks, one->count});
      if (!step.reductions.back().primitive->finish) refuse("a reduction is none");
    }
    if (from.tile) read(*from.tile, step);
    return step;
  }

  void read(const format::TileT& from, Step& step) {
    step.tile = {from.rows, from.height, from.bytes};
    if (from.members.empty() || from.rows < 1 || from.height < 1) refuse("a tile is empty");
    for (const auto& local : from.locals) {
      step.tile.locals.push_back({id(local->value), local->offset, local->row_bytes});
      if (local->offset < 0 || local->row_bytes < 0 ||
          local->offset + from.height * local->row_bytes > from.bytes)
        refuse("a tile is too small");
    }
    for (const auto& member : from.members) {
      if (member->tile) refuse("a tile is inside of another one");
      step.members.push_back(read(*member));
    }
  }

  void read(const format::ConstantT& from) {
    const ir::ValueInfo& info = code_.graph_.values[id(from.value)];
    Tensor whole = empty_tensor(info.sizes, info.dtype);
    size_t bytes = static_cast<size_t>(whole.numel()) * item_size(info.dtype);
    if (bytes != from.bytes.size()) refuse("a constant has another size");
    std::memcpy(whole.impl()->data, from.bytes.data(), bytes);
    Tensor constant = empty_strided_tensor(info.sizes, info.strides, info.dtype);
    kernels::copy_elements(constant, whole);
    constant.impl()->wrapped_number = info.number;
    code_.constants_.emplace_back(from.value, std::move(constant));
  }

  Executable& code_;
  format::ExecutableT in_;
};

void Executable::rename_lines(const std::unordered_map<std::string, std::string>& now) {
  for (std::string& line : graph_.sources) {
    if (auto found = now.find(line); found != now.end()) line = found->second;
  }
}

Executable::Executable(std::string_view stored, std::string_view object) : object_(object) {
  timing::Phase phase("load code");
  Reader(*this, stored).read();
  if (object.empty()) return;
  library_ = std::make_unique<Library>(object_);
  find_functions(steps_);
}

}  // namespace fg::codegen
