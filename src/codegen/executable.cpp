#include "codegen/executable.h"

#include <algorithm>
#include <map>

#include "base/fail.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/trace.h"
#include "ir/run.h"
#include "ops/kernels/strided.h"
#include "passes/batch.h"
#include "tensor/geometry.h"

namespace fg::codegen {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;
using passes::Group;
using passes::Place;

namespace {

constexpr int kMostOutputs = 8;  // of a primitive
constexpr int64_t kBlock = 512;  // what of a flat loop is never split
// A thread's share is worth waking it up: about so many instructions.
constexpr int64_t kWorthAThread = 1 << 18;

int64_t grain_of(const Loop& loop) {
  auto work = static_cast<int64_t>(loop.kernel.program.instructions.size() +
                                   2 * loop.kernel.operands.size());
  int64_t elements = std::max<int64_t>(kWorthAThread / work, kBlock);
  int64_t unit = loop.kernel.is_flat() ? kBlock : std::max<int64_t>(loop.row, 1);
  return std::max<int64_t>(elements / unit, 1);
}

// Which group makes a value, and which ones read it.
class Reads {
 public:
  Reads(const ir::Graph& graph, const std::vector<Place>& places, const std::vector<Group>& groups)
      : groups_(groups), ends_(passes::ends_of_steps(groups)), of_(graph.values.size()) {
    for (size_t g = 0; g < groups.size(); g++) {
      for (uint32_t index : groups[g].operations) {
        const Operation& operation = graph.operations[index];
        for (int k = 0; k < operation.outputs(); k++) of_[operation.output + k].maker = g;
        for (ValueId read : operation.inputs) {
          if (read == kNoValue) continue;
          Of& root = of_[places[read].root];
          bool element = passes::reads_element(graph, places, operation, read);
          if (root.last != g) root.before = root.last;
          root.aligned = element && (root.aligned || root.last != g);
          root.last = g;
        }
      }
    }
  }
  // Nothing reads the input after the loop that makes the output, or at the same time, and that
  // loop reads element i only to make element i.
  bool end_with(ValueId input, ValueId output) const {
    size_t made = of_[output].maker;
    if (made == kNever || !groups_[made].loop) return false;
    const Of& read = of_[input];
    if (read.last == made) return read.aligned && is_earlier(read.before, made);
    return is_earlier(read.last, made);
  }

 private:
  static constexpr size_t kNever = ~size_t{0};
  struct Of {
    size_t maker = kNever, last = kNever;
    size_t before = kNever;  // the last group
    bool aligned = false;    // all reads of the last group
  };
  bool is_earlier(size_t read, size_t made) const { return read == kNever || ends_[read] < made; }

  const std::vector<Group>& groups_;
  std::vector<size_t> ends_;
  std::vector<Of> of_;
};

// Nobody but who has this reference can see the memory.
bool is_alone(const Tensor& tensor) {
  if (!tensor.defined() || tensor.use_count() > 1 || tensor.impl()->face) return false;
  const Storage& storage = *tensor.impl()->storage;
  return storage.use_count() == 1 && !storage.is_borrowed();
}

void check_constant_sizes(const ir::Graph& graph) {
  for (const ir::ValueInfo& info : graph.values) {
    for (const Dim& size : info.sizes) {
      if (!size.is_constant()) fail("native code for sizes that are symbols is not made yet");
    }
  }
}

}  // namespace

Executable::Executable(ir::Graph graph, Listing* listing) : graph_(std::move(graph)) {
  check_constant_sizes(graph_);
  std::vector<Group> groups;
  {
    timing::Phase phase("fuse");
    places_ = passes::find_places(graph_);
    groups = passes::fuse(graph_, places_);
    passes::batch(graph_, places_, groups);
  }
  plan_memory(groups);
  for (const Operation& operation : graph_.operations) {
    if (!operation.primitive) constants_.emplace_back(operation.output, operation.constant);
  }
  find_overwritten(groups);
  find_kept();
  make_steps(groups, listing);
  if (!listing) return;
  listing->places = places_;
  listing->memory = memory_;
  listing->consuming_bytes = consuming_bytes();
  listing->kept = kept_;
}

void Executable::plan_memory(const std::vector<Group>& groups) {
  timing::Phase phase("plan memory");
  memory_ = passes::plan_memory(graph_, places_, groups);
  if (graph_.consumable.empty()) return;
  consuming_ = passes::plan_memory(graph_, places_, groups, true);
  if (consuming_->bytes >= memory_.bytes) consuming_.reset();
}

void Executable::find_kept() {
  std::vector<bool> kept(graph_.values.size());
  for (ValueId output : graph_.outputs) {
    if (output != kNoValue) kept[places_[output].root] = true;
  }
  for (auto [output, input] : overwritten_) kept[output] = false;
  for (const Operation& operation : graph_.operations) {
    if (!operation.primitive || passes::is_view(operation)) continue;
    for (int k = 0; k < operation.outputs(); k++) {
      if (kept[operation.output + k]) kept_.push_back(operation.output + k);
    }
  }
}

// Which new elements of inputs a loop can put where the old ones are.
void Executable::find_overwritten(const std::vector<Group>& groups) {
  if (!graph_.overwrites) return;
  std::vector<int> shown(graph_.values.size());  // how many outputs show a value
  for (ValueId output : graph_.outputs) {
    if (output != kNoValue) shown[places_[output].root]++;
  }
  Reads reads(graph_, places_, groups);
  for (size_t i = 0; i < graph_.outputs.size(); i++) {
    const ir::Role& role = graph_.output_roles[i];
    ValueId output = graph_.outputs[i];
    if (role.kind != ir::Role::Kind::mutation || output == kNoValue) continue;
    ValueId input = graph_.inputs[static_cast<size_t>(role.index)];
    if (places_[output].root != output || shown[output] > 1 || shown[input] > 0) continue;
    const ir::ValueInfo& info = graph_.values[input];
    if (!(graph_.values[output] == info) || overlaps_itself(info.sizes, info.strides)) continue;
    if (reads.end_with(input, output)) overwritten_.emplace_back(output, input);
  }
}

std::vector<const Tensor*> Executable::find_constants() const {
  std::vector<const Tensor*> constants(graph_.values.size());
  for (const auto& [value, constant] : constants_) constants[value] = &constant;
  return constants;
}

// Steps and the kernels that they call. Equal loops have one kernel.
class Executable::StepMaker {
 public:
  StepMaker(Executable& code, Listing* listing)
      : code_(code),
        listing_(listing),
        around_{code.graph_, code.memory_.stored, code.find_constants()} {}

  void add(const Group& group) {
    if (!group.beside) open_ = false;
    if (group.loop && !is_read(group)) return;
    if (group.loop)
      add_loop(group);
    else
      add_step(group);
    open_ = true;
  }

  void build() {
    code_.kernels_ = to_build_.size();
    if (to_build_.empty()) return;
    code_.library_ = std::make_unique<Library>(codegen::build(to_build_, level()));
    for (size_t i = 0; i < kernel_of_.size(); i++) {
      if (!kernel_of_[i].empty()) code_.steps_[i].function = code_.library_->find(kernel_of_[i]);
    }
  }

 private:
  bool is_read(const Group& group) const {
    return std::any_of(group.operations.begin(), group.operations.end(), [&](uint32_t index) {
      return code_.memory_.stored[code_.graph_.operations[index].output];
    });
  }

  Step& add_step(const Group& group) {
    Step& step = code_.steps_.emplace_back();
    kernel_of_.emplace_back();
    step.operation = group.operations[0];
    step.name = code_.name_of(group);
    if (listing_) listing_->add_step(step.name, group);
    return step;
  }

  void add_loop(const Group& group) {
    code_.loops_++;
    Loop loop = make_loop(around_, group);
    Step::Part part{loop.operands, loop.row == 0 ? 0 : loop.length};
    std::string kernel = name_of(loop.kernel);
    bool flat = loop.kernel.is_flat();
    if (open_ && flat && kernel == kernel_of_.back()) {
      code_.steps_.back().parts.push_back(std::move(part));
      if (listing_) listing_->join_step(group);
      return;
    }
    Step& step = add_step(group);
    kernel_of_.back() = kernel;
    step.parts.push_back(std::move(part));
    step.grain = grain_of(loop);
    step.flat = flat;
    code_.add_reductions(group, loop, step);
    if (listing_) listing_->add_loop(kernel, loop);
    if (kernels_.size() == names_.size()) return;
    kernels_.push_back(std::make_unique<LoopKernel>(std::move(loop.kernel)));
    to_build_.push_back({kernel, kernels_.back().get()});
  }

  const std::string& name_of(const LoopKernel& kernel) {
    return names_.try_emplace(kernel.text(), "k" + std::to_string(names_.size())).first->second;
  }

  Executable& code_;
  Listing* listing_;
  Surroundings around_;
  bool open_ = false;  // the last step was made of what runs at the same time
  std::map<std::string, std::string> names_;  // of kernels, by text
  std::vector<std::string> kernel_of_;        // per step
  std::vector<std::unique_ptr<LoopKernel>> kernels_;
  std::vector<NamedKernel> to_build_;
};

void Executable::make_steps(const std::vector<Group>& groups, Listing* listing) {
  StepMaker maker(*this, listing);
  {
    timing::Phase phase("make loops");
    for (const Group& group : groups) maker.add(group);
  }
  maker.build();
}

void Executable::add_reductions(const Group& group, const Loop& loop, Step& step) const {
  for (uint32_t index : group.reducing()) {
    const Operation& operation = graph_.operations[index];
    if (!memory_.stored[operation.output]) continue;
    int64_t rows = product(graph_.values[operation.output].sizes).value();
    int64_t elements = product(graph_.values[operation.inputs[0]].sizes).value();
    DType dtype = ir::compute_dtype(graph_.values[operation.output].dtype);
    step.reductions.push_back(
        {operation.primitive, operation.output, dtype, rows, loop.length / rows, elements / rows});
  }
}

// What it computes and how much, for people.
std::string Executable::name_of(const Group& group) const {
  std::string out;
  for (uint32_t index : group.operations) {
    if (!out.empty()) out += " ";
    out += graph_.operations[index].primitive->name;
  }
  const Operation& last = graph_.operations[group.operations.back()];
  const Operation& first = graph_.operations[group.operations[0]];
  for (ValueId input : group.loop ? std::vector<ValueId>{} : first.inputs) {
    if (input != kNoValue) out += " " + text(graph_.values[input].sizes);
  }
  return out + " -> " + text(graph_.values[last.output].sizes);
}

class Executable::Call {
 public:
  Call(const Executable& executable, Tensors inputs)
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

  void run(const Step& step) {
    timing::Span span("step", step.name);
    if (step.function)
      run_loop(step);
    else
      run_operation(graph_.operations[step.operation]);
  }

  Tensors outputs() {
    Tensors result;
    for (ValueId output : graph_.outputs) {
      result.push_back(output == kNoValue ? Tensor() : tensor(output));
    }
    return result;
  }

 private:
  bool may_consume() const {
    if (!code_.consuming_) return false;
    const std::vector<ValueId>& inputs = code_.consuming_->consumed;
    return std::all_of(inputs.begin(), inputs.end(),
                       [&](ValueId input) { return is_alone(tensors_[input]); });
  }

  void set(ValueId value, Tensor tensor) {
    data_[value] = tensor.impl()->data;
    tensors_[value] = std::move(tensor);
  }

  char* address(ValueId value) const {
    Place place = code_.places_[value];
    int64_t offset = memory_->offsets[place.root];
    ValueId inside = memory_->inside[place.root];
    char* start = offset < 0           ? data_[place.root]
                  : inside == kNoValue ? arena_->data() + offset
                                       : data_[inside] + offset;
    return start + place.offset * static_cast<int64_t>(item_size(graph_.values[value].dtype));
  }

  // The value as kernels want it; what is in the block, or seen through a view, is made for them.
  Tensor tensor(ValueId value) {
    Tensor& known = tensors_[value];
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
    impl->offset =
        (impl->data - impl->storage->data()) / static_cast<int64_t>(item_size(info.dtype));
    impl->set_layout(info.sizes, info.strides);
    return Tensor(std::move(impl));
  }

  void find_pointers(const Step::Part& part, char** pointers) const {
    for (size_t k = 0; k < part.operands.size(); k++) pointers[k] = address(part.operands[k]);
  }

  void run_loop(const Step& step) {
    if (step.parts.size() > 1) return run_parts(step);
    const Step::Part& part = step.parts[0];
    char* pointers[passes::kMostLoopOperands];
    find_pointers(part, pointers);
    if (!step.reductions.empty()) return run_reductions(step, pointers);
    if (!step.flat) {
      pool::parallel_for(part.length, step.grain, [&](int64_t begin, int64_t end) {
        step.function(pointers, begin, end, services);
      });
      return;
    }
    pool::parallel_for(blocks_of(part), step.grain, [&](int64_t begin, int64_t end) {
      step.function(pointers, begin * kBlock, std::min(end * kBlock, part.length), services);
    });
  }

  static int64_t blocks_of(const Step::Part& part) { return (part.length + kBlock - 1) / kBlock; }

  // The blocks of all parts are numbered one after the other and shared among the threads.
  void run_parts(const Step& step) {
    size_t width = step.parts[0].operands.size();
    std::vector<char*> pointers(width * step.parts.size());
    int64_t blocks = 0;
    for (size_t i = 0; i < step.parts.size(); i++) {
      find_pointers(step.parts[i], &pointers[i * width]);
      blocks += blocks_of(step.parts[i]);
    }
    pool::parallel_for(blocks, step.grain, [&](int64_t begin, int64_t end) {
      int64_t before = 0;
      for (size_t i = 0; i < step.parts.size() && before < end; i++) {
        const Step::Part& part = step.parts[i];
        int64_t from = std::max<int64_t>(begin - before, 0) * kBlock;
        int64_t to = std::min((end - before) * kBlock, part.length);
        if (from < to) step.function(&pointers[i * width], from, to, services);
        before += blocks_of(part);
      }
    });
  }

  // Every block of the elements gives a number; those of one result are then reduced again.
  void run_reductions(const Step& step, char** pointers) {
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

  void run_operation(const Operation& operation) {
    for (ValueId input : operation.inputs) {
      if (input != kNoValue && !tensors_[input].defined()) made_.emplace_back(input);
      if (input != kNoValue) tensors_[input] = tensor(input);
    }
    ir::OperationParams params(operation, tensors_.data());
    ir::OperationOperands operands(operation, tensors_.data());
    if (passes::is_view(operation)) {
      Tensor view;
      ir::evaluate(*operation.primitive, operands.get(), params.get(), &view);
      set(operation.output, std::move(view));
    } else {
      evaluate(operation, operands.get(), params.get());
    }
    for (ValueId input : made_) tensors_[input].reset();
    made_.clear();
  }

  void evaluate(const Operation& operation, ir::Operands operands, const void* params) {
    Tensor outputs[kMostOutputs];
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

  const Executable& code_;
  const ir::Graph& graph_;
  Ref<Storage> arena_;
  std::vector<char*> data_;  // per value that is in memory of its own
  Tensors tensors_;
  std::vector<ValueId> made_;  // for one operation
  const passes::MemoryPlan* memory_;
};

Tensors Executable::run(Tensors inputs) const {
  ir::check_inputs(graph_, inputs);
  ModesGuard below;
  modes.grad_enabled = false;
  modes.interpreter = nullptr;
  Call call(*this, std::move(inputs));
  for (size_t i = 0; i < steps_.size(); i++) {
    if (i % 16 == 0) poll_interrupt();
    try {
      call.run(steps_[i]);
    } catch (const Error& error) {
      ir::name_line(error, graph_, graph_.operations[steps_[i].operation]);
    }
  }
  return call.outputs();
}

}  // namespace fg::codegen
