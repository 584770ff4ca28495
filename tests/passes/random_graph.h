// Graphs made up by a random generator: arithmetic on a few matrices with copies, views, writes and
// constants, of which some values are given to the caller.
#pragma once

#include <random>

#include "ops/view/window.h"
#include "passes/memory.h"
#include "tests/passes/pass_text.h"

namespace fg::passes {

class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed) : random_(seed) {}

  // `backward` operations read a tangent too, and what they compute is a gradient.
  ir::Graph make(int operations, bool backward) {
    for (int i = 0; i < 2; i++) {
      values_.push_back(
          graph_.add_input({{3, 4}, {4, 1}, DType::f32}, {ir::Role::Kind::argument, i}));
    }
    for (int i = 0; i < operations; i++) add();
    for (int i = 0; i < 3; i++) graph_.add_output(any(), {ir::Role::Kind::output, i});
    if (!backward) return std::move(graph_);
    backward_ = true;
    ir::ValueId grad = graph_.add_input({{3, 4}, {4, 1}, DType::f32}, {ir::Role::Kind::tangent, 0});
    for (int i = 0; i < operations / 2; i++) {
      ir::ValueId other = any_like(grad);
      grad = call("mul", {grad, other}, "");
      if (pick(4) == 0) values_.push_back(grad);
      if (pick(3) == 0) add();
    }
    graph_.add_output(grad, {ir::Role::Kind::gradient, 0});
    graph_.add_output(any(), {ir::Role::Kind::gradient, 1});
    return std::move(graph_);
  }

 private:
  uint32_t pick(size_t count) { return static_cast<uint32_t>(random_() % count); }
  // Recent values rather than old ones, so that chains come about.
  ir::ValueId any() {
    size_t recent = pick(2) ? std::min<size_t>(values_.size(), 4) : values_.size();
    return values_[values_.size() - 1 - pick(recent)];
  }
  const ir::ValueInfo& info(ir::ValueId value) const { return graph_.values[value]; }
  ir::ValueId any_like(ir::ValueId like) {
    for (int i = 0; i < 20; i++) {
      ir::ValueId found = any();
      if (info(found).sizes == info(like).sizes && info(found).dtype == info(like).dtype)
        return found;
    }
    return like;
  }

  ir::ValueId call(const char* name, std::vector<ir::ValueId> inputs, const std::string& params) {
    ir::Operation operation;
    operation.primitive = ir::find_primitive(name);
    ir::TextReader text(params);
    if (!params.empty()) operation.params = operation.primitive->params->parse(text);
    operation.inputs = std::move(inputs);
    operation.backward = backward_;
    Tensors abstract;
    std::vector<ir::Operand> operands;
    for (ir::ValueId input : operation.inputs) {
      abstract.push_back(ir::abstract_tensor_of(info(input)));
    }
    for (const Tensor& tensor : abstract) operands.emplace_back(tensor);
    ir::Meta meta;
    ir::NoParams none;
    operation.primitive->infer(operands, operation.params ? operation.params.get() : &none, &meta);
    operation.output = graph_.add_value({meta.sizes, ir::strides_of(meta), meta.dtype});
    graph_.operations.push_back(std::move(operation));
    return graph_.operations.back().output;
  }
  std::string window_params(ir::ValueId of) {
    const ir::ValueInfo& whole = info(of);
    Dims sizes = whole.sizes, strides = whole.strides;
    int64_t offset = 0;
    if (!sizes.empty() && pick(3)) {  // some rows, otherwise everything
      int64_t rows = sizes[0].value(), first = pick(static_cast<size_t>(rows));
      offset = first * strides[0].value();
      sizes[0] = rows - first;
    }
    if (sizes.size() == 2 && pick(3) == 0) {
      std::swap(sizes[0], sizes[1]);
      std::swap(strides[0], strides[1]);
    }
    last_ = sizes;
    return "size=" + fg::text(sizes) + ", stride=" + fg::text(strides) +
           ", offset=" + std::to_string(offset);
  }
  ir::ValueId write(ir::ValueId into) {
    std::string params = window_params(into);
    for (int i = 0; i < 30; i++) {
      ir::ValueId part = any();
      if (info(part).sizes == last_ && info(part).dtype == info(into).dtype)
        return call("put_window", {into, part}, params);
    }
    return call("window", {into}, params);
  }
  ir::ValueId constant() {
    ir::Operation operation;
    operation.constant = tensor({static_cast<double>(pick(2)), -0.0, 2.0, 3.0}, DType::f32);
    operation.output = graph_.add_value(ir::info_of(operation.constant));
    operation.backward = backward_;
    graph_.operations.push_back(operation);
    return operation.output;
  }
  void add() {
    static const char* const kUnary[] = {"sin", "neg", "tanh"};
    ir::ValueId value = any();
    bool matrix = info(value).sizes.size() == 2;
    switch (pick(11)) {
      case 0:
      case 1:
        return values_.push_back(call(kUnary[pick(3)], {value}, ""));
      case 2:
        return values_.push_back(call("mul", {value, any_like(value)}, ""));
      case 3:
        return values_.push_back(
            call("clone", {value},
                 pick(2) ? "contiguous=true, strides=[]" : "contiguous=false, strides=[]"));
      case 4:
        return values_.push_back(
            call("convert", {value}, pick(2) ? "dtype=float32" : "dtype=float64"));
      case 5:
        return values_.push_back(call("restride", {value}, "stride=" + text(info(value).strides)));
      case 6:
        return values_.push_back(call("t", {value}, ""));
      case 7:
        return values_.push_back(call("window", {value}, window_params(value)));
      case 8:
        return values_.push_back(write(value));
      case 9:
        return values_.push_back(matrix ? call("sum", {value}, "dim=[0], keepdim=false")
                                        : constant());
      default:
        if (!(info(value).strides == contiguous_strides(info(value).sizes))) return;
        return values_.push_back(call("unsafe_view", {value}, "size=[-1]"));
    }
  }

  std::mt19937 random_;
  ir::Graph graph_;
  std::vector<ir::ValueId> values_;
  Dims last_;
  bool backward_ = false;
};

}  // namespace fg::passes
