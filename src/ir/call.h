// The choke point. Every call of a primitive, of a function with its own gradient and of a custom
// function passes `call`, which asks the innermost interpreter of the thread or evaluates, and then
// records for gradients. Functions without a gradient of their own are bodies made of such calls.
//
// Interpreters (capture, batching, a user's own mode ...) are a stack per thread. Each may take a
// call whole, or let its body run and see the calls inside one by one.
#pragma once

#include <span>

#include "ir/gradient.h"
#include "ir/operand.h"

namespace fg::ir {

struct FunctionInfo;
struct PrimitiveInfo;

// The body of a function on its way through the choke point, with the arguments of one call.
class Body {
 public:
  // Computes the outputs, which belong to the body.
  virtual std::span<Tensor> run() = 0;
  // Takes outputs that an interpreter computed in its place.
  virtual std::span<Tensor> take(Tensors outputs) = 0;
  // Copies the arguments that are no tensors, for the rules of its node.
  virtual Arguments arguments() const { return {}; }

 protected:
  ~Body() = default;
};

// The result of a body, a tensor, a list or a tuple of them, as a row of tensors.
template <class R>
class Returned {
 public:
  Returned() = default;
  explicit Returned(R given) : value(std::move(given)) {}

  R value{};

  std::span<Tensor> outputs() {
    if constexpr (std::is_same_v<R, Tensor>) {
      return {&value, 1};
    } else if constexpr (std::is_same_v<R, Tensors>) {
      return value;
    } else {
      std::apply([&](auto&... part) { parts_ = {part...}; }, value);
      return parts_;
    }
  }
  std::span<Tensor> take(Tensors outputs) {
    if constexpr (std::is_same_v<R, Tensor>)
      value = std::move(outputs.at(0));
    else if constexpr (std::is_same_v<R, Tensors>)
      value = std::move(outputs);
    else
      std::apply(
          [&, next = size_t{0}](auto&... part) mutable { ((part = outputs.at(next++)), ...); },
          value);
    return this->outputs();
  }

 private:
  struct Nothing {};
  static constexpr bool is_tuple = !std::is_same_v<R, Tensor> && !std::is_same_v<R, Tensors>;
  [[no_unique_address]] std::conditional_t<is_tuple, Tensors, Nothing> parts_;
};

// The node of a custom function, which records itself.
class OwnNode {
 public:
  virtual void connect(std::span<const Tensor> inputs) = 0;  // before the body runs
  virtual void finish(std::span<const Tensor> inputs, std::span<Tensor> outputs) = 0;  // after it

 protected:
  ~OwnNode() = default;
};

struct Call {
  // The callee: one of these three is set.
  const PrimitiveInfo* primitive = nullptr;
  const FunctionInfo* function = nullptr;
  OwnNode* custom = nullptr;

  const Gradient* gradient = nullptr;  // null: calls inside of the body are recorded, or none is
  bool recording = false;              // the call becomes a node, see should_record
  Operands inputs{};
  const void* params = nullptr;  // of a primitive
  Body* body = nullptr;          // of a function
  std::span<Tensor> outputs{};   // of a function: there when it has run

  // Evaluates the primitive, or runs the body, whose calls pass the choke point in turn.
  void run();
};

// Evaluates or interprets, then records.
void call(Call& call);
// The same for the in-place form of a function: the result goes into inputs[0].
void call_inplace(Call& call);
// Results of a function that makes no views are none, even where a view was made inside of it.
void forget_views(const FunctionInfo& function, std::span<Tensor> outputs);
// A call of a primitive.
void bind(const PrimitiveInfo& primitive, Operands inputs, const void* params, Tensor* outputs);
// The eager kernel of a primitive, past interpreters and gradients.
void evaluate(const PrimitiveInfo& primitive, Operands inputs, const void* params, Tensor* outputs);

class Interpreter {
 public:
  virtual ~Interpreter() = default;
  // Sets the outputs of the call, or lets it run.
  virtual void call(Call& call) = 0;
  // Puts the elements of `value` into those of `self`, which has the same sizes; false: they are
  // copied in memory, as without an interpreter.
  virtual bool write(const Tensor& self, const Tensor& value) = 0;
  // The interpreter that was innermost before this one; null: eager code.
  Interpreter* outer() const { return outer_; }

 private:
  friend class Interpreting;
  Interpreter* outer_ = nullptr;
};

// Fails for an interpreter that is on the stack below another one.
void refuse_twice(const Interpreter& interpreter);

// While alive, calls of this thread go to this interpreter first.
class Interpreting : ModesGuard {
 public:
  explicit Interpreting(Interpreter& interpreter)
      : interpreter_(interpreter), before_(interpreter.outer_) {
    if (modes.interpreter == &interpreter) return;
    if (modes.interpreter) refuse_twice(interpreter);
    interpreter.outer_ = modes.interpreter;
    modes.interpreter = &interpreter;
  }
  ~Interpreting() { interpreter_.outer_ = before_; }

 private:
  Interpreter& interpreter_;
  Interpreter* before_;
};

// While alive, calls go past this interpreter to its outer one: so it computes the calls it took.
class PastInterpreter : ModesGuard {
 public:
  explicit PastInterpreter(const Interpreter& interpreter) {
    modes.interpreter = interpreter.outer();
  }
};

}  // namespace fg::ir
