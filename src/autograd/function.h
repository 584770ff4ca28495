// Custom differentiable functions, as libtorch writes them:
//
//   struct Square : fg::autograd::Function<Square> {
//     static Tensor forward(AutogradContext* ctx, const Tensor& x) {
//       ctx->save_for_backward({x});
//       return x * x;
//     }
//     static Tensors backward(AutogradContext* ctx, const Tensors& grads) {
//       return {grads[0] * 2 * ctx->get_saved_variables()[0]};
//     }
//   };
//   Tensor y = Square::apply(x);
//
// forward runs without recording. backward gets one gradient per output and returns one per
// argument of forward, undefined for arguments without one; it may be differentiated again.
#pragma once

#include "autograd/custom.h"
#include "autograd/saved_data.h"

namespace fg::autograd {

class AutogradContext {
 public:
  explicit AutogradContext(CustomNode& node) : node_(node) {}

  void save_for_backward(Tensors tensors) { node_.marks.to_save = std::move(tensors); }
  Tensors get_saved_variables() const { return node_.saved_tensors(); }
  // Inputs that forward changed in place; it must return them.
  void mark_dirty(const Tensors& inputs) { node_.marks.dirty = inputs; }
  void mark_non_differentiable(const Tensors& outputs) { node_.marks.non_differentiable = outputs; }
  // false: an output without a gradient gives an undefined tensor instead of zeros.
  void set_materialize_grads(bool on) { node_.marks.materialize_grads = on; }
  // Whether the gradient of a tensor argument is wanted; counted over tensor arguments.
  bool needs_input_grad(size_t tensor) const {
    return tensor < node_.next_edges().size() && node_.should_compute(tensor);
  }
  std::map<std::string, SavedData> saved_data;  // anything else

 private:
  CustomNode& node_;
};

namespace detail {

// One gradient per tensor from one per argument, where argument i has tensors[i] of them.
Tensors gradients_of_tensors(const Node& node, Tensors all, const std::vector<size_t>& tensors);

// The number of gradients that an argument takes: one per tensor.
inline size_t count_tensors(const Tensor&) { return 1; }
inline size_t count_tensors(const Tensors& list) { return list.size(); }
template <class T>
size_t count_tensors(const T&) {
  return 0;
}
inline void add_tensors(Tensors& all, const Tensor& tensor) { all.push_back(tensor); }
inline void add_tensors(Tensors& all, const Tensors& list) {
  all.insert(all.end(), list.begin(), list.end());
}
template <class T>
void add_tensors(Tensors&, const T&) {}

template <class F>
class FunctionNode : public CustomNode {
 public:
  FunctionNode() : context(*this) {}
  std::string name() const override { return name_of(__PRETTY_FUNCTION__); }
  AutogradContext context;
  std::vector<size_t> tensors;  // by argument

 protected:
  Tensors run_backward(Tensors&& grads) override {
    return gradients_of_tensors(*this, F::backward(&context, grads), tensors);
  }

 private:
  // "... [with F = spaces::Square; ...]" gives SquareBackward.
  static std::string name_of(std::string_view text) {
    size_t begin = text.find("F = ") + 4;
    text = text.substr(begin, text.find_first_of(";]", begin) - begin);
    size_t colons = text.rfind("::");
    if (colons != std::string_view::npos) text = text.substr(colons + 2);
    return std::string(text) + "Backward";
  }
};

// The forward of a custom function as the choke point runs it.
template <class R, class Forward>
class ForwardBody final : public ir::Body {
 public:
  explicit ForwardBody(const Forward& forward) : forward_(forward) {}

  ir::Returned<R> result;

  std::span<Tensor> run() override {
    NoGradGuard below;
    result.value = forward_();
    return result.outputs();
  }
  std::span<Tensor> take(Tensors outputs) override { return result.take(std::move(outputs)); }

 private:
  const Forward& forward_;
};

}  // namespace detail

template <class F>
struct Function {
  // Calls forward with the context first, and adds a node to the graph.
  template <class... Args>
  static auto apply(const Args&... args) {
    auto node = Ref<detail::FunctionNode<F>>::adopt(new detail::FunctionNode<F>);
    Tensors inputs;
    (detail::add_tensors(inputs, args), ...);
    node->tensors = {detail::count_tensors(args)...};
    using Result = std::decay_t<decltype(F::forward(&node->context, args...))>;
    auto forward = [&] { return F::forward(&node->context, args...); };
    detail::ForwardBody<Result, decltype(forward)> body(forward);
    ir::Operand operand(inputs);
    ir::Call call{.custom = node.get(), .inputs = {&operand, 1}, .body = &body};
    ir::call(call);
    return std::move(body.result.value);
  }
};

}  // namespace fg::autograd
