#include "codegen/executable.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/fail.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "base/trace.h"
#include "ir/run.h"
#include "ops/kernels/strided.h"
#include "passes/passes.h"
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
      : groups_(groups), of_(graph.values.size()) {
    for (size_t g = 0; g < groups.size(); g++) {
      for (uint32_t index : groups[g].operations) {
        const Operation& operation = graph.operations[index];
        for (int k = 0; k < operation.outputs(); k++) of_[operation.output + k].maker = g;
        for (ValueId read : operation.inputs) {
          if (read == kNoValue) continue;
          Of& root = of_[places[read].root];
          bool element = passes::reads_element(graph, places, operation, read);
          root.aligned = element && (root.aligned || root.last != g);
          root.last = g;
        }
      }
    }
  }
  // Nothing reads the input after the loop that makes the output, and that loop reads element i
  // only to make element i.
  bool end_with(ValueId input, ValueId output) const {
    size_t made = of_[output].maker;
    if (made == kNever || !groups_[made].loop) return false;
    const Of& read = of_[input];
    return read.last == kNever || read.last < made || (read.last == made && read.aligned);
  }

 private:
  static constexpr size_t kNever = ~size_t{0};
  struct Of {
    size_t maker = kNever, last = kNever;
    bool aligned = false;  // all reads of the last group
  };
  const std::vector<Group>& groups_;
  std::vector<Of> of_;
};

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
  passes::block_images(graph_);
  std::vector<Group> groups;
  {
    timing::Phase phase("fuse");
    places_ = passes::find_places(graph_);
    groups = passes::fuse(graph_, places_);
  }
  {
    timing::Phase phase("plan memory");
    memory_ = passes::plan_memory(graph_, places_, groups);
  }
  for (const Operation& operation : graph_.operations) {
    if (!operation.primitive) constants_.emplace_back(operation.output, operation.constant);
  }
  find_overwritten(groups);
  find_kept();
  make_steps(groups, listing);
  if (!listing) return;
  listing->places = places_;
  listing->memory = memory_;
  listing->kept = kept_;
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

void Executable::make_steps(const std::vector<Group>& groups, Listing* listing) {
  std::optional<timing::Phase> phase("make loops");
  Surroundings around{graph_, memory_.stored, find_constants()};
  std::map<std::string, std::string> names;  // of kernels, by text
  std::vector<std::string> name_of_step;
  std::vector<std::unique_ptr<LoopKernel>> kernels;
  std::vector<NamedKernel> to_build;
  for (const Group& group : groups) {
    bool read = std::any_of(group.operations.begin(), group.operations.end(), [&](uint32_t index) {
      return memory_.stored[graph_.operations[index].output];
    });
    if (group.loop && !read) continue;  // nobody wants what it computes
    Step& step = steps_.emplace_back();
    std::string& name = name_of_step.emplace_back();
    step.operation = group.operations[0];
    step.name = name_of(group);
    if (listing) listing->add_step(step.name, group);
    if (!group.loop) continue;
    loops_++;
    Loop loop = make_loop(around, group);
    step.operands = loop.operands;
    step.length = loop.row == 0 ? 0 : loop.length;
    step.grain = grain_of(loop);
    step.flat = loop.kernel.is_flat();
    add_reductions(group, loop, step);
    auto [found, is_new] =
        names.try_emplace(loop.kernel.text(), "k" + std::to_string(names.size()));
    name = found->second;
    if (listing) listing->add_loop(name, loop);
    if (!is_new) continue;
    kernels.push_back(std::make_unique<LoopKernel>(std::move(loop.kernel)));
    to_build.push_back({name, kernels.back().get()});
  }
  kernels_ = to_build.size();
  phase.reset();
  if (to_build.empty()) return;
  library_ = std::make_unique<Library>(build(to_build, level()));
  for (size_t i = 0; i < steps_.size(); i++) {
    if (!name_of_step[i].empty()) steps_[i].function = library_->find(name_of_step[i]);
  }
}

void Executable::add_reductions(const Group& group, const Loop& loop, Step& step) const {
  for (uint32_t index : group.reducing()) {
    const Operation& operation = graph_.operations[index];
    if (!memory_.stored[operation.output]) continue;
    int64_t rows = product(graph_.values[operation.output].sizes).value();
    int64_t elements = product(graph_.values[operation.inputs[0]].sizes).value();
    DType dtype = ir::compute_dtype(graph_.values[operation.output].dtype);
    step.reductions.push_back(
        {operation.primitive, operation.output, dtype, rows, loop.kernel.units, elements / rows});
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
        tensors_(graph_.values.size()) {
    for (size_t i = 0; i < inputs.size(); i++) {
      if (inputs[i].defined()) set(graph_.inputs[i], std::move(inputs[i]));
    }
    for (const auto& [value, constant] : code_.constants_) set(value, constant);
    if (code_.memory_.bytes > 0) {
      arena_ = Storage::create(static_cast<size_t>(code_.memory_.bytes));
    }
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
  void set(ValueId value, Tensor tensor) {
    data_[value] = tensor.impl()->data;
    tensors_[value] = std::move(tensor);
  }

  char* address(ValueId value) const {
    Place place = code_.places_[value];
    int64_t offset = code_.memory_.offsets[place.root];
    char* start = offset >= 0 ? arena_->data() + offset : data_[place.root];
    return start + place.offset * static_cast<int64_t>(item_size(graph_.values[value].dtype));
  }

  // The value as kernels want it; what is in the block, or seen through a view, is made for them.
  Tensor tensor(ValueId value) {
    Tensor& known = tensors_[value];
    if (known.defined()) return known;
    Place place = code_.places_[value];
    const ir::ValueInfo& info = graph_.values[value];
    const Tensor& root = tensors_[place.root];
    auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
    impl->storage = root.defined() ? root.impl()->storage : arena_;
    impl->data = address(value);
    impl->dtype = info.dtype;
    impl->wrapped_number = info.number;
    impl->offset =
        (impl->data - impl->storage->data()) / static_cast<int64_t>(item_size(info.dtype));
    impl->set_layout(info.sizes, info.strides);
    return Tensor(std::move(impl));
  }

  void run_loop(const Step& step) {
    char* pointers[passes::kMostLoopOperands];
    for (size_t k = 0; k < step.operands.size(); k++) pointers[k] = address(step.operands[k]);
    if (!step.reductions.empty()) return run_reductions(step, pointers);
    if (!step.flat) {
      pool::parallel_for(step.length, step.grain, [&](int64_t begin, int64_t end) {
        step.function(pointers, begin, end, services);
      });
      return;
    }
    int64_t blocks = (step.length + kBlock - 1) / kBlock;
    pool::parallel_for(blocks, step.grain, [&](int64_t begin, int64_t end) {
      step.function(pointers, begin * kBlock, std::min(end * kBlock, step.length), services);
    });
  }

  // Every block of the elements gives a number; those of one result are then reduced again.
  void run_reductions(const Step& step, char** pointers) {
    size_t first = step.operands.size() - step.reductions.size();
    Tensors blocks;
    for (const Step::Reduction& reduction : step.reductions) {
      blocks.push_back(empty_tensor({reduction.rows, reduction.blocks}, reduction.dtype));
      pointers[first + blocks.size() - 1] = blocks.back().impl()->data;
    }
    pool::parallel_for(step.length, step.grain, [&](int64_t begin, int64_t end) {
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
