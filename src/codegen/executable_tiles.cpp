// Steps that run by tiles: each thread takes some rows through all members of a step, with memory
// of its own for what nobody else reads.
#include <algorithm>

#include "base/pool.h"
#include "codegen/executable_call.h"
#include "ir/run.h"
#include "ops/kernels/strided.h"
#include "schedule/rows.h"

namespace fg::codegen {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;

namespace {

// A tensor that shows some rows of a value.
struct Rows {
  TensorImpl* impl;
  Dims sizes;
  size_t dim;           // whose indices are rows; those before have size 1
  int64_t per_row = 1;  // so many of them
  char* start;          // of row 0, or of the first one that is there
  int64_t stride = 0;   // bytes between rows; 0: only the rows of a tile are there
  int64_t count = -1;   // that it shows

  void show(int64_t begin, int64_t end) {
    impl->data = start + begin * stride;
    impl->offset =
        (impl->data - impl->storage->data()) / static_cast<int64_t>(item_size(impl->dtype));
    if (count == end - begin) return;
    count = end - begin;
    sizes[dim] = count * per_row;
    impl->set_layout(sizes, Dims(impl->strides));
  }
};

// An operand of a loop that has only the rows of a tile.
struct Shifted {
  size_t operand;
  char* start;
  int64_t row_bytes;
};

}  // namespace

// What one thread needs to take rows through a step.
class Executable::Call::TileRun {
 public:
  TileRun(const Call& call, const Step& step)
      : call_(call),
        tile_(step.tile),
        scratch_(Storage::create(static_cast<size_t>(std::max<int64_t>(tile_.bytes, 1)))) {
    for (const Step& member : step.members) {
      Member& made = members_.emplace_back();
      made.step = &member;
      if (member.function)
        prepare_loop(made);
      else
        prepare_kernel(made);
    }
  }

  void run(int64_t begin, int64_t end) {
    for (Member& member : members_) {
      for (Rows& rows : member.rows) rows.show(begin, end);
      if (member.step->function)
        run_loop(member, begin, end);
      else
        run_kernel(member);
    }
  }

 private:
  struct Member {
    const Step* step;
    std::vector<char*> pointers{};  // of a loop
    std::vector<Shifted> shifted{};
    Tensors inputs{}, outputs{};  // of a kernel; of a loop: blocks and what is made of them
    std::vector<ir::Operand> operands{};
    std::vector<Rows> rows{};
  };

  const schedule::Tile::Local* local(ValueId value) const {
    ValueId root = call_.code_.places_[value].root;
    auto found = std::find_if(tile_.locals.begin(), tile_.locals.end(),
                              [&](const auto& one) { return one.value == root; });
    return found == tile_.locals.end() ? nullptr : &*found;
  }
  char* start_of(ValueId value, const schedule::Tile::Local* local) const {
    if (!local) return call_.address(value);
    int64_t item = static_cast<int64_t>(item_size(call_.graph_.values[value].dtype));
    return scratch_->data() + local->offset + call_.code_.places_[value].offset * item;
  }

  Tensor add_rows(Member& member, ValueId value) {
    const ir::ValueInfo& info = call_.graph_.values[value];
    const schedule::Tile::Local* here = local(value);
    auto impl = Ref<TensorImpl>::adopt(new TensorImpl);
    impl->storage = here ? scratch_ : call_.tensor(value).impl()->storage;
    impl->dtype = info.dtype;
    impl->wrapped_number = info.number;
    impl->strides = info.strides;
    size_t dim = *schedule::leading_dims(info.sizes, tile_.rows) - 1;
    Rows rows{impl.get(), info.sizes, dim, 1, start_of(value, here)};
    for (size_t d = 0; d < dim; d++) rows.sizes[d] = 1;
    if (!here)
      rows.stride = info.strides[dim].value() * static_cast<int64_t>(item_size(info.dtype));
    member.rows.push_back(std::move(rows));
    return Tensor(std::move(impl));
  }

  void prepare_kernel(Member& member) {
    const Operation& operation = call_.graph_.operations[member.step->operation];
    for (ValueId input : operation.inputs) {
      bool cut = input != kNoValue && schedule::is_cut(call_.graph_, operation, input);
      member.inputs.push_back(cut                 ? add_rows(member, input)
                              : input == kNoValue ? Tensor()
                                                  : call_.tensor(input));
    }
    for (int k = 0; k < operation.outputs(); k++) {
      member.outputs.push_back(add_rows(member, operation.output + static_cast<ValueId>(k)));
    }
    member.operands.assign(member.inputs.begin(), member.inputs.end());
  }

  void run_kernel(Member& member) {
    static const ir::NoParams none;
    const Operation& operation = call_.graph_.operations[member.step->operation];
    const void* params = operation.params ? operation.params.get() : &none;
    try {
      Tensors outputs = member.outputs;
      operation.primitive->evaluate(member.operands, params, outputs.data());
      for (size_t k = 0; k < outputs.size(); k++) {
        if (outputs[k].impl()->data == member.outputs[k].impl()->data) continue;
        kernels::copy_elements(member.outputs[k], outputs[k]);
      }
    } catch (const Error& error) {
      ir::name_line(error, call_.graph_, operation);
    }
  }

  void prepare_loop(Member& member) {
    const std::vector<ValueId>& operands = member.step->parts[0].operands;
    size_t first = operands.size() - member.step->reductions.size();
    member.pointers.resize(operands.size());
    for (size_t k = 0; k < first; k++) {
      const schedule::Tile::Local* here = local(operands[k]);
      member.pointers[k] = start_of(operands[k], here);
      if (here) member.shifted.push_back({k, member.pointers[k], here->row_bytes});
    }
    for (const Step::Reduction& reduction : member.step->reductions) {
      size_t k = first + member.inputs.size();
      member.shifted.push_back(add_blocks(member, reduction, k));
      member.outputs.push_back(add_rows(member, reduction.output));
    }
  }
  // What the blocks of the rows give.
  Shifted add_blocks(Member& member, const Step::Reduction& reduction, size_t operand) {
    int64_t per_row = reduction.rows / tile_.rows;
    Tensor blocks = empty_tensor({tile_.height * per_row, reduction.blocks}, reduction.dtype);
    TensorImpl* impl = blocks.impl();
    member.inputs.push_back(blocks);
    member.rows.push_back({impl, impl->sizes, 0, per_row, impl->data});
    int64_t item = static_cast<int64_t>(item_size(reduction.dtype));
    return {operand, impl->data, per_row * reduction.blocks * item};
  }

  void run_loop(Member& member, int64_t begin, int64_t end) {
    // Loops count from the first row of all; what has no other rows is moved to where it were.
    for (const Shifted& shifted : member.shifted) {
      auto place = reinterpret_cast<uintptr_t>(shifted.start);
      place -= static_cast<uintptr_t>(begin * shifted.row_bytes);
      member.pointers[shifted.operand] = reinterpret_cast<char*>(place);
    }
    const Step& step = *member.step;
    int64_t units = step.parts[0].length / tile_.rows;
    step.function(member.pointers.data(), begin * units, end * units, services);
    for (size_t r = 0; r < step.reductions.size(); r++) {
      const Step::Reduction& reduction = step.reductions[r];
      reduction.primitive->finish(member.inputs[r], reduction.count, member.outputs[r]);
    }
  }

  Eagerly eagerly_;
  const Call& call_;
  const schedule::Tile& tile_;
  Ref<Storage> scratch_;
  std::vector<Member> members_;
};

void Executable::Call::run_tiles(const Step& step) {
  const auto [rows, height] = std::pair(step.tile.rows, step.tile.height);
  pool::parallel_for((rows + height - 1) / height, 1, [&](int64_t begin, int64_t end) {
    TileRun tiles(*this, step);
    for (int64_t i = begin; i < end; i++) {
      tiles.run(i * height, std::min((i + 1) * height, rows));
    }
  });
}

}  // namespace fg::codegen
