#include "capture/tracer.h"

#include "autograd/graph_task.h"
#include "autograd/meta.h"
#include "base/fail.h"
#include "ops/copy/copy.h"
#include "ops/view/window.h"
#include "tensor/geometry.h"

namespace fg::capture {

using ir::kNoValue;
using ir::ValueId;

Tracer::Geometry::Geometry(const Tensor& tensor)
    : sizes(tensor.sizes()), strides(tensor.strides()), offset(tensor.impl()->offset) {}

Dim Tracer::Geometry::reach() const { return fg::reach(sizes, strides); }

bool Tracer::Memory::is_whole(const Tensor& tensor) const {
  return tensor.impl()->offset == geometry->offset && tensor.sizes() == geometry->sizes &&
         tensor.strides() == geometry->strides;
}

size_t Tracer::GeometryHash::operator()(const Geometry& geometry) const {
  auto hash = static_cast<size_t>(geometry.offset.hint());
  for (const Dims* dims : {&geometry.sizes, &geometry.strides}) {
    for (Dim dim : *dims) hash = hash * 0x9E3779B97F4A7C15 + static_cast<size_t>(dim.hint());
  }
  return hash;
}

// Operations of a node's backward come from the line that made the node.
uint32_t Tracer::source() {
  if (backward) {
    autograd::GraphTask* task = autograd::current_task();
    if (!task || !task->current_node) return 0;
    auto found = lines_.find(task->current_node->sequence_nr());
    return found == lines_.end() ? 0 : found->second;
  }
  if (!on_source) return 0;
  std::string text = on_source();
  if (text.empty()) return 0;
  auto [place, fresh] = sources_.try_emplace(text, graph.sources.size());
  if (fresh) graph.sources.push_back(std::move(text));
  lines_[graph_counters.next_sequence_nr] = place->second;  // the node that is recorded next
  return place->second;
}

void Tracer::add(ir::Operation operation) {
  operation.backward = backward;
  ran_backward |= !backward && autograd::current_task() != nullptr;
  operation.source = source();
  bool owns = operation.primitive && operation.primitive->kind != ir::Kind::view;
  fresh_.resize(graph.values.size());
  for (int i = 0; i < operation.outputs(); i++) {
    fresh_[operation.output + static_cast<ValueId>(i)] = owns;
  }
  graph.operations.push_back(std::move(operation));
}

ValueId Tracer::trace(const ir::PrimitiveInfo& primitive, std::vector<ValueId> inputs,
                      ir::ParamsRef params, ir::ValueInfo info) {
  ir::Operation operation;
  operation.primitive = &primitive;
  operation.inputs = std::move(inputs);
  operation.params = std::move(params);
  operation.output = graph.add_value(std::move(info));
  ValueId output = operation.output;
  add(std::move(operation));
  return output;
}

// A tensor that the function made of numbers: its elements are part of the graph.
Tracer::Memory& Tracer::add_constant(const Tensor& tensor) {
  const TensorImpl& impl = *tensor.impl();
  Tensor base = tensor;
  auto room = static_cast<int64_t>(impl.storage->bytes() / item_size(impl.dtype));
  if (!(impl.offset == 0) || !tensor.is_contiguous() || tensor.numel() != room) {
    base = alias(tensor, {room}, {1}, 0);
  }
  ir::Operation operation;
  {
    Eagerly eagerly;  // a copy: the function may hand the tensor out, and its owner write to it
    operation.constant = base.clone();
    operation.constant.impl()->wrapped_number = base.impl()->wrapped_number;
  }
  operation.output = graph.add_value(ir::info_of(base));
  Memory memory(base, operation.output);
  add(std::move(operation));
  return memories_[impl.storage.get()] = std::move(memory);
}

Tracer::Memory& Tracer::memory_of(const Tensor& tensor) {
  auto found = memories_.find(tensor.impl()->storage.get());
  if (found != memories_.end()) return found->second;
  if (!tensor.is_abstract()) return add_constant(tensor);
  fail(
      "capture: a tensor of another captured function is used here; it has no value in this one: "
      "pass it as an argument");
}

// The same value may be weak in promotion in one place and not in another.
ValueId Tracer::as_number(ValueId value, bool number) {
  if (graph.values[value].number == number) return value;
  ir::ValueInfo info = graph.values[value];
  info.number = number;
  ops::WindowParams params{info.sizes, info.strides, 0};
  return trace(ops::window(), {value}, std::make_shared<const ops::WindowParams>(params), info);
}

ValueId Tracer::read(const Tensor& given) {
  Tensor tensor = stand_in(given);
  Memory& memory = memory_of(tensor);
  if (tensor.dtype() != memory.base.dtype()) {
    fail("capture: a view as another dtype is not captured yet; convert with to() instead");
  }
  if (scope_) note_read(tensor.impl()->storage.get(), memory);
  bool number = tensor.impl()->wrapped_number;
  if (memory.is_whole(tensor)) {
    return memory.number == number ? memory.value : as_number(memory.value, number);
  }
  return as_number(read_part(memory, tensor), number);
}

ValueId Tracer::read_part(Memory& memory, const Tensor& view) {
  auto [place, added] = memory.views().parts.try_emplace(Geometry(view), kNoValue);
  if (!added) return place->second;
  Dim offset = view.impl()->offset - memory.geometry->offset;
  if (offset < 0 || offset + Geometry(view).reach() > memory.geometry->reach()) {
    fail(
        "capture: a view reaches elements of its storage outside of the tensor that was given to "
        "the function; pass the whole tensor");
  }
  ops::WindowParams params{view.sizes(), view.strides(), offset};
  ir::ValueInfo info{view.sizes(), view.strides(), view.dtype()};
  ValueId value =
      trace(ops::window(), {memory.value}, std::make_shared<const ops::WindowParams>(params), info);
  return place->second = value;
}

std::optional<Tracer::InMemory> Tracer::find(const Tensor& given) const {
  Tensor tensor = given;
  if (!tensor.is_abstract() && !tensor.impl()->storage->made_in_capture()) {
    auto found = inside_.find(tensor.impl());
    if (found == inside_.end()) return {};
    tensor = found->second.second;
  }
  auto found = memories_.find(tensor.impl()->storage.get());
  if (found == memories_.end() || !found->second.geometry) return {};
  const Dim offset = tensor.impl()->offset - found->second.geometry->offset;
  if (!offset.is_constant()) return {};
  return InMemory{found->second.value, offset.value(), tensor.impl()->storage.get(),
                  found->second.written_as_data};
}

bool Tracer::was_written(const Tensor& tensor) const {
  auto found = memories_.find(tensor.impl()->storage.get());
  return found != memories_.end() && found->second.written;
}

std::vector<ValueId> Tracer::values_read_back() const {
  std::vector<ValueId> result;
  for (const Storage* storage : all_read_) {
    auto found = memories_.find(storage);
    if (found != memories_.end()) result.push_back(found->second.value);
  }
  return result;
}

bool Tracer::depends_on_offset(const Tensor& tensor) const {
  auto found = memories_.find(tensor.impl()->storage.get());
  return found != memories_.end() && found->second.offset_matters;
}

const ViewStep* Tracer::step_of(const Tensor& view) const {
  auto found = steps_.find(view.impl());
  if (found == steps_.end()) return nullptr;
  const ViewStep& step = found->second.second;  // unless one of the two got another shape since
  bool holds = step.sizes == view.sizes() && step.strides == view.strides() &&
               step.of_sizes == step.of.sizes() && step.of_strides == step.of.strides();
  return holds ? &step : nullptr;
}

// Views of a tensor that takes another shape stay what they were, and a view that does so counts as
// a change of its base: neither can be made again around the graph.
void Tracer::reshaping(const Tensor& self, const Tensor& view) {
  if (scope_) note_change(self, "a change of shape", true);
  if (self.retains_grad()) {
    fail(
        "capture: the function changes the shape in place of a tensor that keeps the gradient it "
        "had before; call retain_grad() after that, or use the out-of-place form");
  }
  Memory& memory = memory_of(stand_in(self));
  bool has_views = false;
  for (const auto& [impl, step] : steps_) {
    bool lives = step.first.use_count() > 1 && impl != view.impl();
    has_views |= lives && step.second.of.is_same(self);
  }
  bool has_past =
      self.requires_grad() && (memory.is_input || self.is_view() || !modes.grad_enabled);
  if (!has_views && !has_past) return;
  fail(
      "capture: the function changes the shape of a tensor in place that has views, or requires "
      "grad and is an input, a view, or changed in no_grad mode; use the out-of-place form");
}

void Tracer::unpacked(const Tensor& saved) {
  Tensor inside = stand_in(saved);
  if (scope_) all_read_.insert(inside.impl()->storage.get());
  if (!inside.impl()->own_version) read_back.insert(inside.impl()->storage.get());
  if (!memory_of(inside).written_as_data) return;
  fail(
      "capture: the function writes through .data to a tensor that its gradient reads, which may "
      "see the elements from before or after; write to a clone()");
}

// Whether the elements of the value fill its stretch of memory.
bool Tracer::is_dense(const Memory& memory) {
  return product(memory.geometry->sizes) == memory.geometry->reach();
}

void Tracer::add_view(const ir::PrimitiveInfo& primitive, const Tensor& input, const void* params,
                      const ir::Meta& meta, Tensor& output) {
  output = alias(input, meta.sizes, meta.strides, meta.offset);
  Memory& memory = memory_of(input);
  ir::ParamsRef shared = primitive.params->empty ? nullptr : primitive.params->share(params);
  bool usual = !primitive.from_storage || !memory.is_input || is_dense(memory) ||
               memory.views().usual.count(Geometry(output)) || memory.is_whole(output);
  if (!usual) {
    fail(
        "capture: as_strided of a tensor that has holes may reach elements between its own; pass "
        "the whole tensor");
  }
  memory.offset_matters |= primitive.from_storage;
  memory.views().usual.insert(Geometry(output));
  steps_[output.impl()] = {output,
                           {input, &primitive, shared, meta.sizes, meta.strides, input.sizes(),
                            input.strides(), input.impl()->storage->version}};
  if (primitive.from_storage || memory.is_whole(output)) return;
  if (memory.views().parts.count(Geometry(output)) > 0) return;
  ValueId value = trace(primitive, {read(input)}, std::move(shared), ir::info_of(output));
  memory_of(input).views().parts.emplace(Geometry(output), value);
}

// Random numbers come from a seed, an input; each call knows how many were drawn before it.
void Tracer::draw(ir::Operation& operation, ir::Operands inputs, const void* params,
                  const ir::Meta& meta) {
  if (scope_) note_draw();
  const ir::PrimitiveInfo& primitive = *operation.primitive;
  const Generator* generator = primitive.params->generator(params);
  Drawn* from = nullptr;
  for (Drawn& known : drawn) {
    if (generator ? known.generator == *generator : !known.generator) from = &known;
  }
  if (!from) {
    ir::ValueInfo info{{2}, {1}, kInt64};
    ir::Role role{ir::Role::Kind::seed, static_cast<int64_t>(drawn.size())};
    ValueId seed = graph.add_input(info, role);
    drawn.push_back({generator ? std::optional(*generator) : std::nullopt, seed, 0});
    from = &drawn.back();
  }
  operation.inputs.push_back(from->seed);
  operation.skip = from->numbers;
  Dim numbers = primitive.draws ? primitive.draws(inputs, params) : product(meta.sizes);
  from->numbers += static_cast<uint64_t>(numbers.value());
}

// Functions run, and their primitives are traced.
void Tracer::call(ir::Call& call) {
  if (!call.primitive) return call.run();
  const ir::PrimitiveInfo& primitive = *call.primitive;
  ir::Operands inputs = call.inputs;
  const void* params = call.params;
  ir::Operation operation;
  operation.primitive = &primitive;
  Tensors given;
  std::vector<ir::Operand> operands;
  size_t total = 0;
  for (const ir::Operand& input : inputs) total += input.all().size();
  given.reserve(total);  // operands point into it
  for (size_t i = 0; i < inputs.size(); i++) {
    size_t first = given.size();
    for (const Tensor& tensor : inputs[i].all()) {
      given.push_back(stand_in(tensor));
      if (primitive.kind == ir::Kind::view) continue;
      operation.inputs.push_back(tensor.defined() ? read(given.back()) : kNoValue);
    }
    operands.push_back(inputs[i]);
    operands.back().data = given.data() + first;
    if (inputs[i].count != 1) {
      operation.list_input = static_cast<int>(i);
      operation.list_count = inputs[i].count;
    }
  }
  ir::Meta metas[ir::kMostOutputs];
  primitive.infer(operands, params, metas);
  if (primitive.kind == ir::Kind::view) {
    return add_view(primitive, given[0], params, metas[0], call.outputs[0]);
  }
  give_numbers(operation, params);
  if (operation.is_random()) draw(operation, operands, params, metas[0]);
  for (size_t i = 0; i < call.outputs.size(); i++) {
    Tensor& output = call.outputs[i];
    output = abstract_tensor(metas[i].sizes, ir::strides_of(metas[i]), 0, metas[i].dtype);
    ValueId value = graph.add_value(ir::info_of(output));
    if (i == 0) operation.output = value;
    memories_[output.impl()->storage.get()] = Memory(output, value);
  }
  add(std::move(operation));
}

void Tracer::settle(const Tensor& tensor, std::unordered_set<ValueId>& others) {
  Memory& memory = memory_of(tensor);
  ValueId value = memory.value;
  bool fresh = value < fresh_.size() && fresh_[value];
  if (others.count(value) > 0 || !fresh) {
    ir::ValueInfo info = graph.values[value];
    ops::RestrideParams params{info.strides};
    memory.value =
        trace(ops::restride(), {value}, std::make_shared<const ops::RestrideParams>(params), info);
    memory.forget_parts();
  }
  others.insert(memory.value);
}

// The value of the whole storage after a write to `self`.
ValueId Tracer::put(Memory& memory, const Tensor& self, ValueId value) {
  const Geometry& whole = *memory.geometry;
  ir::ValueInfo info{whole.sizes, whole.strides, memory.base.dtype()};
  if (memory.is_whole(self)) {
    if (graph.values[value].strides == whole.strides) return as_number(value, false);
    ops::RestrideParams params{whole.strides};
    return trace(ops::restride(), {value}, std::make_shared<const ops::RestrideParams>(params),
                 info);
  }
  ops::WindowParams params{self.sizes(), self.strides(), self.impl()->offset - whole.offset};
  return trace(ops::put_window(), {memory.value, value},
               std::make_shared<const ops::WindowParams>(params), info);
}

bool Tracer::write(const Tensor& given, const Tensor& value) {
  Tensor self = stand_in(given);
  ModesGuard below;
  modes.grad_enabled = false;
  Tensor converted = value.dtype() == self.dtype() ? value : to(value, self.dtype());
  ValueId part = read(converted);
  Memory& memory = memory_of(self);
  if (scope_) note_write(self, memory);
  read(self);  // refuses what is not part of the base
  memory.value = put(memory, self, part);
  memory.number = false;
  memory.forget_parts();
  memory.written = true;
  memory.written_as_data |= static_cast<bool>(self.impl()->own_version);
  self.impl()->bump_version();
  return true;
}

}  // namespace fg::capture
