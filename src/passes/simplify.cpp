// Pass simplify: replaces copies, views, writes and conversions by shorter ways to the same bits,
// in one walk over the operations.
#include <algorithm>
#include <optional>

#include "ops/view/window.h"
#include "passes/memory.h"
#include "passes/passes.h"

namespace fg::passes {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;
using ir::ValueInfo;
using ops::WindowParams;

namespace {

// Sizes and strides without what addresses nothing, the smallest stride first. None if two indices
// may mean one element.
std::optional<std::vector<std::pair<int64_t, int64_t>>> steps_of(const Dims& sizes,
                                                                 const Dims& strides) {
  std::vector<std::pair<int64_t, int64_t>> steps;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (!sizes[i].is_constant() || !strides[i].is_constant()) return std::nullopt;
    if (sizes[i].value() != 1) steps.emplace_back(strides[i].value(), sizes[i].value());
  }
  std::sort(steps.begin(), steps.end());
  int64_t reach = 1;
  for (auto [stride, size] : steps) {
    if (stride < reach) return std::nullopt;
    reach = stride * size;
  }
  return steps;
}

bool same_window(const WindowParams& a, const WindowParams& b) {
  return same(a.size, b.size) && same(a.stride, b.stride) && same(a.offset, b.offset);
}

bool covers(const WindowParams& window, const ValueInfo& whole) {
  if (known_equal(window.offset, 0) != Known::yes) return false;
  auto part = steps_of(window.size, window.stride);
  return part && part == steps_of(whole.sizes, whole.strides);
}

// Every value of `narrow` is a value of `wide`.
bool holds_all(DType wide, DType narrow) {
  if (narrow == wide || narrow == kBool) return true;
  return number_kind(wide) == number_kind(narrow) && is_signed(wide) == is_signed(narrow) &&
         item_size(wide) > item_size(narrow);
}

class Simplifier {
 public:
  explicit Simplifier(ir::Graph& graph)
      : graph_(graph),
        memory_(graph),
        same_(graph.values.size()),
        maker_(graph.values.size(), kNone),
        looks_(graph.values.size()) {
    for (ValueId value = 0; value < same_.size(); value++) same_[value] = value;
  }

  void run() {
    for (size_t i = 0; i < graph_.operations.size(); i++) {
      Operation& operation = graph_.operations[i];
      for (ValueId& input : operation.inputs) {
        if (input != kNoValue) input = same_[input];
      }
      if (!remove(operation)) keep(operation);
    }
    graph_.operations.resize(kept_);
    for (ValueId& output : graph_.outputs) {
      if (output != kNoValue) output = same_[output];
    }
  }

 private:
  static constexpr uint32_t kNone = ~uint32_t{0};
  // A view as a part of the memory it looks at.
  struct Look {
    ValueId of = kNoValue;
    Dim offset = 0;
  };

  const Operation* maker(ValueId value) const {
    return maker_[value] == kNone ? nullptr : &graph_.operations[maker_[value]];
  }
  bool is_made_by(ValueId value, const ir::PrimitiveInfo& primitive) const {
    const Operation* operation = maker(value);
    return operation && operation->primitive == &primitive;
  }
  const ValueInfo& info(ValueId value) const { return graph_.values[value]; }

  void keep(Operation& operation) {
    for (int k = 0; k < operation.outputs(); k++) {
      maker_[operation.output + static_cast<ValueId>(k)] = static_cast<uint32_t>(kept_);
    }
    Operation& place = graph_.operations[kept_++];
    if (&place != &operation) place = std::move(operation);
  }

  // Whether no operation is needed for its value: same_ says which one it is. What stays may have
  // become another operation.
  bool remove(Operation& operation) {
    if (!operation.primitive) return false;
    const ir::PrimitiveInfo& primitive = *operation.primitive;
    if (primitive.from_storage) return false;
    if (operation.aliases_input()) return remove_view(operation);
    if (primitive.copies) return remove_conversion(operation);
    if (&primitive == &ops::put_window()) return remove_write(operation);
    return remove_inverse(operation);
  }

  // Lets `by`, which has the same elements, stand for the value of an operation with memory of its
  // own.
  bool remove_copy(ValueId value, ValueId by) {
    if (!same(info(value), info(by))) return false;
    if (memory_.is_shown(value)) {
      if (!memory_.is_fresh(by)) return false;
      memory_.shown[by] = true;
      memory_.output[by] = memory_.output[value];
    }
    same_[value] = by;
    return true;
  }

  bool remove_conversion(const Operation& operation) {
    ValueId input = operation.inputs[0];
    if (remove_copy(operation.output, input)) return true;
    if (!maker(input) || !maker(input)->primitive || !maker(input)->primitive->copies) return false;
    ValueId first = maker(input)->inputs[0];
    return holds_all(info(input).dtype, info(first).dtype) && remove_copy(operation.output, first);
  }

  bool remove_inverse(const Operation& operation) {
    const ir::PrimitiveInfo& primitive = *operation.primitive;
    if (!primitive.involutory || !is_made_by(operation.inputs[0], primitive)) return false;
    return remove_copy(operation.output, maker(operation.inputs[0])->inputs[0]);
  }

  // ---- views

  Dim offset_of(const Operation& view) const {
    static const ir::NoParams none;
    if (view.primitive == &ops::window())
      return static_cast<const WindowParams*>(view.params.get())->offset;
    const Tensor input = ir::abstract_tensor_of(info(view.inputs[0]));
    const ir::Operand operand(input);
    ir::Meta meta;
    view.primitive->infer({&operand, 1}, view.params ? view.params.get() : &none, &meta);
    return meta.offset;
  }
  // Another look at the same memory: the caller may get it, but not twice, and not an input.
  bool replace_view(ValueId value, ValueId by) {
    if (!same(info(value), info(by))) return false;
    if (memory_.is_output(value)) {
      if (memory_.is_output(by) || !maker(by) || !maker(by)->primitive) return false;
      memory_.output[by] = true;
    }
    same_[value] = by;
    return true;
  }
  bool remove_view(Operation& operation) {
    ValueId input = operation.inputs[0], output = operation.output;
    Look look{input, offset_of(operation)};
    bool of_view = looks_[input].of != kNoValue;
    if (of_view) look = {looks_[input].of, look.offset + looks_[input].offset};
    if (same(look.offset, 0) && replace_view(output, look.of)) return true;
    WindowParams params{info(output).sizes, info(output).strides, look.offset};
    if (of_view) make_window(operation, look.of, params);
    if (is_made_by(look.of, ops::put_window())) {
      if (read_what_was_written(*maker(look.of), output, params)) return true;
    }
    looks_[output] = look;
    return false;
  }
  static void make_window(Operation& operation, ValueId of, const WindowParams& params) {
    operation.primitive = &ops::window();
    operation.inputs = {of};
    operation.params = std::make_shared<const WindowParams>(params);
  }

  // ---- writes

  static const WindowParams& window_of(const Operation& operation) {
    return *static_cast<const WindowParams*>(operation.params.get());
  }
  // A look at exactly the part that was written last.
  bool read_what_was_written(const Operation& write, ValueId output, const WindowParams& params) {
    if (!same_window(window_of(write), params)) return false;
    if (!steps_of(params.size, params.stride)) return false;
    ValueId part = write.inputs[1];
    // The part has another memory than the view, which the caller may know.
    if (memory_.is_shown(output) || !same(info(part), info(output))) return false;
    same_[output] = part;
    return true;
  }
  bool remove_write(Operation& operation) {
    const WindowParams& params = window_of(operation);
    ValueId whole = operation.inputs[0], part = operation.inputs[1];
    if (known_equal(info(part).sizes, params.size) != Known::yes) return false;
    if (covers(params, info(operation.output))) return replace_everything(operation, part);
    if (is_made_by(whole, ops::put_window()) && same_window(window_of(*maker(whole)), params)) {
      operation.inputs[0] = maker(whole)->inputs[0];  // overwritten at once
    }
    return false;
  }
  // A write to all elements: the part, in the memory order of the whole.
  bool replace_everything(Operation& operation, ValueId part) {
    const WindowParams& params = window_of(operation);
    ValueId output = operation.output;
    const ValueInfo& whole = info(output);
    if (same(params.size, whole.sizes) && same(params.stride, whole.strides)) {
      if (remove_copy(output, part)) return true;
      operation.primitive = &ops::restride();
      operation.inputs = {part};
      operation.params =
          std::make_shared<const ops::RestrideParams>(ops::RestrideParams{whole.strides});
      return false;
    }
    if (!same(info(part).strides, params.stride) || memory_.is_shown(output)) return false;
    Look look{part, 0};
    if (looks_[part].of != kNoValue) look = looks_[part];
    make_window(operation, look.of, {whole.sizes, whole.strides, look.offset});
    looks_[output] = look;
    memory_.made[output] = false;
    return false;
  }

  ir::Graph& graph_;
  Memory memory_;
  std::vector<ValueId> same_;    // the value that stands for it
  std::vector<uint32_t> maker_;  // the operation, among those that are kept
  std::vector<Look> looks_;      // of views
  size_t kept_ = 0;              // operations so far
};

}  // namespace

void simplify(ir::Graph& graph) { Simplifier(graph).run(); }

}  // namespace fg::passes
