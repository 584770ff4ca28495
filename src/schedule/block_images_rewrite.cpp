// Writes a graph anew with images in blocks of channels.
#include <map>

#include "base/trace.h"
#include "ops/convolution/channel_blocks.h"
#include "ops/reduce/reduce_kind.h"
#include "ops/view/window.h"
#include "passes/passes.h"
#include "schedule/block_images.h"
#include "schedule/fuse.h"

namespace fg::schedule {

using ir::kNoValue;
using ir::Operation;
using ir::ValueId;
using ir::ValueInfo;
using Kind = BlockedRole::Kind;

namespace {

class Rewriter {
 public:
  Rewriter(ir::Graph& graph, const BlockedImages& images)
      : graph_(graph),
        images_(images),
        blocks_(graph.values.size(), kNoValue),
        has_plain_(graph.values.size()),
        is_output_(graph.values.size()) {
    for (ValueId input : graph.inputs) has_plain_[input] = true;
    for (ValueId output : graph.outputs) {
      if (output != kNoValue) is_output_[output] = true;
    }
  }

  void run() {
    std::vector<Operation> operations = std::move(graph_.operations);
    graph_.operations.clear();
    for (size_t i = 0; i < operations.size(); i++) rewrite(operations[i], images_.roles[i]);
    passes::dead_code(graph_);
  }

 private:
  const ValueInfo& info(ValueId value) const { return graph_.values[value]; }
  bool is_blocked(ValueId value) const { return images_.blocked[value]; }

  void rewrite(Operation& operation, const BlockedRole& role) {
    if (role.kind == Kind::elementwise && is_blocked(operation.output)) {
      elementwise(operation);
    } else if (role.kind == Kind::reduction && blocks_[operation.inputs[0]] != kNoValue) {
      reduction(operation);
    } else if (role.kind == Kind::convolution && has_blocks(operation, role)) {
      convolution(operation, role);
    } else {
      plain(operation);
    }
  }
  bool has_blocks(const Operation& operation, const BlockedRole& role) const {
    return (role.takes(0) && is_blocked(operation.inputs[0])) ||
           (role.takes(1) && is_blocked(operation.inputs[1])) ||
           (role.makes() && is_blocked(operation.output));
  }

  // ---- both forms of an image

  // An operation like `by`, on behalf of which it is done, that makes `output`.
  void emit(const Operation& by, const ir::PrimitiveInfo& primitive, ValueId input,
            ir::ParamsRef params, ValueId output) {
    Operation made;
    made.primitive = &primitive;
    made.inputs = {input};
    made.params = std::move(params);
    made.output = output;
    made.source = by.source;
    made.backward = by.backward;
    graph_.operations.push_back(std::move(made));
  }
  ValueId new_blocks(ValueId image) {
    ValueInfo made = info(image);
    made.sizes = ops::blocked_sizes(made.sizes);
    made.strides = contiguous_strides(made.sizes);
    return blocks_[image] = add_value(std::move(made));
  }
  ValueId add_value(ValueInfo made) {
    has_plain_.push_back(true);
    return graph_.add_value(std::move(made));
  }
  ValueId blocks_of(ValueId image, const Operation& by) {
    if (blocks_[image] != kNoValue) return blocks_[image];
    ValueId made = new_blocks(image);
    emit(by, ops::block_channels(), image, nullptr, made);
    return made;
  }
  void need_plain(ValueId value, const Operation& by) {
    if (value == kNoValue || has_plain_[value]) return;
    has_plain_[value] = true;
    emit(by, ops::unblock_channels(), blocks_[value], nullptr, value);
  }
  // The caller sees plain images only.
  void finish(ValueId output, const Operation& by) {
    if (is_output_[output]) need_plain(output, by);
  }

  // ---- operations

  void plain(Operation& operation) {
    for (ValueId input : operation.inputs) need_plain(input, operation);
    for (int k = 0; k < operation.outputs(); k++) {
      has_plain_[operation.output + static_cast<ValueId>(k)] = true;
    }
    graph_.operations.push_back(std::move(operation));
  }

  void elementwise(Operation& operation) {
    const Dims image = info(operation.output).sizes;
    for (ValueId& input : operation.inputs) {
      if (is_blocked(input) && known_equal(info(input).sizes, image) == Known::yes) {
        input = blocks_of(input, operation);
      } else {
        need_plain(input, operation);
        input = per_channel(input, image, operation);
      }
    }
    ValueId output = operation.output;
    operation.output = new_blocks(output);
    graph_.operations.push_back(operation);
    finish(output, operation);
  }
  // A value per channel, or image and channel, seen in blocks.
  ValueId per_channel(ValueId value, const Dims& image, const Operation& by) {
    ValueInfo seen = info(value);
    if (product(seen.sizes).value() == 1) return value;
    auto known = per_channel_.find({value, image.size()});
    if (known != per_channel_.end()) return known->second;
    while (seen.sizes.size() < image.size()) {
      seen.sizes.insert(0, 1);
      seen.strides.insert(0, 0);
    }
    const bool channels = seen.sizes[1].value() != 1;
    const int64_t block = kernels::channel_block();
    seen.sizes.push_back(channels ? block : 1);
    seen.strides.push_back(channels ? seen.strides[1] : Dim(0));
    if (channels) {
      seen.sizes[1] = seen.sizes[1] / Dim(block);
      seen.strides[1] = seen.strides[1] * block;
    }
    return per_channel_[{value, image.size()}] = window(value, std::move(seen), by);
  }
  ValueId window(ValueId value, ValueInfo seen, const Operation& by) {
    auto params =
        std::make_shared<const ops::WindowParams>(ops::WindowParams{seen.sizes, seen.strides, 0});
    ValueId made = add_value(std::move(seen));
    emit(by, ops::window(), value, std::move(params), made);
    return made;
  }

  // Dimensions before the last have the same places in blocks; the result is contiguous in both.
  void reduction(Operation& operation) {
    ops::ReduceParams params = *static_cast<const ops::ReduceParams*>(operation.params.get());
    std::vector<bool> reduced = reduced_dimensions(graph_, operation);
    params.dim = Dims{};
    for (size_t d = 0; d < reduced.size(); d++) {
      if (reduced[d]) params.dim->push_back(static_cast<int64_t>(d));
    }
    reduced.push_back(false);
    ValueId output = operation.output, blocks = blocks_[operation.inputs[0]];
    ValueInfo made = info(output);
    made.sizes = ops::reduced_sizes(info(blocks).sizes, reduced, params.keepdim);
    made.strides = contiguous_strides(made.sizes);
    operation.inputs[0] = blocks;
    operation.params = std::make_shared<const ops::ReduceParams>(std::move(params));
    operation.output = add_value(std::move(made));
    graph_.operations.push_back(operation);
    auto seen = std::make_shared<const ops::WindowParams>(
        ops::WindowParams{info(output).sizes, info(output).strides, 0});
    emit(operation, ops::window(), operation.output, std::move(seen), output);
    has_plain_[output] = true;
  }

  void convolution(Operation& operation, const BlockedRole& role) {
    const auto& conv = *static_cast<const ops::ConvParams*>(operation.params.get());
    const bool result = role.makes() && is_blocked(operation.output);
    for (size_t i = 0; i < operation.inputs.size(); i++) {
      ValueId& input = operation.inputs[i];
      if (role.takes(i) && is_blocked(input))
        input = blocks_of(input, operation);
      else
        need_plain(input, operation);
    }
    operation.primitive = role.form.primitive;
    operation.params =
        std::make_shared<const ops::BlockedConvParams>(ops::BlockedConvParams{conv, result});
    ValueId output = operation.output;
    if (result)
      operation.output = new_blocks(output);
    else
      has_plain_[output] = true;
    graph_.operations.push_back(operation);
    finish(output, operation);
  }

  ir::Graph& graph_;
  const BlockedImages& images_;
  std::vector<ValueId> blocks_;  // per image, once it is there in blocks
  std::vector<bool> has_plain_, is_output_;
  std::map<std::pair<ValueId, size_t>, ValueId> per_channel_;  // by value and rank of the image
};

}  // namespace

void block_images(ir::Graph& graph) {
  timing::Phase phase("block images");
  BlockedImages images = find_blocked_images(graph);
  if (images.any) Rewriter(graph, images).run();
}

}  // namespace fg::schedule
