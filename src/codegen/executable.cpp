#include "codegen/executable.h"

#include <algorithm>
#include <map>

#include "base/trace.h"
#include "schedule/batch.h"

namespace fg::codegen {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;
using schedule::Group;

namespace {

// A thread's share is worth waking it up: about so many instructions.
constexpr int64_t kWorthAThread = 1 << 18;

int64_t grain_of(const Loop& loop) {
  auto work = static_cast<int64_t>(loop.kernel.program.instructions.size() +
                                   2 * loop.kernel.operands.size());
  int64_t elements = std::max<int64_t>(kWorthAThread / work, kFlatBlock);
  int64_t unit = loop.kernel.is_flat() ? kFlatBlock : std::max<int64_t>(loop.row, 1);
  return std::max<int64_t>(elements / unit, 1);
}

}  // namespace

Executable::Executable(schedule::Schedule schedule, Listing* listing)
    : graph_(std::move(schedule.graph)),
      places_(std::move(schedule.places)),
      memory_(std::move(schedule.memory)),
      consuming_(std::move(schedule.consuming)),
      kept_(std::move(schedule.kept)),
      overwritten_(std::move(schedule.overwritten)) {
  for (const Operation& operation : graph_.operations) {
    if (!operation.primitive) constants_.emplace_back(operation.output, operation.constant);
  }
  make_steps(schedule.groups, std::move(schedule.tiles), listing);
  if (!listing) return;
  listing->places = places_;
  listing->memory = memory_;
  listing->consuming_bytes = consuming_bytes();
  listing->kept = kept_;
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

  // Groups that run by the same tiles.
  void add_tile(std::span<const Group> members, schedule::Tile memory) {
    Step tile;
    tile.operation = members[0].operations[0];
    tile.tile = std::move(memory);
    for (const Group& group : members) {
      tile.name += (tile.name.empty() ? "" : " | ") + code_.name_of(group);
    }
    if (listing_) listing_->open_tile(tile.name, members, tile.tile);
    steps_ = &tile.members;
    for (const Group& group : members) {
      open_ = false;
      if (!group.loop || is_read(group)) group.loop ? add_loop(group) : void(add_step(group));
    }
    steps_ = &code_.steps_;
    open_ = false;
    if (listing_) listing_->close_tile();
    steps_->push_back(std::move(tile));
  }

  void build() {
    code_.kernels_ = to_build_.size();
    if (to_build_.empty()) return;
    code_.object_ = codegen::build(to_build_, level());
    code_.library_ = std::make_unique<Library>(code_.object_);
    code_.find_functions(code_.steps_);
  }

 private:
  bool is_read(const Group& group) const {
    return std::any_of(group.operations.begin(), group.operations.end(), [&](uint32_t index) {
      return code_.memory_.stored[code_.graph_.operations[index].output];
    });
  }

  Step& add_step(const Group& group) {
    Step& step = steps_->emplace_back();
    step.operation = group.operations[0];
    step.name = code_.name_of(group);
    if (listing_) listing_->add_step(step.name, group);
    return step;
  }

  void add_loop(const Group& group) {
    code_.loops_++;
    Loop loop = make_loop(around_, group);
    Step::LoopCall part{loop.operands, loop.row == 0 ? 0 : loop.length};
    std::string kernel = name_of(loop.kernel);
    bool flat = loop.kernel.is_flat();
    if (open_ && flat && kernel == steps_->back().kernel) {
      steps_->back().parts.push_back(std::move(part));
      if (listing_) listing_->join_step(group);
      return;
    }
    Step& step = add_step(group);
    step.kernel = kernel;
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
  std::vector<Step>* steps_ = &code_.steps_;  // that are added to
  bool open_ = false;  // the last step was made of what runs at the same time
  std::map<std::string, std::string> names_;  // of kernels, by text
  std::vector<std::unique_ptr<LoopKernel>> kernels_;
  std::vector<NamedKernel> to_build_;
};

void Executable::find_functions(std::vector<Step>& steps) {
  for (Step& step : steps) {
    if (!step.kernel.empty()) step.function = library_->find(step.kernel);
    find_functions(step.members);
  }
}

void Executable::make_steps(const std::vector<Group>& groups, std::vector<schedule::Tile> tiles,
                            Listing* listing) {
  StepMaker maker(*this, listing);
  auto tile = tiles.begin();
  {
    timing::Phase phase("make loops");
    std::vector<size_t> ends = schedule::ends_of_steps(groups);
    for (size_t g = 0; g < groups.size(); g++) {
      if (groups[g].rows == 0)
        maker.add(groups[g]);
      else
        maker.add_tile(std::span(groups).subspan(g, ends[g] - g + 1), std::move(*tile++));
      if (groups[g].rows > 0) g = ends[g];
    }
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
        {operation.primitive, operation.output, dtype, rows, loop.kernel.units, elements / rows});
  }
}

// Names the operations of a group and their sizes, for people.
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

}  // namespace fg::codegen
