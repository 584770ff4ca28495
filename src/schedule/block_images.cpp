#include "schedule/block_images.h"

#include <algorithm>
#include <numeric>

#include "ops/convolution/channel_blocks.h"
#include "schedule/fuse.h"

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;
using ir::ValueInfo;
using Kind = BlockedRole::Kind;

bool is_per_channel(const ValueInfo& info, const Dims& image) {
  if (info.sizes.size() > image.size()) return false;
  std::vector<int64_t> strides = loop_strides(info, image);
  for (size_t d = 2; d < strides.size(); d++) {
    if (strides[d] != 0) return false;
  }
  return strides[1] == 0 || strides[1] == 1;
}

namespace {

bool is_image(const ValueInfo& info) {
  return info.sizes.size() >= 3 && info.sizes[1].value() % kernels::channel_block() == 0 &&
         known_equal(product(info.sizes), 0) == Known::no &&
         same(info.strides, contiguous_strides(info.sizes));
}
bool is_f32_image(const ValueInfo& info) { return info.dtype == kFloat32 && is_image(info); }

class Finder {
 public:
  explicit Finder(const ir::Graph& graph) : graph_(graph), set_(graph.values.size()) {
    std::iota(set_.begin(), set_.end(), 0);
    made_.resize(graph.values.size());
    read_.resize(graph.values.size());
  }

  BlockedImages run() {
    BlockedImages result;
    for (const Operation& operation : graph_.operations) {
      result.roles.push_back(role_of(operation));
      add(operation, result.roles.back());
    }
    for (ValueId output : graph_.outputs) {
      if (output != kNoValue) read_[output].plain = true;
    }
    std::vector<int64_t> gain = find_gains();
    result.blocked.resize(graph_.values.size());
    for (ValueId value = 0; value < set_.size(); value++) {
      result.blocked[value] = gain[find(value)] > 0;
      result.any |= result.blocked[value];
    }
    return result;
  }

 private:
  struct Readers {
    bool plain = false, in_blocks = false;
    int64_t convolutions = 0;  // of those in blocks
  };
  enum class Maker : uint8_t { plain, elementwise, convolution };

  const ValueInfo& info(ValueId value) const { return graph_.values[value]; }

  // ---- roles

  BlockedRole role_of(const Operation& operation) const {
    if (!operation.primitive || operation.outputs() != 1) return {};
    if (is_elementwise(operation)) return {Kind::elementwise};
    if (is_reduction(operation)) return {Kind::reduction};
    if (operation.primitive->kind == ir::Kind::convolve) return convolution_role(operation);
    return {};
  }
  bool is_elementwise(const Operation& operation) const {
    const ValueInfo& output = info(operation.output);
    if (operation.primitive->kind != ir::Kind::elementwise || !operation.primitive->formula ||
        !is_image(output)) {
      return false;
    }
    return std::all_of(operation.inputs.begin(), operation.inputs.end(), [&](ValueId input) {
      return input != kNoValue &&
             (is_image_of(input, output) || is_per_channel(info(input), output.sizes));
    });
  }
  bool is_image_of(ValueId value, const ValueInfo& output) const {
    return known_equal(info(value).sizes, output.sizes) == Known::yes && is_image(info(value));
  }
  // Over all positions, by channel.
  bool is_reduction(const Operation& operation) const {
    if (operation.primitive->combine == ir::Combine::none) return false;
    if (!is_image(info(operation.inputs[0]))) return false;
    std::vector<bool> reduced = reduced_dimensions(graph_, operation);
    return !reduced[1] && std::count(reduced.begin() + 2, reduced.end(), false) == 0;
  }
  BlockedRole convolution_role(const Operation& operation) const {
    std::vector<Dims> sizes;
    for (size_t i = 0; i < 2; i++) sizes.push_back(info(operation.inputs[i]).sizes);
    const ValueInfo& result = info(operation.output);
    if (result.dtype != kFloat32) return {};
    bool bias = operation.inputs.size() > 2 && operation.inputs[2] != kNoValue;
    auto form =
        ops::blocked_form(*operation.primitive, operation.params.get(), sizes, result.sizes, bias);
    form.first &= is_f32_image(info(operation.inputs[0]));
    form.second &= is_f32_image(info(operation.inputs[1]));
    form.result &= is_f32_image(result);
    if (!form.first && !form.second && !form.result) return {};
    return {Kind::convolution, form};
  }

  // ---- sets of images that are in blocks together

  ValueId find(ValueId value) {
    while (set_[value] != value) value = set_[value] = set_[set_[value]];
    return value;
  }

  void add(const Operation& operation, const BlockedRole& role) {
    for (size_t i = 0; i < operation.inputs.size(); i++) {
      ValueId input = operation.inputs[i];
      if (input == kNoValue) continue;
      Readers& readers = read_[input];
      bool elementwise = role.kind == Kind::elementwise;
      if (elementwise && !is_image_of(input, info(operation.output))) {
        readers.plain = true;
      } else if (elementwise) {
        readers.in_blocks = true;
        set_[find(input)] = find(operation.output);
      } else if (role.kind == Kind::convolution && role.takes(i)) {
        readers.in_blocks = true;
        readers.convolutions++;
      } else if (role.kind != Kind::reduction) {
        readers.plain = true;
      }
    }
    if (role.makes()) {
      bool elementwise = role.kind == Kind::elementwise;
      made_[operation.output] = elementwise ? Maker::elementwise : Maker::convolution;
    }
  }

  // By how many elements there is less to reorder, per set. A reorder of its own takes about as
  // long as one inside of a convolution.
  std::vector<int64_t> find_gains() {
    std::vector<int64_t> gain(set_.size());
    for (ValueId value = 0; value < set_.size(); value++) {
      const Readers& readers = read_[value];
      if (!is_image(info(value))) continue;
      int64_t saved = readers.convolutions + (made_[value] == Maker::convolution ? 1 : 0);
      bool edge = made_[value] == Maker::plain ? readers.in_blocks : readers.plain;
      gain[find(value)] += (saved - (edge ? 1 : 0)) * product(info(value).sizes).value();
    }
    return gain;
  }

  const ir::Graph& graph_;
  std::vector<ValueId> set_;
  std::vector<Maker> made_;
  std::vector<Readers> read_;
};

}  // namespace

BlockedImages find_blocked_images(const ir::Graph& graph) { return Finder(graph).run(); }

}  // namespace fg::schedule
