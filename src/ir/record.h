// The functions of the autograd layer that record a call for gradients; that layer defines them.
#pragma once

#include "ir/gradient.h"
#include "ir/operand.h"

namespace fg::autograd {

// Grad mode is on and some input requires grad.
bool should_record(ir::Operands inputs);

// Makes the node of a call and attaches it to the outputs.
void record(const ir::Gradient& gradient, ir::Operands inputs, ir::Arguments arguments,
            std::span<Tensor> outputs);

// A borrowed callable that writes into a tensor, valid during the call only.
class Write {
 public:
  template <class F>
  Write(const F& f)  // NOLINT: implicit on purpose
      : object_(&f), call_([](const void* object) { (*static_cast<const F*>(object))(); }) {}
  void operator()() const { call_(object_); }

 private:
  const void* object_;
  void (*call_)(const void*);
};
// Records a call that writes into inputs[0]: its history moves on to the node. Values are saved
// before the write, so that a change of their memory is noticed; `original` has the value from
// before, where a rule needs that.
void record_inplace(const ir::Gradient& gradient, ir::Operands inputs, ir::Arguments arguments,
                    const Tensor& original, Write write);
bool saves_input(const ir::Gradient& gradient, ir::Operands inputs, int input);

// Forgets that a result is a view, since its function makes no views, whatever its body did.
void forget_view(const Tensor& result);

// Marks `output` as a view of `base` (or of the base of that).
enum class ViewOrigin : uint8_t { plain, multi_output, no_grad, inference, custom_function };
void make_view(const Tensor& base, const Tensor& output, ViewOrigin origin);
// The origin of a view made now: some modes forbid writing into it later.
ViewOrigin current_view_origin();

// Refuses writes that PyTorch refuses: into leaves that require grad, views of several outputs, ...
// `recording`: the write will become part of the graph.
void check_inplace(const Tensor& self, const char* function, bool recording);
// After a write that recorded no node of its own: `self` takes over the history of `result`.
void adopt_history(const Tensor& self, const Tensor& result);

}  // namespace fg::autograd
